use super::*;
use crate::shapes::rod;
use sarrus_io::{LoadOptions, load_str};
use std::f64::consts::PI;

const PLANAR: &str = "format = \"sarrus/1\"\nspace = \"planar\"\n";
const SPATIAL: &str = "format = \"sarrus/1\"\n";

fn load(text: &str) -> Model {
    load_str("model.toml", text, &LoadOptions { record: true, ..Default::default() }).unwrap()
}

fn bodies(head: &str, text: &str) -> Vec<Body> {
    let model = load(&format!("{head}{text}"));
    read_bodies(&model).unwrap_or_else(|errors| panic!("{}", errors[0].render(&model.sources)))
}

/// The one body `b = { … }`.
fn body(head: &str, keys: &str) -> Body {
    bodies(head, &format!("bodies.b = {{ {keys} }}\n")).remove(1)
}

/// The first error, as the user sees it.
fn error(head: &str, text: &str) -> String {
    let model = load(&format!("{head}{text}"));
    match read_bodies(&model) {
        Ok(_) => panic!("no error in {text}"),
        Err(errors) => errors[0].render(&model.sources),
    }
}

fn close(found: &Mat3, expected: [[f64; 3]; 3]) {
    let size = expected.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    for i in 0..3 {
        for j in 0..3 {
            assert!((found.0[i][j] - expected[i][j]).abs() <= 1e-14 * size, "{found:?} is not {expected:?}");
        }
    }
}

fn moments(m: [f64; 3]) -> [[f64; 3]; 3] {
    inertia::diagonal(m).0
}

/// m = 3 kg, r = 0.2 m, l or h = 0.7 m; closed forms of the textbooks.
#[test]
fn shapes_have_their_textbook_inertia() {
    let (m, r, l) = (3.0, 0.2, 0.7);
    let across = m * (3.0 * r * r + l * l) / 12.0;
    let ball = 0.4 * m * r * r;
    let cases = [
        ("kind = 'rod', length = 0.7, radius = 0.2", [m * r * r / 2.0, across, across]),
        ("kind = 'disc', thickness = 0.7, radius = 0.2", [across, across, m * r * r / 2.0]),
        ("kind = 'disc', radius = 0.2", [m * r * r / 4.0, m * r * r / 4.0, m * r * r / 2.0]),
        ("kind = 'sphere', radius = 0.2", [ball; 3]),
        ("kind = 'box', size = [1, 2, 3]", [m * 13.0 / 12.0, m * 10.0 / 12.0, m * 5.0 / 12.0]),
        ("kind = 'ends', length = 0.7, radius = 0.2", [ball, ball + m * l * l / 4.0, ball + m * l * l / 4.0]),
    ];
    for (shape, expected) in cases {
        close(&body(SPATIAL, &format!("mass = 3, shape = {{ {shape} }}")).inertia, moments(expected));
    }
}

#[test]
fn planar_shapes_turn_about_z() {
    let cases = [
        ("kind = 'rod', length = 0.7, radius = 0.2", (3.0 * 0.04 + 0.49) / 12.0),
        ("kind = 'disc', radius = 0.2", 0.02),
        ("kind = 'disc', radius = 0.2, thickness = 9", 0.02),
        ("kind = 'sphere', radius = 0.2", 0.016),
        ("kind = 'box', size = [3, 4]", 25.0 / 12.0),
        ("kind = 'box', size = [3, 4], axis_on = [1, 1]", 25.0 / 12.0),
    ];
    for (shape, expected) in cases {
        let b = body(PLANAR, &format!("mass = 2, shape = {{ {shape} }}"));
        assert!((b.inertia.0[2][2] - 2.0 * expected).abs() < 1e-15, "{shape}");
    }
}

