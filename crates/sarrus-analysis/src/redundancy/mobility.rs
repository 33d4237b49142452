//! Whether the rank is that of the mechanism or of this position alone.
//!
//! The mechanism is moved a little along a random free direction, δ with M δ + Jᵀμ = M r and J δ = 0 for random r, and
//! brought back onto the constraints; the rank there is the one that it has in general. With an excursion e, rows that
//! depend on others everywhere are independent by e⁴ before they are brought back, and those that do so here only by
//! e²: the factorization keeps them apart. Costs O(N).

use super::scaled::Random;
use crate::error::SetupError;
use crate::start::Rows;
use sarrus_solve::{
    Equations, HUB_DEGREE, Kkt, Options, Problem, Rank, Rows as Which, SolveError, Stage, State,
    stabilizations,
};
use sarrus_system::Mechanism;

/// Size of the excursion: the largest displacement [m, rad].
const EXCURSION: f64 = 1e-2;
/// Part of the random velocities that must be free, or there is no freedom.
const FREE: f64 = 1e-9;
/// Directions tried.
const TRIES: u64 = 4;
/// Largest |Φ| of a position on the constraints, relative to the largest position.
const ON: f64 = 1e-10;

/// What was found nearby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearby {
    /// The rank there.
    Rank(usize),
    /// The mechanism has no freedom: there is no other position near.
    Nowhere,
    /// No position was reached.
    Unknown,
}

/// The rank of the constraints at a position near `s`.
pub(crate) fn nearby_rank(mechanism: &mut Mechanism, s: &State) -> Result<Nearby, SetupError> {
    for attempt in 0..TRIES {
        match excursion(mechanism, s, attempt) {
            Ok(Excursion::None) => return Ok(Nearby::Nowhere),
            Ok(Excursion::To(eq)) => {
                if let Some(rank) = Rows::find(mechanism.structure(), &eq)?.rank {
                    return Ok(Nearby::Rank(rank));
                }
            }
            // another direction may have a way back
            Ok(Excursion::Back) | Err(_) => {}
        }
    }
    Ok(Nearby::Unknown)
}

enum Excursion {
    /// There is no free direction.
    None,
    /// It led back to where it was, or not onto the constraints.
    Back,
    /// The equations at another position.
    To(Box<Equations>),
}

fn excursion(mechanism: &mut Mechanism, s: &State, attempt: u64) -> Result<Excursion, SolveError> {
    let structure = mechanism.structure().clone();
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    let mut kkt = Kkt::new(&structure, &eq, HUB_DEGREE)?;
    kkt.factor(&eq, Which::All, Rank::Settle)?;

    let mut random = Random(attempt);
    let r: Vec<f64> = (0..structure.nv).map(|_| random.normal()).collect();
    let mut force = vec![0.0; structure.nv];
    eq.mass_mul(&structure, &r, &mut force);
    let (mut delta, mut mu) = (vec![0.0; structure.nv], vec![0.0; structure.nc]);
    kkt.solve(&eq, &force, &vec![0.0; structure.nc], &mut delta, &mut mu)?;
    let largest = delta.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if !(largest > FREE) {
        return Ok(Excursion::None);
    }
    delta.iter_mut().for_each(|d| *d *= EXCURSION / largest);
    let mut moved = s.clone();
    mechanism.retract(&mut moved.q, &delta);

    let Ok(mut projection) = stabilizations::make("projection", &Options::new()) else {
        return Ok(Excursion::Back);
    };
    projection.project(mechanism, &mut kkt, &mut eq, &mut moved)?;
    mechanism.update(&moved, Stage::VELOCITY, &mut eq);
    let left = structure.holonomic_rows().flat_map(|r| eq.phi[r].iter()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let size = moved.q.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    mechanism.difference(&moved.q, &s.q, &mut delta);
    // a mechanism that was pulled back to where it was tells nothing
    let stayed = delta.iter().all(|x| x.abs() < 1e-3 * EXCURSION);
    if stayed || !(left < ON * size) {
        return Ok(Excursion::Back);
    }
    Ok(Excursion::To(Box::new(eq)))
}
