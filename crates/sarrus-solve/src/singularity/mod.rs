//! Through singular positions: where J loses rank for an instant, accelerations are found from higher derivatives of the
//! constraints, and the run continues along the branch that its velocity points to.
//!
//! [`danger`] shows which combinations of rows become dependent within a window of time around the state, [`window`] finds the
//! accelerations there, [`project`] brings states onto the constraints there. All three depend on the state alone, so that an
//! integrator keeps its order and needs to know nothing of it.
//!
//! Connected parts are checked by themselves: those of up to [`DENSE`] velocities with dense decompositions, larger ones with the
//! block-sparse factors ([`sparse`]).

mod dependent_rows;
mod guard;
mod jump;
mod multiplier_pole;
mod part;
mod project;
mod sparse;
mod start;
mod window;

pub use dependent_rows::DependentRows;
pub use project::EXACT;
pub use start::{BranchDirection, HeldVelocity, SingularStart, refine_positions, set_out, singular_starts};

use crate::error::SolveError;
use crate::formulations::dense::Root;
use crate::problem::{Accel, COEFFICIENTS, Equations, Expansion, Problem, State};
use multiplier_pole::MultiplierPole;
pub(crate) use part::Subsystem;
use sparse::{MAX_DOF, Sparse};
use window::{STILL, Window, WindowSeries, accelerate};

/// Velocities of the largest part that is decomposed as a whole.
pub const DENSE: usize = 48;

/// The highest coefficient of the motion of large parts.
const LARGE_ORDERS: usize = 6;

/// Describes how singular positions are passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Regularize {
    /// They are not searched for.
    Off,
    /// By Taylor coefficients of the motion and of its tangents.
    #[default]
    Jets,
    /// By one more derivative of the nearly dependent rows, as \[Amirouche1991\] does; to compare with.
    Amirouche,
}

impl Regularize {
    /// The highest coefficient of the motion that is checked, in a part of `nv` velocities: windows of large ones are small.
    fn orders(self, nv: usize) -> usize {
        match self {
            Regularize::Amirouche => 2,
            _ if nv > DENSE => LARGE_ORDERS,
            _ => COEFFICIENTS - 1,
        }
    }
}

/// Dangerous rows at or below this part of the largest singular value get Amirouche's rows.
const AMIROUCHE: f64 = 0.05;

/// Branches that are farther apart than this, relative to the largest position, do not cross.
const CROSSING: f64 = 1e-9;

/// Marks where a state is, as [`SingularityDetector`] sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingularRegion {
    /// In no window.
    Outside,
    /// In the window of a crossing: accelerations are those of the window.
    Inside,
    /// In the window of a near miss: accelerations are the plain ones.
    Beside,
    /// Marks where a singular position seemed to be and is not: likewise.
    Weak,
}

/// Holds what became of a singular position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// Two branches cross, and the run continued along its own.
    Passed,
    /// The branches come near each other but do not cross: the run was left to plain accelerations.
    Missed,
    /// No branch was found to lead through: if the run ends there it is the end of its range, otherwise there was nothing.
    Unclear,
}

/// A singular position that a run has met.
#[derive(Debug, Clone, PartialEq)]
pub struct SingularityRecord {
    /// Holds what became of it.
    pub crossing: Crossing,
    /// Time of the first evaluation inside the window \[s\].
    pub enter: f64,
    /// Time of the last one \[s\].
    pub leave: f64,
    /// Time when rank was lost, as seen from nearest by \[s\].
    pub at: f64,
    /// Describes how many rows lost their hold.
    pub losses: usize,
    /// The scalar rows of λ that take part, one of each element, largest part first.
    pub rows: Vec<usize>,
    /// √(vᵀMv) of the part when it was nearest \[√J\].
    pub speed: f64,
    /// The least of it in the window \[√J\] ...
    pub slowest: f64,
    /// ... and when that was \[s\].
    pub slowest_at: f64,
    /// The largest.
    pub fastest: f64,
    /// Largest |U_dᵀΦ| seen where the other rows and its derivative hold: zero on branches that cross \[m\].
    pub gap: f64,
    /// Largest |R| where λ ≈ R / (t - at) near it \[N s, N m s\] and the row where that is; none where λ stays bounded, or where too
    /// little was seen of it.
    pub residue: Option<(f64, usize)>,
}

