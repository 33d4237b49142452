//! States with values of their own at every sample, and outputs made of them, held in between.
//!
//! x_{k+1} = update(x_k, u_k, y), u_k = outputs(x_k, y), as [`sampling`](super::sampling) says: every new value is computed from
//! the old ones. Inside, own states are read by their bare names, in `update` the new outputs too; by its full name `X.u` is
//! everywhere the output that acts.

use super::prelude::*;
use super::sampling::{DELAY, OwnNames, PERIOD, Sampled, SampledLaw, SampledRead, Times};
use super::{ode, output_slots};

/// The new values are what was read.
struct ReadAsGiven;

impl SampledLaw for ReadAsGiven {
    fn sample(&self, read: &[f64], _first: bool, states: &mut [f64], outputs: &mut [f64]) {
        let (new_outputs, new_states) = read.split_at(outputs.len());
        outputs.copy_from_slice(new_outputs);
        states.copy_from_slice(new_states);
    }
}

fn declare(reader: &Reader) -> Result<Declared> {
    ode::names(reader)
}

pub(super) fn read(ctx: &mut Context) -> Result<BuiltController> {
    let reader = &ctx.reader;
    let Some(times) = Times::read(reader)? else {
        return Err(reader.missing("period").hint("the time between samples in s"));
    };
    let declared = ode::names(reader)?;
    let outputs = output_slots(ctx)?;
    let start: Vec<f64> = reader.map_of_numbers("states")?.into_iter().map(|(.., start)| start).collect();
    let mut reads: Vec<SampledRead> = Vec::new();
    for (.., expr) in reader.map_of_expressions("outputs")? {
        reads.push(SampledRead { expr, own: OwnNames::States });
    }
    for expr in ode::of_states(reader, "update", &declared.states, "is not updated")? {
        reads.push(SampledRead { expr, own: OwnNames::All });
    }
    let controller = Sampled::new(times, reads, declared.outputs.len(), &start, ReadAsGiven);
    Ok(BuiltController { ids: vec![], controller: Arc::new(controller), outputs, reads: vec![] })
}

/// `kind = "sampled"`
pub const KIND: ControllerKind = ControllerKind {
    name: "sampled",
    doc: "states updated every `period`, and outputs held in between; may read reactions",
    keys: &[
        Key::new("states", KeyType::Map(&KeyType::Number), "", "names of the states with their start values"),
        Key::new("update", KeyType::Map(&KeyType::Expression), "", "next value of each state"),
        Key::new(
            "outputs",
            KeyType::Map(&KeyType::Expression),
            "",
            "names of the outputs with their expressions",
        ),
        PERIOD,
        DELAY,
    ],
    planar: &[
        "period = 0.01, states = { x = 1 }, update = { x = '0.9*x + u' }, outputs = { u = '0.3*x + h.fx' }",
        "period = 0.01, delay = 0.025, outputs = { u = 'h.rate', w = 'energy.kinetic' }",
    ],
    spatial: &[
        "period = 0.01, states = { x = 1 }, update = { x = '0.9*x + u' }, outputs = { u = '0.3*x + h.fz' }",
        "period = 0.01, delay = 0.025, outputs = { u = 'h.rate', w = 'energy.kinetic' }",
    ],
    declare,
    read,
};
