//! All that a method may know of a mechanism: sizes, block pattern, and the equations at an instant.
//!
//! M v̇ + Jᵀλ = f,  J v̇ = γ,  Φ̇ = J v + Φ_t,  q̇ = N(q) v.
//!
//! M is block diagonal and constant in time. J has one block row per constraint element and one block per
//! element and body. Rows of an element come in two parts: the first `holonomic` rows have a position level
//! Φ(q, t); the rest (rolling, prescribed speeds) are given at velocity level only, and are never asked for a
//! position.

use crate::error::StructureError;
use crate::rotations::AngularVelocities;
use crate::tables::Description;
use crate::tangent::Tangent;
use std::ops::Range;

/// Marks where a problem is: time, positions, velocities, and first-order states of elements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Time \[s\].
    pub t: f64,
    /// Generalized positions (nq).
    pub q: Vec<f64>,
    /// Generalized velocities (nv).
    pub v: Vec<f64>,
    /// First-order states of elements (nx).
    pub x: Vec<f64>,
}

impl State {
    /// A state of zeros with the sizes of `s`.
    pub fn zeros(s: &Structure) -> State {
        State { t: 0.0, q: vec![0.0; s.nq], v: vec![0.0; s.nv], x: vec![0.0; s.nx] }
    }

    /// Takes over the values of `other` without allocating when the sizes agree.
    pub fn copy_from(&mut self, other: &State) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.x.clone_from(&other.x);
    }

    /// Returns whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let finite = |a: &[f64]| a.iter().all(|x| x.is_finite());
        self.t.is_finite() && finite(&self.q) && finite(&self.v) && finite(&self.x)
    }
}

/// A diagonal block of M: the velocities of one moving body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColBlock {
    /// First index in v.
    pub start: usize,
    /// Number of velocities.
    pub size: usize,
    /// First index of its size × size block in [`Equations::mass`] and [`Equations::minv`].
    pub mass: usize,
}

/// A block row of J: the rows of one constraint element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowBlock {
    /// First index in λ, γ and Φ.
    pub start: usize,
    /// Number of rows.
    pub size: usize,
    /// Number of rows, counted from the first, that have a position level; the others have only a velocity level.
    pub holonomic: usize,
    /// Its blocks in [`Structure::entries`].
    pub entries: Range<usize>,
}

/// One block of J: rows of an element, columns of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JacobianEntry {
    /// Index in [`Structure::cols`].
    pub col: usize,
    /// First index in [`Equations::J`] of the block, stored by rows.
    pub offset: usize,
}

/// Identifies which of the state's arrays a [`NormGroup`] lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Array {
    /// Positions.
    Q,
    /// Velocities.
    V,
    /// First-order states.
    X,
}

/// Holds what the numbers of a [`NormGroup`] are, so that error norms compare like with like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// Lengths, in q.
    Position,
    /// A unit quaternion (four numbers), in q.
    Rotation,
    /// Angles, in q.
    Angle,
    /// Speeds, in v.
    Velocity,
    /// Angular rates, in v.
    AngularVelocity,
    /// States of elements, in x.
    Auxiliary,
    /// Integrals of power, in x.
    Energy,
}

impl GroupKind {
    /// The array that this kind of number lives in.
    pub fn array(self) -> Array {
        match self {
            GroupKind::Position | GroupKind::Rotation | GroupKind::Angle => Array::Q,
            GroupKind::Velocity | GroupKind::AngularVelocity => Array::V,
            GroupKind::Auxiliary | GroupKind::Energy => Array::X,
        }
    }
}

/// Neighbouring numbers of one kind, measured together in an error norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NormGroup {
    /// Holds what the numbers are; says also which array they are in.
    pub kind: GroupKind,
    /// First index in that array.
    pub start: usize,
    /// Number of numbers.
    pub len: usize,
}

/// Sizes and block pattern of M and J, fixed per topology. Made by [`Structure::builder`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Structure {
    /// Number of positions.
    pub nq: usize,
    /// Number of velocities.
    pub nv: usize,
    /// Number of constraint rows.
    pub nc: usize,
    /// Number of first-order states.
    pub nx: usize,
    /// Diagonal blocks of M, in the order of v.
    pub cols: Vec<ColBlock>,
    /// Those of them that change with positions, by index in ascending order; the others are constant.
    pub varying: Vec<usize>,
    /// Block rows of J, in the order of λ.
    pub rows: Vec<RowBlock>,
    /// Blocks of J, row by row.
    pub entries: Vec<JacobianEntry>,
    /// Groups for error norms.
    pub groups: Vec<NormGroup>,
    /// Those of angular velocities.
    pub(crate) angular: AngularVelocities,
    /// Length of [`Equations::mass`].
    pub mass_len: usize,
    /// Length of [`Equations::J`].
    pub J_len: usize,
}

