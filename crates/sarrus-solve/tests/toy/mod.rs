//! Small right-hand sides with known solutions, without any mechanics.

use sarrus_solve::{GroupKind, Ode, SolveError, State, StepError, Structure};

pub type Rates<'a> = (&'a mut [f64], &'a mut [f64], &'a mut [f64]);

/// The end of a step that does nothing.
pub type ProjectFn = fn(&mut State) -> Result<bool, StepError>;

/// A right-hand side and an end of step given as closures.
pub struct Toy<R, F> {
    pub structure: Structure,
    pub rhs: R,
    pub finish: F,
    pub evaluations: u64,
}

impl<R, F> Ode for Toy<R, F>
where
    R: FnMut(&State, Rates<'_>) -> Result<(), SolveError>,
    F: FnMut(&mut State) -> Result<bool, StepError>,
{
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.evaluations += 1;
        (self.rhs)(s, (dq, dv, dx))
    }

    fn normalize(&self, q: &mut [f64]) {
        for g in self.structure.groups.iter().filter(|g| g.kind == GroupKind::Rotation) {
            let q = &mut q[g.start..][..4];
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            q.iter_mut().for_each(|x| *x /= norm);
        }
    }

    fn finish_step(&mut self, s: &mut State, _h: f64) -> Result<bool, StepError> {
        (self.finish)(s)
    }
}

/// Nothing to do at the end of a step.
pub fn project(_: &mut State) -> Result<bool, StepError> {
    Ok(false)
}

/// x of `nx` numbers, each a group of its own; no q, no v.
pub fn first_order<R>(nx: usize, rhs: R) -> Toy<R, ProjectFn>
where
    R: FnMut(&State, Rates<'_>) -> Result<(), SolveError>,
{
    let mut s = Structure::builder();
    (0..nx).for_each(|i| s.group(GroupKind::Auxiliary, i, 1));
    Toy { structure: s.build(0, nx).unwrap(), rhs, finish: project, evaluations: 0 }
}

pub fn state_x(x: &[f64]) -> State {
    State { t: 0.0, q: vec![], v: vec![], x: x.to_vec() }
}

/// a(t), ȧ, ä of the first angle of the rotation of [`body`].
fn first_angle(t: f64) -> [f64; 3] {
    [t.sin(), t.cos(), -t.sin()]
}

/// b(t), ḃ, b̈ of the second angle.
fn second_angle(t: f64) -> [f64; 3] {
    [0.5 + t + 0.3 * t * t, 1.0 + 0.6 * t, 0.6]
}

/// ω in body axes of the rotation by a about z and then by b about the new x: (ḃ, ȧ sin b, ȧ cos b).
fn rate(t: f64) -> [f64; 3] {
    let ([_, da, _], [b, db, _]) = (first_angle(t), second_angle(t));
    [db, da * b.sin(), da * b.cos()]
}

fn rate_of_rate(t: f64) -> [f64; 3] {
    let ([_, da, dda], [b, db, ddb]) = (first_angle(t), second_angle(t));
    [ddb, dda * b.sin() + da * db * b.cos(), dda * b.cos() - da * db * b.sin()]
}

/// Hamilton's product, scalar first.
pub fn product(a: &[f64], b: &[f64]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// `p` rotated by the unit quaternion `r`.
pub fn rotate(r: &[f64; 4], p: &[f64]) -> [f64; 3] {
    let inverse = [r[0], -r[1], -r[2], -r[3]];
    let [_, x, y, z] = product(&product(r, &[0.0, p[0], p[1], p[2]]), &inverse);
    [x, y, z]
}

/// Eccentricity of the orbit of [`body`].
const ECCENTRICITY: f64 = 0.2;

/// A body on a Kepler orbit p̈ = -p/|p|³ that turns as [`rate`] says, with one more state ẋ = 2 x cos 2t.
pub fn body() -> Toy<impl FnMut(&State, Rates<'_>) -> Result<(), SolveError>, ProjectFn> {
    let mut s = Structure::builder();
    s.column(6);
    s.group(GroupKind::Position, 0, 3);
    s.group(GroupKind::Rotation, 3, 4);
    s.group(GroupKind::Velocity, 0, 3);
    s.group(GroupKind::AngularVelocity, 3, 3);
    s.group(GroupKind::Auxiliary, 0, 1);
    let rhs = |s: &State, (dq, dv, dx): Rates<'_>| {
        dq[..3].copy_from_slice(&s.v[..3]);
        let w = [0.0, 0.5 * s.v[3], 0.5 * s.v[4], 0.5 * s.v[5]];
        dq[3..].copy_from_slice(&product(&s.q[3..], &w));
        let r2 = s.q[..3].iter().map(|p| p * p).sum::<f64>();
        for i in 0..3 {
            dv[i] = -s.q[i] / (r2 * r2.sqrt());
        }
        dv[3..].copy_from_slice(&rate_of_rate(s.t));
        dx[0] = 2.0 * s.x[0] * (2.0 * s.t).cos();
        Ok(())
    };
    Toy { structure: s.build(7, 1).unwrap(), rhs, finish: project, evaluations: 0 }
}

/// The state of [`body`] at `t`, in world axes rotated by the unit quaternion `axes`.
pub fn body_at(t: f64, axes: &[f64; 4]) -> State {
    // Kepler's equation E - e sin E = t
    let e = ECCENTRICITY;
    let mut E = t;
    for _ in 0..50 {
        E -= (E - e * E.sin() - t) / (1.0 - e * E.cos());
    }
    let (r, b) = (1.0 - e * E.cos(), (1.0 - e * e).sqrt());
    let p = rotate(axes, &[E.cos() - e, b * E.sin(), 0.0]);
    let v = rotate(axes, &[-E.sin() / r, b * E.cos() / r, 0.0]);

    let (sa, ca) = (0.5 * first_angle(t)[0]).sin_cos();
    let (sb, cb) = (0.5 * second_angle(t)[0]).sin_cos();
    let angle = product(axes, &product(&[ca, 0.0, 0.0, sa], &[cb, sb, 0.0, 0.0]));

    State {
        t,
        q: p.into_iter().chain(angle).collect(),
        v: v.into_iter().chain(rate(t)).collect(),
        x: vec![(2.0 * t).sin().exp()],
    }
}

/// Largest difference of any number of two states.
pub fn distance(a: &State, b: &State) -> f64 {
    let arrays = [(&a.q, &b.q), (&a.v, &b.v), (&a.x, &b.x)];
    arrays.iter().flat_map(|(a, b)| a.iter().zip(*b)).fold(0.0, |d, (a, b)| f64::max(d, (a - b).abs()))
}

/// World axes as they are.
pub const PLAIN: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
