//! Scenes with closed forms: projectiles, springs, pendulums, bounces, rolling and sliding.

use super::Builder;
use crate::scene::{Expected, set};
use crate::table;

/// Largest error of a run with default tolerances, relative to the size of the motion.
const TOLERANCE: f64 = 2e-6;

/// One of the families.
pub(super) fn closed_form(b: &mut Builder) {
    let families = [projectile, spring, pendulum, bounce, rolling, sliding];
    b.rng.pick(&families)(b);
    b.scene.flavour = "closed_form";
    if b.rng.chance(0.4) {
        let integrator = *b.rng.pick(&["dop853", "abm", "rk45"]);
        set(&mut b.scene.run, "integrator", integrator);
    }
    let formulations = ["direct", "pseudo_inverse", "udwadia_kalaba", "null_space", "partitioned"];
    let rigid = b.scene.section("contacts").next().is_some();
    if !rigid && b.rng.chance(0.4) {
        let formulation = *b.rng.pick(&formulations);
        set(&mut b.scene.run, "formulation", formulation);
    }
    if !rigid && b.rng.chance(0.3) {
        set(&mut b.scene.run, "coordinates", "joint");
    }
}

impl Builder<'_> {
    fn expect(&mut self, column: String, f: impl Fn(f64) -> f64) {
        let rows = (self.scene.t_end() / self.scene.every).round() as usize + 1;
        let values = (0..rows).map(|i| f(i as f64 * self.scene.every)).collect();
        self.scene.expected.push(Expected { column, values, tolerance: TOLERANCE });
    }

    fn inertia(&self, x: f64) -> crate::scene::SceneValue {
        if self.scene.planar { x.into() } else { [x; 3].into() }
    }

    /// The index of the upward axis.
    fn up(&self) -> usize {
        if self.scene.planar { 1 } else { 2 }
    }
}

/// A body thrown: x₀ + v t + g t²/2, turning at a constant rate where its inertia is that of a ball.
fn projectile(b: &mut Builder) {
    b.scene.gravity = b.rng.vector(10.0);
    if b.scene.planar {
        b.scene.gravity[2] = 0.0;
    }
    let at = b.near_point([0.0; 3], 1.0);
    let mut v = b.rng.vector(3.0);
    if b.scene.planar {
        v[2] = 0.0;
    }
    let (name, mass) = (b.name("b"), b.rng.scaled(0.1, 10.0));
    let table = table!["at" => b.vector(at), "mass" => mass, "inertia" => b.inertia(0.3)];
    b.add("bodies", &name, table);
    b.state(format!("{name}.velocity"), b.vector(v));
    let g = b.scene.gravity;
    for (i, axis) in ["x", "y", "z"].iter().enumerate().take(if b.scene.planar { 2 } else { 3 }) {
        b.expect(format!("{name}.{axis}"), move |t| at[i] + v[i] * t + 0.5 * g[i] * t * t);
    }
    if b.scene.planar {
        let rate = b.rng.between(-9.0, 9.0);
        b.state(format!("{name}.rate"), rate);
        b.expect(format!("{name}.angle"), move |t| rate * t);
    } else {
        let w = b.rng.vector(5.0);
        b.state(format!("{name}.omega"), w);
        b.expect(format!("{name}.wx"), move |_| w[0]);
    }
}

/// A mass on a slide with spring and damper, without gravity.
fn spring(b: &mut Builder) {
    b.scene.gravity = [0.0; 3];
    let Some(kind) = b.joint_kind("prismatic") else { return };
    let (name, mass) = (b.name("b"), b.rng.scaled(0.2, 5.0));
    let at = b.near_point([0.0; 3], 0.5);
    let table = table!["at" => b.vector(at), "mass" => mass, "inertia" => b.inertia(0.2)];
    b.add("bodies", &name, table);
    b.options = false;
    let joint = b.add_joint(kind, ["ground".into(), name], at, false);
    let omega = b.rng.between(2.0, 20.0);
    let delta = b.rng.between(0.0, 0.9) * omega;
    let (k, c) = (mass * omega * omega, 2.0 * mass * delta);
    b.set(&joint, "stiffness", k);
    b.set(&joint, "damping", c);
    b.set(&joint, "rest", 0.0);
    let (x, v) = (b.rng.between(-0.5, 0.5), b.rng.between(-2.0, 2.0));
    b.state(format!("{joint}.position"), x);
    b.state(format!("{joint}.speed"), v);
    let damped = (omega * omega - delta * delta).sqrt();
    let sine = (v + delta * x) / damped;
    b.expect(format!("{joint}.position"), move |t| {
        (-delta * t).exp() * (x * (damped * t).cos() + sine * (damped * t).sin())
    });
}

