//! Describes what can go wrong, one enum per stage, with numbers instead of prose.

use thiserror::Error;

/// A [`Structure`](crate::Structure) was built from blocks that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StructureError {
    /// A body without velocities.
    #[error("column block {column} has no velocities")]
    EmptyColumn {
        /// Index of the column block.
        column: usize,
    },
    /// An element names a body that does not exist.
    #[error("row block {row} acts on column block {column}, which does not exist")]
    NoSuchColumn {
        /// Index of the row block.
        row: usize,
        /// The index that was asked for.
        column: usize,
    },
    /// An element names a body twice.
    #[error("row block {row} names column block {column} twice")]
    RepeatedColumn {
        /// Index of the row block.
        row: usize,
        /// Index of the column block.
        column: usize,
    },
    /// More holonomic rows than rows.
    #[error("row block {row} has {size} rows, {holonomic} of them holonomic")]
    HolonomicRows {
        /// Index of the row block.
        row: usize,
        /// Number of rows.
        size: usize,
        /// Number of rows with a position level.
        holonomic: usize,
    },
    /// A group outside its array, empty, or a rotation that is not a quaternion.
    #[error("group {group} ({len} numbers from {start}) does not fit its array of {array}")]
    Group {
        /// Index of the group.
        group: usize,
        /// First index.
        start: usize,
        /// Number of numbers.
        len: usize,
        /// Length of the array.
        array: usize,
    },
}

/// A formulation or a projection could not solve its equations.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SolveError {
    /// J lost rank and the method needs full rank.
    #[error("constraint row {row} depends on the others (pivot {pivot:.1e} of its scale {scale:.1e})")]
    RankDeficient {
        /// Scalar row of λ.
        row: usize,
        /// Holds what elimination of the other rows left of it.
        pivot: f64,
        /// Holds what it was before.
        scale: f64,
    },
    /// The constraints contradict each other, or nearly so: no v̇ of any use satisfies J v̇ = γ.
    #[error("constraints contradict each other, most at row {row} (relative residual {residual:.1e})")]
    Inconsistent {
        /// Scalar row of λ with the largest residual.
        row: usize,
        /// Residual relative to the size of the terms of its equation.
        residual: f64,
    },
    /// The equation of motion of a velocity was not solved.
    #[error("equation of motion of velocity {velocity} is not solved (relative residual {residual:.1e})")]
    Unsolved {
        /// Index in v.
        velocity: usize,
        /// Residual relative to the size of the terms of its equation.
        residual: f64,
    },
    /// A mass block is not positive definite.
    #[error("mass of velocity {velocity} is not positive")]
    Mass {
        /// Index in v of the bad pivot.
        velocity: usize,
    },
    /// The factors would not fit in memory: too many elements on common bodies.
    #[error("the factors would hold {blocks} blocks, more than fits in memory")]
    TooLarge {
        /// Blocks counted before giving up.
        blocks: usize,
    },
    /// Singular or eigenvalues were not found.
    #[error("the singular values of a {rows} x {columns} matrix did not converge")]
    Decomposition {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// An iteration for the accelerations did not end.
    #[error("accelerations did not converge in {iterations} iterations (relative residual {residual:.1e})")]
    NoConvergence {
        /// Iterations made.
        iterations: u32,
        /// Residual relative to the size of its terms.
        residual: f64,
    },
    /// Friction that depends on reactions, and these on it, has no intensity that fits, or none that could be found.
    #[error(
        "friction in joints has no solution here: it grows with the reactions, and they with it \
         ({iterations} iterations, relative change {residual:.1e}); the mechanism may lock itself"
    )]
    SelfLocking {
        /// Iterations made.
        iterations: u32,
        /// Least change of the intensities, relative to the largest.
        residual: f64,
    },
    /// A block of M that changes with positions is not positive definite here.
    #[error(
        "a modal body is bent too far for its shapes: its mass is not positive any more (from velocity {velocity} on)"
    )]
    Overbent {
        /// First index in v of the block.
        velocity: usize,
    },
    /// Friction of a row drives its bodies together as fast as the row drives them apart.
    #[error(
        "no contact force satisfies Coulomb's law here, or more than one does: friction at row {row} leaves {left:.1e} of its own compliance (Painlevé's paradox)"
    )]
    Jammed {
        /// Scalar row of λ.
        row: usize,
        /// Holds what is left of its compliance, over all of it: not positive.
        left: f64,
    },
    /// Contacts have no forces, or impulses, that obey Coulomb's law.
    #[error(
        "no contact force of `{contact}` satisfies Coulomb's law here{at}{}",
        left.map_or(String::new(), |left| format!(": friction drives it together faster than any normal force drives it apart (Painlevé's paradox: {left:.3e} of the compliance is left); what follows is an impact without collision, or a jam"))
            + "; a smaller `mu`, or surfaces that give way (`law` in place of `method = \"impulsive\"`), have a solution"
    )]
    NoForce {
        /// The contact.
        contact: String,
        /// Marks where its bodies are, in words; may be empty.
        at: String,
        /// Of a place that slides, what friction leaves of its own compliance, over all of it.
        left: Option<f64>,
    },
    /// Drivers, locks or joints move a gap that nothing may pass.
    #[error(
        "`{name}` cannot hold: drivers, locks or joints force the motion through it; keep what they prescribe inside the limit, or let it \
         give way (`stop = {{ stiffness }}`)"
    )]
    Forced {
        /// The rigid limit, or the contact.
        name: String,
    },
    /// M changes with positions, and the method takes it as constant.
    #[error("the method needs constant masses, which a modal body does not have")]
    VaryingMass,
    /// The problem has no tangent, and the method needs one.
    #[error("the method needs a tangent, which this problem does not have")]
    NoTangent,
    /// A number is not finite.
    #[error("{quantity}[{index}] is not finite")]
    NotFinite {
        /// Identifies which array: `J`, `f`, `gamma`, `phi`, ...
        quantity: &'static str,
        /// Index in it.
        index: usize,
    },
    /// Positions could not be brought onto the constraints.
    #[error("projection left constraint row {row} at {violation:.1e} after {iterations} iterations")]
    Projection {
        /// Scalar row of λ with the largest violation.
        row: usize,
        /// Its violation.
        violation: f64,
        /// Newton iterations made.
        iterations: u32,
    },
}