/// Holds what passes singular positions.
pub struct SingularityDetector {
    kind: Regularize,
    parts: Vec<Subsystem>,
    /// Rank of each part away from singular positions, as seen so far.
    ranks: Vec<Option<usize>>,
    /// True if there are large parts.
    is_large: bool,
    /// For large parts; none until it is needed.
    sparse: Option<Sparse>,
    /// Times that a part was decomposed to search for nearly dependent rows.
    checks: u64,
    /// Half the window of large parts \[s\].
    least: f64,
    /// Rows that say nothing new anywhere.
    redundant: usize,
    root: Root,
    workspace: Expansion,
    dense: Vec<f64>,
    /// Zeros, as the coefficients that Φ shall have.
    zeros: Vec<Vec<f64>>,
    records: Vec<SingularityRecord>,
    /// Time to the nearest loss of rank when the open record was nearest.
    nearest: f64,
    is_open: bool,
    /// True if what is open is no singular position.
    is_weak: bool,
    /// λ of the last window less its parts along nearly dependent rows (nc).
    regular: Vec<f64>,
    /// Parts that were inside it, and their ranks away from the singular position.
    ranks_inside: Vec<(usize, usize)>,
    /// λ of the nearly dependent rows times the time from the singular position, seen on the way.
    pole: MultiplierPole,
    /// The state at which rank is lost, as the last guard has found it, and the residue of multipliers there.
    middle: State,
    has_middle: bool,
    residue: Option<(f64, usize)>,
    /// Holds what the last projection has found.
    projected: project::Projected,
    /// Workspace for solutions in windows.
    work: window::SeriesWorkspace,
    /// Workspace for steps that went over one.
    between: jump::StateSegment,
    /// Workspace for the guard.
    trial: Option<(State, Equations)>,
}

impl SingularityDetector {
    /// For `problem`.
    pub fn new(problem: &dyn Problem, kind: Regularize) -> Result<SingularityDetector, SolveError> {
        let (s, eq) = (problem.structure(), Equations::new(problem));
        let mut parts = Subsystem::all(s);
        // those with more degrees of freedom than can be followed are not even checked
        parts.retain(|part| part.nv() <= DENSE || part.nv() <= part.nc() + MAX_DOF);
        let is_large = parts.iter().any(|part| part.nv() > DENSE);
        Ok(SingularityDetector {
            kind,
            ranks: vec![None; parts.len()],
            parts,
            is_large,
            sparse: None,
            least: 0.0,
            redundant: 0,
            root: Root::new(s, &eq)?,
            // made when it is needed
            checks: 0,
            workspace: Expansion::default(),
            dense: Vec::new(),
            zeros: Vec::new(),
            records: Vec::new(),
            nearest: f64::INFINITY,
            is_open: false,
            is_weak: false,
            regular: Vec::new(),
            ranks_inside: Vec::new(),
            pole: MultiplierPole::default(),
            middle: State::default(),
            has_middle: false,
            residue: None,
            projected: project::Projected::default(),
            work: window::SeriesWorkspace::default(),
            between: jump::StateSegment::default(),
            trial: None,
        })
    }

    /// Returns how they are passed.
    pub fn kind(&self) -> Regularize {
        self.kind
    }

    /// Returns whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns whether there are parts that are decomposed as a whole.
    pub fn has_small(&self) -> bool {
        self.parts.iter().any(|part| part.nv() <= DENSE)
    }

    /// Times that a part was decomposed to search for nearly dependent rows.
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// Returns whether what is open is no crossing.
    pub fn is_open_miss(&self) -> bool {
        self.is_open && self.records.last().is_some_and(|r| r.crossing != Crossing::Passed)
    }

    /// Singular positions met so far.
    pub fn records(&self) -> &[SingularityRecord] {
        &self.records
    }

    /// The nearly dependent rows of part `i` at `s` within `tau` \[s\]. Leaves D and D₁ in `workspace`.
    fn check(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &State,
        tau: f64,
    ) -> Result<Option<DependentRows>, SolveError> {
        self.checks += 1;
        if self.workspace.phi.is_empty() {
            let s = problem.structure();
            self.workspace = Expansion::zeros(s);
            self.zeros = vec![vec![0.0; s.nc]; COEFFICIENTS];
            if self.is_large {
                self.sparse = Some(Sparse::new(s, &Equations::new(problem))?);
            }
        }
        let part = &self.parts[i];
        if !problem.expand(s, std::slice::from_ref(&s.v), &part.blocks, true, &mut self.workspace) {
            return Ok(None);
        }
        let is_sparse = part.nv() > DENSE;
        if is_sparse {
            self.dense.clone_from(&self.workspace.J[0]);
        }
        self.workspace.J.iter_mut().take(2).for_each(|J| part.scale(&self.root, J));
        let SingularityDetector { parts, kind, workspace, sparse, dense, least, .. } = self;
        let (part, D, D1) = (&parts[i], &workspace.J[0], &workspace.J[1]);
        let tau = match kind {
            // the window of the paper is one of size, not of time
            Regularize::Amirouche => AMIROUCHE * part.bound(D) / part.bound(D1).max(f64::MIN_POSITIVE),
            _ => tau,
        };
        match sparse {
            Some(sparse) if is_sparse => {
                let dependent = sparse.find(part, dense, D, D1, tau.min(*least))?;
                Ok(Some(dependent).filter(|d| d.len() == 0 || part.nv() - d.rank <= MAX_DOF))
            }
            _ => DependentRows::find(part, D, D1, tau, dense).map(Some),
        }
    }

