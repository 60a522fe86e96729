//! Fuzzes the decoders of frames: they decode or refuse any block, and decoded values survive another round trip.
//!
//! An input is the number of bytes of a block of stats, 16 bits, that block, and a block of sketches.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinemora_native::columns::{COLUMNS, DIRECTIONS, MAX, MIN, QUANTILES, ROUND_TRIP};
use sinemora_native::frame::{self, Kind, SketchesRef};
use sinemora_native::rice;

use stats::Stats;

#[path = "../../native/tests/support/stats.rs"]
mod stats;

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], blocks)) = input.split_first_chunk() else {
        return;
    };
    let size = usize::from(u16::from_le_bytes([low, high])).min(blocks.len());
    let (stats, sketches) = blocks.split_at(size);
    let (stats, sketches) = (sealed(stats), sealed(sketches));
    let decoded = Stats::read(&[&stats]);
    if let Ok(decoded) = &decoded {
        check_round_trip(decoded);
        check_parts(&stats, decoded);
    }
    let columns = match (decoded, frame::targets_in(Kind::Sketches, &sketches)) {
        (_, Err(_)) => return,
        (Ok(decoded), Ok(targets)) if decoded.flows.len() == targets => decoded.columns,
        (_, Ok(targets)) => vec![0; COLUMNS * DIRECTIONS * targets],
    };
    for shifts_ns in [&[][..], &vec![9; columns.len() / COLUMNS / DIRECTIONS]] {
        for directions in [[true; DIRECTIONS], [false, true, false]] {
            let _ = frame::sketches_of(&[&sketches], &columns, directions, shifts_ns);
        }
    }
    if let Ok((lengths, words)) =
        frame::sketches_of(&[&sketches], &columns, [true; DIRECTIONS], &[])
    {
        let sketches = SketchesRef::new(&lengths, &words).unwrap();
        let block = frame::encode_sketches(&sketches, &columns).unwrap();
        let again = frame::sketches_of(&[&block], &columns, [true; DIRECTIONS], &[]);
        assert_eq!(again, Ok((lengths, words)), "round trip of sketches");
    }
});

/// Return the block with its correct checksum, so that the fuzzer reaches the decoder.
fn sealed(block: &[u8]) -> Vec<u8> {
    let mut block = block.to_vec();
    if let Some((head, body)) = block.split_first_chunk_mut::<8>() {
        let sum = rice::checksum(
            u32::from_le_bytes([head[0], head[1], head[2], head[3]]),
            body,
        );
        head[4..].copy_from_slice(&sum.to_le_bytes());
    }
    block
}

/// Encode stats and decode them again.
fn check_round_trip(stats: &Stats) {
    let block = frame::encode_stats(&stats.as_ref()).unwrap();
    let again = Stats::read(&[&block]);
    assert_eq!(again.as_ref(), Ok(stats), "round trip of stats");
}

/// Compare the decoders of one target and of one quantile with those of the whole block.
fn check_parts(block: &[u8], stats: &Stats) {
    let targets = stats.flows.len();
    for quantile in 0..QUANTILES.len() {
        let values = frame::round_trip_values(&[block], quantile).unwrap();
        assert_eq!(values, round_trip_values(stats, quantile));
    }
    let place = targets - 1;
    let mut target = Stats::zeros(1);
    if frame::stats_at(&[block], &[place], &mut target.as_mut().unwrap()).unwrap() {
        let whole: Vec<i32> = stats
            .columns
            .chunks_exact(targets)
            .map(|row| row[place])
            .collect();
        assert_eq!(target.columns, whole);
    }
}

/// Return a quantile of the round trips, ns: the middle of its bin, within minimum and maximum; -1 for no value.
fn round_trip_values(stats: &Stats, quantile: usize) -> Vec<i64> {
    let n = stats.flows.len();
    let row = |column: usize| &stats.columns[(column * DIRECTIONS + ROUND_TRIP) * n..][..n];
    let codes = &stats.quantiles[(quantile * DIRECTIONS + ROUND_TRIP) * n..][..n];
    let ends = row(MIN).iter().zip(row(MAX));
    codes
        .iter()
        .zip(ends)
        .map(|(code, (least, most))| match code {
            0 => -1,
            code => (sinemora_native::value_of((code - 1).min(sinemora_native::BINS - 1)) as i64)
                .max(i64::from(*least))
                .min(i64::from(*most)),
        })
        .collect()
}
