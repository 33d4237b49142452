//! Describes how much of a body is under the surface of a fluid, where, and what energy that holds.
//!
//! A solid displaces ρ g ∫ depth dV of energy: with G(d) the mean of max(0, depth) over it, d the depth of its centre and V its volume,
//!
//! U = ρ g V G,  immersed volume V ∂G/∂d,  force ρ g V ∂G/∂d up through its centre, torque -ρ g V ∂G/∂θ about it.
//!
//! So the wrench is the exact gradient of U, and the energy balance closes. G is in closed form:
//!
//! - **ball** of radius r (`ends` are two), with x = d + r of its height under water: G = (3 x³/12 - x⁴/(16 r))/r³ up to x = 2 r, then d;
//! - **box** with edges lᵢ along uᵢ: points of it are spread over the depth as the sum of three uniform spreads of widths
//!   eᵢ = lᵢ |up·uᵢ|, so G is the third divided difference of max(0, d)⁴/24 with these widths;
//! - **round**, a rod, disc or capsule with the axis u: the same with e₁ = l |up·u| along it, and across it two widths that
//!   have together the variance r²/4 (1 - (up·u)²) of a circle seen from the side. It is the rod of the same moments of inertia.
//!
//! A width that vanishes, as of an edge that lies level, is kept at a hundredth of the largest edge: so everything is smooth, and the
//! volume is off only while an edge passes the surface. The moment that rights a float is off by 1e-4 of it. Cost: eight corners a solid. Waves, suction
//! and the water that a hull displaces by its own motion are not in it.

use super::prelude::*;
use crate::contact::surface::Geometry;
use crate::context::Context;
use crate::flexible;
use crate::shapes::{self, Role, Shape, SolidMeasure, rod};
use sarrus_model::fluids::FreeSurface;
use std::f64::consts::PI;

/// Width of an edge that lies level, as a part of the largest edge.
const ROUNDED: f64 = 0.0075;

/// Holds what a piece of a body is like.
#[derive(Clone, Debug, PartialEq)]
pub enum ImmersedForm {
    /// A ball with this radius \[m\].
    Ball(f64),
    /// Edges \[m\] along axes, which are columns in the body.
    Box([f64; 3], Mat3),
    /// Length \[m\], radius \[m\] and axis on the body.
    Round(f64, f64, [f64; 3]),
    /// Nothing is known but its volume.
    Unknown,
}

/// A piece of a body that displaces fluid.
#[derive(Clone, Debug)]
pub struct ImmersedPiece {
    /// Its body, as a place in the force's list.
    pub body: usize,
    /// Its centre from the body's centre of mass, body axes \[m\].
    pub p: [f64; 3],
    /// Holds what it displaces when all of it is under \[m³\].
    pub volume: f64,
    /// Its form.
    pub form: ImmersedForm,
}

/// G with its derivatives.
pub struct Mean<R> {
    /// Mean of max(0, depth) \[m\].
    pub depth: R,
    /// ∂G/∂d: the part of the volume that is under.
    pub share: R,
    /// -∂G/∂θ: per ρ g V the torque about the centre, world axes \[m\].
    pub torque: Vec3<R>,
}

impl ImmersedPiece {
    /// G at a pose of the body.
    pub fn mean<R: Real>(&self, pose: &Pose<R>, surface: &FreeSurface) -> Mean<R> {
        let up = Vec3::from_f64(surface.up);
        let d = -(pose.point(&self.p).dot_f64(&surface.up) - surface.height);
        match &self.form {
            ImmersedForm::Ball(r) => ball(d, *r),
            ImmersedForm::Unknown => ball(d, (0.75 * self.volume / PI).cbrt()),
            ImmersedForm::Box(edges, axes) => {
                let largest = edges.iter().fold(0.0_f64, |a, b| a.max(*b));
                let u = [0, 1, 2].map(|i| pose.rotate(&axes.col(i).0));
                let a = u.map(|u| u.dot(up));
                let e = [0, 1, 2].map(|i| width(a[i] * a[i], edges[i], ROUNDED * largest));
                let spread = SmoothedDepth::new(d, e.map(|e| e.0));
                let mut torque = Vec3::zero();
                for i in 0..3 {
                    let slope = spread.by_width[i] * e[i].1 * a[i];
                    torque += u[i].cross(up).scale(-slope);
                }
                Mean { depth: spread.value, share: spread.by_depth, torque }
            }
            ImmersedForm::Round(length, radius, axis) => {
                let floor = ROUNDED * length.max(*radius);
                let u = pose.rotate(axis);
                let a = u.dot(up);
                let across = u.cross(up).norm_squared();
                let along = width(a * a, *length, floor);
                let side = width(across, 1.5_f64.sqrt() * radius, floor);
                let spread = SmoothedDepth::new(d, [along.0, side.0, side.0]);
                let by_side = spread.by_width[1] + spread.by_width[2];
                let slope = (spread.by_width[0] * along.1 - by_side * side.1) * a;
                Mean { depth: spread.value, share: spread.by_depth, torque: u.cross(up).scale(-slope) }
            }
        }
    }
}

