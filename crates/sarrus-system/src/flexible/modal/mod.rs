//! A modal body: a structure that bends little while its frame moves largely.
//!
//! The [`structure`] is meshed from beams, or given by its matrices ([`files`]), and [reduced](mod@reduce) to few amplitudes η. The body then
//! consists (`build`) of
//!
//! - the frame, a body `X.frame`, at the centre of mass where η = 0, with the axes of the world in the model pose;
//! - internal bodies that hold three or two amplitudes each as their coordinates. Together with the frame they have one block of M, which
//!   changes with η, and their [`inertia`] is that of the structure ([`invariants`]) without what the interface carries;
//! - the interface nodes, bodies `X.node1`, … with up to half of the mass of their nodes, each [`tie`]d to frame and amplitudes by six rows. They
//!   move as the shapes say, so it does not matter who carries their mass; shared, both blocks of M are far from singular;
//! - the [`stiffness`] and damping of the amplitudes.
//!
//! In the plane the same with three motions of the frame and three rows a node. Nodes of solids do not turn: they are points.
//!
//! Exact for small η to the second order in the energy: steady and unsteady rotation, with the stiffening by axial loads where the
//! shapes have their quadratic part (`geometric_stiffness`). Not for members that bend so much that linear stiffness does not hold:
//! for these `beam`. Constraint modes of the interface are stiff; implicit methods pass over them, explicit ones have to follow them.

mod build;
pub mod files;
pub mod floating;
pub mod inertia;
pub mod invariants;
pub mod points;
pub mod recover;
pub mod reduce;
pub mod shapes;
mod source;
pub mod stiffness;
pub mod structure;
pub mod tie;

use super::prelude::*;
use build::build;
use reduce::reduce;
use sarrus_model::Model;
use source::{failed, nodes, ratios, source};
use std::collections::HashMap;
use stiffness::MOST_AMPLITUDES;

/// Names of the beams that modal bodies are made of: they are no beams of their own. With the body that takes each.
pub(crate) fn used_names(model: &Model) -> HashMap<String, String> {
    let mut taken = HashMap::new();
    for element in model.flexible.iter().filter(|e| e.kind == KIND.name) {
        // what is wrong with the list is said when the body is read
        for (name, _) in Reader::open(model, element).names("members").unwrap_or_default() {
            taken.insert(name, element.name.clone());
        }
    }
    taken
}

fn read(reader: &Reader, sections: &[BeamSection]) -> Result<Member> {
    let (mut structure, interface) = source(reader, sections)?;
    let modes = reader.count_opt("modes")?.unwrap_or(6) as usize;
    let quadratic = reader.flag_or("geometric_stiffness", !structure.bars.is_empty())?;
    if quadratic && structure.bars.is_empty() {
        let bars = if structure.rotates { files::bars(&structure) } else { None };
        let Some(bars) = bars else {
            let message = format!(
                "{}: K is not that of beams, so it does not say how loads stiffen the body",
                reader.title()
            );
            return Err(reader.error("geometric_stiffness", message).hint("leave it out"));
        };
        structure.bars = bars;
    }
    // displacements of the interface beyond those of the whole
    let (wide, rigid) = (structure.directions().len(), structure.rigid());
    let held = wide * (structure.nodes.len() - interface.len());
    let beyond = wide * interface.len() - rigid.min(wide * interface.len());
    if modes > held || !(2..=MOST_AMPLITUDES).contains(&(modes + beyond)) {
        let (least, most) = (2_usize.saturating_sub(beyond), MOST_AMPLITUDES.saturating_sub(beyond));
        let message = format!("`modes` of {} cannot be {modes}", reader.title());
        return Err(reader.error("modes", message).hint(format!("{least} to {} here", held.min(most))));
    }
    let middle = invariants::middle(&structure)
        .map_err(|why| reader.error("mass", format!("{}: M is no mass matrix: {why}", reader.title())))?;
    let reduced =
        reduce(&structure, &interface, modes, quadratic).map_err(|why| failed(reader, &structure, &why))?;
    let damping = ratios(reader, reduced.squares.len())?;
    let shown = nodes(reader, &structure, "show")?;
    build(reader, &structure, middle, &interface, &shown, reduced, &damping)
}

/// `kind = "modal"`
pub const KIND: MemberKind = MemberKind {
    name: "modal",
    doc: "a body that bends little: a floating frame with few shapes of a beam structure, or of given matrices",
    keys: &[
        Key::new("members", KeyType::Names, "", "beams that it consists of; they are no beams of their own"),
        Key::new(
            "mass",
            KeyType::Text,
            "",
            "M instead: Matrix Market, six rows a node (planar three), or without turns",
        ),
        Key::new("stiffness", KeyType::Text, "", "K: Matrix Market, the same rows, without supports"),
        Key::new("nodes", KeyType::Text, "", "their nodes: CSV of name, x, y, z (planar without z)"),
        Key::new("interface", KeyType::Names, "", "nodes that become bodies: node1, node2, …"),
        Key::new("show", KeyType::Names, "", "further nodes whose places and displacements are results"),
        Key::new("modes", KeyType::Number, "6", "shapes beside those of the interface, with that held [1]"),
        Key::new(
            "damping",
            KeyType::Either(&KeyType::Number, &KeyType::Numbers),
            "0",
            "damping ratio, or one of each amplitude [1]",
        ),
        Key::new(
            "geometric_stiffness",
            KeyType::Flag,
            "true, of matrices false",
            "whether axial loads stiffen and soften it",
        ),
        Key::new("at", KeyType::Point, "the origin", "where the origin of `nodes` is [m]"),
        Key::new("angle", KeyType::Number, "0", "planar: how their axes stand [rad]"),
        Key::new("orientation", KeyType::Orientation, "", "spatial: how their axes stand"),
    ],
    planar: &[],
    spatial: &[],
    read,
};
