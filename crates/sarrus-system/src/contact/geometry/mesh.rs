//! Polyhedra and triangles from files, as they are touched.

/// A convex polyhedron.
#[derive(Debug)]
pub struct Hull {
    corners: Vec<[f64; 3]>,
}

impl Hull {
    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.corners
    }
}

/// Triangles, oriented outward where they are closed.
#[derive(Debug)]
pub struct Triangles {
    corners: Vec<[f64; 3]>,
}

impl Triangles {
    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.corners
    }
}
