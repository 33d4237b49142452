//! Units have dimensions: what does not fit is an error at its place, plain numbers fit anywhere.

use crate::common::read;
use sarrus::model::shown::DisplayUnits;
use std::path::Path;

/// A slider and a pendulum, with gaps for values that tests write.
const MODEL: &str = r#"
space = "planar"
gravity = <gravity>
[parameters]
L = "200 mm"
m0 = "2 kg"
w = "3000 rpm"
<params>
[functions]
"area(d)" = "pi*d^2/4"
"arc(r, a)" = "r*a"
[tables]
lift = { points = [["0 deg", "0 mm"], ["90 deg", "10 mm"]] }
[points]
<points>
[bodies]
a = { at = <at>, mass = <mass>, inertia = <inertia><body> }
b = { at = [1, 0], mass = 1, inertia = 0.1, shape = { kind = "disc", radius = <radius> } }
[joints]
J = { kind = "revolute", bodies = ["ground", "a"], at = [0, 0]<joint> }
S = { kind = "prismatic", bodies = ["ground", "b"], at = [1, 0]<slide> }
[forces]
F = { kind = "force", body = "a", at = [0.1, 0], force = <force> }
<forces>
[initial]
<initial>
[run]
t_end = <t_end>
<run>
"#;

/// Values of the gaps otherwise.
const PLAIN: &[(&str, &str)] = &[
    ("gravity", r#"[0, -9.81]"#),
    ("params", r#""#),
    ("points", r#"P = [0, 0]"#),
    ("at", r#"[0.1, 0]"#),
    ("mass", r#"1"#),
    ("inertia", r#"0.1"#),
    ("body", r#""#),
    ("radius", r#"0.1"#),
    ("joint", r#""#),
    ("slide", r#""#),
    ("force", r#"[1, 0]"#),
    ("forces", r#""#),
    ("initial", r#""#),
    ("t_end", r#"1"#),
    ("run", r#""#),
];

/// Values that fit.
const FITS: &[(&str, &str)] = &[
    ("mass", r#""2*m0""#),
    ("mass", r#""7850*area(20 mm)*L""#),
    ("t_end", r#""3 min""#),
    ("initial", r#"J.rate = "w""#),
    ("initial", r#"S.speed = "arc(L, 3 rad)/(1 s)""#),
    ("inertia", r#""m0*L^2/12""#),
    ("at", r#""polar(L, 30 deg)""#),
    ("force", r#"["9.81*m0", 0]"#),
    ("joint", r#", stiffness = "20 Nm/rad""#),
    ("slide", r#", stiffness = "20 N/mm""#),
    ("force", r#"["5*sin(3*t)", "100 N*sin(2*pi*t)"]"#),
    ("initial", r#"S.position = "lift(30 deg)""#),
    ("radius", r#""sqrt(area(20 mm))""#),
    ("radius", r#""max(L, 3 mm)""#),
    ("joint", r#", limits = ["-30 deg", "inf"]"#),
    ("mass", r#""1000*pi*L^2*0.3""#),
    ("gravity", r#"[0, "-9.81 m/s^2"]"#),
    ("at", r#""[L, 0]""#),
    ("radius", r#""if(L > 0.1, L, 1 cm)""#),
    ("force", r#""[1 kN, 0]""#),
    ("run", r#"step = "1 ms""#),
    ("inertia", r#""0.5*m0*L^2""#),
    ("initial", r#"J.rate="50 Hz""#),
];

/// Values that do not.
const WRONG: &[(&str, &str)] = &[
    ("mass", r#""200 mm""#),
    ("at", r#""polar(60 deg, 0.2 m)""#),
    ("t_end", r#""3 kg""#),
    ("mass", r#""L""#),
    ("mass", r#""L + 1 kg""#),
    ("mass", r#""m0 + L""#),
    ("mass", r#""area(20 mm)""#),
    ("radius", r#""area(20 mm)""#),
    ("radius", r#""3 deg""#),
    ("radius", r#""m0""#),
    ("inertia", r#""m0*L""#),
    ("inertia", r#""m0""#),
    ("at", r#"["1 kg", 0]"#),
    ("at", r#""[m0, 0]""#),
    ("points", r#"P = ["30 deg", 0]"#),
    ("points", r#"P = "[m0, L]""#),
    ("gravity", r#"[0, "-9.81 m/s"]"#),
    ("joint", r#", stiffness = "20 kg""#),
    ("joint", r#", damping = "20 N/m/s""#),
    ("joint", r#", limits = ["-3 kg", 1]"#),
    ("joint", r#", rest = "2 s""#),
    ("force", r#"["5 kg", 0]"#),
    ("force", r#"["100 N*t + L", 0]"#),
    ("force", r#"["5 Nm", 0]"#),
    ("initial", r#"J.angle = "3 mm""#),
    ("initial", r#"J.rate = "3 m/s""#),
    ("initial", r#"J.rate = "L""#),
    ("initial", r#"S.position = "30 deg""#),
    ("initial", r#"S.speed = "30 rpm""#),
    ("initial", r#"a.velocity = ["3 rpm", 0]"#),
    ("initial", r#"a.rate = "3 m/s""#),
    ("run", r#"step = "1 mm""#),
    ("run", r#"wall_limit = "3 N""#),
    ("params", r#"x = "L + m0""#),
    ("params", r#"x = "sin(L)""#),
    ("params", r#"x = "exp(3 mm)""#),
    ("params", r#"x = "2^L""#),
    ("params", r#"x = "atan2(L, m0)""#),
    ("params", r#"x = "max(L, m0)""#),
    ("params", r#"x = "if(true, L, m0)""#),
    ("params", r#"x = "hypot(L, 3 s)""#),
    ("params", r#"x = "[L, m0]""#),
    ("params", r#"x = "lift(3 mm)""#),
    ("radius", r#""lift(3 mm)""#),
    ("mass", r#""lift(30 deg)""#),
    ("params", r#"x = "step(L, 0 s, 1, 1 s, 2)""#),
    ("params", r#"x = "clamp(L, 0 kg, 1 kg)""#),
    ("params", r#"x = "if(L > m0, 1, 2)""#),
    ("mass", r#""sqrt(m0)""#),
    ("mass", r#""-L""#),
    ("mass", r#""L/2""#),
    ("mass", r#""pi*L""#),
    ("mass", r#""m0*L/L*L""#),
    ("mass", r#""norm([L, L])""#),
    ("mass", r#""dot([L, L], [L, L])""#),
    ("radius", r#""dot([L, L], [L, L])""#),
    ("joint", r#", friction = { mu = "3 mm" }"#),
    (
        "forces",
        r#"G = { kind = "spring", bodies = ["ground", "b"], ends = [[0, 0], [1, 0]], stiffness = "3 kg" }"#,
    ),
    ("forces", r#"G = { kind = "torque", body = "a", torque = "5 N" }"#),
    ("slide", r#", stiffness = "20 Nm/rad""#),
    ("joint", r#", stiffness = "20 N/mm""#),
    ("joint", r#", limits = ["-3 mm", 1]"#),
    ("slide", r#", limits = ["-3 deg", 1]"#),
    ("body", r#", com = ["3 kg", 0]"#),
    ("radius", r#""rotate([L, 0], 3 mm).x""#),
    ("mass", r#""arc(L, 3 rad)""#),
    ("run", r#"rtol = "1 mm""#),
];

/// Returns what loading and assembling the model say with one value written.
fn said(location: &str, value: &str) -> Result<(), String> {
    let mut text = MODEL.to_string();
    for (name, plain) in PLAIN {
        text = text.replace(&format!("<{name}>"), if *name == location { value } else { plain });
    }
    let (model, system) = read(&text, Path::new("")).map_err(|e| format!("{e:?}"))?;
    let assembled = sarrus::analysis::assemble(&model, &system, Default::default());
    assembled.map(|_| ()).map_err(|e| e.diagnostics().iter().map(|d| d.render(&model.sources)).collect())
}

#[test]
fn units_that_fit_are_taken() {
    for (location, value) in FITS {
        said(location, value).unwrap_or_else(|error| panic!("{location} = {value}: {error}"));
    }
}

#[test]
fn units_that_do_not_fit_are_refused() {
    assert!(WRONG.len() >= 60);
    for (location, value) in WRONG {
        let error = said(location, value).expect_err(&format!("{location} = {value}"));
        assert!(error.contains("expected"), "{location} = {value}: {error}");
    }
}

/// Values are shown in the units of `[view]`; a unit of another quantity is refused at its place.
#[test]
fn units_of_the_view_are_of_their_quantity() {
    const BODY: &str = "bodies.a = { kind = 'point', at = [0, 0, 0], mass = 1 }\n";
    let shown = |units: &str| {
        let (model, _) = read(&format!("view.units = {{ {units} }}\n{BODY}"), Path::new(""))?;
        DisplayUnits::read(&model).map_err(|error| error.render(&model.sources))
    };
    let is = |units: &str, (x, si): (f64, &str), (y, name): (f64, &str)| {
        let shown = shown(units).unwrap();
        let (value, unit) = shown.value(x, si);
        assert!(unit == name && (value - y).abs() <= 4e-16 * y.abs(), "{value} {unit}, {y} {name}");
    };
    is("length = 'mm'", (0.25, "m"), (250.0, "mm"));
    is("angle = 'deg'", (std::f64::consts::PI, "rad"), (180.0, "deg"));
    is("rate = 'rpm'", (std::f64::consts::TAU, "rad/s"), (60.0, "rpm"));
    is("rate = 'deg/s'", (std::f64::consts::PI, "rad/s"), (180.0, "deg/s"));
    is("rate = 'rev/min'", (std::f64::consts::TAU, "rad/s"), (60.0, "rev/min"));
    is("force = 'kN'", (250.0, "N"), (0.25, "kN"));
    is("torque = 'Nmm', energy = 'kJ'", (2.0, "N m"), (2000.0, "Nmm"));
    is("torque = 'Nmm', energy = 'kJ'", (2.0, "J"), (0.002, "kJ"));
    is("torque = 'N m', mass = 'g'", (2.0, "N m"), (2.0, "N m"));
    // what is not asked for is SI
    is("length = 'mm'", (2.0, "m/s"), (2.0, "m/s"));

    for (units, message, hint) in [
        ("length = 'kg'", "`kg` is no unit of length", "one of: m km cm mm um in ft"),
        ("force = 'kn'", "`kn` is no unit of force", "one of: N kN MN lbf"),
        // one revolution or one radian per second
        ("rate = 'Hz'", "`Hz` is no unit of rate", "deg/s"),
        ("rate = 'm/s'", "`m/s` is no unit of rate", "rpm"),
        ("angel = 'deg'", "no key `angel`", "did you mean `angle`?"),
        ("time = 'ms'", "no key `time`", "it takes: length angle"),
    ] {
        let error = shown(units).unwrap_err();
        assert!(error.contains("test.toml:2:") && error.contains(message) && error.contains(hint), "{error}");
    }
    let error = read("view.units = 'mm'\n", Path::new("")).err().unwrap();
    assert!(error.contains("test.toml:2:14") && error.contains("such as `units = {"), "{error}");
}