/// A pendulum let go at rest: θ = 2 asin(k sn(K - ω t)), k = sin(θ₀/2).
fn pendulum(b: &mut Builder) {
    let g = b.rng.between(3.0, 15.0);
    let up = b.up();
    b.scene.gravity = [0.0; 3];
    b.scene.gravity[up] = -g;
    let (length, mass, name) = (b.rng.between(0.3, 1.5), b.rng.scaled(0.2, 5.0), b.name("b"));
    let mut tip = [0.0; 3];
    tip[up] = -length;
    b.add("bodies", &name, table!["from" => b.vector([0.0; 3]), "to" => b.vector(tip), "mass" => mass]);
    let joint = b.name("j");
    let mut table = table!["kind" => "revolute", "bodies" => ["ground", &name], "at" => b.vector([0.0; 3])];
    let mut angle = 0.0;
    if b.scene.planar {
        set(&mut table, "reads", 0.0);
    } else {
        set(&mut table, "axis", [0.0, 1.0, 0.0]);
        // the rod of a bar has a radius of a fortieth of its length
        angle = 3.0 / (12.0 * 1600.0);
    }
    b.add("joints", &joint, table);
    let start = b.rng.between(0.1, 2.9);
    b.state(format!("{joint}.angle"), start);
    // m g l/2 over the inertia about the pin
    let omega = (g / (2.0 * length * (1.0 / 3.0 + angle))).sqrt();
    let k = (0.5 * start).sin();
    b.expect(format!("{joint}.angle"), move |t| 2.0 * (k * sn(quarter(k) - omega * t, k)).asin());
}

