//! A rod as a chain of rigid segments with springs in the joints between them: the finite segments of \[Hajzman2007\].
//!
//! N segments of length l = L/N, each with the mass ρA l and the inertia ρI l + ρA l³/12 across. Neighbours are joined by a pin (in
//! space a ball joint), and the springs EI/l (and GJ/l about the axis) take their angle as the curvature over the
//! distance l of their centres. It does not stretch or shear, so it has no fast vibrations along: cheap, and good for contact. Its
//! error is of order l² (of the bending frequencies of a free one of order l⁴), but of order l where an end is clamped, whose half segment
//! does not bend. Where shear or stretch matters take a `beam`.

use super::prelude::*;
use crate::contact;
use crate::forces::Bushing;
use crate::joint::{BodyFixedFrame, Frames};
use crate::joints;
use crate::shapes;

fn read(reader: &Reader, sections: &[BeamSection]) -> Result<Member> {
    let planar = reader.is_planar();
    let line = MemberLine::read(reader, "segments", 10, false)?;
    let properties = Properties::read(reader, sections)?;
    let mesh = line.mesh();
    let l = mesh.pieces[0].length;
    let (ei, rho_i, mass) = (properties.ei()?, properties.rho_i()?, properties.rho_a()? * l);
    let damping = properties.damping()?;
    let gj = if planar { 0.0 } else { properties.gj()? };
    // drawn, and touches what a contact names; mass is the section's
    let material = reader.material("material")?;
    let surfaces = contact::touchable(&shapes::read(reader, Some(l))?, material.as_ref());

    let across = rho_i.map(|rho| rho * l + mass * l * l / 12.0);
    let moments = if planar { [across[0]; 3] } else { [(rho_i[0] + rho_i[1]) * l, across[0], across[1]] };
    let name = reader.element().name.clone();
    let segment = |(k, station): (usize, &Station)| {
        let frame = station.frame(planar);
        Body {
            name: format!("{name}.seg{}", k + 1),
            kind: if planar { BodyKind::PlanarRigid } else { BodyKind::Rigid },
            mass,
            inertia: Mat3([[moments[0], 0.0, 0.0], [0.0, moments[1], 0.0], [0.0, 0.0, moments[2]]]),
            com: [0.0; 3],
            q: 0,
            v: 0,
            start: (frame.p, frame.q, frame.angle),
            markers: Vec::new(),
            between: None,
            shares: false,
            rotor: false,
            surfaces: surfaces.clone(),
        }
    };
    let bodies: Vec<Body> = mesh.pieces.iter().map(|piece| &piece.middle).enumerate().map(segment).collect();

    let end = |x: f64| BodyFixedFrame { p: [x, 0.0, 0.0], rot: Mat3::identity(), angle: 0.0 };
    let frames = Frames { F: end(0.5 * l), M: end(-0.5 * l) };
    // about x, y and z of the segment; in the plane about z, where the section bends about its y
    let springs = if planar { [0.0, 0.0, ei[0] / l] } else { [gj / l, ei[0] / l, ei[1] / l] };
    let matrix = |factor: f64| {
        let mut m = [[0.0; 6]; 6];
        (0..3).for_each(|i| m[3 + i][3 + i] = factor * springs[i]);
        m
    };
    let (mut hinges, mut forces) = (Vec::new(), Vec::new());
    for k in 1..bodies.len() {
        let (name, pair) = (format!("{name}.joint{k}"), [k - 1, k]);
        let load = Arc::new(Bushing::new(frames, planar, matrix(1.0), matrix(damping)));
        forces.push(MemberForce { name: name.clone(), bodies: pair.to_vec(), load });
        hinges.push(MemberJoint { name, bodies: pair, face: joints::revolute_face(planar), frames });
    }
    let mirrored = line.unmirrored(reader).map(|own| own.mesh().pieces).unwrap_or_default();
    let mirrored = mirrored.iter().map(|p| reader.transform().frame(&p.middle.frame(planar))).collect();
    let visible = bodies.len();
    let rows = Vec::new();
    Ok(Member {
        name,
        bodies,
        visible,
        part: "seg",
        first: 1,
        mirrored,
        rows,
        joints: hinges,
        forces,
        floating: None,
        shown: Vec::new(),
        id: 0,
    })
}

/// `kind = "segmented_rod"`
pub const KIND: MemberKind = MemberKind {
    name: "segmented_rod",
    doc: "rigid segments with joints and springs between them, from the bending stiffness of a rod",
    keys: &[
        Key::new("from", KeyType::Point, "", "its start in the model pose [m]"),
        Key::new("to", KeyType::Point, "", "its end [m]"),
        Key::new("section", KeyType::Name, "", "its cross section, of [sections]"),
        Key::new("material", KeyType::Name, "", "material: stiffness and density of the section's shape"),
        Key::new("segments", KeyType::Number, "10", "how many [1]"),
        Key::new("damping", KeyType::Number, "the material's, or 0", "times the stiffness [s]"),
        Key::new(
            "up",
            KeyType::Vector,
            "z, of a vertical one x",
            "the side of the section that is up, spatial",
        ),
        Key::new("shape", KeyType::Tables(shapes::KEYS), "", "what each segment looks like"),
    ],
    planar: &["from = [0, 0], to = [1, 0.3], section = 's', segments = 4, damping = 0.01"],
    spatial: &["from = [0, 0, 0], to = [1, 0.3, 0.2], section = 's', segments = 4, damping = 0.01"],
    read,
};