fn ball<R: Real>(d: R, r: f64) -> Mean<R> {
    let x = d + r;
    let (depth, share) = if x.value() <= 0.0 {
        (R::zero(), R::zero())
    } else if x.value() >= 2.0 * r {
        (d, R::one())
    } else {
        let y = x / r;
        let y2 = y * y;
        (y2 * y * (-y * 0.0625 + 0.25) * r, y2 * (-y * 0.25 + 0.75))
    };
    Mean { depth, share, torque: Vec3::zero() }
}

/// The width e of an edge l of which the part a = |up·u| is upright, and ∂e/∂a per a: e² = l² a² + f² (1 - a²), which is l where it
/// stands and f where it lies.
fn width<R: Real>(a2: R, l: f64, f: f64) -> (R, R) {
    let slope = (l * l - f * f).max(0.0);
    let e = (a2 * slope + f * f).sqrt();
    (e, R::from_f64(slope) / e)
}

/// Third divided difference of max(0, d)⁴/24 with three widths, and its derivatives.
struct SmoothedDepth<R> {
    value: R,
    by_depth: R,
    by_width: [R; 3],
}

impl<R: Real> SmoothedDepth<R> {
    fn new(d: R, e: [R; 3]) -> Self {
        // G(d) = d + G(-d): above the surface fewer corners count, and less cancels
        if d.value() > 0.0 {
            let other = SmoothedDepth::above(-d, e);
            let by_depth = -other.by_depth + 1.0;
            return SmoothedDepth { value: d + other.value, by_depth, ..other };
        }
        SmoothedDepth::above(d, e)
    }

    fn above(d: R, e: [R; 3]) -> Self {
        let mut sum = SmoothedDepth { value: R::zero(), by_depth: R::zero(), by_width: [R::zero(); 3] };
        if (d + (e[0] + e[1] + e[2]) * 0.5).value() <= 0.0 {
            return sum;
        }
        for corner in 0..8 {
            let signs = [0, 1, 2].map(|i| if corner >> i & 1 == 0 { 0.5 } else { -0.5 });
            let x = d + e[0] * signs[0] + e[1] * signs[1] + e[2] * signs[2];
            if x.value() <= 0.0 {
                continue;
            }
            let sign = 8.0 * signs[0] * signs[1] * signs[2];
            let third = x * x * x * (sign / 6.0);
            sum.value += third * x * 0.25;
            sum.by_depth += third;
            (0..3).for_each(|i| sum.by_width[i] += third * signs[i]);
        }
        let all = R::one() / (e[0] * e[1] * e[2]);
        let value = sum.value * all;
        let by_width = [0, 1, 2].map(|i| sum.by_width[i] * all - value / e[i]);
        SmoothedDepth { value, by_depth: sum.by_depth * all, by_width }
    }
}