#[test]
fn mass_is_volume_times_density() {
    let r = 0.2;
    let cases = [
        ("kind = 'rod', length = 0.7, radius = 0.2", PI * r * r * 0.7),
        ("kind = 'capsule', length = 0.7, radius = 0.2", PI * r * r * 0.7 + 4.0 / 3.0 * PI * r * r * r),
        ("kind = 'disc', thickness = 0.7, radius = 0.2", PI * r * r * 0.7),
        ("kind = 'sphere', radius = 0.2", 4.0 / 3.0 * PI * r * r * r),
        ("kind = 'ends', length = 0.7, radius = 0.2", 8.0 / 3.0 * PI * r * r * r),
        ("kind = 'box', size = [1, 2, 3]", 6.0),
    ];
    for (shape, volume) in cases {
        let b = body(SPATIAL, &format!("material = 'steel', shape = {{ {shape} }}"));
        assert!((b.mass / (7850.0 * volume) - 1.0).abs() < 1e-15, "{shape}");
    }
    let own = body(
        SPATIAL,
        "material = 'foam', shape = { kind = 'box', size = [1, 2, 3] } }\nmaterials.foam = { density = 5",
    );
    assert_eq!(own.mass, 30.0);
}

#[test]
fn axis_on_turns_the_inertia_with_the_shape() {
    let rotated =
        body(SPATIAL, "mass = 1, shape = { kind = 'rod', length = 1, radius = 0.1, axis_on = [0, 0, -2] }");
    let (along, across) = (0.005, (0.03 + 1.0) / 12.0);
    close(&rotated.inertia, moments([across, across, along]));
    // exact, so that the resolved file has three moments
    assert_eq!(rotated.inertia.0[0][1..], [0.0, 0.0]);

    // a thin rod along u has m l²/12 (1 - u uᵀ)
    let u = [0.48, 0.6, 0.64];
    let thin = body(
        SPATIAL,
        "mass = 12, shape = { kind = 'rod', length = 1, radius = 1e-6, axis_on = [0.48, 0.6, 0.64] }",
    );
    for i in 0..3 {
        for j in 0..3 {
            let expected = f64::from(i == j) - u[i] * u[j];
            assert!((thin.inertia.0[i][j] - expected).abs() < 1e-11);
            assert_eq!(thin.inertia.0[i][j].to_bits(), thin.inertia.0[j][i].to_bits());
        }
    }
}

#[test]
fn a_shape_moved_takes_the_centre_of_mass_along() {
    let b = body(
        SPATIAL,
        "at = [1, 0, 0], mass = 2, shape = { kind = 'sphere', radius = 1, on = [0, 0.3, 0.1] }",
    );
    assert_eq!((b.com, b.start.0), ([0.0, 0.3, 0.1], [1.0, 0.3, 0.1]));
    close(&b.inertia, moments([0.8; 3]));
    // not where the inertia is given
    let given = body(
        SPATIAL,
        "mass = 2, inertia = [1, 1, 1], shape = { kind = 'sphere', radius = 1, on = [0, 0.3, 0.1] }",
    );
    assert_eq!((given.com, given.inertia), ([0.0; 3], Mat3::identity()));
    // and not where the centre is given: the inertia is about it
    let com = body(
        SPATIAL,
        "mass = 2, com = [0, 0, 1], shape = { kind = 'sphere', radius = 1, on = [0, 0.3, 0.1] }",
    );
    assert_eq!((com.com, com.inertia), ([0.0, 0.0, 1.0], b.inertia));
}

