//! Frames as bytes: how the page reads a motion. `page/PROTOCOL.md` is the contract; all numbers are little endian.
//!
//! ```text
//! header   "SRSF"  u32 version  u32 bodies  u32 columns  16 bytes 0
//! block    4 letters  u32 bytes of the payload, a multiple of 8  u32 first  u32 count  payload
//! ```
//!
//! Times and columns keep all their bits; poses are rounded to f32, which is far finer than a screen.

use crate::motion::{POSE, PoseTable, RATES};
use sarrus::system::contact::TouchingPoint;
use serde_json::Value;

/// Frames in a block of a finished run.
pub const BLOCK: usize = 128;
const VERSION: u32 = 1;
/// Bytes of the header of a block.
const HEAD: usize = 16;

/// A block, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameBlock {
    /// Place of its first frame; of a note 0.
    pub first: usize,
    /// Number of frames it has; of a note 0.
    pub count: usize,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// Returns what comes before the blocks.
pub fn header(bodies: usize, columns: usize) -> Vec<u8> {
    let mut bytes = b"SRSF".to_vec();
    for number in [VERSION, bodies as u32, columns as u32] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.resize(32, 0);
    bytes
}

fn finish(mut bytes: Vec<u8>, first: usize, count: usize, padding: u8) -> FrameBlock {
    bytes.resize(bytes.len().next_multiple_of(8), padding);
    let size = (bytes.len() - HEAD) as u32;
    for (index, number) in [(4, size), (8, first as u32), (12, count as u32)] {
        bytes[index..index + 4].copy_from_slice(&number.to_le_bytes());
    }
    FrameBlock { first, count, bytes }
}

fn begin(letters: &[u8; 4], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + size + 8);
    bytes.extend_from_slice(letters);
    bytes.resize(HEAD, 0);
    bytes
}

/// Frames from `first` on: their times, the samples of each column, and poses frame by frame.
pub fn block<'a>(
    first: usize,
    t: &[f64],
    columns: impl Iterator<Item = &'a [f64]>,
    poses: &[f32],
) -> FrameBlock {
    let mut bytes = begin(b"FRAM", t.len() * 8 + poses.len() * 4);
    t.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    columns.flatten().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    poses.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    finish(bytes, first, t.len(), 0)
}

/// The velocities of frames from `first` on, frame by frame.
pub fn rates(first: usize, count: usize, rates: &[f32]) -> FrameBlock {
    let mut bytes = begin(b"RATE", rates.len() * 4);
    rates.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    finish(bytes, first, count, 0)
}

/// Numbers of a touching point, of four bytes each.
pub const POINT: usize = 7;

/// The contact points of frames from `first` on, one list a frame.
pub fn contacts<'a>(first: usize, points: impl Iterator<Item = &'a [TouchingPoint]> + Clone) -> FrameBlock {
    let (count, all) = (points.clone().count(), points.clone().flatten().count());
    let mut bytes = begin(b"CONT", 4 * (count + POINT * all));
    points.clone().for_each(|own| bytes.extend_from_slice(&(own.len() as u32).to_le_bytes()));
    for point in points.flatten() {
        bytes.extend_from_slice(&point.contact.to_le_bytes());
        for x in point.point.iter().chain(&point.force) {
            bytes.extend_from_slice(&(*x as f32).to_le_bytes());
        }
    }
    finish(bytes, first, count, 0)
}

/// A note to the page: progress, an event, the end.
pub fn note(note: &Value) -> FrameBlock {
    let text = note.to_string();
    let mut bytes = begin(b"NOTE", text.len());
    bytes.extend_from_slice(text.as_bytes());
    finish(bytes, 0, 0, b' ')
}

/// A whole motion in blocks of [`BLOCK`] frames, each with its velocities and contacts after it where there are any.
pub fn blocks(motion: &PoseTable) -> impl Iterator<Item = FrameBlock> + '_ {
    let (table, wide, fast) = (&motion.table, motion.bodies * POSE, motion.bodies * RATES);
    (0..table.len()).step_by(BLOCK).flat_map(move |first| {
        let end = (first + BLOCK).min(table.len());
        let columns = table.columns.iter().map(|column| &column[first..end]);
        let frames = block(first, &table.t[first..end], columns, &motion.poses[first * wide..end * wide]);
        let points = (first..end).map(|frame| motion.touches.at(frame));
        let own = motion.rates.get(first * fast..end * fast).filter(|own| !own.is_empty());
        let moving = own.map(|own| rates(first, end - first, own));
        let touching = points.clone().any(|own| !own.is_empty());
        std::iter::once(frames).chain(moving).chain(touching.then(|| contacts(first, points)))
    })
}