    /// λ of the last [`accelerate`](SingularityDetector::accelerate) with λ in a window, less its parts along rows that become dependent there; none where
    /// the rows left out, `dropped`, are no more than those that are redundant everywhere.
    pub fn regular(&self, dropped: &[usize]) -> Option<&[f64]> {
        let has_lost = |(i, rank): &(usize, usize)| {
            let part = &self.parts[*i];
            part.indices_of(dropped).len() > part.nc() - rank.min(&part.nc())
        };
        self.ranks_inside.iter().any(has_lost).then_some(&*self.regular)
    }

    /// Takes note of the rank at `s`, which is on the constraints.
    pub fn learn(&mut self, problem: &mut dyn Problem, s: &State, tau: f64) -> Result<(), SolveError> {
        for i in 0..self.parts.len() {
            if let Some(dependent) = self.check(i, problem, s, tau)? {
                self.ranks[i] = self.ranks[i].max(Some(dependent.rank));
            }
        }
        Ok(())
    }

    /// Sets half the window of large parts \[s\]: as small as rounding allows, as everything costs more there.
    pub fn set_least(&mut self, least: f64) {
        self.least = least;
    }

    /// Sets how many rows say nothing new anywhere.
    pub fn set_redundant(&mut self, redundant: usize) {
        self.redundant = redundant;
    }

    /// Returns whether nothing is known of the rank yet.
    pub fn is_new(&self) -> bool {
        self.ranks.iter().any(Option::is_none)
    }

    /// Replaces v̇ and λ in `accel` by those of a window around a singular position, in the parts where `s` is within one.
    /// Returns where `s` is. `tau` is half the window \[s\]; `eq` holds the forces at `s`, `targets` what Φ shall do from its second
    /// coefficient on. λ is replaced only `with_lambda`. `last` is the last state on the
    /// constraints.
    pub fn accelerate(
        &mut self,
        problem: &mut dyn Problem,
        s: &State,
        eq: &Equations,
        tau: f64,
        targets: Option<&[Vec<f64>]>,
        with_lambda: bool,
        last: Option<&State>,
        accel: &mut Accel,
    ) -> Result<SingularRegion, SolveError> {
        let mut region = SingularRegion::Outside;
        for i in 0..self.parts.len() {
            let Some(mut dependent) = self.check(i, problem, s, tau)? else { continue };
            if dependent.len() == 0 {
                continue;
            }
            if self.parts[i].nv() <= DENSE {
                dependent.rank = self.ranks[i].unwrap_or(dependent.rank);
            }
            let fresh = !self.is_open;
            if fresh {
                self.is_open = true;
                // what a state on the constraints does not see is made by the errors of a stage; large parts see
                // only what is near
                let last = last.filter(|_| !self.is_large);
                let ahead =
                    last.map_or(0.0, |last| self.soonest(problem, last, 2.0 * (tau + (s.t - last.t).abs())));
                let mut gap = None;
                if ahead.is_finite() {
                    gap = self.guard(problem, eq, s, tau);
                    // the paper's rows may not be exact enough to tell
                    if gap.is_none() && self.kind == Regularize::Amirouche {
                        self.kind = Regularize::Jets;
                        gap = self.guard(problem, eq, s, tau);
                        self.kind = Regularize::Amirouche;
                    }
                }
                self.is_weak = gap.is_none();
                if let Some(gap) = gap {
                    self.open(s, tau, gap);
                }
            }
            if self.is_weak {
                return Ok(SingularRegion::Weak);
            }
            self.note(i, s, eq, &dependent);
            if self.records.last().is_some_and(|r| r.crossing != Crossing::Passed) {
                return Ok(SingularRegion::Beside);
            }
            if fresh {
                // the guard has looked elsewhere
                dependent = match self.check(i, problem, s, tau)? {
                    Some(again) if again.len() > 0 => DependentRows { rank: dependent.rank, ..again },
                    _ => return Ok(SingularRegion::Outside),
                };
            }
            let found = self.solve(i, &dependent, problem, s, eq, targets, with_lambda)?;
            let part = &self.parts[i];
            part.write_velocities(&self.root, &found.a, 1.0, &mut accel.vdot);
            if with_lambda {
                let mut lambda = found.lambda;
                if !found.is_whole
                    && let Some(finite) = self.finite_part(i, problem, tau)
                {
                    match &found.complete {
                        Some(complete) => {
                            window::add(1.0, &finite, &mut lambda);
                            complete.remove_null(&mut lambda);
                        }
                        None => dependent.add_along(&finite, 1.0, &mut lambda),
                    }
                }
                self.parts[i].write_rows(&lambda, &mut accel.lambda);
                dependent.add_along(&lambda.clone(), -1.0, &mut lambda);
                if region == SingularRegion::Outside {
                    self.regular.clone_from(&accel.lambda);
                    self.ranks_inside.clear();
                }
                self.ranks_inside.push((i, dependent.rank));
                self.parts[i].write_rows(&lambda, &mut self.regular);
            }
            (accel.residual, accel.refinements) = (found.change, 0);
            region = SingularRegion::Inside;
        }
        Ok(region)
    }

