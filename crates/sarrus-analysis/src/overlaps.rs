//! Overlaps at the start that no contact resolves: the bodies pass through each other, and no result shows it.

use sarrus_math::Pose;
use sarrus_model::Space;
use sarrus_solve::digits;
use sarrus_system::System;
use sarrus_system::contact::ContactSides;
use sarrus_system::contact::broad::Broad;
use sarrus_system::contact::surface::{Geometry, touches};

/// Bodies up to which overlaps are searched.
const MOST: usize = 10_000;
/// Overlap, as a fraction of the smaller surface's reach, that rounded coordinates explain.
const ROUNDED: f64 = 1e-4;
/// Pairs that a note lists.
const NAMED: usize = 3;

/// A note on solid shapes of two moving bodies that overlap with bodies at `poses`, though no contact names both. Bodies that a joint or a force
/// connects are left out, directly or through one body, the ground included; so are those of one flexible member. In the plane links pass each other in layers: there both bodies
/// must have contacts, and belong to different mechanisms.
///
/// Shapes without volume are no solids: walls and meshes.
pub(crate) fn find(system: &System, poses: &[Pose]) -> Option<String> {
    let directory = &system.directory;
    let is_solid = |geometry: &Geometry| {
        use Geometry::{Channel, HalfSpace, Mesh, Plane};
        !matches!(geometry, Plane | HalfSpace | Channel { .. } | Mesh(_))
    };
    let solid = |i: &usize| {
        let entry = &system.surfaces[*i];
        let body = &directory.bodies[entry.body as usize];
        entry.body != 0 && !body.is_internal() && is_solid(&entry.surface.geometry)
    };
    if directory.bodies.len() > MOST {
        return None;
    }
    let solids: Vec<usize> = (0..system.surfaces.len()).filter(solid).collect();
    if solids.len() < 2 {
        return None;
    }
    let planar = directory.space == Space::Planar;
    let (links, contacts) = (Links::new(system), NamedContacts::new(system));
    let entry = |i: usize| &system.surfaces[solids[i]];
    let allowed = |i: usize, j: usize| {
        let pair = [entry(i).body, entry(j).body];
        let layered = planar
            && (links.are_one_mechanism(pair) || pair.iter().any(|body| contacts.of(*body).is_empty()));
        // members stand in the order of their bodies
        let member = directory.flexible.partition_point(|member| member.all.end <= pair[0].min(pair[1]));
        let is_one = directory
            .flexible
            .get(member)
            .is_some_and(|member| pair.iter().all(|id| member.all.contains(id)));
        !layered && !is_one && !links.are_near(pair) && !contacts.have(pair)
    };
    let mut broad = Broad::new(0.0, planar);
    broad.update(solids.len(), |i| (&entry(i).surface, entry(i).body as usize), poses, allowed);
    let deep = |pair: &[u32; 2]| {
        let [a, b] = pair.map(|i| entry(i as usize));
        let (mut gap, at) = (0.0_f64, [a, b].map(|own| &poses[own.body as usize]));
        touches(&a.surface, &b.surface, at, 0.0, planar, &mut |touch| gap = gap.min(touch.gap));
        (-gap > ROUNDED * a.far.min(b.far)).then_some(([a.body, b.body], -gap))
    };
    // each pair of bodies once, by its first surfaces that overlap
    let mut found: Vec<([u32; 2], f64)> = Vec::new();
    for (pair, depth) in broad.pairs().iter().filter_map(deep) {
        if !found.iter().any(|(other, _)| *other == pair) {
            found.push((pair, depth));
        }
        if found.len() > NAMED {
            break;
        }
    }
    let name = |body: u32| &directory.bodies[body as usize].name;
    let text = |([a, b], depth): &([u32; 2], f64)| {
        format!("`{}` and `{}` by {} m", name(*a), name(*b), digits(depth))
    };
    let shown: Vec<String> = found.iter().take(NAMED).map(text).collect();
    let more = if found.len() > NAMED { ", and more" } else { "" };
    (!found.is_empty()).then(|| {
        format!(
            "shapes overlap at the start and no contact names both bodies, which pass through each other: {}{more}",
            shown.join("; ")
        )
    })
}