impl Structure {
    /// Starts an empty structure.
    pub fn builder() -> StructureBuilder {
        StructureBuilder::default()
    }

    /// Index of the block row that holds the scalar row `row` of λ, if there is such a row.
    pub fn row_block_of(&self, row: usize) -> Option<usize> {
        // empty rows share their start with their follower: take the last that starts at or before `row`
        let i = self.rows.partition_point(|r| r.start <= row).checked_sub(1)?;
        (row < self.rows[i].start + self.rows[i].size).then_some(i)
    }

    /// Returns whether the scalar row `row` has a position level.
    pub fn is_holonomic(&self, row: usize) -> bool {
        self.row_block_of(row).is_some_and(|i| row < self.rows[i].start + self.rows[i].holonomic)
    }

    /// Ranges of the scalar rows that have a position level.
    pub fn holonomic_rows(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.rows.iter().filter(|r| r.holonomic > 0).map(|r| r.start..r.start + r.holonomic)
    }
}

/// Collects the blocks of a [`Structure`] and checks that they fit.
#[derive(Debug, Clone, Default)]
pub struct StructureBuilder {
    structure: Structure,
    error: Option<StructureError>,
}

impl StructureBuilder {
    /// Adds a body of `size` velocities; returns its index in [`Structure::cols`].
    pub fn column(&mut self, size: usize) -> usize {
        let s = &mut self.structure;
        let index = s.cols.len();
        if size == 0 {
            self.error.get_or_insert(StructureError::EmptyColumn { column: index });
        }
        s.cols.push(ColBlock { start: s.nv, size, mass: s.mass_len });
        s.nv += size;
        s.mass_len += size * size;
        index
    }

    /// Says that M of the column `col` changes with positions: [`Problem::update`] fills it with the stage of positions.
    pub fn varying(&mut self, col: usize) {
        let varying = &mut self.structure.varying;
        if let Err(at) = varying.binary_search(&col) {
            varying.insert(at, col);
        }
    }

    /// Adds an element of `size` rows, the first `holonomic` of which have a position level, on the bodies
    /// `cols`; returns its index in [`Structure::rows`].
    pub fn row(&mut self, size: usize, holonomic: usize, cols: &[usize]) -> usize {
        let s = &mut self.structure;
        let row = s.rows.len();
        let first = s.entries.len();
        if holonomic > size {
            self.error.get_or_insert(StructureError::HolonomicRows { row, size, holonomic });
        }
        for &col in cols {
            let Some(block) = s.cols.get(col) else {
                self.error.get_or_insert(StructureError::NoSuchColumn { row, column: col });
                continue;
            };
            if s.entries[first..].iter().any(|e| e.col == col) {
                self.error.get_or_insert(StructureError::RepeatedColumn { row, column: col });
            }
            s.entries.push(JacobianEntry { col, offset: s.J_len });
            s.J_len += size * block.size;
        }
        s.rows.push(RowBlock { start: s.nc, size, holonomic, entries: first..s.entries.len() });
        s.nc += size;
        row
    }

    /// Adds a group of `len` numbers from `start` in the array of `kind`.
    pub fn group(&mut self, kind: GroupKind, start: usize, len: usize) {
        self.structure.groups.push(NormGroup { kind, start, len });
    }

    /// Ends with `nq` positions and `nx` first-order states.
    ///
    /// Every group must lie inside its array. Numbers in no group do not enter error norms.
    pub fn build(self, nq: usize, nx: usize) -> Result<Structure, StructureError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut s = self.structure;
        s.nq = nq;
        s.nx = nx;
        for (i, g) in s.groups.iter().enumerate() {
            let n = match g.kind.array() {
                Array::Q => s.nq,
                Array::V => s.nv,
                Array::X => s.nx,
            };
            let end = g.start.checked_add(g.len);
            if g.len == 0 || end.is_none_or(|end| end > n) || (g.kind == GroupKind::Rotation && g.len != 4) {
                return Err(StructureError::Group { group: i, start: g.start, len: g.len, array: n });
            }
        }
        s.angular = AngularVelocities::new(&s.groups);
        Ok(s)
    }
}