impl SolveError {
    /// The scalar constraint row that the error is about, to be named by
    /// [`Problem::name_of_row`](crate::Problem::name_of_row).
    pub fn row(&self) -> Option<usize> {
        match *self {
            SolveError::RankDeficient { row, .. }
            | SolveError::Inconsistent { row, .. }
            | SolveError::Jammed { row, .. }
            | SolveError::Projection { row, .. } => Some(row),
            SolveError::NotFinite { quantity: "gamma" | "phi" | "phidot" | "lambda", index } => Some(index),
            _ => None,
        }
    }
}

/// A time to seven digits, for messages: 0.001, not 0.0010000000000000009.
pub fn digits(t: &f64) -> f64 {
    format!("{t:.6e}").parse().unwrap_or(*t)
}

/// A step was not taken.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StepError {
    /// The right-hand side could not be evaluated.
    #[error("no accelerations at t = {}", digits(t))]
    Solve {
        /// Time of the evaluation \[s\].
        t: f64,
        /// The reason.
        #[source]
        source: SolveError,
    },
    /// The stabilization could not correct the accepted state.
    #[error("no projection at t = {}", digits(t))]
    Project {
        /// Time of the state \[s\].
        t: f64,
        /// The reason.
        #[source]
        source: SolveError,
    },
    /// The error control asks for steps that time cannot resolve.
    #[error("step size fell below {h_min:e} at t = {}", digits(t))]
    StepTooSmall {
        /// Time reached \[s\].
        t: f64,
        /// The least step allowed \[s\].
        h_min: f64,
    },
    /// A step of fixed size is beyond the stability limit of the method.
    #[error("the step {:e} is too large at t = {}: motion at {omega:.3e} rad/s needs less than {:.3e}", digits(h), digits(t), 2.0 / omega)]
    StepTooLarge {
        /// Time of the last good state \[s\].
        t: f64,
        /// The step \[s\].
        h: f64,
        /// Estimate of the highest frequency \[rad/s\].
        omega: f64,
    },
    /// The equations of a step have no solution that is found: bodies turn too far in it, or there is no way onto the constraints.
    #[error("the equations of a step of {:e} cannot be solved at t = {}", digits(h), digits(t))]
    NoStep {
        /// Time of the last good state \[s\].
        t: f64,
        /// The step \[s\].
        h: f64,
    },
    /// Newton's iteration for the end of a step did not converge.
    #[error(
        "Newton's iteration for a step of {:e} did not converge at t = {} ({iterations} iterations, rate {rate:.1e})",
        digits(h),
        digits(t)
    )]
    Newton {
        /// Time of the last good state \[s\].
        t: f64,
        /// The step \[s\].
        h: f64,
        /// Iterations made.
        iterations: u32,
        /// Slowest rate of convergence: one change over the one before it.
        rate: f64,
        /// Velocity whose change was the largest.
        worst: usize,
    },
    /// A constraint asks for another position from one instant to the next.
    #[error("constraint row {row} jumps by {by:.3e} at t = {}", digits(t))]
    Jump {
        /// Time of it \[s\].
        t: f64,
        /// Scalar row of λ with the largest jump.
        row: usize,
        /// By how much Φ changes there.
        by: f64,
    },
    /// The method takes motion and multipliers in turn, and the right-hand side has no such view.
    #[error("the method needs the constraints, which this right-hand side does not show (t = {})", digits(t))]
    View {
        /// Time \[s\].
        t: f64,
    },
    /// The state left the numbers.
    #[error("the state is not finite at t = {}", digits(t))]
    NotFinite {
        /// Time of the last good state \[s\].
        t: f64,
    },
}

