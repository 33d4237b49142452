//! Describes how far two runs of one model are apart.
//!
//! Orientations in space differ by an angle: quaternions p and q, of which q and -q are the same, are
//! 4 asin(min(‖p - q‖, ‖p + q‖)/2) apart, which keeps its digits for small angles.

use crate::Trajectory;
use sarrus_model::Space;
use sarrus_system::System;
use sarrus_system::columns::REACTIONS;
use serde::Serialize;

/// A largest difference, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// Its size; not a number where one of the two is not known somewhere.
    pub value: f64,
    /// Body or column.
    pub name: String,
    /// Time \[s\].
    pub t: f64,
}

/// Largest differences of one kind, and what they compare with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LargestDifference {
    /// Largest difference; none where there is nothing of the kind.
    pub worst: Option<Worst>,
    /// Largest size in the reference.
    pub scale: f64,
}

/// Largest differences of a run to the reference, up to the time that both reach.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deviation {
    /// Positions of bodies \[m\].
    pub position: LargestDifference,
    /// Orientations of bodies \[rad\].
    pub angle: LargestDifference,
    /// Reactions that are unique, forces \[N\] and torques \[N m\].
    pub reactions: LargestDifference,
    /// Reactions that are not: they may differ without being wrong.
    pub not_unique: LargestDifference,
}

impl Deviation {
    /// The larger of the errors in position \[m\] and angle \[rad\].
    pub fn motion(&self) -> Option<f64> {
        let value = |d: &LargestDifference| d.worst.as_ref().map(|w| w.value);
        match (value(&self.position), value(&self.angle)) {
            (Some(a), Some(b)) => Some(if a >= b || a.is_nan() { a } else { b }),
            (a, b) => a.or(b),
        }
    }
}

/// The columns that are compared.
pub(crate) struct Probe {
    /// Body, its position's columns, its angle's (one in the plane, four in space).
    bodies: Vec<(String, Vec<String>, Vec<String>)>,
    unique: Vec<String>,
    not_unique: Vec<String>,
}

/// Every reaction of a joint and every effort of a driver.
pub(crate) fn reaction_columns(system: &System) -> Vec<String> {
    let planar = system.directory.space == Space::Planar;
    let components = REACTIONS.iter().filter(move |c| !planar || ["fx", "fy", "tz"].contains(c));
    let joints = system.directory.joints.iter();
    let joints = joints.flat_map(|joint| components.clone().map(move |c| format!("{}.{c}", joint.name)));
    let efforts = system.efforts.iter().flat_map(|(index, efforts)| {
        let element = &system.all.elements[*index];
        efforts.iter().map(move |(effort, _)| format!("{}.{effort}", element.name))
    });
    joints.chain(efforts).collect()
}

impl Probe {
    /// For a system whose reactions `not_unique` are not.
    pub fn new(system: &System, not_unique: &[String]) -> Probe {
        let directory = &system.directory;
        let bodies = directory
            .bodies
            .iter()
            .map(|body| {
                let fields = directory.body_columns(body);
                let named = |wanted: &[&str]| -> Vec<String> {
                    let found = fields.iter().filter(|f| wanted.contains(*f));
                    found.map(|f| format!("{}.{f}", body.name)).collect()
                };
                (body.name.clone(), named(&["x", "y", "z"]), named(&["angle", "q0", "q1", "q2", "q3"]))
            })
            .collect();
        let (not_unique, unique) = reaction_columns(system).into_iter().partition(|c| not_unique.contains(c));
        Probe { bodies, unique, not_unique }
    }

    /// Compares a run with the reference, sample by sample.
    pub fn compare(&self, run: &Trajectory, reference: &Trajectory) -> Deviation {
        let both = Both { run, reference };
        let all = |groups: &mut dyn Iterator<Item = (&String, &[String])>| both.largest(groups, distance);
        let single = |names: &[String]| all(&mut names.iter().map(|n| (n, std::slice::from_ref(n))));
        Deviation {
            position: all(&mut self.bodies.iter().map(|(n, p, _)| (n, p.as_slice()))),
            angle: both.largest(&mut self.bodies.iter().map(|(n, _, a)| (n, a.as_slice())), |a, b| {
                if a.len() == 4 { rotation(a, b) } else { distance(a, b) }
            }),
            reactions: single(&self.unique),
            not_unique: single(&self.not_unique),
        }
    }
}

