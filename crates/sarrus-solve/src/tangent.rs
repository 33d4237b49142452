//! The tangent of the equations of motion, as methods see it: how M v̇ + Jᵀλ - f and the constraints change with positions and
//! velocities.
//!
//! ```text
//! δ(M v̇ + Jᵀλ - f) = K δq + D δv + M δv̇ + Jᵀδλ,     K = ∂(Jᵀλ)/∂q - ∂f/∂q,  D = -∂f/∂v
//! δΦ̇ = Φ̇_q δq + J δv,    δΦ̈ = Φ̈_q δq + Φ̈_v δv + J δv̇
//! ```
//!
//! with δq in the directions of the velocities. K and D have a block for every two bodies that an element connects; the others are
//! laid out as J.

use crate::problem::Structure;
use std::collections::HashMap;

/// A block of K and D: rows and columns of two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TangentBlock {
    /// Indices in [`Structure::cols`], of the rows and of the columns.
    pub at: [usize; 2],
    /// First number of the block, by rows, in [`Tangent::K`] and [`Tangent::D`].
    pub offset: usize,
}

/// K, D and the variations of the constraints at a state.
#[derive(Debug, Clone, Default)]
pub struct Tangent {
    /// The blocks of K and D, each pair of bodies once.
    pub pairs: Vec<TangentBlock>,
    /// ∂(Jᵀλ - f)/∂q.
    pub K: Vec<f64>,
    /// -∂f/∂v.
    pub D: Vec<f64>,
    /// ∂Φ̇/∂q, laid out as J.
    pub phidot_q: Vec<f64>,
    /// ∂Φ̈/∂q, likewise.
    pub phiddot_q: Vec<f64>,
    /// ∂Φ̈/∂v, likewise.
    pub phiddot_v: Vec<f64>,
    blocks: HashMap<[usize; 2], usize>,
}

impl Tangent {
    /// Workspace for the tangent of a problem whose elements connect these bodies, by their indices in [`Structure::cols`].
    pub fn new(s: &Structure, connected: impl Iterator<Item = Vec<usize>>) -> Tangent {
        let mut tangent = Tangent::default();
        (0..s.cols.len()).for_each(|i| tangent.add_pair(s, [i, i]));
        for bodies in connected {
            for &a in &bodies {
                bodies.iter().for_each(|&b| tangent.add_pair(s, [a, b]));
            }
        }
        for part in [&mut tangent.phidot_q, &mut tangent.phiddot_q, &mut tangent.phiddot_v] {
            part.resize(s.J_len, 0.0);
        }
        tangent
    }

    fn add_pair(&mut self, s: &Structure, at: [usize; 2]) {
        if self.blocks.contains_key(&at) {
            return;
        }
        let [m, n] = at.map(|i| s.cols[i].size);
        let offset = self.K.len();
        self.blocks.insert(at, offset);
        self.pairs.push(TangentBlock { at, offset });
        self.K.resize(offset + m * n, 0.0);
        self.D.resize(offset + m * n, 0.0);
    }

    /// Decides whether two bodies have a block.
    pub fn has(&self, at: [usize; 2]) -> bool {
        self.blocks.contains_key(&at)
    }

    /// First number of the block of two bodies that an element connects.
    pub fn first_entry(&self, at: [usize; 2]) -> usize {
        self.blocks[&at]
    }
}
