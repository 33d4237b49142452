//! Polyhedra and triangles from files, as they are touched.

use super::bounds::Aabb;

/// A convex polyhedron.
#[derive(Debug)]
pub struct Hull {
    corners: Vec<[f64; 3]>,
    extent: Aabb,
}

impl Hull {
    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.corners
    }

    /// The least box around it, own axes.
    pub fn extent(&self) -> &Aabb {
        &self.extent
    }
}

/// Triangles, oriented outward where they are closed.
#[derive(Debug)]
pub struct Triangles {
    corners: Vec<[f64; 3]>,
    extent: Aabb,
}

impl Triangles {
    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.corners
    }

    /// The least box around it, own axes.
    pub fn extent(&self) -> &Aabb {
        &self.extent
    }
}
