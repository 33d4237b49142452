//! The equations of motion of a simulation at its present state.
//!
//! M v̇ + Jᵀλ = f, J v̇ = γ: [`Simulation::equations`] has M, J, f, γ, Φ, Φ̇, [`Simulation::accelerations`] v̇ and λ. The velocities v are of each body
//! in turn ṗ of its centre of mass in world axes and ω in its own ([`Simulation::velocity_names`] lists them).
//!
//! **Inverse dynamics.** What efforts at some joint coordinates c give them the accelerations a? Each is held by a row more, c̈ = a:
//! then M v̇ + Jᵀλ + Bᵀμ = f, J v̇ = γ, B v̇ = a - Ḃ v, and the efforts are -μ, as those of a driver are. Loops and redundant rows are solved as in any
//! run; coordinates left out move as they must.

use crate::error::SetupError;
use crate::linear::{Linearization, ModesReport, linearize, modes_at};
use crate::simulation::{Simulation, SimulationError};
use sarrus_model::Diagnostic;
use sarrus_model::suggest::did_you_mean;
use sarrus_solve::{Accel, Equations, HUB_DEGREE, Kkt, Options, Problem, Stage, Structure, formulations};
use sarrus_system::System;
use sarrus_system::body::BodyKind;
use sarrus_system::events::Lock;
use std::sync::Arc;

/// Most numbers of a matrix that is given whole.
const MOST: usize = 1 << 28;

/// Entries of a matrix that are not zero by structure: row, column, value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Triplets {
    /// Rows and columns.
    pub size: (usize, usize),
    /// Row of each.
    pub rows: Vec<usize>,
    /// Column of each.
    pub cols: Vec<usize>,
    /// Value of each.
    pub values: Vec<f64>,
}

impl Triplets {
    /// The whole matrix by rows; an error where it is too large to be had whole.
    pub fn dense(&self) -> Result<Vec<f64>, SimulationError> {
        let (rows, cols) = self.size;
        if rows.checked_mul(cols).is_none_or(|n| n > MOST) {
            return Err(SimulationError::TooLarge { rows, cols });
        }
        let mut all = vec![0.0; rows * cols];
        for ((i, j), x) in self.rows.iter().zip(&self.cols).zip(&self.values) {
            all[i * cols + j] += x;
        }
        Ok(all)
    }

    fn block(&mut self, at: (usize, usize), size: (usize, usize), values: &[f64]) {
        for (k, value) in values.iter().enumerate().take(size.0 * size.1) {
            self.rows.push(at.0 + k / size.1);
            self.cols.push(at.1 + k % size.1);
            self.values.push(*value);
        }
    }
}

/// M, block by block.
pub fn mass_matrix(s: &Structure, eq: &Equations) -> Triplets {
    let mut all = Triplets { size: (s.nv, s.nv), ..Triplets::default() };
    for col in &s.cols {
        all.block((col.start, col.start), (col.size, col.size), &eq.mass[col.mass..]);
    }
    all
}

/// J, block by block.
pub fn jacobian(s: &Structure, eq: &Equations) -> Triplets {
    let mut all = Triplets { size: (s.nc, s.nv), ..Triplets::default() };
    for row in &s.rows {
        for entry in &s.entries[row.entries.clone()] {
            let col = s.cols[entry.col];
            all.block((row.start, col.start), (row.size, col.size), &eq.J[entry.offset..]);
        }
    }
    all
}

impl Simulation {
    /// The equations at the present state.
    pub fn equations(&mut self) -> Equations {
        let run = self.run();
        let mut eq = Equations::new(&run.mechanism);
        run.mechanism.update(&run.state, Stage::FORCE, &mut eq);
        eq
    }

    /// The structure of the equations: which rows and velocities belong to what.
    pub fn structure(&self) -> &Structure {
        self.mechanism().structure()
    }

    /// Accelerations and multipliers at the present state.
    pub fn accelerations(&mut self) -> Result<Accel, SimulationError> {
        let found = self.run().with_dynamics(|dynamics, s| dynamics.evaluate(s).cloned());
        found.and_then(|accel| accel).map_err(SimulationError::Solve)
    }

    /// Small motions about the present state: ẋ = A x.
    pub fn linearize(&mut self) -> Result<Linearization, SimulationError> {
        let run = self.run();
        Ok(linearize(&mut run.mechanism, &run.state)?)
    }

    /// Their modes.
    pub fn modes(&mut self) -> Result<ModesReport, SimulationError> {
        let run = self.run();
        Ok(modes_at(&run.model, &mut run.mechanism, &run.state)?)
    }

