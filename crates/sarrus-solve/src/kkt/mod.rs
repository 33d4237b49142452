//! Block-sparse solver of [M Jᵀ; J 0] [x; μ] = [a; b], shared by every method; J may have any rank.
//!
//! M is block diagonal, so bodies are eliminated by their inverse, constant but where the structure says that it varies,
//! except hubs h, bodies with very many row blocks. What is left,
//!
//! ```text
//! [ S       -J_h ] [ μ   ]   [ -(b - J_n M_n⁻¹ a_n) ]
//! [ -J_hᵀ   -M_h ] [ x_h ] = [ -a_h                 ],   S = J_n M_n⁻¹ J_nᵀ over the other bodies n,
//! ```
//!
//! is quasi-definite once S is positive definite: a block LDLᵀ exists in every order \[Vanderbei1995\], and minimum
//! degree on the graph of row blocks and hubs makes it O(N) on chains, trees and wheels.
//!
//! A row that depends on those eliminated before it leaves a pivot of rounding size. It is dropped: x is then as
//! accurate as if the constraint had not been written, and what is left of its own equation is reported as
//! contradiction. Which rows these are is decided in a metric of lengths alone (`kinematic.rs`): light bodies make no row dependent. Off the constraints, at the stages of an integrator, such a row is independent again by the square
//! of the violation, and to solve for it would turn the violation into forces of any size; so rows found dependent
//! at a state on the constraints ([`RankDemand::ResolveRank`]) stay so until they clearly are not. A row that only a hub, not yet
//! eliminated, makes independent is moved behind the hub (`hubs.rs`).
//! Which of the rows that depend on each other are left out is chosen so that those kept are well conditioned (`choice.rs`).
//! The multipliers of least norm are found afterwards, where they are wanted ([`Kkt::least_norm`]).
//!
//! Cost: O(N) block products per factorization, no allocation after [`Kkt::new`] but the first time that rows must be
//! moved behind a hub, or that multipliers of least norm are wanted. Not for a singular M.

mod agree;
mod choice;
mod hubs;
mod kinematic;
mod least_norm;
mod null;
mod passing;
mod plan;
mod refine;
mod rows;
mod soft;

use crate::error::SolveError;
use crate::problem::{Equations, Structure};
use plan::KktPlan;
use refine::COARSEST;
pub use refine::SolveReport;
use rows::sized;
use sarrus_math::solve::kernels::{self, Action};
use sarrus_math::solve::{BlockLdl, SmallPivot};

/// Bodies with more row blocks than this are hubs, unless a method wants otherwise.
pub const HUB_DEGREE: usize = 16;

/// A pivot of J C² Jᵀ, C the kinematic units, below this fraction of its row's diagonal is that of a row which depends on others: pivots
/// are squares of what singular values measure. Taken from the ground outwards, independent rows leave pivots of order one, and
/// dependent ones the rounding times the condition of the rows before them. Where the second is larger than this, and
/// refinement therefore fails, larger fractions are tried.
const DEPENDENT: f64 = crate::rank::TOLERANCE * crate::rank::TOLERANCE;
/// Smallest fraction tried where more rows fall below it than are known to be dependent.
const FINEST: f64 = 1e-14;
/// The same for a row settled as dependent: violations up to 10⁻³ make it no better than the square.
const STILL_DEPENDENT: f64 = 1e-6;
/// Up to which the fraction is raised where fewer rows are dependent than is known. Above it a row may be one that a singular
/// position took at the start, and gives back.
const LET_IN: f64 = 1e-8;
/// The same where full rank is demanded.
const NOT_FULL: f64 = 1e-12;
/// A row whose coupling to hubs is below this fraction of its diagonal does not wait for a hub.
const COUPLED: f64 = 1e-6;
/// ε, relative to the row's diagonal, of rows that wait for a hub, until they are moved behind it.
const SOFT: f64 = 1e-8;

/// Identifies which rows take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveRows {
    /// All.
    All,
    /// Those with a position level; the multipliers of the others are zero.
    Holonomic,
}

/// Holds what is demanded of the rank of J.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankDemand {
    /// Full: a dependent row is an error.
    Full,
    /// Any: dependent rows are left out; which they are was settled before, or is now if this is the first time.
    Any,
    /// Any, at a state on the constraints: settles which rows are dependent.
    ResolveRank,
}

