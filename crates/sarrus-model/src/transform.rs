//! The rigid motion, with mirror, that places an included file in the model.
//!
//! A world point of the file goes to x_W = Q x + d, Q orthogonal (det Q = -1: mirrored). Polar vectors
//! go to Q a, axial ones (axes of rotation, torques, angular velocities) to det(Q) Q a, so that the same
//! angle gives the mirrored motion. Frames stay right-handed: a body's R becomes Q R L and its body
//! coordinates L p, where L = diag(±1) collects the mirrors; Q R L has det +1 and
//! Q (p + R p_B) = Q p + (Q R L)(L p_B).

/// A 3×3 matrix by rows.
pub type Matrix3 = [[f64; 3]; 3];

const IDENTITY: Matrix3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// An element of Q below this is 0: a quarter revolution by sin and cos leaves 6e-17 where 0 is meant, and a product of
/// few turns some of these.
pub const NO_PART: f64 = 1e-15;

/// Places the world of a file in the world of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Q.
    pub q: Matrix3,
    /// d, in world axes of the model (m).
    pub d: [f64; 3],
    /// L, the signs of the body coordinates.
    pub l: [f64; 3],
    /// Planar: the angle by which the file is turned, unwrapped (rad).
    pub angle: f64,
    identity: bool,
}

impl Default for Transform {
    fn default() -> Self {
        Transform::identity()
    }
}

impl Transform {
    /// The file is the model's own.
    pub fn identity() -> Self {
        Transform { q: IDENTITY, d: [0.0; 3], l: [1.0; 3], angle: 0.0, identity: true }
    }

    /// First mirrored in the plane `mirror` = 0 (an axis 0, 1, 2), then rotated by `rotation`, then moved.
    pub fn new(mirror: Option<usize>, rotation: Matrix3, angle: f64, at: [f64; 3]) -> Self {
        let mut l = [1.0; 3];
        if let Some(axis) = mirror {
            l[axis] = -1.0;
        }
        let mut q = rotation;
        for row in &mut q {
            for k in 0..3 {
                row[k] *= l[k];
            }
        }
        let identity = q == IDENTITY && at == [0.0; 3];
        Transform { q, d: at, l, angle, identity }
    }

    /// This transform after `inner`: of a file that a file includes.
    pub fn after(&self, inner: &Transform) -> Transform {
        if self.identity {
            return inner.clone();
        }
        if inner.identity {
            return self.clone();
        }
        let l = std::array::from_fn(|k| self.l[k] * inner.l[k]);
        // a mirror turns the sense of the inner angle
        let angle = self.angle + self.sign() * inner.angle;
        Transform { q: multiply(&self.q, &inner.q), d: self.point(inner.d), l, angle, identity: false }
    }

    /// Returns whether nothing changes; then numbers pass through bit for bit.
    pub fn is_identity(&self) -> bool {
        self.identity
    }

    /// Returns whether directions change: the file is turned or mirrored.
    pub fn rotates(&self) -> bool {
        !self.identity && self.q != IDENTITY
    }

    /// Returns whether body coordinates change their signs: the file is mirrored, or mirrored twice in different planes.
    pub fn is_reflected(&self) -> bool {
        self.l != [1.0; 3]
    }

    /// det Q: -1 where mirrored.
    pub fn sign(&self) -> f64 {
        self.l[0] * self.l[1] * self.l[2]
    }

    /// A world point.
    pub fn point(&self, p: [f64; 3]) -> [f64; 3] {
        if self.identity {
            return p;
        }
        let r = apply(&self.q, p);
        plain_zeros(std::array::from_fn(|k| r[k] + self.d[k]))
    }

    /// A polar world vector.
    pub fn vector(&self, a: [f64; 3]) -> [f64; 3] {
        if self.identity { a } else { plain_zeros(apply(&self.q, a)) }
    }

    /// An axial world vector.
    pub fn axial(&self, a: [f64; 3]) -> [f64; 3] {
        if self.identity {
            return a;
        }
        let s = self.sign();
        plain_zeros(apply(&self.q, a).map(|x| s * x))
    }

    /// A point or polar vector in body axes.
    pub fn local(&self, p: [f64; 3]) -> [f64; 3] {
        if self.identity { p } else { plain_zeros(std::array::from_fn(|k| self.l[k] * p[k])) }
    }

    /// An axial vector in body axes.
    pub fn local_axial(&self, a: [f64; 3]) -> [f64; 3] {
        let s = self.sign();
        if self.identity { a } else { plain_zeros(std::array::from_fn(|k| s * self.l[k] * a[k])) }
    }

    /// A tensor in body axes: L I L.
    pub fn local_tensor(&self, i: Matrix3) -> Matrix3 {
        if self.identity {
            return i;
        }
        std::array::from_fn(|r| plain_zeros(std::array::from_fn(|c| self.l[r] * i[r][c] * self.l[c])))
    }

    /// A frame of the file.
    pub fn frame(&self, f: &Frame) -> Frame {
        if self.identity {
            return f.clone();
        }
        let r = multiply(&self.q, &matrix(f.q));
        let r = std::array::from_fn(|i| std::array::from_fn(|k| r[i][k] * self.l[k]));
        // planar: S R(θ) S = R(-θ) for a mirror in x or y
        let flip = self.l[0] * self.l[1];
        Frame { p: self.point(f.p), q: quaternion(&r), angle: self.angle + flip * f.angle }
    }