/// Holds what connects bodies.
struct Links {
    /// Both directions, sorted.
    edges: Vec<[u32; 2]>,
    /// By body, a body of its mechanism: the same for all of it. The ground connects none.
    mechanism: Vec<u32>,
}

impl Links {
    fn new(system: &System) -> Links {
        let mut links =
            Links { edges: Vec::new(), mechanism: (0..system.directory.bodies.len() as u32).collect() };
        system.all.elements.iter().for_each(|element| links.connect(element.ids.iter().copied()));
        // a force such as drag acts on bodies and from the ground: it connects bodies alone
        system.forces.iter().for_each(|f| links.connect(f.ids.iter().copied().filter(|id| *id != 0)));
        links.edges.sort_unstable();
        links.edges.dedup();
        for body in 0..links.mechanism.len() as u32 {
            links.mechanism[body as usize] = links.root(body);
        }
        links
    }

    /// Connects bodies: the first with each of the others, so that all are near each other.
    fn connect(&mut self, mut ids: impl Iterator<Item = u32>) {
        let Some(first) = ids.next() else { return };
        let mut moving = (first != 0).then_some(first);
        for id in ids {
            self.edges.extend([[first, id], [id, first]]);
            if id != 0 {
                let [a, b] = [moving.unwrap_or(id), id].map(|body| self.root(body));
                self.mechanism[a.max(b) as usize] = a.min(b);
                moving = Some(id);
            }
        }
    }

    fn root(&mut self, mut body: u32) -> u32 {
        while self.mechanism[body as usize] != body {
            let next = self.mechanism[self.mechanism[body as usize] as usize];
            self.mechanism[body as usize] = next;
            body = next;
        }
        body
    }

    fn of(&self, body: u32) -> &[[u32; 2]] {
        let first = self.edges.partition_point(|edge| edge[0] < body);
        let last = self.edges.partition_point(|edge| edge[0] <= body);
        &self.edges[first..last]
    }

    /// Decides whether two bodies are connected, directly or through one body.
    fn are_near(&self, [a, b]: [u32; 2]) -> bool {
        let mut sides = [self.of(a), self.of(b)];
        sides.sort_unstable_by_key(|side| side.len());
        let [few, many] = sides;
        few.iter().any(|[one, next]| {
            let other = if *one == a { b } else { a };
            *next == other || many.binary_search(&[other, *next]).is_ok()
        })
    }

    fn are_one_mechanism(&self, [a, b]: [u32; 2]) -> bool {
        self.mechanism[a as usize] == self.mechanism[b as usize]
    }
}

/// Identifies which bodies contacts name: body, entry and sides, as bits, sorted.
struct NamedContacts(Vec<(u32, u32, u8)>);

impl NamedContacts {
    fn new(system: &System) -> NamedContacts {
        let mut all: Vec<(u32, u32, u8)> = Vec::new();
        for (entry, contact) in system.contacts.iter().enumerate() {
            let entry = entry as u32;
            match &contact.contact.what {
                ContactSides::Gap { ids, .. } => all.extend(ids.iter().map(|id| (*id, entry, 3))),
                ContactSides::Surfaces { sides, .. } => {
                    for (side, bit) in sides.iter().zip([1, 2]) {
                        all.extend(side.iter().map(|i| (system.surfaces[*i as usize].body, entry, bit)));
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup_by(|next, retained| {
            let same = (next.0, next.1) == (retained.0, retained.1);
            if same {
                retained.2 |= next.2;
            }
            same
        });
        NamedContacts(all)
    }

    /// Those of a body.
    fn of(&self, body: u32) -> &[(u32, u32, u8)] {
        let first = self.0.partition_point(|own| own.0 < body);
        let last = self.0.partition_point(|own| own.0 <= body);
        &self.0[first..last]
    }

    /// Decides whether one of them has two bodies on different sides.
    fn have(&self, pair: [u32; 2]) -> bool {
        let mut sides = pair.map(|body| self.of(body));
        sides.sort_unstable_by_key(|side| side.len());
        let [few, many] = sides;
        few.iter().any(|(_, entry, own)| {
            let other = many.binary_search_by_key(entry, |(_, entry, _)| *entry);
            other.is_ok_and(|i| (own & 1 != 0 && many[i].2 & 2 != 0) || (own & 2 != 0 && many[i].2 & 1 != 0))
        })
    }
}