/// M⁻¹ of a body, by what is not zero in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inverse {
    /// Diagonal.
    Diagonal,
    /// Three diagonal numbers and a 3 × 3 block: a spatial body.
    Split,
    /// Anything.
    Full,
}

/// A body.
#[derive(Debug, Clone, Copy)]
struct BodyBlock {
    start: usize,
    size: usize,
    mass: usize,
    inverse: Inverse,
}

/// The solver, with the pattern of one [`Structure`] and room for one factorization.
#[derive(Debug, Clone)]
pub struct Kkt {
    structure: Structure,
    hub_degree: usize,
    plan: KktPlan,
    ldl: BlockLdl,
    bodies: Vec<BodyBlock>,
    nc: usize,
    mass: Vec<f64>,
    minv: Vec<f64>,
    /// J M⁻¹, laid out as J.
    W: Vec<f64>,
    /// Each block of J transposed, at the same offset.
    Jt: Vec<f64>,
    /// Diagonal of J M⁻¹ Jᵀ, hubs included.
    scale: Vec<f64>,
    /// Pivot floors, in elimination order.
    floor: Vec<f64>,
    /// Diagonal of M_h⁻¹ at hubs, zero at rows, in elimination order.
    weight: Vec<f64>,
    rows: ActiveRows,
    rank: RankDemand,
    /// The fraction in use in place of [`DEPENDENT`].
    dependent: f64,
    /// Holds what masses make of the limit of each row (nc), see `kinematic.rs`.
    share: Vec<f64>,
    /// True if the rows have been judged in the kinematic metric.
    decided: bool,
    /// True if that judgement is final: of a run it is made where the run begins. Beside a singular position later on small pivots
    /// come from the position, not from the masses.
    is_final: bool,
    /// Rows settled as dependent, once that has been done.
    resolved: Option<Vec<bool>>,
    /// The number of these.
    resolved_rows: usize,
    /// Number of dependent ones, where that is known from elsewhere.
    known: Option<usize>,
    /// Rows left out of the current factors.
    is_dropped: Vec<bool>,
    dropped: Vec<usize>,
    /// The largest pivot left out, as a fraction of its row's diagonal.
    largest_dropped: f64,
    /// Rows that wait for a hub.
    hubs: hubs::Hubs,
    /// J of the factors, kept for one comparison.
    held: Option<Vec<f64>>,
    scratch: Vec<f64>,
    factorizations: u64,
    work: refine::SolveWorkspace,
    choice: choice::RowChoice,
    /// True if all rows have a position level.
    is_holonomic: bool,
    soft: Option<least_norm::Soft>,
    vectors: Option<least_norm::NullVectors>,
    /// b without its part in the null space of Jᵀ, and what was left of b before (nc).
    agreed: [Vec<f64>; 2],
}

impl Kkt {
    /// Analyses `s`, with the constant blocks of M and M⁻¹ from `eq`. `hub_degree` is [`HUB_DEGREE`] unless there is
    /// a reason: bodies with more row blocks stay among the unknowns.
    pub fn new(s: &Structure, eq: &Equations, hub_degree: usize) -> Result<Kkt, SolveError> {
        if u32::try_from(s.J_len).is_err() {
            return Err(SolveError::TooLarge { blocks: s.entries.len() });
        }
        check_mass(s, eq)?;
        let (plan, ldl) = KktPlan::new(s, hub_degree, &[])?;
        let bodies = s.cols.iter().map(|c| BodyBlock {
            start: c.start,
            size: c.size,
            mass: c.mass,
            inverse: inverse_kind(&eq.minv[c.mass..][..c.size * c.size], c.size),
        });
        let mut bodies: Vec<BodyBlock> = bodies.collect();
        // zeros of one place need not be zeros of another
        s.varying.iter().for_each(|&col| bodies[col].inverse = Inverse::Full);
        let unknowns = s.nc + plan.hubs.iter().map(|h| s.cols[h.col].size).sum::<usize>();
        let mut kkt = Kkt {
            structure: s.clone(),
            hub_degree,
            ldl,
            bodies,
            nc: s.nc,
            mass: eq.mass.clone(),
            minv: eq.minv.clone(),
            W: vec![0.0; s.J_len],
            Jt: vec![0.0; s.J_len],
            scale: vec![0.0; s.nc],
            floor: vec![0.0; unknowns],
            weight: vec![0.0; unknowns],
            rows: ActiveRows::All,
            rank: RankDemand::Any,
            dependent: DEPENDENT,
            share: vec![1.0; s.nc],
            decided: false,
            is_final: false,
            resolved: None,
            resolved_rows: 0,
            known: None,
            is_dropped: vec![false; s.nc],
            dropped: Vec::with_capacity(s.nc),
            largest_dropped: 0.0,
            hubs: hubs::Hubs::default(),
            held: None,
            scratch: vec![0.0; s.J_len],
            factorizations: 0,
            work: refine::SolveWorkspace::new(s, unknowns),
            choice: choice::RowChoice::default(),
            is_holonomic: s.rows.iter().all(|row| row.holonomic == row.size),
            soft: None,
            vectors: None,
            agreed: Default::default(),
            plan,
        };
        kkt.weigh_hubs();
        Ok(kkt)
    }