/// The pieces of the bodies that `bodies` names, with these numbers. `given` is the volume of each body; without it, or where
/// `with_form` asks how it is immersed, shapes and sections must tell.
pub fn pieces(ctx: &Context, ids: &[u32], given: Option<f64>, with_form: bool) -> Result<Vec<ImmersedPiece>> {
    let mut out = Vec::new();
    for (body, &id) in ids.iter().enumerate() {
        let of_body = pieces_of(ctx, body, id)?;
        let known: f64 = of_body.iter().map(|piece| piece.volume).sum();
        let name = &ctx.directory.bodies[id as usize].name;
        if let Some(volume) = given {
            let mut of_body = of_body;
            if of_body.is_empty() {
                of_body.push(ImmersedPiece { body, p: [0.0; 3], volume: 1.0, form: ImmersedForm::Unknown });
            }
            // where only an area is known, one piece has it all
            let whole = if known > 0.0 { known } else { of_body.len() as f64 };
            for piece in &mut of_body {
                piece.volume = volume * if known > 0.0 { piece.volume / whole } else { 1.0 / whole };
            }
            out.extend(of_body);
        } else if known > 0.0 {
            out.extend(of_body);
        } else {
            let message = format!("{}: the volume of `{name}` is not known", ctx.reader.title());
            let hint = "give `volume` [m³ each], or the body a `shape` with a volume";
            return Err(ctx.reader.error("bodies", message).hint(hint));
        }
        if with_form && out.last().is_some_and(|piece| piece.form == ImmersedForm::Unknown) && ids[body] != 0
        {
            let rotates = ctx.directory.bodies[id as usize].kind.rotates();
            if rotates {
                let message = format!(
                    "{}: what part of `{name}` is under the surface is not known: it has no shape",
                    ctx.reader.title()
                );
                return Err(ctx
                    .reader
                    .error("bodies", message)
                    .hint("give the body a `shape`, such as a rod or a box"));
            }
        }
    }
    Ok(out)
}

fn pieces_of(ctx: &Context, index: usize, id: u32) -> Result<Vec<ImmersedPiece>> {
    let body = &ctx.directory.bodies[id as usize];
    if let Some(element) = ctx.model.body(&body.name) {
        let reader = Reader::open(ctx.model, element);
        let bar = if body.kind.rotates() { reader.body_frame()?.length } else { None };
        let shapes = shapes::read(&reader, bar)?;
        let weighed = |s: &&Shape| matches!(s.role, Role::All | Role::Mass) && s.solid.is_some();
        let mut pieces: Vec<ImmersedPiece> =
            shapes.iter().filter(weighed).flat_map(|shape| pieces_of_shape(index, shape)).collect();
        for piece in &mut pieces {
            piece.p = body.from_com(piece.p);
        }
        if let (true, Some(l)) = (shapes.is_empty(), bar) {
            // a bar's own rod says how it lies, and never how much there is of it
            let form = ImmersedForm::Round(l, rod::of_bar(l).0, [1.0, 0.0, 0.0]);
            pieces.push(ImmersedPiece { body: index, p: body.from_com([0.0; 3]), volume: 0.0, form });
        }
        return Ok(pieces);
    }
    let Some(member) = ctx.directory.flexible.iter().find(|m| m.all.contains(&id)) else {
        return Ok(Vec::new());
    };
    let Some(element) = ctx.model.find(&member.name) else { return Ok(Vec::new()) };
    let Some((area, rho_a)) = flexible::area_and_mass(ctx.model, element)? else { return Ok(Vec::new()) };
    let length = body.mass / rho_a;
    let form = if body.kind.rotates() {
        ImmersedForm::Round(length, (area / PI).sqrt(), [1.0, 0.0, 0.0])
    } else {
        ImmersedForm::Unknown
    };
    Ok(vec![ImmersedPiece { body: index, p: [0.0; 3], volume: area * length, form }])
}

/// The pieces of a shape, with their volume where it has one: two balls of `ends`, one piece of any other.
fn pieces_of_shape(body: usize, shape: &Shape) -> Vec<ImmersedPiece> {
    let Some(whole) = piece(body, shape) else { return Vec::new() };
    let Some(Geometry::Ends { half, radius }) = shape.geometry else { return vec![whole] };
    let axis = shape.rot.col(0).0;
    let ball = |x: f64| ImmersedPiece {
        p: [0, 1, 2].map(|i| shape.p[i] + x * axis[i]),
        volume: 0.5 * whole.volume,
        form: ImmersedForm::Ball(radius),
        ..whole.clone()
    };
    vec![ball(-half), ball(half)]
}