    /// Begins a record; `gap` is how far apart the branches are, and the same relative to the largest position.
    fn open(&mut self, s: &State, tau: f64, [gap, relative]: [f64; 2]) {
        let missed = self.kind == Regularize::Jets && !(relative <= CROSSING);
        let crossing = match missed {
            true if gap.is_finite() => Crossing::Missed,
            true => Crossing::Unclear,
            false => Crossing::Passed,
        };
        self.is_open = true;
        // out of the window for a step or two: still the same
        if let Some(last) = self.records.last_mut()
            && last.crossing == crossing
            && (s.t - last.leave).abs() <= tau
        {
            last.gap = last.gap.max(gap);
            return;
        }
        self.nearest = f64::INFINITY;
        self.records.push(SingularityRecord {
            crossing,
            enter: s.t,
            leave: s.t,
            at: s.t,
            losses: 0,
            rows: Vec::new(),
            speed: 0.0,
            slowest: f64::INFINITY,
            slowest_at: s.t,
            fastest: 0.0,
            gap,
            residue: if missed { None } else { self.residue },
        });
    }

    /// v̇ of part `i`, of which the workspace holds D and D₁ at `s` from a check. λ only `with_lambda`.
    fn solve(
        &mut self,
        i: usize,
        dependent: &DependentRows,
        problem: &mut dyn Problem,
        s: &State,
        eq: &Equations,
        targets: Option<&[Vec<f64>]>,
        with_lambda: bool,
    ) -> Result<WindowSeries, SolveError> {
        let SingularityDetector { kind, parts, workspace, root, zeros, sparse, work, .. } = self;
        let part = &parts[i];
        let orders = kind.orders(part.nv());
        let mut window = match sparse.as_mut().filter(|_| part.nv() > DENSE) {
            Some(sparse) => Window::sparse(part, dependent, sparse, root)?,
            None => Window::new(part, dependent, &workspace.J[0], &workspace.J[1])?,
        };
        let targets = targets.as_ref().map_or(&**zeros, |targets| targets);
        accelerate(
            &mut window,
            problem,
            s,
            eq,
            root,
            orders,
            targets,
            with_lambda,
            STILL,
            false,
            work,
            workspace,
        )
    }

    /// Takes note of an evaluation inside a window.
    fn note(&mut self, i: usize, s: &State, eq: &Equations, dependent: &DependentRows) {
        let Some(record) = self.records.last_mut() else { return };
        record.leave = record.leave.max(s.t);
        record.enter = record.enter.min(s.t);
        let part = &self.parts[i];
        let mut y = vec![0.0; part.nv()];
        part.velocities_of(eq, &self.root, &s.v, &mut y);
        let speed = window::norm(&y);
        if speed < record.slowest {
            (record.slowest, record.slowest_at) = (speed, s.t);
        }
        record.fastest = record.fastest.max(speed);
        if dependent.ahead.abs() < self.nearest {
            self.nearest = dependent.ahead.abs();
            record.at = s.t + dependent.ahead;
            record.losses = dependent.len();
            record.speed = speed;
            record.rows = part.leading_rows(dependent);
        }
    }

    /// Ends the open record, if there is one: no evaluation of the last step was inside a window.
    pub fn close(&mut self) {
        self.is_open = false;
    }
}
