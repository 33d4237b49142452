//! Describes what an expression reads of a mechanism: bodies, and controllers, itself or through other controllers.

use crate::at::At;
use crate::formula::Formula;
use crate::motion::BodiesAtInstant;
use crate::system::{ControllerElement, System};

/// Holds what an expression reads.
#[derive(Clone, Default)]
pub(crate) struct Reads {
    /// Bodies, each once.
    pub bodies: Vec<u32>,
    /// True if of their poses too.
    pub poses: bool,
    /// States of controllers.
    pub states: Vec<ControllerState>,
    /// Controllers whose outputs it reads, each after those that it reads.
    pub controllers: Vec<ControllerElement>,
}

/// A state of a controller.
#[derive(Clone, Copy)]
pub(crate) struct ControllerState {
    /// Its place among the outputs.
    pub index: usize,
    /// True if it stays as it is over a step.
    pub held: bool,
}

impl Reads {
    /// Returns what `formula` reads, whose bodies are places in `ids`.
    pub fn of(formula: &Formula, ids: &[u32], system: &System) -> Reads {
        let (mut bodies, mut indices) = (Vec::new(), Vec::new());
        formula.bodies(&mut |index| bodies.extend(ids.get(index)));
        formula.outputs(&mut indices);
        let mut reads = Reads::default();
        let mut known = vec![false; system.outs];
        let mut read = vec![false; system.controllers.len()];
        while let Some(index) = indices.pop() {
            if std::mem::replace(&mut known[index], true) {
                continue;
            }
            let own = |c: &ControllerElement| (c.out..c.out + c.outputs.len()).contains(&index);
            let Some(number) = system.controllers.iter().position(own) else { continue };
            let element = &system.controllers[number];
            let count = element.controller.outputs().len();
            match (index - element.out).checked_sub(count) {
                Some(state) => {
                    reads.states.push(ControllerState { index, held: element.controller.is_held(state) })
                }
                None if !std::mem::replace(&mut read[number], true) => {
                    bodies.extend_from_slice(&element.ids);
                    indices.extend_from_slice(&element.reads);
                    indices.extend(element.named_states().iter().map(|(_, index)| *index));
                }
                None => {}
            }
        }
        bodies.sort_unstable();
        bodies.dedup();
        let in_order = system.controllers.iter().zip(read);
        reads.controllers.extend(in_order.filter(|(_, read)| *read).map(|(element, _)| element.clone()));
        let poses = formula.needs_pose() || !reads.controllers.is_empty();
        Reads { bodies, poses, ..reads }
    }

    /// Outputs of the controllers in a frame that was changed; `own` is overwritten.
    pub fn follow(&self, frame: &mut BodiesAtInstant, own: &mut Vec<f64>) {
        for element in &self.controllers {
            let BodiesAtInstant { t, poses, twists, discrete, outs, .. } = &*frame;
            let at = At { t: *t, poses, twists, ids: &element.ids, discrete, outs };
            own.resize(own.len().max(element.outputs.len()), 0.0);
            let count = element.show(&at, element.states_in(outs), own);
            frame.outs[element.out..element.out + count].copy_from_slice(&own[..count]);
        }
    }
}
