//! Describes what the nodes of a modal body do that are no bodies: x = p + R s(η), its velocity, and the displacement s - r in the frame.

use super::floating::{self, Floating, amplitude};
use super::shapes::Shapes;
use crate::at::At;
use crate::signal::Signal;
use sarrus_math::{Real, Vec3};
use std::sync::Arc;

/// A node that is shown.
#[derive(Clone, Debug)]
pub struct RecoveredNode {
    /// Its full name.
    pub name: String,
    /// Index of its modal body.
    pub floating: usize,
    /// Holds what it does.
    pub shapes: Arc<Shapes>,
}

/// Identifies which of the things that a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeReading {
    /// Marks where it is, in the world \[m\].
    Position,
    /// Rate at which it moves, in the world \[m/s\].
    Velocity,
    /// Distance of it from where it would be undeformed, in the axes of the frame \[m\].
    Displacement,
}

/// One component of that, read from bodies at places in the reader's own list.
#[derive(Clone, Debug)]
pub struct NodeSignal {
    frame: usize,
    /// By amplitude, the body that holds it and which of its coordinates it is.
    amplitudes: Vec<(usize, usize)>,
    shapes: Arc<Shapes>,
    /// Holds what is read.
    pub what: NodeReading,
    axis: usize,
}

impl RecoveredNode {
    /// The signal that `word` reads: `x`, `vx`, `ux` and so on.
    pub fn read(
        &self,
        of: &Floating,
        word: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Option<Vec<Signal>> {
        let (what, axis) = match word.strip_prefix('v') {
            Some(axis) => (NodeReading::Velocity, axis),
            None => match word.strip_prefix('u') {
                Some(axis) => (NodeReading::Displacement, axis),
                None => (NodeReading::Position, word),
            },
        };
        let axis = ["x", "y", "z"].iter().position(|a| *a == axis)?;
        let frame = index_of(of.frame);
        let amplitudes =
            of.amplitudes.iter().map(|&(after, k)| (index_of(of.frame + after as u32), k)).collect();
        let signal = NodeSignal { frame, amplitudes, shapes: self.shapes.clone(), what, axis };
        Some(vec![Signal::Node(Box::new(signal))])
    }
}

impl NodeSignal {
    /// Returns what reads the same of the frame, at index 0, while the body is undeformed.
    pub fn undeformed(&self) -> Option<Signal> {
        match self.what {
            NodeReading::Position => Some(Signal::Position(0, self.shapes.r, self.axis)),
            NodeReading::Velocity => Some(Signal::Velocity(0, self.shapes.r, self.axis)),
            NodeReading::Displacement => None,
        }
    }

    /// Places of the bodies that it reads.
    pub fn bodies(&self) -> impl Iterator<Item = usize> {
        self.amplitudes.iter().map(|(body, _)| *body).chain([self.frame])
    }

    /// The value.
    pub fn eval<R: Real>(&self, at: &At<R>) -> R {
        let eta = |j: usize| {
            let (body, k) = self.amplitudes[j];
            amplitude(at.pose(body), k)
        };
        let frame = at.pose(self.frame);
        let s = self.shapes.insert_placements(eta);
        match self.what {
            NodeReading::Displacement => (s - Vec3::from_f64(self.shapes.r)).0[self.axis],
            NodeReading::Position => (frame.p + frame.rot * s).0[self.axis],
            NodeReading::Velocity => {
                let rate = |j: usize| {
                    let (body, k) = self.amplitudes[j];
                    floating::rate(at.twist(body), k)
                };
                let twist = at.twist(self.frame);
                let inner = twist.w.cross(s) + self.shapes.rate(eta, rate);
                (twist.v + frame.rot * inner).0[self.axis]
            }
        }
    }
}