    /// Returns whether it was made for the pattern `s`.
    pub fn is_for(&self, s: &Structure) -> bool {
        self.structure == *s
    }

    /// Factorizations made so far.
    pub fn factorizations(&self) -> u64 {
        self.factorizations
    }

    /// Blocks stored in the factors.
    pub fn blocks(&self) -> usize {
        self.ldl.blocks()
    }

    /// Rows that the last factorization left out because others determine them.
    pub fn dependent_rows(&self) -> &[usize] {
        &self.dropped
    }

    /// Returns whether the last factorization left out the scalar row `row`.
    pub fn is_dependent(&self, row: usize) -> bool {
        self.is_dropped[row]
    }

    /// Returns whether rows are settled as dependent on others.
    pub fn has_resolved_rank(&self) -> bool {
        self.resolved.is_some() && self.resolved_rows > 0
    }

    /// The smallest pivot of the rows that took part in the last factorization, as a fraction of its row's diagonal. It falls
    /// with the square of the smallest singular value of J.
    pub fn smallest_pivot(&self) -> f64 {
        self.ldl.smallest() * self.dependent
    }

    /// Pivots of the last factorization as fractions of their rows' diagonals: the largest of a row that was left out, the
    /// limit between the two sorts, and the smallest of a row that took part.
    pub fn pivots(&self) -> [f64; 3] {
        [self.largest_dropped, self.dependent, self.smallest_pivot()]
    }

    /// Factors at the J of `eq`. Does not allocate.
    pub fn factor(&mut self, eq: &Equations, rows: ActiveRows, rank: RankDemand) -> Result<(), SolveError> {
        // the factors that `hold` kept will do if nothing changed
        if let Some(held) = self.held.take() {
            let full = self.dropped.is_empty();
            let resolved = rank != RankDemand::ResolveRank || self.rank == RankDemand::ResolveRank;
            let same = rows == self.rows && resolved && held == eq.J && (rank != RankDemand::Full || full);
            self.scratch = held;
            if same {
                return Ok(());
            }
        }

        self.rows = rows;
        self.rank = rank;
        self.refactor(eq)?;
        // one that rounding has let in would take part with a pivot that is nothing but rounding
        let fewer = self.known.filter(|known| rank == RankDemand::ResolveRank && self.dropped.len() < *known);
        if let Some(known) = fewer {
            self.resolve_rank_up_to(eq, known, LET_IN)?;
        }
        self.choose(eq)
    }

    /// Settles which rows are dependent, at a state on the constraints, where it is known that so many are. Rounding and bad
    /// conditioning may lift the pivots of dependent rows; their number then tells them from the others. Returns whether
    /// as many were found; if not, things are as without knowing.
    pub fn resolve_rank(&mut self, eq: &Equations, dependent: usize) -> Result<bool, SolveError> {
        let found = self.resolve_rank_up_to(eq, dependent, COARSEST)?;
        self.choose(eq)?;
        Ok(found)
    }