    /// The efforts \[N, N m\] at joint coordinates, such as `A` or `A.angle`, that give them accelerations \[m/s², rad/s²\]; and v̇ then.
    pub fn inverse_dynamics(
        &mut self,
        wanted: &[(&str, f64)],
    ) -> Result<(Vec<f64>, Vec<f64>), SimulationError> {
        let locks: Vec<Lock> =
            wanted.iter().map(|(name, _)| find(&self.run().system, name)).collect::<Result<_, _>>()?;
        if let Some((name, _)) = wanted.iter().find(|(_, a)| !a.is_finite()) {
            return Err(SimulationError::NotFinite { what: format!("the acceleration of `{name}`") });
        }
        let run = self.run();
        let system = run.mechanism.system().clone();
        let mut elements = system.elements.clone();
        for lock in &locks {
            elements.push(run.mechanism.observe(&run.state, |at| lock.rows(&system.directory, at)));
        }
        let first = elements.len() - locks.len();
        let unfit = |error| SetupError::Model(vec![Diagnostic::bare(format!("{error}"))]);
        let held = Arc::new(system.with_elements(elements).map_err(unfit)?);
        let mut mechanism = held.mechanism();
        mechanism.resume_from(&mut run.mechanism);
        let mut eq = Equations::new(&mechanism);
        mechanism.update(&run.state, Stage::FORCE, &mut eq);
        run.mechanism.resume_from(&mut mechanism);
        let rows: Vec<usize> = held.elements[first..].iter().map(|e| e.start).collect();
        rows.iter().zip(wanted).for_each(|(row, (_, a))| eq.gamma[*row] += a);

        let solve = SimulationError::Solve;
        let mut kkt = Kkt::new(&held.structure, &eq, HUB_DEGREE).map_err(solve)?;
        let mut accel = Accel::zeros(&held.structure);
        let made = formulations::make("proximal", &Options::new());
        let mut formulation =
            made.map_err(|source| SetupError::Method { source, at: sarrus_model::Span::NONE })?;
        formulation.accelerations(&held.structure, &eq, &mut kkt, &mut accel).map_err(solve)?;
        Ok((rows.iter().map(|row| -accel.lambda[*row]).collect(), accel.vdot))
    }

    /// Returns what each velocity is: `crank.vx`, `arm.w1` (about the first of the body's own axes).
    pub fn velocity_names(&self) -> Vec<String> {
        let system = self.mechanism().system();
        let mut names = vec![String::new(); system.structure.nv];
        for body in system.directory.bodies.iter().skip(1) {
            let own: &[&str] = match body.kind {
                BodyKind::Ground => &[],
                BodyKind::Rigid | BodyKind::RigidEuler => &["vx", "vy", "vz", "w1", "w2", "w3"],
                BodyKind::PlanarRigid => &["vx", "vy", "rate"],
                BodyKind::Point => &["vx", "vy", "vz"],
                BodyKind::PlanarPoint => &["vx", "vy"],
            };
            for (i, word) in own.iter().enumerate() {
                names[body.v + i] = format!("{}.{word}", body.name);
            }
        }
        names
    }

    /// Returns what each row of J belongs to: the name of the joint, constraint or driver.
    pub fn row_names(&self) -> Vec<String> {
        let system = self.mechanism().system();
        let mut names = vec![String::new(); system.structure.nc];
        for element in &system.elements {
            names[element.start..][..element.rows.rows()].fill(element.name.clone());
        }
        names
    }
}

/// The coordinate called `name`: a joint with one, or `joint.coordinate`.
fn find(system: &System, name: &str) -> Result<Lock, SimulationError> {
    let joints = &system.directory.joints;
    let lock = |joint: usize, k: usize| Lock { joint, coordinate: Some(k), at: None };
    for (i, joint) in joints.iter().enumerate() {
        let coordinates = joint.face.coordinates();
        if name == joint.name && coordinates.len() == 1 {
            return Ok(lock(i, 0));
        }
        let word = name.strip_prefix(joint.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        if let Some(k) = word.and_then(|word| joint.find(word)) {
            return Ok(lock(i, k));
        }
    }
    let all = joints
        .iter()
        .flat_map(|joint| joint.face.coordinates().iter().map(move |c| format!("{}.{}", joint.name, c.name)));
    let all: Vec<String> = all.collect();
    let hint = did_you_mean(name, all.iter().map(String::as_str))
        .unwrap_or_else(|| format!("one of: {}", all.join(" ")));
    Err(SimulationError::Unknown { what: "joint coordinate", name: name.into(), hint })
}
