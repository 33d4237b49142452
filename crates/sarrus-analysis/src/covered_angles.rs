//! Describes how far bodies rotate between two rows: beyond half a revolution rows do not show the rotation.

use sarrus_solve::State;
use sarrus_system::System;
use sarrus_system::body::BodyKind;
use std::f64::consts::{PI, TAU};

/// Rows that a revolution should have.
const ROWS: f64 = 12.0;

/// The angle that each body covers, from row to row: the integral of its angular speed.
#[derive(Clone, Default)]
pub(crate) struct CoveredAngles {
    /// Bodies that rotate and are shown: where their angular velocity begins, and its components.
    bodies: Vec<(usize, usize)>,
    /// Their numbers.
    ids: Vec<usize>,
    /// Of each the speed at the last instant \[rad/s\], the angle since the last row, and the largest of a row \[rad\].
    angles: Vec<[f64; 3]>,
    /// The largest of all, and the time between its two rows \[s\].
    worst: (f64, f64),
    /// Times of the last instant and of the last row \[s\].
    t: f64,
    row: f64,
}

impl CoveredAngles {
    /// Of the bodies of `system`, from `s` on.
    pub fn new(system: &System, s: &State) -> CoveredAngles {
        let all = system.directory.bodies.iter().enumerate().skip(1).filter(|(_, body)| !body.is_internal());
        let mut rotations = CoveredAngles { t: s.t, row: s.t, ..CoveredAngles::default() };
        for (id, body) in all {
            match body.kind {
                BodyKind::PlanarRigid => rotations.bodies.push((body.v + 2, 1)),
                BodyKind::Rigid | BodyKind::RigidEuler => rotations.bodies.push((body.v + 3, 3)),
                BodyKind::Ground | BodyKind::Point | BodyKind::PlanarPoint => continue,
            }
            rotations.ids.push(id);
        }
        rotations.angles = vec![[0.0; 3]; rotations.ids.len()];
        rotations.advance(s);
        rotations
    }

    /// Continues to `s`.
    pub fn advance(&mut self, s: &State) {
        let h = s.t - self.t;
        self.t = s.t;
        for (&(first, n), [speed, angle, _]) in self.bodies.iter().zip(&mut self.angles) {
            let now = match n {
                1 => s.v[first].abs(),
                _ => s.v[first..first + n].iter().map(|w| w * w).sum::<f64>().sqrt(),
            };
            *angle += 0.5 * h * (*speed + now);
            *speed = now;
        }
    }

    /// There is a row here.
    pub fn row(&mut self) {
        for [_, angle, most] in &mut self.angles {
            if *angle > *most {
                *most = *angle;
            }
            if *angle > self.worst.0 {
                self.worst = (*angle, self.t - self.row);
            }
            *angle = 0.0;
        }
        self.row = self.t;
    }

    /// Returns what a user should know where bodies rotate by more than half a revolution between two rows.
    pub fn note(&self, system: &System) -> Option<String> {
        let is_rotated = self.ids.iter().zip(&self.angles).filter(|(_, [.., most])| *most > PI);
        let (&id, &[.., most]) = is_rotated.clone().max_by(|a, b| a.1[2].total_cmp(&b.1[2]))?;
        let name = &system.directory.bodies[id].name;
        let others = match is_rotated.count() - 1 {
            0 => String::new(),
            1 => ", and one other body by more than half a revolution".into(),
            n => format!(", and {n} other bodies by more than half a revolution"),
        };
        let revolutions = most / TAU;
        Some(format!(
            "body `{name}` rotates by {revolutions:.3} revolutions between two rows{others}: they do not show this rotation, and at whole \
             revolutions the body seems to stand still; `output.every` = {} shows it",
            below(self.worst.1 / (ROWS * revolutions))
        ))
    }
}

/// The largest number with one digit that is not above `x`, up to rounding.
fn below(x: f64) -> f64 {
    let size = 10.0_f64.powi(x.log10().floor() as i32);
    let digit = (x / size * (1.0 + 1e-9)).floor().max(1.0);
    // read back from its digits, so that none of rounding show
    format!("{:.0e}", digit * size).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn suggestions_have_one_digit() {
        assert_eq!(
            [below(0.00167), below(0.06), below(0.99), below(1.0), below(3e-7)],
            [0.001, 0.06, 0.9, 1.0, 3e-7]
        );
    }
}
