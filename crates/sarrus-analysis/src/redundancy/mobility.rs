//! Decides whether the rank is that of the mechanism or of this position alone.
//!
//! The mechanism is moved a little along a random free direction, δ with M δ + Jᵀμ = M r and J δ = 0 for random r, and
//! brought back onto the constraints; the rank there is the one that it has in general. With an excursion e, rows that
//! depend on others everywhere are independent by e⁴ before they are brought back, and those that do so here only by
//! e²: the factorization keeps them apart. Lengths are measured by each body's own size, so that a mechanism of
//! millimetres is moved by as much as one of metres. Costs O(N).

use super::scaled::Random;
use crate::components::{Component, parts};
use crate::error::SetupError;
use crate::rank::TOLERANCE;
use crate::start::RowRank;
use sarrus_model::Space;
use sarrus_solve::{
    ActiveRows as Which, Equations, HUB_DEGREE, Kkt, Options, Problem, RankDemand, SolveError, Stage, State,
    Structure, stabilizations,
};
use sarrus_system::{Mechanism, System};

/// The largest angle of the excursion \[rad\], and the largest displacement over the size of its body.
const EXCURSION: f64 = 1e-2;
/// Part of the random velocities that must be free, or there is no degree of freedom: rows that only just count as independent leave rounding
/// over the square of their singular value.
const FREE: f64 = TOLERANCE;
/// Parts that are moved each by itself, at most.
const MOST_PARTS: usize = 64;
/// Directions tried.
const TRIES: u64 = 4;
/// Largest displacement, measured in the same way, that is left to the constraints ...
const ON: f64 = 1e-10;
/// ... beside some roundings of the largest position.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Holds what was found nearby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearby {
    /// The rank there.
    Rank(usize),
    /// The mechanism has no degree of freedom: there is no other position near.
    Nowhere,
    /// No position was reached.
    Unknown,
}

/// The rank of the constraints at a position near `s`. Parts that share no body are moved and judged each by itself, up to [`MOST_PARTS`]
/// whose rows depend on each other; in a mechanism that is too large for singular values all are one part.
pub(crate) fn nearby_rank(
    mechanism: &mut Mechanism,
    s: &State,
    here: &RowRank,
) -> Result<Nearby, SetupError> {
    let structure = mechanism.structure().clone();
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    let parts = parts(&structure);
    let ranks = if here.known_redundant(&structure).is_some() {
        RowRank::of_parts(&structure, &eq, &parts)?
    } else {
        None
    };
    let is_free = |part: &Component, rank: usize| rank == part.size(&structure)[0];
    let dependent = ranks.iter().flatten().zip(&parts).filter(|(rank, part)| !is_free(part, **rank)).count();
    let Some(ranks) = ranks.filter(|_| dependent <= MOST_PARTS) else {
        let all = Component {
            rows: (0..structure.rows.len()).collect(),
            cols: (0..structure.cols.len()).collect(),
        };
        return nearby_part(mechanism, s, here, &all, here.rank.unwrap_or(0));
    };
    // a body without rows is free
    let moved: usize = parts.iter().map(|part| part.size(&structure)[1]).sum();
    let (mut there, mut is_nowhere) = (0, moved == structure.nv);
    for (part, rank) in parts.iter().zip(ranks) {
        there += match is_free(part, rank) {
            true => rank,
            false => match nearby_part(mechanism, s, here, part, rank)? {
                Nearby::Nowhere => rank,
                Nearby::Rank(there) => {
                    is_nowhere = false;
                    rank.max(there)
                }
                Nearby::Unknown => return Ok(Nearby::Unknown),
            },
        };
        is_nowhere &= !is_free(part, rank) || rank == part.size(&structure)[1];
    }
    Ok(if is_nowhere { Nearby::Nowhere } else { Nearby::Rank(there) })
}

/// The same of the rows of one part.
fn nearby_part(
    mechanism: &mut Mechanism,
    s: &State,
    here: &RowRank,
    part: &Component,
    rank: usize,
) -> Result<Nearby, SetupError> {
    let known = here.rank_to_resolve(mechanism.structure());
    let [_, n] = part.size(mechanism.structure());
    let mut alone = 0;
    for attempt in 0..TRIES {
        match excursion(mechanism, s, attempt, known, part) {
            Ok(Excursion::None) => return Ok(Nearby::Nowhere),
            Ok(Excursion::To(eq)) => {
                let structure = mechanism.structure();
                let is_whole = part.rows.len() == structure.rows.len();
                let rank = match is_whole {
                    true => RowRank::find(structure, &eq)?.rank,
                    false => {
                        RowRank::of_parts(structure, &eq, std::slice::from_ref(part))?.map(|ranks| ranks[0])
                    }
                };
                if let Some(rank) = rank {
                    return Ok(Nearby::Rank(rank));
                }
            }
            // one freedom of rates, and a path of which no other position keeps all rows
            Ok(Excursion::Off) if rank + 1 == n => alone += 1,
            Ok(Excursion::Stayed) => alone += 1,
            // another direction may have a way back
            Ok(Excursion::Back | Excursion::Off) | Err(_) => {}
        }
    }
    // rates are free here, positions are not: whatever the direction, no other position is near
    Ok(if alone == TRIES { Nearby::Rank(n) } else { Nearby::Unknown })
}