/// Two halves of a rod, of volume ratio 1 : 1, and a box of two cubes of edges 1 and 2, volumes 1 : 8.
#[test]
fn several_shapes_are_weighed_by_volume_about_their_common_centre() {
    let halves = body(
        SPATIAL,
        "mass = 3, shape = [{ kind = 'rod', length = 0.5, radius = 0.1, on = [0.25, 1, 0] }, { kind = 'rod', length = 0.5, radius = 0.1, on = [0.75, 1, 0] }]",
    );
    assert_eq!(halves.com, [0.5, 1.0, 0.0]);
    close(&halves.inertia, moments(rod::solid(1.0, 0.1).k2.map(|k2| 3.0 * k2)));

    let b = body(
        SPATIAL,
        "material = 'wood', shape = [{ kind = 'box', size = [1, 1, 1], on = [0, 0, 4.5] }, { kind = 'box', size = [2, 2, 2] }, { kind = 'sphere', radius = 5, role = 'visual' }, { kind = 'plane' }]",
    );
    assert_eq!(b.mass, 450.0 * 9.0);
    assert_eq!(b.com, [0.0, 0.0, 0.5]);
    let (small, large) = (450.0, 3600.0);
    let about_z = small / 6.0 + large * 4.0 / 6.0;
    let about_x = about_z + small * 16.0 + large * 0.25;
    close(&b.inertia, moments([about_x, about_x, about_z]));

    // off the diagonal stands -Σ m x y about the centre
    let b = body(
        SPATIAL,
        "mass = 2, shape = [{ kind = 'sphere', radius = 0.1, on = [1, 2, 3] }, { kind = 'sphere', radius = 0.1, on = [-1, -2, -3] }]",
    );
    let own = 2.0 * 0.004;
    close(&b.inertia, [[26.0 + own, -4.0, -6.0], [-4.0, 20.0 + own, -12.0], [-6.0, -12.0, 10.0 + own]]);
}

#[test]
fn planar_shapes_without_thickness_are_weighed_by_area() {
    let b = body(
        PLANAR,
        "mass = 10, shape = [{ kind = 'box', size = [1, 1], on = [5, 0] }, { kind = 'box', size = [2, 2] }]",
    );
    assert_eq!(b.com, [1.0, 0.0, 0.0]);
    let expected = 2.0 * (1.0 / 6.0 + 16.0) + 8.0 * (4.0 / 6.0 + 1.0);
    assert!((b.inertia.0[2][2] - expected).abs() < 1e-14 * expected);
}

#[test]
fn a_bar_without_a_shape_has_an_inertia_and_no_mass_of_its_own() {
    let planar = body(PLANAR, "from = [0, 0], to = [3, 4], mass = 2");
    assert_eq!((planar.kind, planar.inertia.0[2][2]), (BodyKind::PlanarRigid, 2.0 * 25.0 / 12.0));
    assert_eq!(planar.start.0, [1.5, 2.0, 0.0]);
    assert_eq!(planar.start.2, 4f64.atan2(3.0));

    let spatial = body(SPATIAL, "from = [0, 0, 0], to = [0, 0, 2], mass = 3");
    let (along, across) = (3.0 * 0.05f64.powi(2) / 2.0, 3.0 * (0.05f64.powi(2) / 4.0 + 4.0 / 12.0));
    close(&spatial.inertia, moments([along, across, across]));
    assert_eq!(spatial.start.0, [0.0, 0.0, 1.0]);
    let x = Pose::from_quat([0.0; 3], spatial.start.1).rotate(&[1.0, 0.0, 0.0]);
    assert!((x - Vec3([0.0, 0.0, 1.0])).norm() < 1e-15);

    // also where its shapes have none
    let drawn = body(
        SPATIAL,
        "from = [0, 0, 0], to = [0, 0, 2], mass = 3, shape = { kind = 'ends', radius = 1, role = 'visual' }",
    );
    assert_eq!(drawn.inertia, spatial.inertia);
    // a rod takes the bar's length
    let thick =
        body(SPATIAL, "from = [0, 0, 0], to = [0, 0, 2], mass = 3, shape = { kind = 'rod', radius = 0.05 }");
    assert_eq!(thick.inertia, spatial.inertia);
    assert!(
        error(SPATIAL, "bodies.b = { from = [0, 0, 0], to = [0, 0, 2], material = 'steel' }")
            .contains("needs `mass`")
    );
}