    /// A rotation relative to a body: L R L.
    pub fn local_rotation(&self, q: [f64; 4]) -> [f64; 4] {
        if self.identity {
            return q;
        }
        // a rotation vector is axial
        let a = self.local_axial([q[1], q[2], q[3]]);
        [q[0], a[0], a[1], a[2]]
    }
}

/// Marks where a body's frame is in the model pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The origin (m).
    pub p: [f64; 3],
    /// Body to world, unit, scalar first.
    pub q: [f64; 4],
    /// Planar: the angle, unwrapped (rad).
    pub angle: f64,
}

impl Default for Frame {
    fn default() -> Self {
        Frame { p: [0.0; 3], q: [1.0, 0.0, 0.0, 0.0], angle: 0.0 }
    }
}

impl Frame {
    /// The rotation matrix, body to world.
    pub fn rotation(&self) -> Matrix3 {
        matrix(self.q)
    }

    /// A point of the body in world coordinates.
    pub fn point(&self, p: [f64; 3]) -> [f64; 3] {
        let r = apply(&self.rotation(), p);
        std::array::from_fn(|k| self.p[k] + r[k])
    }

    /// A vector of the body in world axes.
    pub fn vector(&self, a: [f64; 3]) -> [f64; 3] {
        apply(&self.rotation(), a)
    }

    /// A world point in body coordinates.
    pub fn local(&self, p: [f64; 3]) -> [f64; 3] {
        self.local_vector(std::array::from_fn(|k| p[k] - self.p[k]))
    }

    /// A world vector in body axes.
    pub fn local_vector(&self, a: [f64; 3]) -> [f64; 3] {
        let r = self.rotation();
        std::array::from_fn(|k| r[0][k] * a[0] + r[1][k] * a[1] + r[2][k] * a[2])
    }
}

/// The vector without -0.0, which a mirror makes: defaults are recognised by comparison, and -0.0 equals 0.0.
fn plain_zeros(a: [f64; 3]) -> [f64; 3] {
    a.map(|x| x + 0.0)
}

/// Rᵀ.
pub fn transposed(r: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| r[j][i]))
}

/// R a.
pub fn apply(r: &Matrix3, a: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| r[i][0] * a[0] + r[i][1] * a[1] + r[i][2] * a[2])
}

/// A B.
pub fn multiply(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// The rotation matrix of a unit quaternion.
pub fn matrix([w, x, y, z]: [f64; 4]) -> Matrix3 {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// The unit quaternion of a rotation matrix, from its largest component, w ≥ 0.
pub fn quaternion(r: &Matrix3) -> [f64; 4] {
    let trace = r[0][0] + r[1][1] + r[2][2];
    let four = [
        1.0 + trace,
        1.0 + r[0][0] - r[1][1] - r[2][2],
        1.0 - r[0][0] + r[1][1] - r[2][2],
        1.0 - r[0][0] - r[1][1] + r[2][2],
    ];
    let largest = (0..4).fold(0, |best, k| if four[k] > four[best] { k } else { best });
    let s = 0.5 * four[largest].max(0.0).sqrt();
    let f = 0.25 / s;
    let q = match largest {
        0 => [s, f * (r[2][1] - r[1][2]), f * (r[0][2] - r[2][0]), f * (r[1][0] - r[0][1])],
        1 => [f * (r[2][1] - r[1][2]), s, f * (r[0][1] + r[1][0]), f * (r[0][2] + r[2][0])],
        2 => [f * (r[0][2] - r[2][0]), f * (r[0][1] + r[1][0]), s, f * (r[1][2] + r[2][1])],
        _ => [f * (r[1][0] - r[0][1]), f * (r[0][2] + r[2][0]), f * (r[1][2] + r[2][1]), s],
    };
    // without -0.0, as in `plain_zeros`
    normalized(if q[0] < 0.0 { q.map(|x| -x) } else { q }).map(|x| x + 0.0)
}

/// The unit quaternion; one that is unit to roundoff passes unchanged, so that a number written and
/// read again stays the same.
pub fn normalized(q: [f64; 4]) -> [f64; 4] {
    let n2: f64 = q.iter().map(|x| x * x).sum();
    if (n2 - 1.0).abs() <= 4.0 * f64::EPSILON { q } else { q.map(|x| x / n2.sqrt()) }
}

/// The quaternion of a rotation by `angle` about `axis`.
pub fn axis_angle(axis: [f64; 3], angle: f64) -> Option<[f64; 4]> {
    let a = unit(axis)?;
    let (s, c) = (0.5 * angle).sin_cos();
    Some(normalized([c, s * a[0], s * a[1], s * a[2]]))
}

/// Hamilton product.
pub fn quaternion_product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// The vector of length 1, or none for a zero (or not finite) one.
pub fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    // scaled first: 1e-200 squared would vanish
    let s = a.map(|x| x / largest);
    let n = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
    Some(s.map(|x| x / n))
}

/// a × b.
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a · b.
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