/// A shape as one piece. What is neither ball nor box is taken as round, with its moments.
fn piece(body: usize, shape: &Shape) -> Option<ImmersedPiece> {
    let solid = shape.solid?;
    let volume = match solid.measure {
        SolidMeasure::Volume(volume) => volume,
        SolidMeasure::Area(_) => 0.0,
    };
    let k2 = solid.k2;
    // edges of the box with the same moments
    let edges = [0, 1, 2].map(|i| (6.0 * (k2[(i + 1) % 3] + k2[(i + 2) % 3] - k2[i])).max(0.0).sqrt());
    let form = match shape.kind {
        "sphere" => ImmersedForm::Ball((2.5 * k2[0]).sqrt()),
        "disc" => ImmersedForm::Round(edges[2], edges[0] / 3.0_f64.sqrt(), shape.rot.col(2).0),
        "rod" | "capsule" => ImmersedForm::Round(edges[0], edges[1] / 3.0_f64.sqrt(), shape.rot.col(0).0),
        _ => ImmersedForm::Box(edges, shape.rot),
    };
    Some(ImmersedPiece { body, p: shape.p, volume, form })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEA: FreeSurface = FreeSurface { up: [0.0, 0.0, 1.0], height: 0.3 };

    fn piece(form: ImmersedForm) -> ImmersedPiece {
        ImmersedPiece { body: 0, p: [0.0; 3], volume: 1.0, form }
    }

    /// A box that floats level, at half its height and above: the part under is that of its height.
    #[test]
    fn a_level_box_is_immersed_by_its_height() {
        let piece = piece(ImmersedForm::Box([2.0, 1.0, 0.5], Mat3::identity()));
        for (z, share) in [(0.3, 0.5), (0.4, 0.3), (0.2, 0.7), (5.0, 0.0), (-5.0, 1.0)] {
            let pose = Pose { p: Vec3([0.1, 0.2, z]), ..Pose::identity() };
            let mean = piece.mean(&pose, &SEA);
            // eight fourth powers over widths of 0.015 of the largest edge: 1e-16 / 0.015²
            assert!((mean.share - share).abs() < 1e-11, "{z}: {}", mean.share);
            assert!(mean.torque.norm() < 1e-11);
        }
    }

    /// On its edge, rotated by 45°, the immersed part of a square is a triangle: x²/w² of depth x below the edge, w its side.
    #[test]
    fn a_square_on_its_edge_is_immersed_as_a_triangle() {
        let piece = piece(ImmersedForm::Box([1.0, 3.0, 1.0], Mat3::identity()));
        let rotation = sarrus_math::quat_from_rotation_vector(&[0.0, std::f64::consts::FRAC_PI_4, 0.0]);
        let x = 0.4;
        let pose = Pose::from_quat([0.0, 0.0, 0.3 + 0.5_f64.sqrt() - x], rotation);
        // the ends of its length are rounded by 0.0075 m of 3 m, which spreads depth by that: second order
        let mean = piece.mean(&pose, &SEA);
        assert!((mean.share - x * x).abs() < 2e-4, "{}", mean.share);
    }

    /// A vertical rod is immersed by its length, one that lies by its circle: half of both where its centre is at the surface.
    #[test]
    fn a_rod_is_immersed_by_its_length_where_it_stands() {
        let piece = piece(ImmersedForm::Round(2.0, 0.1, [0.0, 0.0, 1.0]));
        for (z, share) in [(0.3, 0.5), (0.8, 0.25), (-0.5, 0.9), (1.31, 0.0)] {
            let pose = Pose { p: Vec3([0.0, 0.0, z]), ..Pose::identity() };
            let mean = piece.mean(&pose, &SEA);
            assert!((mean.share - share).abs() < 2e-3, "{z}: {}", mean.share);
        }
    }

    #[test]
    fn a_ball_is_immersed_by_its_cap() {
        let piece = piece(ImmersedForm::Ball(0.5));
        // the cap of height h: h²(3 r - h)/(4 r³)
        for h in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let pose = Pose { p: Vec3([0.0, 0.0, 0.3 + 0.5 - h]), ..Pose::identity() };
            let share = piece.mean(&pose, &SEA).share;
            let expected = h * h * (1.5 - h) / (4.0 * 0.125);
            assert!((share - expected).abs() < 1e-14, "{h}: {share} against {expected}");
        }
    }
}