#[test]
fn inertia_about_the_origin_is_moved_to_the_centre() {
    let b = body(SPATIAL, "mass = 2, com = [0, 0, 0.5], inertia = [3, 3, 1], inertia_about = 'origin'");
    assert_eq!(b.inertia.0, moments([2.5, 2.5, 1.0]));
    let tilted = body(
        SPATIAL,
        "mass = 1, com = [1, 2, 0], inertia = [[9, -2, 0], [-2, 6, 0], [0, 0, 10]], inertia_about = 'origin'",
    );
    assert_eq!(tilted.inertia.0, moments([5.0, 5.0, 5.0]));
    let planar = body(PLANAR, "mass = 2, com = [0.3, 0.4], inertia = 1, inertia_about = 'origin'");
    assert_eq!(planar.inertia.0[2][2], 0.5);
    assert!(
        error(PLANAR, "bodies.b = { mass = 2, com = [3, 4], inertia = 1, inertia_about = 'origin' }")
            .contains("less m·com²")
    );
}

#[test]
fn coordinates_are_laid_out_in_order() {
    let spatial = bodies(
        SPATIAL,
        "[bodies]\na = { mass = 1, inertia = [1, 1, 1] }\nb = { kind = 'point', at = [1, 2, 3], mass = 1 }\nc = { mass = 1, inertia = [1, 1, 1] }",
    );
    let layout: Vec<_> = spatial.iter().map(|b| (b.kind, b.q, b.v)).collect();
    use BodyKind::*;
    assert_eq!(layout, [(Ground, 0, 0), (Rigid, 0, 0), (Point, 7, 6), (Rigid, 10, 9)]);
    assert_eq!((spatial[0].name.as_str(), spatial[0].mass), ("ground", 0.0));
    assert_eq!(spatial[2].start, ([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0], 0.0));
    let planar = bodies(
        PLANAR,
        "[bodies]\na = { kind = 'point', mass = 1 }\nb = { angle = '450 deg', com = [1, 0], mass = 1, inertia = 1 }\nc = { mass = 1, inertia = 1 }",
    );
    let layout: Vec<_> = planar.iter().map(|b| (b.kind, b.q, b.v)).collect();
    assert_eq!(layout, [(Ground, 0, 0), (PlanarPoint, 0, 0), (PlanarRigid, 2, 2), (PlanarRigid, 5, 5)]);
    // turns are kept
    assert_eq!(planar[2].start.2, 2.5 * PI);
    assert!((Vec3(planar[2].start.0) - Vec3([0.0, 1.0, 0.0])).norm() < 1e-15);
}

#[test]
fn markers_are_measured_from_the_origin_in_body_axes() {
    let text = "ground.markers = { wall = { at = [9, 9] } }\n\
         bodies.b = { from = [1, 0], to = [1, 2], mass = 1, com = [0.1, 0], markers = { tip = { at = [1, 2] }, side = { on = [0, 0.5] } } }";
    let list = bodies(PLANAR, text);
    assert_eq!(list[0].markers, [("wall".to_owned(), [9.0, 9.0, 0.0])]);
    let [(tip, p), (side, on)] = list[1].markers.as_slice() else { panic!("{:?}", list[1].markers) };
    assert_eq!((tip.as_str(), side.as_str(), *on), ("tip", "side", [0.0, 0.5, 0.0]));
    assert!((Vec3(*p) - Vec3([1.0, 0.0, 0.0])).norm() < 1e-15);
}

