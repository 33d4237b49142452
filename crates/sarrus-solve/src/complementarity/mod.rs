//! Describes what unilateral contacts bear: impulses, or forces, that push only, with Coulomb friction.
//!
//! With W = N M⁻¹Nᵀ over the rows N of the points that touch (one along the normal, and one or two across it), b what the
//! motion would do without them, and u = W κ + b,
//!
//! ```text
//! 0 ≤ κ_n ⊥ u_n ≥ 0        |κ_t| ≤ μ κ_n,   u_t = 0  or  κ_t = -μ κ_n u_t/|u_t|
//! ```
//!
//! Velocities of an impact and accelerations of points that stay closed obey the same conditions. Without friction they are those
//! of the convex program min ½κᵀWκ + bᵀκ, κ ≥ 0; with it, of one over second-order cones with b_n + μ|u_t| in place of b_n, found
//! by iteration, since the cones alone would lift what slides \[Acary2011\].
//!
//! **How.** Which points bear, stick and slide is guessed, the equations that follow are solved directly, and what they contradict
//! is changed, a few times. Where that goes in circles, Clarabel solves the programs of the iteration \[Goulart2024\]. The motion of each, which is
//! unique where its forces are not, is the next guess: a point that accelerates along its surface slides that way, one that does not sticks.
//! What is returned comes from the direct solution, whose equations hold to rounding.
//!
//! **Redundant points.** A box on four corners: κ is not unique, u is, unless corners slide in different directions ([`Solution::is_motion_unique`]). Those of least norm among the points that bear are
//! returned, or, where these would pull or need more friction than there is, those farthest inside the cones; and [`Solution::is_unique`] tells.
//!
//! **When it fails.** W need not be symmetric: a point that slides already has its friction, of known direction, in its column. Then
//! there may be no solution (Painlevé's paradox), or more than one. Few such points are tried in all combinations.
//!
//! Cost: dense, O(n³) a guess, n points that touch at one instant. Allocates; not for what every stage of a step does.

mod margin;
mod program;
#[cfg(test)]
mod tests;

use program::{PROGRAMS, Programs};
use sarrus_math::solve::Svd;

/// Changes of a guess before another is tried.
const CHANGES: usize = 30;
/// Combinations of open, sticking and sliding points that are all tried.
const MOST_TRIED: usize = 4096;
/// Solutions of the equations for one guess.
const ITERATIONS: usize = 40;
/// Rounding: relative size of what counts as nothing.
const NOTHING: f64 = 1e-10;
/// Relative size of what a force that a program chooses may be outside its cone: a hundred times the program's tolerance.
const CONE: f64 = 1e-9;
/// The same where no program of the sequence does better. Between the two a contact is so near its limit that programs cannot tell sticking
/// from slipping: their accuracy there is the root of their tolerance.
const ROUGH: f64 = 3e-6;
/// Normal force, relative to the largest, above which the friction of a program's solution tells the direction of a slip.
const LOADED: f64 = 1e-3;
/// Accelerations, relative to the largest, that are taken for none in a program's solution, one after the other. Where a contact is at its
/// limit the accuracy of a program is the root of its tolerance; what is then guessed wrongly contradicts the equations.
const STILL: [f64; 4] = [1e-4, 1e-6, 1e-8, 1e-10];
/// Relative size of what may be left of an equation.
const SOLVED: f64 = 1e-9;
/// Relative size of singular values of rows that depend on others.
const DEPENDENT: f64 = 1e-11;

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// μ; of no account without rows across the normal.
    pub mu: f64,
    /// Rows across the normal: 0, 1 or 2. They follow that along it.
    pub across: usize,
}

/// Points that touch.
#[derive(Clone, Copy, Debug)]
pub struct Contacts<'a> {
    /// The points.
    pub points: &'a [ContactPoint],
    /// W, by rows.
    pub W: &'a [f64],
    /// W without friction of known direction: symmetric. The same where there is none.
    pub symmetric: &'a [f64],
    /// u where nothing is borne.
    pub b: &'a [f64],
}

/// Holds what a point does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactStatus {
    /// It bears nothing.
    Open,
    /// It bears, and does not slip; or has no rows across.
    Stick,
    /// It bears and slips in this direction, of length 1.
    Slide([f64; 2]),
}

/// Holds what is borne.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// κ.
    pub kappa: Vec<f64>,
    /// u = W κ + b.
    pub u: Vec<f64>,
    /// Holds what each point does.
    pub status: Vec<ContactStatus>,
    /// True if no other κ does the same.
    pub is_unique: bool,
    /// True if u is the same for all κ that do the same: not where points that slide in different directions share what they bear.
    pub is_motion_unique: bool,
}