/// Describes how much of the equations is wanted; each stage includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage(u8);

impl Stage {
    /// Φ, J and the blocks of M that vary, which depend on t and q.
    pub const POSITION: Stage = Stage(1);
    /// Also Φ̇ and Φ_t.
    pub const VELOCITY: Stage = Stage(3);
    /// Also f and γ.
    pub const FORCE: Stage = Stage(7);
    /// f alone, without the stages before it.
    pub const LOADS: Stage = Stage(4);

    /// Returns whether this stage includes all of `other`.
    pub fn includes(self, other: Stage) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The equations' values at one instant. Mass blocks are constant but for [`Structure::varying`]; the rest is filled by
/// [`Problem::update`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Equations {
    /// Diagonal blocks of M, each by rows, at [`ColBlock::mass`].
    pub mass: Vec<f64>,
    /// Diagonal blocks of M⁻¹, likewise.
    pub minv: Vec<f64>,
    /// Blocks of J, each by rows, at [`JacobianEntry::offset`].
    pub J: Vec<f64>,
    /// Applied minus inertial forces (nv), with the constraints' own non-ideal forces: Q + C.
    pub f: Vec<f64>,
    /// Right-hand side of J v̇ = γ (nc).
    pub gamma: Vec<f64>,
    /// Φ (nc); entries of velocity-level rows mean nothing.
    pub phi: Vec<f64>,
    /// ∂Φ/∂t (nc); of a velocity-level row the part that does not depend on v.
    pub phi_t: Vec<f64>,
    /// Φ̇ = J v + Φ_t (nc).
    pub phidot: Vec<f64>,
    /// Sizes of the terms of γ, those that cancel included (nc); empty where no one asked for them.
    pub gamma_terms: Vec<f64>,
}

impl Equations {
    /// Zeros with the sizes of `s`.
    pub fn zeros(s: &Structure) -> Equations {
        Equations {
            mass: vec![0.0; s.mass_len],
            minv: vec![0.0; s.mass_len],
            J: vec![0.0; s.J_len],
            f: vec![0.0; s.nv],
            gamma: vec![0.0; s.nc],
            phi: vec![0.0; s.nc],
            phi_t: vec![0.0; s.nc],
            phidot: vec![0.0; s.nc],
            gamma_terms: Vec::new(),
        }
    }

    /// Zeros with the mass blocks of `problem` filled in.
    pub fn new(problem: &dyn Problem) -> Equations {
        let mut eq = Equations::zeros(problem.structure());
        problem.mass(&mut eq.mass, &mut eq.minv);
        eq
    }

    /// y += J x.
    pub fn add_J_mul(&self, s: &Structure, x: &[f64], y: &mut [f64]) {
        for row in &s.rows {
            let y = &mut y[row.start..][..row.size];
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let x = &x[col.start..][..col.size];
                let block = &self.J[e.offset..][..row.size * col.size];
                for (y, J) in y.iter_mut().zip(block.chunks_exact(col.size)) {
                    *y += J.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    /// y += Jᵀ x.
    pub fn add_Jt_mul(&self, s: &Structure, x: &[f64], y: &mut [f64]) {
        for row in &s.rows {
            let x = &x[row.start..][..row.size];
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let y = &mut y[col.start..][..col.size];
                let block = &self.J[e.offset..][..row.size * col.size];
                for (x, J) in x.iter().zip(block.chunks_exact(col.size)) {
                    for (y, J) in y.iter_mut().zip(J) {
                        *y += J * x;
                    }
                }
            }
        }
    }

    /// Copies the blocks of M and M⁻¹ that vary into arrays of the same layout.
    pub fn copy_varying(&self, s: &Structure, mass: &mut [f64], minv: &mut [f64]) {
        for &col in &s.varying {
            let col = s.cols[col];
            let at = col.mass..col.mass + col.size * col.size;
            mass[at.clone()].copy_from_slice(&self.mass[at.clone()]);
            minv[at.clone()].copy_from_slice(&self.minv[at]);
        }
    }

    /// y = M x.
    pub fn mass_mul(&self, s: &Structure, x: &[f64], y: &mut [f64]) {
        for col in &s.cols {
            let x = &x[col.start..][..col.size];
            let block = &self.mass[col.mass..][..col.size * col.size];
            for (y, M) in y[col.start..][..col.size].iter_mut().zip(block.chunks_exact(col.size)) {
                *y = M.iter().zip(x).map(|(a, b)| a * b).sum();
            }
        }
    }
}

/// Holds what a formulation found at one instant, and how well.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Accel {
    /// v̇ (nv).
    pub vdot: Vec<f64>,
    /// λ (nc); the constraint force is -Jᵀλ.
    pub lambda: Vec<f64>,
    /// Residual of M v̇ + Jᵀλ = f and J v̇ = γ, relative to the largest term.
    pub residual: f64,
    /// Refinements that it took.
    pub refinements: u32,
}

impl Accel {
    /// Zeros with the sizes of `s`.
    pub fn zeros(s: &Structure) -> Accel {
        Accel { vdot: vec![0.0; s.nv], lambda: vec![0.0; s.nc], residual: 0.0, refinements: 0 }
    }
}

/// Taylor coefficients that [`Problem::expand`] gives: those of t⁰ to t⁸.
pub const COEFFICIENTS: usize = 9;

/// Φ and J along a motion, as Taylor coefficients.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// Coefficient k of Φ (nc); of a row at velocity level that of the integral of ψ, so that for every row coefficient
    /// k + 1 is J vₖ / (k + 1) and what v₀ … vₖ₋₁ give.
    pub phi: Vec<Vec<f64>>,
    /// Coefficient k of the blocks of J, laid out as [`Equations::J`].
    pub J: Vec<Vec<f64>>,
}

