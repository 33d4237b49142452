//! Three bodies and two hinges without symmetry, on which every kind is tried.

pub const SPATIAL: &str = "
bodies.a = { at = [0.1, 0.2, 0.5], orientation = { axis = [1, 2, 3], angle = 0.4 }, mass = 1.3, com = [0.05, -0.02, 0.03], inertia = [0.2, 0.3, 0.4] }
bodies.b = { at = [0.7, -0.1, 0.9], orientation = { axis = [0, 1, -1], angle = 1.1 }, mass = 0.8, com = [-0.03, 0.04, 0.01], inertia = [0.1, 0.15, 0.12] }
bodies.c = { at = [1.2, 0.4, 0.2], orientation = { axis = [1, 0, 1], angle = -0.7 }, mass = 2.0, inertia = [0.2, 0.2, 0.3] }
";
pub const SPATIAL_JOINTS: &str = "
joints.h = { kind = 'revolute', bodies = ['a', 'b'], at = [0.4, 0, 0.6], axis = [1, 0, 2] }
joints.g = { kind = 'revolute', bodies = ['b', 'c'], at = [0.9, 0.1, 0.5], axis = [0, 1, 1] }
";
pub const PLANAR: &str = "
space = 'planar'
bodies.a = { at = [0.1, 0.5], angle = 0.4, mass = 1.3, com = [0.05, -0.02], inertia = 0.2 }
bodies.b = { at = [0.7, -0.1], angle = 1.1, mass = 0.8, com = [-0.03, 0.04], inertia = 0.1 }
bodies.c = { at = [1.2, 0.4], angle = -0.7, mass = 2.0, inertia = 0.2 }
";
pub const PLANAR_JOINTS: &str = "
joints.h = { kind = 'revolute', bodies = ['a', 'b'], at = [0.4, 0.2] }
joints.g = { kind = 'revolute', bodies = ['b', 'c'], at = [0.9, 0.1] }
";

/// Numbers in (-1, 1) without pattern, the same on every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