impl StepError {
    /// Time of the failure \[s\].
    pub fn t(&self) -> f64 {
        match *self {
            StepError::Solve { t, .. }
            | StepError::Project { t, .. }
            | StepError::StepTooSmall { t, .. }
            | StepError::StepTooLarge { t, .. }
            | StepError::NoStep { t, .. }
            | StepError::Newton { t, .. }
            | StepError::Jump { t, .. }
            | StepError::View { t }
            | StepError::NotFinite { t } => t,
        }
    }

    /// The scalar constraint row that the failure is about, if it is about one.
    pub fn row(&self) -> Option<usize> {
        match self {
            StepError::Solve { source, .. } | StepError::Project { source, .. } => source.row(),
            StepError::Jump { row, .. } => Some(*row),
            _ => None,
        }
    }
}

/// A method could not be made from its name and options.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MethodError {
    /// No such kind in the family.
    #[error("there is no {family} `{name}` (known: {})", known.join(", "))]
    UnknownKind {
        /// `formulation`, `stabilization` or `integrator`.
        family: &'static str,
        /// Holds what was asked for.
        name: String,
        /// Every kind of the family.
        known: Vec<&'static str>,
    },
    /// The kind has no such option.
    #[error("`{kind}` has no option `{option}` ({})", list(known))]
    UnknownOption {
        /// The kind.
        kind: &'static str,
        /// Holds what was asked for.
        option: String,
        /// Every option of the kind.
        known: Vec<&'static str>,
    },
    /// The option's value is of the wrong type or outside its range.
    #[error("option `{option}` of `{kind}` is {value}, must be {expected}")]
    BadOption {
        /// The kind.
        kind: &'static str,
        /// The option.
        option: &'static str,
        /// Holds what was given.
        value: String,
        /// Holds what is accepted.
        expected: &'static str,
    },
}

fn list(known: &[&str]) -> String {
    if known.is_empty() { "it has none".to_string() } else { format!("known: {}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_messages_have_seven_digits() {
        let text = |t| StepError::NotFinite { t }.to_string();
        assert_eq!(text(0.001_000_000_000_000_000_9), "the state is not finite at t = 0.001");
        assert_eq!(text(0.1 + 0.2), "the state is not finite at t = 0.3");
        assert_eq!(text(1234.56789), "the state is not finite at t = 1234.568");
        assert_eq!(text(0.0), "the state is not finite at t = 0");
    }
}