    fn resolve_rank_up_to(
        &mut self,
        eq: &Equations,
        dependent: usize,
        coarsest: f64,
    ) -> Result<bool, SolveError> {
        let before = self.dependent;
        let (mut raised, mut lowered) = (false, false);
        self.known = None;
        self.is_final = false;
        self.held = None;
        self.forget_choice()?;
        (self.rows, self.rank) = (ActiveRows::All, RankDemand::ResolveRank);
        loop {
            self.decided = false;
            self.refactor(eq)?;
            let found = self.dropped.len();
            if found == dependent {
                self.known = Some(dependent);
                return Ok(true);
            }
            (raised, lowered) = (raised || found < dependent, lowered || found > dependent);
            let is_last =
                if found < dependent { self.dependent >= coarsest } else { self.dependent <= FINEST };
            if raised && lowered || is_last {
                break;
            }
            self.dependent *= if raised { 10.0 } else { 0.1 };
        }
        self.dependent = before;
        self.decided = false;
        self.refactor(eq)?;
        Ok(false)
    }

    /// Fixes which rows masses make weak, from here on: of a run, once its first accelerations are found.
    pub(crate) fn end_judgement(&mut self) {
        self.is_final = true;
    }

    /// The rank, where it is known from elsewhere.
    pub fn known_rank(&self) -> Option<usize> {
        self.known.map(|dependent| self.nc - dependent)
    }

