//! Contact: where surfaces touch, and what they do to each other there.

pub mod broad;
pub mod files;
pub mod geometry;
pub mod surface;