#[test]
fn a_thin_or_flat_body_is_possible() {
    for inertia in
        ["[1e-12, 1, 1]", "[1, 1, 2]", "[1, 1, 2.000000001]", "[[2, -0.9, 0], [-0.9, 2, 0], [0, 0, 2.5]]"]
    {
        body(SPATIAL, &format!("mass = 1, inertia = {inertia}"));
    }
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    let spatial = [
        ("inertia = [1, 1, 1]", "1:8: body `b` needs `mass`"),
        ("shape = { kind = 'sphere', radius = 1 }", "or a `material`"),
        ("material = 'steel', shape = { kind = 'disc', radius = 1 }", "without `thickness` has no volume"),
        (
            "material = 'steel', shape = { kind = 'sphere', radius = 1, role = 'visual' }",
            "its shapes have none",
        ),
        ("material = 'stel', shape = { kind = 'sphere', radius = 1 }", "did you mean `steel`?"),
        ("mass = 1, material = 'stel', inertia = [1, 1, 1]", "did you mean `steel`?"),
        ("mass = 0, inertia = [1, 1, 1]", "1:21: `mass` of body `b` must be positive, it is 0"),
        ("mass = '-2', inertia = [1, 1, 1]", "must be positive, it is -2"),
        ("mass = nan, inertia = [1, 1, 1]", "must be finite"),
        ("mass = inf, inertia = [1, 1, 1]", "must be finite"),
        ("mass = 1e-310, inertia = [1, 1, 1]", "check the units"),
        ("mass = 1e300, shape = { kind = 'sphere', radius = 1e10 }", "not finite"),
        ("mass = 1", "needs `inertia` or a `shape`"),
        ("mass = 1, shape = { kind = 'plane' }", "needs `inertia` or a `shape`"),
        ("mass = 1, inertia = [1, 1, 3]", "one moment exceeds the sum of the others"),
        ("mass = 1, inertia = [1, 1, 2.00000001]", "one moment exceeds the sum of the others"),
        ("mass = 1, inertia = [[1, 0, 0.9], [0, 1, 0], [0.9, 0, 1]]", "opposite sign"),
        ("mass = 1, inertia = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]", "negative moment"),
        ("mass = 1, inertia = [[1, 2, 0], [1, 1, 0], [0, 0, 1]]", "not symmetric"),
        ("mass = 1, inertia = [0, 1, 1]", "moment of 0"),
        ("mass = 1, inertia = [[1, 1, 0], [1, 1, 0], [0, 0, 2]]", "moment of 0"),
        ("mass = 1, inertia = [1, -1, 1]", "negative moment"),
        ("mass = 1, inertia = 1", "expected"),
        ("from = [0, 0, 0], to = [0, 0, 0], mass = 1", "has no length"),
        ("from = [0, 0, 0], mass = 1", "needs `to`"),
        ("mass = 1, inertia_about = 'origin', shape = { kind = 'sphere', radius = 1 }", "gives no `inertia`"),
        ("mass = 1, inertia = [1, 1, 1], angle = 1", "use `orientation`"),
        ("mass = 1, inertia = [1, 1, 1], enabled = false", "cannot be switched off"),
        ("mass = 1, inertai = [1, 1, 1]", "did you mean `inertia`?"),
        ("kind = 'pont', mass = 1", "did you mean `point`?"),
        ("kind = 'point', mass = 1, inertia = [1, 1, 1]", "is a point mass: it has no `inertia`"),
        ("kind = 'point', mass = 1, orientation = [1, 0, 0, 0]", "is a point mass: it has no `orientation`"),
        ("kind = 'point', mass = 1, from = [1, 0, 0], to = [0, 0, 0]", "give its place by `at`"),
        ("kind = 'point', mass = 1, markers = { a = { on = [0, 0, 1] } }", "carries nothing beside it"),
        ("mass = 1, inertia = [1, 1, 1], markers = { x = { on = [0, 0, 1] } }", "cannot have a marker `x`"),
        ("mass = 1, inertia = [1, 1, 1], markers = { a = { on = [0, 0, 1], at = [0, 0, 0] } }", "not both"),
        (
            "mass = 1, inertia = [1, 1, 1], markers = { a = { orientation = [1, 0, 0, 0] } }",
            "needs `at` or `on`",
        ),
        (
            "mass = 1, inertia = [1, 1, 1], markers = { a = { on = [0, 0, 1], if = 'false' } }",
            "has no key `if`",
        ),
        ("at = [1e308, 0, 0], com = [1.7e308, 0, 0], mass = 1, inertia = [1, 1, 1]", "too far away"),
    ];
    for (keys, expected) in spatial {
        let found = error("", &format!("bodies.b = {{ {keys} }}\nformat = \"sarrus/1\""));
        assert!(found.contains(expected), "{keys}:\n{found}");
        assert!(found.starts_with("model.toml:1:"), "{keys}:\n{found}");
    }
    let planar = [
        ("mass = 1, inertia = 0", "is 0"),
        ("mass = 1, inertia = -1", "must be positive"),
        ("mass = 1, inertia = [1, 1, 1]", "expected a number"),
        ("mass = 1, inertia = 1, orientation = [1, 0, 0, 0]", "use `angle`"),
        ("kind = 'point', mass = 1, angle = 1", "is a point mass: it has no `angle`"),
        ("material = 'steel', shape = { kind = 'box', size = [1, 1] }", "a planar shape has no volume"),
        ("mass = 1, shape = { kind = 'box', size = [1, 1, 1] }", "the space is planar"),
        ("mass = 1, shape = { kind = 'disc', radius = 1, axis_on = [1, 0] }", "axis of a planar disc is z"),
        (
            "mass = 1, shape = [{ kind = 'disc', radius = 1 }, { kind = 'sphere', radius = 1 }]",
            "this sphere has a volume, another shape only an area",
        ),
    ];
    for (keys, expected) in planar {
        let found = error(PLANAR, &format!("bodies.b = {{ {keys} }}"));
        assert!(found.contains(expected) && found.starts_with("model.toml:3:"), "{keys}:\n{found}");
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let cases = [
        ("kind = 'cylinder', radius = 1", "a `rod` lies along x, a `disc` about z"),
        ("kind = 'spher', radius = 1", "did you mean `sphere`?"),
        ("kind = 'tetrahedron'", "one of: rod capsule"),
        ("radius = 1", "needs `kind`"),
        ("kind = 'sphere'", "needs `radius`"),
        ("kind = 'sphere', radius = 0", "must be positive"),
        (
            "kind = 'sphere', radius = '1 m', thickness = 1",
            "it takes: radius on axis_on orientation_on name role color",
        ),
        ("kind = 'rod', radius = 1", "only a bar"),
        ("kind = 'rod', length = 1, radius = 1, axis_on = [0, 0, 0]", "has no length"),
        ("kind = 'ends', radius = 1", "only a bar"),
        ("kind = 'box', size = [1, 1]", "the space is spatial"),
        ("kind = 'box', size = [1, 0, 1]", "must be positive"),
        ("kind = 'box'", "needs `size`"),
        ("kind = 'channel'", "needs `width`"),
        ("kind = 'mesh'", "needs `file`"),
        ("kind = 'convex'", "needs `file`"),
        ("kind = 'sphere', radius = 1, role = 'weight'", "cannot be `weight`"),
        ("kind = 'sphere', radius = 1, rol = 'mass'", "did you mean `role`?"),
        ("kind = 'sphere', radius = 1, if = 'false'", "no key `if`"),
    ];
    for (shape, expected) in cases {
        let found = error(SPATIAL, &format!("bodies.b = {{ mass = 1, shape = {{ {shape} }} }}"));
        assert!(found.contains(expected) && found.starts_with("model.toml:2:"), "{shape}:\n{found}");
    }
    let ground = error(SPATIAL, "ground.shape = { kind = 'chanel', width = 1 }\n[bodies]");
    assert!(ground.contains("did you mean `channel`?"), "{ground}");
}

#[test]
fn errors_of_several_bodies_come_together_and_not_without_end() {
    let model = load(&format!(
        "{PLANAR}[bodies]\na = {{ mass = 0 }}\nb = {{ mass = 1, inertia = 1 }}\nc = {{ mass = 1 }}"
    ));
    assert_eq!(read_bodies(&model).unwrap_err().len(), 2);
    let text = format!("{PLANAR}[repeat.r]\nfor = \"i = 1 to 1000\"\nbodies.\"b{{i}}\" = {{ mass = 0 }}");
    let errors = read_bodies(&load(&text)).unwrap_err();
    assert_eq!(errors.len(), MOST_ERRORS);
    assert!(errors[1].notes[0].contains("i = 2"), "{:?}", errors[1]);
}

/// A model that includes `part.toml`, in a folder of its own.
fn with_part(folder: &str, part: &str, text: &str) -> Model {
    let folder = std::env::temp_dir().join(format!("sarrus-bodies-{}-{folder}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("part.toml"), part).unwrap();
    std::fs::write(folder.join("model.toml"), text).unwrap();
    let model =
        sarrus_io::load(folder.join("model.toml"), &LoadOptions { record: true, ..Default::default() });
    std::fs::remove_dir_all(&folder).unwrap();
    model.unwrap_or_else(|failure| panic!("{}", failure.render()))
}

#[test]
fn an_included_ground_brings_its_markers_to_the_body_it_becomes() {
    let part = "format = 'sarrus/1'\nground.markers = { A = { at = [1, 0, 0] }, B = { on = [0, 1, 0] } }\nground.shape = { kind = 'plane' }\n\
         bodies.arm = { at = [1, 0, 0], mass = 1, inertia = [1, 1, 1] }";
    let text = "format = 'sarrus/1'\n\
         include.left = { file = 'part.toml', ground = 'chassis', at = [0, 0, 5], orientation = { axis = [0, 0, 1], angle = '90 deg' } }\n\
         include.right = { file = 'part.toml', at = [0, 0, 7] }\n\
         bodies.chassis = { at = [0, 0, 4], mass = 9, shape = { kind = 'sphere', radius = 1 } }";
    let model = with_part("ground", part, text);
    let list = read_bodies(&model).unwrap();
    let find = |name: &str| list.iter().find(|b| b.name == name).unwrap();
    let near = |p: [f64; 3], q: [f64; 3]| (Vec3(p) - Vec3(q)).norm() < 1e-15;
    let chassis = find("chassis");
    assert_eq!(chassis.mass, 9.0);
    let [(a, p), (b, q)] = chassis.markers.as_slice() else { panic!("{:?}", chassis.markers) };
    assert_eq!((a.as_str(), b.as_str()), ("left.ground.A", "left.ground.B"));
    assert!(near(*p, [0.0, 1.0, 1.0]) && near(*q, [-1.0, 0.0, 1.0]), "{p:?} {q:?}");
    let ground: Vec<&str> = list[0].markers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(ground, ["right.ground.A", "right.ground.B"]);
    assert_eq!(list[0].markers[1].1, [0.0, 1.0, 7.0]);
    assert!(near(find("left.arm").start.0, [0.0, 1.0, 5.0]));
    // names as the model knows them
    for body in [chassis, &list[0]] {
        let names: Vec<String> = body.markers.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(model.markers(&body.name), names);
    }
}

/// A body and its mirror image in y = 0: the tensor becomes L I L, the centre L c.
#[test]
fn a_mirrored_body_is_the_mirror_image() {
    let shape = "[{ kind = 'box', size = [0.1, 0.2, 0.4], on = [0.1, 0.3, 0], axis_on = [-1, 2, 3] }, { kind = 'rod', length = 1, radius = 0.1, axis_on = [0, 1, 1] }]";
    let part = format!(
        "format = 'sarrus/1'\nbodies.b = {{ at = [1, 2, 3], mass = 2, shape = {shape} }}\n\
         bodies.bar = {{ from = [0, 0, 0], to = [1, 1, 0], mass = 1 }}\nbodies.p = {{ kind = 'point', at = [1, 2, 3], mass = 1 }}"
    );
    let text = "format = 'sarrus/1'\ninclude.l = { file = 'part.toml' }\ninclude.r = { file = 'part.toml', mirror = 'y' }";
    let model = with_part("mirror", &part, text);
    let list = read_bodies(&model).unwrap();
    let find = |name: &str| list.iter().find(|b| b.name == name).unwrap();
    let (l, r) = (find("l.b"), find("r.b"));
    let L = [1.0, -1.0, 1.0];
    close(&r.inertia, [0, 1, 2].map(|i| [0, 1, 2].map(|j| L[i] * l.inertia.0[i][j] * L[j])));
    for i in 0..3 {
        assert!(
            (r.com[i] - L[i] * l.com[i]).abs() < 1e-15 && (r.start.0[i] - L[i] * l.start.0[i]).abs() < 1e-15
        );
    }
    assert_eq!(find("r.bar").inertia, find("l.bar").inertia);

    // the resolved file has no bar to take a rod from, and nothing that a point would refuse
    let recorder = model.recorder.as_ref().unwrap().lock().unwrap();
    let keys = |name: &str| -> Vec<&str> {
        recorder
            .element(sarrus_model::Section::Bodies, name)
            .unwrap()
            .iter()
            .map(|(key, _)| key.as_str())
            .collect()
    };
    assert!(keys("r.bar").contains(&"shape") && !keys("r.bar").contains(&"from"), "{:?}", keys("r.bar"));
    assert!(!keys("r.p").contains(&"orientation"), "{:?}", keys("r.p"));
}

/// Each body read again from what was recorded has the same bits.
#[test]
fn what_is_recorded_gives_the_same_body() {
    let texts = [
        (PLANAR, "from = [0.1, 0.7], to = [0.3, 0.2], mass = 1.7"),
        (
            PLANAR,
            "angle = 0.3, mass = 1.1, shape = { kind = 'box', size = [0.3, 0.7], on = [0.1, 0.2], axis_on = [1, 2] }",
        ),
        (SPATIAL, "from = [0.1, 0.7, 0], to = [0.3, 0.2, 0.9], mass = 1.7"),
        (
            SPATIAL,
            "from = [0.1, 0.7, 0], to = [0.3, 0.2, 0.9], material = 'steel', shape = { kind = 'capsule', radius = 0.1 }",
        ),
        (SPATIAL, "mass = 1.3, shape = { kind = 'rod', length = 0.3, radius = 0.1, axis_on = [1, 2, 3] }"),
        (
            SPATIAL,
            "at = [1, 2, 3], orientation = { axis = [1, 1, 0], angle = 0.4 }, material = 'brass', shape = [{ kind = 'sphere', radius = 0.1, on = [0.1, 0.3, 0.2] }, { kind = 'disc', radius = 0.2, thickness = 0.1 }], markers = { a = { at = [0.3, 0.1, 0.7] } }",
        ),
        (
            SPATIAL,
            "kind = 'point', at = [0.1, 0.2, 0.3], material = 'steel', shape = { kind = 'sphere', radius = 0.1 }",
        ),
    ];
    for (head, keys) in texts {
        let model = load(&format!("{head}bodies.b = {{ {keys} }}"));
        let first = read_bodies(&model).unwrap().remove(1);
        let recorder = model.recorder.as_ref().unwrap().lock().unwrap();
        let recorded = recorder.element(sarrus_model::Section::Bodies, "b").unwrap().to_vec();
        for key in ["mass", if first.kind.rotates() { "inertia" } else { "mass" }] {
            assert!(recorded.iter().any(|(k, _)| k == key), "{keys}: no {key}");
        }
        let text = written(&sarrus_model::record::with_lists(ResolvedValue::Table(recorded)));
        let again = body(head, text.trim_start_matches('{').trim_end_matches('}'));
        assert_eq!(format!("{first:?}"), format!("{again:?}"), "{text}");
    }
}

fn written(value: &ResolvedValue) -> String {
    match value {
        ResolvedValue::Flag(b) => b.to_string(),
        ResolvedValue::Number(x) => format!("{x:?}"),
        ResolvedValue::Text(text) => format!("'{text}'"),
        ResolvedValue::List(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        ResolvedValue::Table(table) => {
            let entries: Vec<String> =
                table.iter().map(|(k, v)| format!("\"{k}\" = {}", written(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