/// The quarter period K(k), by the arithmetic-geometric mean.
fn quarter(k: f64) -> f64 {
    let (mut a, mut g) = (1.0_f64, (1.0 - k * k).sqrt());
    for _ in 0..40 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// Jacobi's sn(u, k), by descending Landen transformations.
fn sn(u: f64, k: f64) -> f64 {
    let (mut a, mut g, mut steps) = (1.0_f64, (1.0 - k * k).sqrt(), Vec::new());
    while (a - g).abs() > 1e-16 * a && steps.len() < 40 {
        steps.push((a, 0.5 * (a - g)));
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let mut phi = a * u * 2.0_f64.powi(steps.len() as i32);
    let mut next = a;
    for &(before, c) in steps.iter().rev() {
        phi = 0.5 * (phi + (c / next * phi.sin()).asin());
        next = before;
    }
    phi.sin()
}

/// A ball on a rigid floor: parabolas whose speeds shrink by the restitution.
fn bounce(b: &mut Builder) {
    let up = b.up();
    let g = 9.81;
    b.scene.gravity = [0.0; 3];
    b.scene.gravity[up] = -g;
    let (radius, height, e) = (b.rng.between(0.05, 0.2), b.rng.between(0.1, 1.5), b.rng.between(0.5, 1.0));
    let name = b.name("b");
    let mut at = [0.0; 3];
    at[up] = radius + height;
    let mass = b.rng.scaled(0.1, 5.0);
    let shape = table!["kind" => "sphere", "radius" => radius];
    b.add("bodies", &name, table!["at" => b.vector(at), "mass" => mass, "shape" => shape]);
    b.add("ground", "shape", table!["kind" => "half_space"]);
    let mut contact = table!["between" => [&*name, "ground"], "method" => "impulsive", "restitution" => e];
    super::sometimes(b.rng, &mut contact, 0.5, "rule", "poisson");
    let contact_name = b.name("k");
    b.add("contacts", &contact_name, contact);
    // six bounces and no more: flights get short
    let first = (2.0 * height / g).sqrt();
    let flights = (1..6).map(|i| 2.0 * first * e.powi(i)).sum::<f64>();
    let t_end = b.scene.t_end().min(first + flights);
    set(&mut b.scene.run, "t_end", t_end);
    b.scene.every = t_end / 200.0;
    b.expect(format!("{name}.{}", ["x", "y", "z"][up]), move |t| {
        let (mut start, mut speed, mut from) = (0.0, 0.0, height);
        loop {
            let flight = (speed + (speed * speed + 2.0 * g * from).sqrt()) / g;
            let dt = t - start;
            if dt <= flight {
                return radius + from + speed * dt - 0.5 * g * dt * dt;
            }
            start += flight;
            speed = e * (g * flight - speed);
            from = 0.0;
        }
    });
}

/// A ball that rolls down: a = g sin α/(1 + I/(m r²)).
fn rolling(b: &mut Builder) {
    let up = b.up();
    let (along, g) = (b.rng.between(-5.0, 5.0), 9.81);
    b.scene.gravity = [0.0; 3];
    (b.scene.gravity[0], b.scene.gravity[up]) = (along, -g);
    let (radius, mass, share, name) =
        (b.rng.between(0.1, 0.5), b.rng.scaled(0.2, 5.0), b.rng.between(0.2, 0.9), b.name("b"));
    let mut at = [0.0; 3];
    at[up] = radius;
    let inertia = b.inertia(share * mass * radius * radius);
    b.add("bodies", &name, table!["at" => b.vector(at), "mass" => mass, "inertia" => inertia]);
    let rolling = b.name("c");
    b.add(
        "constraints",
        &rolling,
        table!["kind" => "rolling_ball", "body" => name.clone(), "radius" => radius],
    );
    let v = b.rng.between(-2.0, 2.0);
    b.state(format!("{name}.vx"), v);
    let a = along / (1.0 + share);
    b.expect(format!("{name}.x"), move |t| v * t + 0.5 * a * t * t);
    b.expect(format!("{rolling}.lambda1"), move |_| -mass * g);
}

/// A box that slides on a rigid floor until friction stops it.
fn sliding(b: &mut Builder) {
    let up = b.up();
    let g = 9.81;
    b.scene.gravity = [0.0; 3];
    b.scene.gravity[up] = -g;
    let (mu, v, name) = (b.rng.between(0.1, 0.6), b.rng.between(0.5, 3.0), b.name("b"));
    let mut at = [0.0; 3];
    at[up] = 0.05;
    let edges = if b.scene.planar { vec![0.6, 0.1] } else { vec![0.6, 0.4, 0.1] };
    let mass = b.rng.scaled(0.2, 5.0);
    let shape = table!["kind" => "box", "size" => edges];
    b.add("bodies", &name, table!["at" => b.vector(at), "mass" => mass, "shape" => shape]);
    b.add("ground", "shape", table!["kind" => "half_space"]);
    let friction = table!["mu" => mu];
    let contact = table![
        "between" => [&*name, "ground"], "method" => "impulsive", "restitution" => 0.0, "friction" => friction,
    ];
    let contact_name = b.name("k");
    b.add("contacts", &contact_name, contact);
    b.state(format!("{name}.vx"), v);
    b.expect(format!("{name}.x"), move |t| {
        let t = t.min(v / (mu * g));
        v * t - 0.5 * mu * g * t * t
    });
    b.expect(format!("{contact_name}.force"), move |_| mass * g);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elliptic_functions_have_their_known_values() {
        // DLMF 22.5: sn(period, k) = 1, sn(K/2, k) = 1/√(1 + k'); sn(u, 0) = sin u
        for k in [0.1, 0.5, 0.9, 0.99] {
            let (period, other) = (quarter(k), (1.0_f64 - k * k).sqrt());
            assert!((sn(period, k) - 1.0).abs() < 1e-12, "{k}");
            assert!((sn(0.5 * period, k) - 1.0 / (1.0 + other).sqrt()).abs() < 1e-12, "{k}");
        }
        assert!((sn(0.7, 0.0) - 0.7_f64.sin()).abs() < 1e-14);
        // K(1/√2) = Γ(1/4)²/(4√π)
        assert!((quarter(0.5_f64.sqrt()) - 1.854_074_677_301_372).abs() < 1e-14);
    }
}
