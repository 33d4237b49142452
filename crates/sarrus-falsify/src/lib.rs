//! A falsifier: random mechanisms, and oracles that need no reference.
//!
//! [`generate::generate`] makes a scene from a seed and an index over all registered kinds and options. [`oracles::ORACLES`] judge its
//! run, [`shrink::shrink`] makes what was found small, [`campaign::run`] does so for many scenes. docs/falsifier.md explains.

pub mod campaign;
pub mod compare;
pub mod generate;
pub mod oracles;
pub mod rng;
pub mod run;
pub mod scene;
pub mod shrink;
pub mod transform;