    fn refactor(&mut self, eq: &Equations) -> Result<(), SolveError> {
        self.load_masses(eq)?;
        let rank = self.rank;
        loop {
            self.factorizations += 1;
            self.weigh(&eq.J)?;
            assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, self.ldl.values_mut());
            self.set_floors(rank);
            let outcome = self.eliminate(rank);
            if self.factor_waiting(eq)? {
                continue;
            }
            let is_new =
                !self.decided && !self.is_final && (rank != RankDemand::Any || self.resolved.is_none());
            if is_new && (outcome.is_err() || self.is_unclear()) && self.decide(eq).is_ok() {
                continue;
            }
            outcome?;
            break;
        }
        if rank == RankDemand::ResolveRank || (rank == RankDemand::Any && self.resolved.is_none()) {
            self.resolved.get_or_insert_with(Vec::new).clone_from(&self.is_dropped);
            self.resolved_rows = self.dropped.len();
        }
        Ok(())
    }

    /// Keeps the factors for the next [`factor`](Kkt::factor), which then is free if it is asked for the same J.
    pub fn hold(&mut self, eq: &Equations) {
        // the same J does not say that M is the same
        if !self.structure.varying.is_empty() {
            return;
        }
        let mut copy = std::mem::take(&mut self.scratch);
        copy.clone_from(&eq.J);
        self.held = Some(copy);
    }

    /// Takes the blocks of M that vary. One that is not positive definite has no inverse, and NaN in its place.
    fn load_masses(&mut self, eq: &Equations) -> Result<(), SolveError> {
        if self.structure.varying.is_empty() {
            return Ok(());
        }
        eq.copy_varying(&self.structure, &mut self.mass, &mut self.minv);
        self.weigh_hubs();
        let bad = |col: &&usize| !self.minv[self.structure.cols[**col].mass].is_finite();
        match self.structure.varying.iter().find(bad) {
            Some(&col) => Err(SolveError::Overbent { velocity: self.structure.cols[col].start }),
            None => Ok(()),
        }
    }

    fn weigh_hubs(&mut self) {
        self.weight.fill(0.0);
        for hub in &self.plan.hubs {
            let body = &self.bodies[hub.col];
            for i in 0..body.size {
                self.weight[hub.at + i] = self.minv[body.mass + i * (body.size + 1)];
            }
        }
    }

    /// W = J M⁻¹, Jᵀ, the diagonal blocks of S, and the diagonal of J M⁻¹ Jᵀ.
    fn weigh(&mut self, J: &[f64]) -> Result<(), SolveError> {
        let K = self.ldl.values_mut();
        for row in &self.plan.rows {
            let n = row.size;
            let blocks = &self.plan.blocks[row.first..row.last];
            let scale = &mut self.scale[row.start..][..n];
            let D = &mut K[row.diagonal..][..n * n];
            let (W, Jt) = (&mut self.W, &mut self.Jt);
            let taking_part = if self.rows == ActiveRows::All { n } else { row.holonomic };
            if taking_part == n {
                sized!(
                    row,
                    weigh(blocks, &self.bodies, &self.minv, J, W, Jt, D, scale),
                    weigh_any(blocks, &self.bodies, &self.minv, J, W, Jt, D, scale, n)
                );
            } else {
                weigh_any(blocks, &self.bodies, &self.minv, J, W, Jt, D, scale, taking_part);
            }
            if scale.iter().any(|s| !s.is_finite()) {
                let index = J.iter().position(|x| !x.is_finite()).unwrap_or(0);
                return Err(SolveError::NotFinite { quantity: "J", index });
            }
        }
        Ok(())
    }

    fn set_floors(&mut self, rank: RankDemand) {
        let resolved = self.resolved.as_deref().filter(|_| rank == RankDemand::Any);
        let fraction = if rank == RankDemand::Full { NOT_FULL } else { self.dependent };
        for row in &self.plan.rows {
            let floor = &mut self.floor[row.at..][..row.size];
            let scale = &self.scale[row.start..][..row.size];
            let share = &self.share[row.start..][..row.size];
            match resolved {
                None => {
                    for ((f, s), share) in floor.iter_mut().zip(scale).zip(share) {
                        *f = fraction * share * s;
                    }
                }
                Some(resolved) => {
                    let resolved = &resolved[row.start..][..row.size];
                    for (((f, s), share), &dependent) in floor.iter_mut().zip(scale).zip(share).zip(resolved)
                    {
                        *f = s * if dependent { STILL_DEPENDENT } else { fraction * share };
                    }
                }
            }
        }
        if rank != RankDemand::Full && self.has_choice() {
            for row in &self.plan.rows {
                let out = &self.choice.out[row.start..][..row.size];
                let floor = self.floor[row.at..].iter_mut().zip(out);
                floor.filter(|(_, out)| **out).for_each(|(f, _)| *f = f64::INFINITY);
            }
        }
    }

    fn eliminate(&mut self, rank: RankDemand) -> Result<(), SolveError> {
        let (chosen, set) = (self.has_choice(), self.hub_set());
        let Kkt { plan, ldl, scale, floor, weight, is_dropped, dropped, largest_dropped, hubs, .. } = self;
        let out = &self.choice.out;
        *largest_dropped = 0.0;
        dropped.drain(..).for_each(|i| is_dropped[i] = false);
        hubs.clear();
        let decide = |small: SmallPivot, couplings: &[(usize, f64)]| {
            if small.node >= plan.rows.len() || !(small.value + small.coupling).is_finite() {
                return Action::Stop;
            }
            let i = plan.node_start[small.node] + small.row;
            // a floor of infinity leaves a row out, whatever its pivot
            let is_chosen = chosen && out[i] || floor[plan.rows[small.node].at + small.row] == f64::INFINITY;
            let is_spared = !chosen && hubs.is_spared(set, i);
            if !is_chosen && !is_spared && small.coupling > COUPLED * scale[i] {
                hubs.wait(i, small.node, couplings);
                return Action::Use(small.value.max(SOFT * scale[i]));
            }
            if rank == RankDemand::Full {
                return Action::Stop;
            }
            is_dropped[i] = true;
            dropped.push(i);
            if scale[i] > 0.0 && !is_chosen {
                *largest_dropped = largest_dropped.max(small.value.abs() / scale[i]);
            }
            Action::Drop
        };
        ldl.factor(floor, weight, decide).map_err(|bad| {
            let i = plan.node_start[bad.node] + bad.row;
            if bad.node < plan.rows.len() {
                SolveError::RankDeficient { row: i, pivot: bad.value, scale: scale[i] }
            } else {
                SolveError::Mass { velocity: i }
            }
        })
    }
}