/// Two trajectories over the same columns and times.
struct Both<'a> {
    run: &'a Trajectory,
    reference: &'a Trajectory,
}

impl Both<'_> {
    fn largest(
        &self,
        groups: &mut dyn Iterator<Item = (&String, &[String])>,
        apart: impl Fn(&[f64], &[f64]) -> f64,
    ) -> LargestDifference {
        let mut found = LargestDifference { worst: None, scale: 0.0 };
        for (name, columns) in groups {
            let of = |t: &Trajectory| -> Option<Vec<usize>> { columns.iter().map(|c| t.index(c)).collect() };
            let (Some(a), Some(b)) = (of(self.run), of(self.reference)) else { continue };
            if a.is_empty() {
                continue;
            }
            for (x, y) in self.run.rows().zip(self.reference.rows()) {
                // a stopped run may end between two samples
                if (x[0] - y[0]).abs() > 1e-9 * x[0].abs().max(1.0) {
                    break;
                }
                let (mut p, mut q) = ([0.0; 4], [0.0; 4]);
                for k in 0..a.len() {
                    (p[k], q[k]) = (x[a[k]], y[b[k]]);
                }
                let (p, q) = (&p[..a.len()], &q[..a.len()]);
                let value = apart(p, q);
                let zero = [0.0; 4];
                found.scale = found.scale.max(distance(q, &zero[..a.len()]));
                // a value that is not known is the worst of all
                let worse = found
                    .worst
                    .as_ref()
                    .is_none_or(|w| value > w.value || (value.is_nan() && !w.value.is_nan()));
                if worse {
                    found.worst = Some(Worst { value, name: name.clone(), t: x[0] });
                }
            }
        }
        found
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn rotation(a: &[f64], b: &[f64]) -> f64 {
    let minus = a.iter().zip(b).map(|(a, b)| (a + b) * (a + b)).sum::<f64>().sqrt();
    4.0 * (0.5 * distance(a, b).min(minus)).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_told_apart_by_their_angle_whatever_the_sign_of_the_quaternion() {
        for angle in [1e-9, 0.3, 3.0] {
            let (s, c) = f64::sin_cos(0.5 * angle);
            let (one, rotated) = ([1.0, 0.0, 0.0, 0.0], [c, 0.0, s, 0.0]);
            assert!((rotation(&one, &rotated) - angle).abs() < 1e-14 * (1.0 + angle));
            assert!((rotation(&one, &rotated.map(|x| -x)) - angle).abs() < 1e-14 * (1.0 + angle));
        }
    }

    #[test]
    fn what_is_not_known_is_the_worst() {
        let with = |values: [f64; 3]| {
            let mut t = Trajectory::new(vec!["t".into(), "A.fx".into()], vec!["s", "N"]);
            for (i, v) in values.into_iter().enumerate() {
                t.push().copy_from_slice(&[i as f64, v]);
            }
            t
        };
        let reference = with([1.0, -5.0, 3.0]);
        let names = ["A.fx".to_string()];
        let compare = |run: &Trajectory| {
            let both = Both { run, reference: &reference };
            both.largest(&mut names.iter().map(|n| (n, std::slice::from_ref(n))), distance)
        };
        let found = compare(&with([1.5, -5.0, 1.0]));
        assert_eq!(
            found,
            LargestDifference { worst: Some(Worst { value: 2.0, name: "A.fx".into(), t: 2.0 }), scale: 5.0 }
        );
        assert!(compare(&with([9.0, f64::NAN, 9.0])).worst.unwrap().value.is_nan());
    }
}