/// Header and blocks in one.
pub fn encode(motion: &PoseTable) -> Vec<u8> {
    let mut bytes = header(motion.bodies, motion.table.names.len());
    blocks(motion).for_each(|block| bytes.extend_from_slice(&block.bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnTable;

    fn word(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    fn double(bytes: &[u8], at: usize) -> f64 {
        f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    /// Reads by the letters of the contract, not by the code above.
    #[test]
    fn times_and_columns_come_back_bit_for_bit() {
        let n = 2 * BLOCK + 5;
        let t: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
        let columns = vec![t.iter().map(|t| (3.0 * t).sin()).collect::<Vec<_>>(), vec![f64::NAN; n]];
        let poses: Vec<f32> = (0..n * POSE).map(|i| i as f32).collect();
        let names = vec!["a".to_string(), "b".to_string()];
        let table = ColumnTable { units: names.clone(), names, t: t.clone(), columns: columns.clone() };
        let bytes = encode(&PoseTable { table, bodies: 1, poses: poses.clone(), ..PoseTable::default() });
        assert_eq!(
            (&bytes[..4], word(&bytes, 4), word(&bytes, 8), word(&bytes, 12)),
            (&b"SRSF"[..], 1, 1, 2)
        );

        let (mut at, mut seen) = (32, 0);
        while at < bytes.len() {
            assert_eq!((at % 8, &bytes[at..at + 4]), (0, &b"FRAM"[..]));
            let (size, first, count) = (word(&bytes, at + 4), word(&bytes, at + 8), word(&bytes, at + 12));
            assert_eq!((size % 8, first), (0, seen));
            let from = at + 16;
            for i in 0..count {
                assert_eq!(double(&bytes, from + 8 * i).to_bits(), t[first + i].to_bits());
                for (c, column) in columns.iter().enumerate() {
                    let x = double(&bytes, from + 8 * (count * (c + 1) + i));
                    assert_eq!(x.to_bits(), column[first + i].to_bits());
                }
                let pose = from + 8 * 3 * count + 4 * POSE * i;
                let x = f32::from_le_bytes(bytes[pose..pose + 4].try_into().unwrap());
                assert_eq!(x, poses[POSE * (first + i)]);
            }
            seen += count;
            at = from + size;
        }
        assert_eq!((seen, at), (n, bytes.len()));
    }

    /// Two frames of three touch: read by the letters of the contract.
    #[test]
    fn contacts_follow_their_frames() {
        let mut motion = PoseTable::default();
        motion.table.t = vec![0.0, 1.0, 2.0];
        let touching = |contact, x: f64| TouchingPoint {
            contact,
            point: [x, 0.0, 0.5],
            force: [0.0, -x, 7.0],
            ..TouchingPoint::default()
        };
        motion.touches.push(&[]);
        motion.touches.push(&[touching(3, 1.5), touching(4, 2.5)]);
        motion.touches.push(&[touching(3, 4.0)]);
        let bytes = encode(&motion);
        let at = 32 + 16 + 24;
        assert_eq!(&bytes[at..at + 4], b"CONT");
        assert_eq!([4, 8, 12].map(|k| word(&bytes, at + k)), [4 * (3 + 3 * 7), 0, 3]);
        assert_eq!([16, 20, 24].map(|k| word(&bytes, at + k)), [0, 2, 1]);
        let float = |k: usize| f32::from_le_bytes(bytes[at + 28 + 4 * k..][..4].try_into().unwrap());
        assert_eq!(word(&bytes, at + 28 + 28), 4);
        assert_eq!([8, 9, 10, 11, 12, 13].map(float), [2.5, 0.0, 0.5, 0.0, -2.5, 7.0]);
        assert_eq!(bytes.len(), at + 16 + 4 * (3 + 3 * 7));
        // of a motion without any there is no block
        motion.touches = crate::motion::Touches::default();
        assert_eq!(encode(&motion).len(), at);
    }

    #[test]
    fn a_note_is_json_padded_with_spaces() {
        let block = note(&serde_json::json!({ "type": "end" }));
        assert_eq!(block.bytes.len() % 8, 0);
        let text = std::str::from_utf8(&block.bytes[16..]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["type"], "end");
    }
}