/// As [`rows::weigh`], for any sizes; rows from `taking_part` on are left out, with a one on their diagonal.
fn weigh_any(
    blocks: &[plan::JacobianBlock],
    bodies: &[BodyBlock],
    minv: &[f64],
    J: &[f64],
    W: &mut [f64],
    Jt: &mut [f64],
    D: &mut [f64],
    scale: &mut [f64],
    taking_part: usize,
) {
    let n = scale.len();
    D.fill(0.0);
    scale.fill(0.0);
    for b in blocks {
        let len = n * b.size;
        let J = &J[b.offset..][..len];
        let (W, Jt) = (&mut W[b.offset..][..len], &mut Jt[b.offset..][..len]);
        kernels::assign(W, J, &minv[bodies[b.col].mass..], n, b.size, b.size);
        kernels::transpose(Jt, J, n, b.size);
        W[taking_part * b.size..].fill(0.0);
        Jt.chunks_exact_mut(n).for_each(|column| column[taking_part..].fill(0.0));
        if b.hub.is_none() {
            kernels::accumulate(D, W, Jt, n, b.size, n);
        }
        for (i, scale) in scale.iter_mut().enumerate().take(taking_part) {
            let at = i * b.size..(i + 1) * b.size;
            *scale += W[at.clone()].iter().zip(&J[at]).map(|(w, j)| w * j).sum::<f64>();
        }
    }
    for i in taking_part..n {
        D[i * n + i] = 1.0;
        scale[i] = 1.0;
    }
}

/// Fills all of [S, -J_h; -J_hᵀ, -M_h] but the diagonal blocks of S.
fn assemble(plan: &KktPlan, bodies: &[BodyBlock], mass: &[f64], W: &[f64], Jt: &[f64], K: &mut [f64]) {
    for &(at, len) in &plan.fill {
        K[at..at + len].fill(0.0);
    }
    for p in &plan.products {
        let (n, m, k) = (p.n as usize, p.m as usize, p.k as usize);
        let (W, Jt) = (&W[p.W as usize..], &Jt[p.J as usize..]);
        let to = &mut K[p.to as usize..];
        if p.first {
            kernels::assign(to, W, Jt, n, m, k);
        } else {
            kernels::accumulate(to, W, Jt, n, m, k);
        }
    }
    for hub in &plan.hubs {
        let body = &bodies[hub.col];
        let m = body.size;
        let M = &mass[body.mass..][..m * m];
        K[hub.diagonal..][..m * m].iter_mut().zip(M).for_each(|(k, m)| *k = -m);
        for &(row, b) in &hub.blocks {
            let (n, b) = (plan.rows[row].size, &plan.blocks[b]);
            let Some((at, transposed)) = b.hub else { continue };
            let (to, Jt) = (&mut K[at..][..n * m], &Jt[b.offset..][..n * m]);
            if transposed {
                to.copy_from_slice(Jt);
            } else {
                kernels::transpose(to, Jt, m, n);
            }
            to.iter_mut().for_each(|k| *k = -*k);
        }
    }
}

fn inverse_kind(minv: &[f64], n: usize) -> Inverse {
    let zero_unless = |allowed: &dyn Fn(usize, usize) -> bool| {
        (0..n).all(|i| (0..n).all(|j| i == j || allowed(i, j) || minv[i * n + j] == 0.0))
    };
    if zero_unless(&|_, _| false) {
        Inverse::Diagonal
    } else if n == 6 && zero_unless(&|i, j| i >= 3 && j >= 3) {
        Inverse::Split
    } else {
        Inverse::Full
    }
}

/// M M⁻¹ = I and both have a positive diagonal, body by body.
fn check_mass(s: &Structure, eq: &Equations) -> Result<(), SolveError> {
    for col in &s.cols {
        let n = col.size;
        let (M, N) = (&eq.mass[col.mass..][..n * n], &eq.minv[col.mass..][..n * n]);
        for i in 0..n {
            let positive = M[i * n + i] > 0.0 && N[i * n + i] > 0.0;
            let inverse = (0..n).all(|j| {
                let terms = || (0..n).map(|k| M[i * n + k] * N[k * n + j]);
                let one = if i == j { 1.0 } else { 0.0 };
                (terms().sum::<f64>() - one).abs() <= 1e-9 * (1.0 + terms().map(f64::abs).sum::<f64>())
            });
            if !(positive && inverse) {
                return Err(SolveError::Mass { velocity: col.start + i });
            }
        }
    }
    Ok(())
}