impl Expansion {
    /// Workspace for a problem of structure `s`.
    pub fn zeros(s: &Structure) -> Expansion {
        Expansion { phi: vec![vec![0.0; s.nc]; COEFFICIENTS], J: vec![vec![0.0; s.J_len]; COEFFICIENTS] }
    }
}

/// A mechanism, as far as methods see it.
pub trait Problem {
    /// Sizes and block pattern; constant.
    fn structure(&self) -> &Structure;

    /// Fills the blocks of M and M⁻¹, those that vary as they are in the model pose. Called once.
    fn mass(&self, mass: &mut [f64], minv: &mut [f64]);

    /// Fills the parts of `eq` that belong to `stage`. The hot path: must not allocate.
    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations);

    /// Sizes of the terms of γ at the state `s` of the last [`update`](Problem::update) with forces, those that cancel included:
    /// γ is as uncertain as their rounding. Resizes `terms` to nc; empty where they are not known.
    fn gamma_terms(&mut self, _s: &State, terms: &mut Vec<f64>) {
        terms.clear();
    }

    /// q̇ = N(q) v.
    fn qdot(&self, s: &State, qdot: &mut [f64]);

    /// Rates of the first-order states, once the accelerations are known.
    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]);

    /// Returns whether nothing acts at the moment but the weight and the inertia of bodies, so that f follows from q and v without
    /// [`update`](Problem::update), and the first-order states rest.
    fn has_only_weight(&self) -> bool {
        false
    }

    /// q ⊕ δ for a small tangent vector δ (nv); keeps quaternions unit.
    fn retract(&self, q: &mut [f64], delta: &[f64]);

    /// a ⊖ b as a tangent vector (nv).
    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]);

    /// Makes quaternions unit.
    fn normalize(&self, q: &mut [f64]);

    /// Takes note of an accepted step: turn counters and the like. Must not change the equations at `s`, as the slope
    /// there is used again.
    fn accept(&mut self, s: &State);

    /// The largest angular speed \[rad/s\] of one body against another at `s`, of those whose joint counts the angle between them;
    /// none where none does.
    fn relative_rotation(&mut self, _s: &State) -> Option<f64> {
        None
    }

    /// A name for the scalar row `row` of λ, for messages: ``joint `A` ``.
    fn name_of_row(&self, row: usize) -> String;

    /// Number of rows that have friction: a force in proportion to what they bear, N = -λ ≥ 0.
    fn frictions(&self) -> usize {
        0
    }

    /// Adds to `c` (nv) the force of friction `k` where N = 1, at the state `s` of the last [`update`](Problem::update) with forces,
    /// and returns its row.
    fn friction(&mut self, _s: &State, _k: usize, _c: &mut [f64]) -> usize {
        0
    }

    /// The model as records, where all its rows are of the kinds that [`tables`](crate::tables) know.
    fn description(&self) -> Option<Description> {
        None
    }

    /// Returns whether something acts that [`description`](Problem::description) did not know of.
    fn is_pushed(&self) -> bool {
        false
    }

    /// Baumgarte's α and β \[1/s\] of the block row `block`, where the model gives that element its own.
    fn rates(&self, _block: usize) -> Option<[f64; 2]> {
        None
    }

    /// Number of intensities n of forces that depend on multipliers: C = Σ nᵢ cᵢ(q, v), n = g(λ) ≥ 0.
    fn reactive_forces(&self) -> usize {
        0
    }

    /// g(λ), at the state `s` of the last update, which has filled `eq`.
    fn intensities(&mut self, _s: &State, _eq: &Equations, _lambda: &[f64], _out: &mut [f64]) {}

    /// Adds C of the intensities `n` to `f`, at the state `s` of the last update.
    fn add_reactive_forces(&mut self, _s: &State, _n: &[f64], _f: &mut [f64]) {}

    /// Workspace for [`fill_tangent`](Problem::fill_tangent); none where there is no tangent.
    fn new_tangent(&self) -> Option<Tangent> {
        None
    }

    /// The tangent at `s`, where the accelerations are `vdot` (nv) and the multipliers `lambda` (nc). Φ̇_q, Φ̈_q and Φ̈_v only
    /// `with_variations`.
    fn fill_tangent(
        &mut self,
        _s: &State,
        _vdot: &[f64],
        _lambda: &[f64],
        _with_variations: bool,
        _out: &mut Tangent,
    ) {
    }

    /// Expands the block rows `blocks` along the motion from `s` whose velocities have the Taylor coefficients `v` (nv each,
    /// v₀ in place of the velocities of `s`; missing ones are zero). J only where `with_J`. Returns whether that can be done;
    /// without it singular positions cannot be passed.
    fn expand(
        &mut self,
        _s: &State,
        _v: &[Vec<f64>],
        _blocks: &[usize],
        _with_J: bool,
        _out: &mut Expansion,
    ) -> bool {
        false
    }
}