/// Reason why nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSolution {
    /// All combinations were tried: there is none.
    #[error("no contact force satisfies Coulomb's law")]
    None,
    /// None was found.
    #[error("no contact forces were found that satisfy Coulomb's law")]
    NotFound,
    /// A number is not finite.
    #[error("a number is not finite")]
    NotFinite,
}

impl Contacts<'_> {
    /// Finds what they bear.
    pub fn solve(&self) -> Result<Solution, NoSolution> {
        if self.W.iter().chain(self.b).any(|x| !x.is_finite()) {
            return Err(NoSolution::NotFinite);
        }
        let first = self.starts();
        let guess = self.points.iter().zip(&first);
        let guess = guess
            .map(|(_, &i)| if self.b[i] < 0.0 { ContactStatus::Stick } else { ContactStatus::Open })
            .collect();
        if let Some(found) = self.refine_status(guess, &first) {
            return Ok(found);
        }
        // as if what slips continued slipping
        let slipping = self.points.iter().zip(&first).map(|(point, &i)| {
            match direction(&self.b[i + 1..][..point.across]) {
                _ if self.b[i] >= 0.0 => ContactStatus::Open,
                Some(d) if point.mu > 0.0 => ContactStatus::Slide(d),
                _ => ContactStatus::Stick,
            }
        });
        let found = self.refine_status(slipping.collect(), &first).or_else(|| self.by_programs(&first));
        found.map_or_else(|| self.try_all(&first), Ok)
    }

    /// The solution whose statuses are those of a program of the sequence. The first for which the equations hold ends it.
    fn by_programs(&self, first: &[usize]) -> Option<Solution> {
        let mut programs = Programs::new(self, first);
        let (mut status, mut rough) = (Vec::new(), None);
        for _ in 0..PROGRAMS {
            let moved = programs.step()?;
            let mut before = Vec::new();
            for still in STILL {
                status = self.statuses(&programs, first, still);
                if status == before {
                    continue;
                }
                before.clone_from(&status);
                match self.candidate(&status, first) {
                    Some((found, off)) if off <= CONE => return Some(found),
                    Some((found, _)) => rough = rough.or(Some(found)),
                    None => {}
                }
            }
            if !moved {
                break;
            }
        }
        self.refine_status(status, first).or(rough).or_else(|| self.as_found(&programs, first))
    }

    /// First row of every point.
    fn starts(&self) -> Vec<usize> {
        let mut next = 0;
        let mut start = |point: &ContactPoint| {
            next += 1 + point.across;
            next - 1 - point.across
        };
        self.points.iter().map(&mut start).collect()
    }

    fn rows(&self) -> usize {
        self.b.len()
    }

    /// u.
    fn rates(&self, kappa: &[f64]) -> Vec<f64> {
        let n = self.rows();
        (0..n).map(|i| self.b[i] + (0..n).map(|j| self.W[i * n + j] * kappa[j]).sum::<f64>()).collect()
    }

    /// Statuses from the motion of a program's solution. The motion is unique, the forces need not be. Accelerations up to `still` of the
    /// largest are none. A contact has parted where its dual variable is inside the dual cone.
    fn statuses(&self, programs: &Programs<'_>, first: &[usize], still: f64) -> Vec<ContactStatus> {
        let kappa = &programs.kappa;
        let u = self.rates(kappa);
        let none = still * largest(self.b).max(largest(&u));
        let loaded = LOADED * first.iter().fold(0.0_f64, |most, &i| most.max(kappa[i]));
        let each = self.points.iter().zip(first).zip(&programs.shift).map(|((point, &i), shift)| {
            let slip = &u[i + 1..][..point.across];
            // friction is as exact as the forces, also where the slip is slow
            let against: Vec<f64> = kappa[i + 1..][..point.across].iter().map(|k| -k).collect();
            let size = norm(slip);
            match direction(if kappa[i] > loaded { &against } else { slip }) {
                _ if u[i] + shift - point.mu * size > none => ContactStatus::Open,
                Some(d) if size > none => ContactStatus::Slide(d),
                _ => ContactStatus::Stick,
            }
        });
        each.collect()
    }

    /// Solves for a guess, and changes it until nothing contradicts it or it returns.
    fn refine_status(&self, mut status: Vec<ContactStatus>, first: &[usize]) -> Option<Solution> {
        let mut seen: Vec<Vec<ContactStatus>> = Vec::new();
        for _ in 0..CHANGES {
            if seen.contains(&status) {
                return None;
            }
            seen.push(status.clone());
            let (kappa, nulls) = self.equations(&mut status, first)?;
            let u = self.rates(&kappa);
            if !self.contradicted(&kappa, &u, first, &mut status, NOTHING) {
                let solved = self.is_solved(&kappa, &u, first, &status);
                return solved.then(|| self.found(kappa, u, status, first, &nulls));
            }
        }
        None
    }

    /// The solution for these statuses, if there is one: with the forces of least norm, else with those that are farthest inside the cones. With
    /// it comes how far outside these are, relative.
    fn candidate(&self, status: &[ContactStatus], first: &[usize]) -> Option<(Solution, f64)> {
        let mut status = status.to_vec();
        let (kappa, nulls) = self.equations(&mut status, first)?;
        let is_good = |kappa: &[f64], u: &[f64], nothing: f64| {
            !self.contradicted(kappa, u, first, &mut status.clone(), nothing)
                && self.is_solved(kappa, u, first, &status)
        };
        let u = self.rates(&kappa);
        if is_good(&kappa, &u, NOTHING) {
            return Some((self.found(kappa, u, status, first, &nulls), NOTHING));
        }
        let kappa = self.innermost(&kappa, &nulls, first, &status)?;
        let u = self.rates(&kappa);
        let off = [CONE, ROUGH].into_iter().find(|off| is_good(&kappa, &u, *off))?;
        Some((self.found(kappa, u, status, first, &nulls), off))
    }

    /// The forces of the last program themselves, where they obey the law to its accuracy.
    fn as_found(&self, programs: &Programs<'_>, first: &[usize]) -> Option<Solution> {
        let kappa = programs.kappa.clone();
        let u = self.rates(&kappa);
        let status = self.statuses(programs, first, ROUGH);
        let good = !self.contradicted(&kappa, &u, first, &mut status.clone(), ROUGH)
            && self.holds(&kappa, &u, first, &status, ROUGH);
        good.then(|| Solution { is_unique: false, ..self.found(kappa, u, status, first, &[]) })
    }

    /// Returns whether a change of κ changes u, beyond rounding of the equations that it solves.
    fn moves(&self, z: &[f64]) -> bool {
        let row = |row: &[f64]| {
            let terms = row.iter().zip(z).map(|(w, z)| w * z);
            (terms.clone().sum::<f64>().abs(), terms.map(f64::abs).sum::<f64>())
        };
        let all = || self.W.chunks_exact(self.rows()).map(row);
        let most = |list: f64, x: f64| list.max(x);
        all().map(|(sum, _)| sum).fold(0.0, most) > SOLVED * all().map(|(_, size)| size).fold(0.0, most)
    }

    /// A solution. What is at the limit of friction and does not slip sticks.
    fn found(
        &self,
        kappa: Vec<f64>,
        u: Vec<f64>,
        mut status: Vec<ContactStatus>,
        first: &[usize],
        nulls: &[Vec<f64>],
    ) -> Solution {
        let (mut is_unique, is_motion_unique) = (nulls.is_empty(), !nulls.iter().any(|z| self.moves(z)));
        let none = SOLVED * largest(self.b).max(largest(&u));
        for ((point, &i), status) in self.points.iter().zip(first).zip(&mut status) {
            if matches!(status, ContactStatus::Slide(_)) && norm(&u[i + 1..][..point.across]) <= none {
                *status = ContactStatus::Stick;
                // its friction is no longer tied to the normal force
                is_unique = false;
            }
        }
        Solution { kappa, u, status, is_unique, is_motion_unique }
    }

    /// Returns whether the equations of a guess hold: where they contradict each other they are only solved as nearly as can be.
    fn is_solved(&self, kappa: &[f64], u: &[f64], first: &[usize], status: &[ContactStatus]) -> bool {
        self.holds(kappa, u, first, status, SOLVED)
    }

    /// The same, to within `solved`.
    fn holds(
        &self,
        kappa: &[f64],
        u: &[f64],
        first: &[usize],
        status: &[ContactStatus],
        solved: f64,
    ) -> bool {
        let (most, fast) = (solved * largest(kappa), solved * largest(self.b).max(largest(u)));
        self.points.iter().zip(first).zip(status).all(|((point, &i), status)| {
            let (kt, ut) = (&kappa[i + 1..][..point.across], &u[i + 1..][..point.across]);
            match status {
                ContactStatus::Open => true,
                ContactStatus::Stick => u[i].abs() <= fast && norm(ut) <= fast,
                ContactStatus::Slide(old) => {
                    let d = direction(ut).filter(|_| norm(ut) > fast).unwrap_or(*old);
                    let left: Vec<f64> = kt.iter().zip(d).map(|(k, d)| k + point.mu * kappa[i] * d).collect();
                    u[i].abs() <= fast && norm(&left) <= most
                }
            }
        })
    }

    /// Changes what is contradicted; returns whether there was anything.
    fn contradicted(
        &self,
        kappa: &[f64],
        u: &[f64],
        first: &[usize],
        status: &mut [ContactStatus],
        nothing: f64,
    ) -> bool {
        let (most, fast) = (nothing * largest(kappa), nothing * largest(self.b).max(largest(u)));
        let mut changed = false;
        for ((point, &i), status) in self.points.iter().zip(first).zip(status) {
            let (kt, ut) = (&kappa[i + 1..][..point.across], &u[i + 1..][..point.across]);
            let next = match *status {
                ContactStatus::Open if u[i] < -fast => ContactStatus::Stick,
                ContactStatus::Stick | ContactStatus::Slide(_) if kappa[i] < -most => ContactStatus::Open,
                ContactStatus::Stick if norm(kt) > point.mu * kappa[i] + most => {
                    // it slips against what it would have taken to hold it
                    direction(kt).map_or(ContactStatus::Stick, |d| ContactStatus::Slide(d.map(|d| -d)))
                }
                ContactStatus::Slide(d) if d.iter().zip(ut).map(|(d, u)| d * u).sum::<f64>() < -fast => {
                    ContactStatus::Stick
                }
                same => same,
            };
            changed |= next != *status;
            *status = next;
        }
        changed
    }

    /// The κ of least norm for a guess, whose directions are made those of u; and what can be added to it.
    fn equations(&self, status: &mut [ContactStatus], first: &[usize]) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
        let n = self.rows();
        let mut kappa = vec![0.0; n];
        let mut nulls = Vec::new();
        for iteration in 0..ITERATIONS {
            let (mut A, mut c, mut unknowns) = (Vec::new(), Vec::new(), Vec::new());
            for ((point, &i), status) in self.points.iter().zip(first).zip(&*status) {
                if *status != ContactStatus::Open {
                    unknowns.extend(i..=i + point.across);
                }
            }
            let u = self.rates(&kappa);
            for ((point, &i), status) in self.points.iter().zip(first).zip(&*status) {
                let W = |row: usize| unknowns.iter().map(move |&j| self.W[row * n + j]);
                match *status {
                    ContactStatus::Open => {}
                    ContactStatus::Stick => (i..=i + point.across).for_each(|row| {
                        A.extend(W(row));
                        c.push(-self.b[row]);
                    }),
                    ContactStatus::Slide(d) => {
                        A.extend(W(i));
                        c.push(-self.b[i]);
                        self.slide(i, point, d, (&u, &kappa, iteration), &unknowns, &mut A, &mut c);
                    }
                }
            }
            let m = unknowns.len();
            let mut x = vec![0.0; m];
            if m > 0 {
                for (row, c) in A.chunks_exact_mut(m).zip(&mut c) {
                    // rows of a size: those of contacts that slip slowly are large
                    let size = largest(row);
                    row.iter_mut().for_each(|a| *a /= size);
                    *c /= size;
                }
                let mut svd = Svd::thin(m, m);
                svd.factor(&A).ok()?;
                let rank = svd.sigma().iter().filter(|s| **s > DEPENDENT * svd.sigma()[0]).count();
                svd.solve(rank, &c, &mut x);
                let null = |i: usize| {
                    let mut all = vec![0.0; n];
                    unknowns.iter().zip(svd.right(i)).for_each(|(&j, x)| all[j] = *x);
                    all
                };
                nulls = (rank..m).map(null).collect();
            }
            let before = std::mem::replace(&mut kappa, vec![0.0; n]);
            unknowns.iter().zip(&x).for_each(|(&j, x)| kappa[j] = *x);
            let is_rotated = self.flip_status(status, first, &kappa);
            let moved = kappa.iter().zip(&before).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            if !is_rotated || moved <= 1e-15 * norm(&kappa) {
                break;
            }
        }
        kappa.iter().all(|x| x.is_finite()).then_some((kappa, nulls))
    }

    /// κ_t + μ κ_n u_t/|u_t| = 0, linear about where it stands; at first along `d`. In units of u.
    fn slide(
        &self,
        i: usize,
        point: &ContactPoint,
        d: [f64; 2],
        (u, kappa, iteration): (&[f64], &[f64], usize),
        unknowns: &[usize],
        A: &mut Vec<f64>,
        c: &mut Vec<f64>,
    ) {
        let n = self.rows();
        let scale = self.symmetric[i * n + i];
        let speed = norm(&u[i + 1..][..point.across]);
        // the direction turns with u; in the plane it cannot
        let rotates = point.across == 2 && iteration > 0 && speed > 0.0;
        for k in 0..point.across {
            let row = i + 1 + k;
            let mut right = 0.0;
            for &j in unknowns {
                let own = f64::from(u8::from(j == row)) + if j == i { point.mu * d[k] } else { 0.0 };
                let rotation: f64 = if rotates {
                    let part =
                        |l: usize| (f64::from(u8::from(k == l)) - d[k] * d[l]) * self.W[(i + 1 + l) * n + j];
                    point.mu * kappa[i] / speed * (part(0) + part(1))
                } else {
                    0.0
                };
                right += scale * rotation * kappa[j];
                A.push(scale * (own + rotation));
            }
            c.push(right);
        }
    }

    /// Returns what rounding may be of u in the rows across a point: of a sum of so many products, at most.
    fn rounding(&self, i: usize, kappa: &[f64]) -> f64 {
        let n = self.rows();
        let terms = |row: usize| {
            let W = &self.W[row * n..(row + 1) * n];
            self.b[row].abs() + W.iter().zip(kappa).map(|(W, k)| (W * k).abs()).sum::<f64>()
        };
        f64::EPSILON * (n + 1) as f64 * terms(i + 1).hypot(terms(i + 2))
    }

    /// Takes over the directions in which points slide; returns whether any can have turned. One that has rotated by rounding stays: where a point sets off slowly
    /// its acceleration is a small difference of large forces, which tell the direction better.
    fn flip_status(&self, status: &mut [ContactStatus], first: &[usize], kappa: &[f64]) -> bool {
        let u = self.rates(kappa);
        let mut is_rotated = false;
        for ((point, &i), status) in self.points.iter().zip(first).zip(status) {
            if let (ContactStatus::Slide(old), 2) = (&mut *status, point.across)
                && let Some(d) = direction(&u[i + 1..][..2])
                && (u[i + 1] * old[1] - u[i + 2] * old[0]).abs() > self.rounding(i, kappa)
            {
                // one that goes the other way is no slide: it is shown by the sign
                if d[0] * old[0] + d[1] * old[1] > 0.0 {
                    *status = ContactStatus::Slide(d);
                }
                is_rotated = true;
            }
        }
        is_rotated
    }

    /// All combinations of few points, along the normal alone or in the plane.
    fn try_all(&self, first: &[usize]) -> Result<Solution, NoSolution> {
        let options = |point: &ContactPoint| match point.across {
            0 => 2,
            1 => 4,
            _ => usize::MAX,
        };
        let count = self.points.iter().try_fold(1_usize, |all, point| all.checked_mul(options(point)));
        let Some(count) = count.filter(|count| *count <= MOST_TRIED) else {
            return Err(NoSolution::NotFound);
        };
        for set in 0..count {
            let mut rest = set;
            let mut status: Vec<ContactStatus> = Vec::with_capacity(first.len());
            for point in self.points {
                status.push(match rest % options(point) {
                    0 => ContactStatus::Open,
                    1 => ContactStatus::Stick,
                    2 => ContactStatus::Slide([1.0, 0.0]),
                    _ => ContactStatus::Slide([-1.0, 0.0]),
                });
                rest /= options(point);
            }
            let Some((kappa, nulls)) = self.equations(&mut status, first) else { continue };
            let u = self.rates(&kappa);
            if !self.contradicted(&kappa, &u, first, &mut status.clone(), NOTHING)
                && self.is_solved(&kappa, &u, first, &status)
            {
                return Ok(self.found(kappa, u, status, first, &nulls));
            }
        }
        Err(NoSolution::None)
    }
}

/// The largest absolute value.
fn largest(list: &[f64]) -> f64 {
    list.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The direction of a vector of at most two numbers; none of nothing.
fn direction(x: &[f64]) -> Option<[f64; 2]> {
    let size = norm(x);
    let part = |k: usize| x.get(k).map_or(0.0, |x| x / size);
    (size > 0.0).then(|| [part(0), part(1)])
}
