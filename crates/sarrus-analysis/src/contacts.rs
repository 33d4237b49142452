//! Describes what the report says of contacts.

use crate::events::ContactTally;
use crate::report::ContactReport;
use sarrus_solve::State;
use sarrus_system::Mechanism;
use sarrus_system::contact::ContactSides;
use sarrus_system::contact::laws::Elastic;

/// Nominal and delivered restitution farther apart than this are worth a word, relative.
const APART: f64 = 0.05;
/// Steps in a natural period of a contact, over 2π, below which it is not resolved.
const FEWEST: f64 = 10.0;

/// Computes what the contacts of `mechanism` did until the end of a run at `s`; `hits` is what happened at rigid ones, by contact;
/// `peaks` are the largest forces and least gaps of rows, which may lie between steps.
pub(crate) fn reports(
    mechanism: &Mechanism,
    s: &State,
    hits: &[ContactTally],
    peaks: &[[f64; 2]],
) -> Vec<ContactReport> {
    let contacts = mechanism.system().contacts.iter();
    let each = contacts.zip(mechanism.tallies()).enumerate();
    let report = each.map(|(i, (contact, tally))| {
        let law = &contact.contact.law;
        let [force, gap] = peaks.get(i).copied().unwrap_or_default();
        let soft = ContactReport {
            name: contact.contact.name.clone(),
            onsets: tally.onsets,
            first_onset: tally.first,
            fastest_onset: tally.fastest,
            largest_force: tally.largest_force.max(force),
            deepest_overlap: tally.deepest.max(-gap),
            overlap_at_end: tally.depth,
            time_in_contact: tally.time,
            touches: tally.touches,
            dissipated_normal: s.x[contact.x],
            dissipated_friction: s.x[contact.x + 1],
            restitution_nominal: law.nominal(),
            restitution_delivered: law.delivered(tally.fastest),
        };
        let Some(rigid) = contact.contact.rigid else { return soft };
        let own = hits.get(i).cloned().unwrap_or_default();
        // what it asks for it delivers
        ContactReport {
            onsets: own.onsets,
            first_onset: own.first,
            fastest_onset: own.fastest,
            largest_force: own.largest_force,
            deepest_overlap: tally.deepest,
            time_in_contact: own.time,
            touches: own.touches,
            restitution_nominal: Some(rigid.restitution),
            restitution_delivered: None,
            ..soft
        }
    });
    report.collect()
}

/// The restitution that each contact asks for and delivers, in words.
pub(crate) fn restitutions(system: &sarrus_system::System) -> impl Iterator<Item = String> + '_ {
    system.contacts.iter().filter_map(|contact| {
        let law = &contact.contact.law;
        let (nominal, delivered) = (law.nominal()?, law.delivered(0.0)?);
        let name = &contact.contact.name;
        Some(format!("contact `{name}` asks for a restitution of {nominal} and delivers {delivered:.4}"))
    })
}

/// Laws that do not deliver what they are asked for, fixed steps that are too long for the stiffness that was met, and tangents that
/// are not whole, for an integrator that is `implicit`.
pub(crate) fn notes(mechanism: &Mechanism, step: Option<f64>, implicit: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let system = mechanism.system();
    for (contact, tally) in system.contacts.iter().zip(mechanism.tallies()) {
        let (name, law) = (&contact.contact.name, &contact.contact.law);
        if let (Some(nominal), Some(delivered)) = (law.nominal(), law.delivered(0.0))
            && (delivered - nominal).abs() > APART * nominal
        {
            notes.push(format!(
                "contact `{name}` asks for a restitution of {nominal} and delivers {delivered:.4}: so its damping is defined; \
                 `exact` delivers what it is asked for"
            ));
        }
        if implicit && tally.touches > 0 && !contact.has_all_blocks(system) {
            notes.push(format!(
                "contact `{name}` may touch between so many bodies that the iteration takes each as if the others stood still: it \
                 converges more slowly, and to the same; explicit integrators do without"
            ));
        }
        let (Some(step), Some(K)) = (step, law.stiffness) else { continue };
        let k = match law.elastic {
            Elastic::Linear => K,
            Elastic::Hertz => 1.5 * K * tally.deepest.sqrt(),
        };
        let longest = (lightest(system, &contact.contact.what) / k).sqrt() / FEWEST;
        if tally.onsets > 0 && step > longest {
            notes.push(format!(
                "steps of {step} s are long for contact `{name}`: {longest:.1e} s would be a tenth of √(m/k) at its deepest overlap"
            ));
        }
    }
    notes
}

/// The mass of the lightest body that a contact may act on \[kg\].
fn lightest(system: &sarrus_system::System, what: &ContactSides) -> f64 {
    let mass = |id: u32| if id == 0 { f64::INFINITY } else { system.directory.bodies[id as usize].mass };
    match what {
        ContactSides::Surfaces { sides, .. } => sides
            .iter()
            .flatten()
            .map(|&i| mass(system.surfaces[i as usize].body))
            .fold(f64::INFINITY, f64::min),
        ContactSides::Gap { ids, .. } => ids.iter().map(|&id| mass(id)).fold(f64::INFINITY, f64::min),
    }
}
