//! Controllers that slide along a limit of their output.

use super::Mechanism;
use crate::at::At;
use crate::controllers::{Limited, mode};
use crate::system::ControllerElement;
use crate::tangent;
use sarrus_math::{Jet, Pose, Twist};
use sarrus_solve::State;

impl Mechanism {
    /// Controllers that may slide along a limit, by number.
    pub fn limited(&self) -> Vec<usize> {
        let controllers = self.system.controllers.iter().enumerate();
        controllers.filter(|(_, c)| c.controller.limited().is_some()).map(|(i, _)| i).collect()
    }

    fn with_limited<T>(
        &mut self,
        i: usize,
        s: &State,
        read: impl FnOnce(&dyn Limited, &ControllerElement, &At<f64>, &[f64]) -> T,
    ) -> Option<T> {
        let element = self.system.controllers.get(i)?.clone();
        self.observe(s, |at| {
            let at = At { ids: &element.ids, ..*at };
            let x = &s.x[element.x..element.x + element.controller.states()];
            Some(read(element.controller.limited()?, &element, &at, x))
        })
    }

    /// The limit that controller `i` slides along: 1 the highest output, -1 the lowest, 0 none.
    pub fn slide(&self, i: usize) -> f64 {
        let limited = self.system.controllers.get(i).and_then(|c| c.controller.limited());
        let mode = limited.map_or(mode::OWN, |own| self.discrete[own.discrete_index()]);
        if mode.abs() == mode::SLIDES { mode } else { 0.0 }
    }

    /// Where the limits of controller `i` hold its integral, see [`Limited::beyond`].
    pub fn beyond_limits(&mut self, i: usize, s: &State) -> ([f64; 2], f64) {
        self.with_limited(i, s, |own, _, at, x| own.beyond(at, x)).unwrap_or(([f64::NAN; 2], 0.0))
    }

    /// Rates of its demand, see [`Limited::demand_rates`], with the accelerations `vdot`.
    pub fn demand_rates(&mut self, i: usize, s: &State, vdot: &[f64]) -> [f64; 2] {
        let directory = self.system.directory.clone();
        let rates = self.with_limited(i, s, |own, element, at, x| {
            let (mut poses, mut twists) = (Vec::new(), Vec::new());
            for &id in &element.ids {
                let id = id as usize;
                let [a, alpha] = tangent::acceleration(&directory.bodies[id], vdot);
                let (v, w) = ([at.twists[id].v.0, a], [at.twists[id].w.0, alpha]);
                let pose: Pose<Jet<3>> = at.poses[id].jet(&v, &w);
                twists.push(Twist::jet(&pose, &v, &w));
                poses.push(pose);
            }
            let ids: Vec<u32> = (0..poses.len() as u32).collect();
            let t = Jet::variable(at.t);
            // controllers that read others do not slide
            let along = At { t, poses: &poses, twists: &twists, ids: &ids, discrete: at.discrete, outs: &[] };
            own.demand_rates(&along, x)
        });
        rates.unwrap_or([f64::NAN; 2])
    }

    /// Controller `i` is in a mode from `s` on. Where it ceases to slide its integral is what the limit has left for it.
    pub fn set_mode(&mut self, i: usize, mode: f64, s: &mut State) {
        let side = self.slide(i);
        let found = self.with_limited(i, s, |own, element, at, x| {
            (own.discrete_index(), element.x, own.integral_at(at, x, side))
        });
        let Some((discrete_index, x, integral)) = found else { return };
        if side != 0.0 && mode != side {
            s.x[x] = integral;
        }
        self.discrete[discrete_index] = mode;
    }

    /// The integral of controller `i` as it stands in x; while it slides it does not change there.
    pub fn integral(&self, i: usize, s: &State) -> f64 {
        self.system.controllers.get(i).map_or(0.0, |element| s.x[element.x])
    }

    /// Controller `i` slides no more, and keeps its integral.
    pub fn end_slide(&mut self, i: usize) {
        let discrete_index =
            self.system.controllers.get(i).and_then(|c| c.controller.limited()).map(Limited::discrete_index);
        if let Some(discrete_index) = discrete_index {
            self.discrete[discrete_index] = mode::OWN;
        }
    }
}