impl<P: Problem + ?Sized> Problem for &mut P {
    fn structure(&self) -> &Structure {
        (**self).structure()
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        (**self).mass(mass, minv);
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        (**self).update(s, stage, eq);
    }

    fn gamma_terms(&mut self, s: &State, terms: &mut Vec<f64>) {
        (**self).gamma_terms(s, terms);
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        (**self).qdot(s, qdot);
    }

    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]) {
        (**self).xdot(s, eq, accel, xdot);
    }

    fn has_only_weight(&self) -> bool {
        (**self).has_only_weight()
    }

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        (**self).retract(q, delta);
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        (**self).difference(a, b, delta);
    }

    fn normalize(&self, q: &mut [f64]) {
        (**self).normalize(q);
    }

    fn accept(&mut self, s: &State) {
        (**self).accept(s);
    }

    fn relative_rotation(&mut self, s: &State) -> Option<f64> {
        (**self).relative_rotation(s)
    }

    fn name_of_row(&self, row: usize) -> String {
        (**self).name_of_row(row)
    }

    fn frictions(&self) -> usize {
        (**self).frictions()
    }

    fn friction(&mut self, s: &State, k: usize, c: &mut [f64]) -> usize {
        (**self).friction(s, k, c)
    }

    fn description(&self) -> Option<Description> {
        (**self).description()
    }

    fn is_pushed(&self) -> bool {
        (**self).is_pushed()
    }

    fn rates(&self, block: usize) -> Option<[f64; 2]> {
        (**self).rates(block)
    }

    fn reactive_forces(&self) -> usize {
        (**self).reactive_forces()
    }

    fn intensities(&mut self, s: &State, eq: &Equations, lambda: &[f64], out: &mut [f64]) {
        (**self).intensities(s, eq, lambda, out);
    }

    fn add_reactive_forces(&mut self, s: &State, n: &[f64], f: &mut [f64]) {
        (**self).add_reactive_forces(s, n, f);
    }

    fn new_tangent(&self) -> Option<Tangent> {
        (**self).new_tangent()
    }

    fn fill_tangent(
        &mut self,
        s: &State,
        vdot: &[f64],
        lambda: &[f64],
        with_variations: bool,
        out: &mut Tangent,
    ) {
        (**self).fill_tangent(s, vdot, lambda, with_variations, out);
    }

    fn expand(
        &mut self,
        s: &State,
        v: &[Vec<f64>],
        blocks: &[usize],
        with_J: bool,
        out: &mut Expansion,
    ) -> bool {
        (**self).expand(s, v, blocks, with_J, out)
    }
}