enum Excursion {
    /// There is no free direction.
    None,
    /// It led back to where it was.
    Stayed,
    /// It did not lead onto the constraints.
    Back,
    /// It led onto all rows but those that depend on others where it began.
    Off,
    /// The equations at another position.
    To(Box<Equations>),
}

fn excursion(
    mechanism: &mut Mechanism,
    s: &State,
    attempt: u64,
    known: Option<usize>,
    part: &Component,
) -> Result<Excursion, SolveError> {
    let structure = mechanism.structure().clone();
    let units = units(mechanism.system());
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    let mut kkt = Kkt::new(&structure, &eq, HUB_DEGREE)?;
    match known {
        Some(dependent) => kkt.resolve_rank(&eq, dependent).map(|_| ())?,
        None => kkt.factor(&eq, Which::All, RankDemand::ResolveRank)?,
    }
    let dependent = kkt.dependent_rows().to_vec();
    let fits = is_on(&structure, &eq, part, &[], &units, TOLERANCE * EXCURSION, 0.0);

    let mut random = Random(attempt);
    let mut r: Vec<f64> = units.iter().map(|unit| unit * random.normal()).collect();
    for (_, col) in structure.cols.iter().enumerate().filter(|(c, _)| part.cols.binary_search(c).is_err()) {
        r[col.start..][..col.size].fill(0.0);
    }
    let mut force = vec![0.0; structure.nv];
    eq.mass_mul(&structure, &r, &mut force);
    let (mut delta, mut mu) = (vec![0.0; structure.nv], vec![0.0; structure.nc]);
    kkt.solve(&eq, &force, &vec![0.0; structure.nc], &mut delta, &mut mu)?;
    let size = |delta: &[f64]| {
        let cols =
            part.cols.iter().map(|c| structure.cols[*c]).flat_map(|col| col.start..col.start + col.size);
        cols.fold(0.0_f64, |m, i| m.max(delta[i].abs() / units[i]))
    };
    let largest = size(&delta);
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
    mechanism.difference(&moved.q, &s.q, &mut delta);
    // a mechanism that was pulled back to where it was tells nothing
    let stayed = size(&delta) < 1e-3 * EXCURSION;
    let rounding = ROUNDING * moved.q.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // rows that nearly depend on others are off by what they lack
    let on = if known.is_some() { ON.max(TOLERANCE * EXCURSION) } else { ON };
    Ok(match is_on(&structure, &eq, part, &[], &units, on, rounding) {
        false if fits && !stayed && is_on(&structure, &eq, part, &dependent, &units, on, rounding) => {
            Excursion::Off
        }
        false => Excursion::Back,
        true if stayed => Excursion::Stayed,
        true => Excursion::To(Box::new(eq)),
    })
}

/// Unit of each velocity: 1 of angles, and of displacements the size of the body, the largest distance of a joint from
/// its centre of mass. Bodies without such a distance take the mean of the others, or of the distances of all bodies.
fn units(system: &System) -> Vec<f64> {
    let s = &system.structure;
    let bodies = &system.directory.bodies;
    let mut sizes = vec![0.0_f64; bodies.len()];
    let length = |p: &[f64]| p.iter().map(|x| x * x).sum::<f64>().sqrt();
    for joint in &system.directory.joints {
        for (body, p) in joint.bodies.iter().zip([joint.frames.F.p, joint.frames.M.p]) {
            let size = &mut sizes[*body as usize];
            *size = size.max(length(&p));
        }
    }
    // ground is no body of the mechanism, and as large as one likes
    let mean = |sizes: &mut dyn Iterator<Item = f64>| {
        let (n, sum) = sizes.filter(|l| *l > 0.0).fold((0, 0.0), |(n, sum), l| (n + 1, sum + l));
        (n > 0).then(|| sum / f64::from(n))
    };
    let apart = |i: usize| length(&[0, 1, 2].map(|k| bodies[i].start.0[k] - bodies[1].start.0[k]));
    let other = mean(&mut sizes.iter().skip(1).copied())
        .or_else(|| mean(&mut (2..bodies.len()).map(apart)))
        .unwrap_or(1.0);
    let linear = if system.directory.space == Space::Planar { 2 } else { 3 };
    let mut units = vec![1.0; s.nv];
    for (body, size) in bodies.iter().zip(sizes).skip(1) {
        let Ok(col) = s.cols.binary_search_by_key(&body.v, |c| c.start) else { continue };
        let n = s.cols[col].size.min(linear);
        units[body.v..][..n].fill(if size > 0.0 { size } else { other });
    }
    units
}

/// Returns whether positions are on the constraints of a part, `but` for some rows: none asks for more than a very small displacement, or for rounding.
fn is_on(
    s: &Structure,
    eq: &Equations,
    part: &Component,
    but: &[usize],
    units: &[f64],
    on: f64,
    rounding: f64,
) -> bool {
    part.rows.iter().map(|row| &s.rows[*row]).all(|row| {
        (0..row.holonomic).all(|i| {
            let mut most = 0.0;
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let J = &eq.J[e.offset + i * col.size..][..col.size];
                most += J
                    .iter()
                    .zip(&units[col.start..])
                    .map(|(j, u)| j.abs() * (on * u + rounding))
                    .sum::<f64>();
            }
            // a row that nothing moves is as good here as it was
            most == 0.0 || but.contains(&(row.start + i)) || eq.phi[row.start + i].abs() <= most
        })
    })
}
