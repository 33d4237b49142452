//! Runs that are watched: the same numbers, all of them or an even part, and never a wait.

mod common;

use common::{bytes, live, read, request, shipped};
use sarrus::analysis::{Trajectory, simulate};

fn bits(trajectory: &Trajectory) -> Vec<u64> {
    trajectory.rows().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn a_run_that_is_watched_is_the_same_bit_for_bit() {
    for name in ["four_bar", "bennett", "beam_pendulum"] {
        let (model, system) = shipped(name);
        let request = request(0.05, 1e-3);
        let plain = simulate(&model, &system, &request, &mut ()).unwrap();
        let (watched, live, _) = live(&model, &system, &request, 1 << 28);
        assert_eq!(bits(&plain.trajectory), bits(&watched.trajectory), "{name}");
        assert_eq!(
            (plain.report.counts, plain.report.certificate),
            (watched.report.counts, watched.report.certificate)
        );

        // and what the page gets is what the trajectory has
        let frames = read(&bytes(&live));
        let t: Vec<u64> = frames.t.iter().map(|x| x.to_bits()).collect();
        let column =
            |name: &str| plain.trajectory.column(name).unwrap().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(t, column("t"), "{name}");
        for (index, of) in plain.trajectory.names().iter().skip(1).enumerate() {
            let got: Vec<u64> = frames.values[index].iter().map(|x| x.to_bits()).collect();
            assert_eq!(got, column(of), "{name}: {of}");
        }
        assert_eq!(frames.notes.last().unwrap()["type"], "end");
        assert_eq!(frames.notes.last().unwrap()["report"]["status"], "completed");
    }
}

/// Workspace for a few dozen frames: a part of them, in order, and no more than fit.
#[test]
fn a_long_run_is_thinned_to_the_room_there_is() {
    let (model, system) = shipped("double_pendulum");
    let request = request(0.5, 1e-4);
    let capacity = 230_000;
    let (outcome, live, _) = live(&model, &system, &request, capacity);
    let sent = bytes(&live);
    let frames = read(&sent);
    assert_eq!(outcome.trajectory.len(), 5001);
    assert!(frames.t.windows(2).all(|pair| pair[0] <= pair[1]));
    // blocks are a sixteenth of the workspace or less, and nothing is taken once it is full; notes and the report come on top
    let notes: usize = frames.notes.iter().map(|note| note.to_string().len() + 24).sum();
    assert!(sent.len() - notes < capacity + capacity / 8, "{} bytes", sent.len());
    assert!(frames.t.len() > 100 && frames.t.len() < 1000, "{}", frames.t.len());
    // early frames all, later ones fewer and fewer
    assert!(
        frames.t[1] - frames.t[0] < 1.5e-4 && frames.t[frames.t.len() - 1] > 0.1,
        "{:?}",
        frames.t.last()
    );
}

#[test]
fn frames_before_a_number_are_left_out_and_notes_are_not() {
    let (model, system) = shipped("pendulum");
    let (_, live, _) = live(&model, &system, &request(0.5, 1e-3), 1 << 28);
    let all = read(&bytes(&live)).t.len();
    let some = live.bytes_from(all);
    let notes = read(&some).notes;
    assert_eq!(notes.last().unwrap()["type"], "end");
    assert!(read(&some).t.is_empty());
}
