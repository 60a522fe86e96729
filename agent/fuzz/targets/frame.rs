//! Fuzzes the decoders of frames: any block is read or refused, and what is read comes back when written again.
//!
//! An input is the number of bytes of a block of stats, 16 bits, that block, and a block of sketches.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinemora_native::columns::{COLUMNS, DIRECTIONS, QUANTILES, ROUND_TRIP};
use sinemora_native::frame::{self, FrameError, Kind, SketchesRef, StatsMut, StatsRef};
use sinemora_native::rice;

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], blocks)) = input.split_first_chunk() else {
        return;
    };
    let size = usize::from(u16::from_le_bytes([low, high])).min(blocks.len());
    let (stats, sketches) = blocks.split_at(size);
    let (stats, sketches) = (sealed(stats), sealed(sketches));
    let read = Stats::read(&stats);
    if let Ok(read) = &read {
        written_again(read);
        read_in_part(&stats, read);
    }
    let columns = match (read, frame::targets_in(Kind::Sketches, &sketches)) {
        (_, Err(_)) => return,
        (Ok(read), Ok(targets)) if read.flows.len() == targets => read.columns,
        (_, Ok(targets)) => vec![0; COLUMNS * DIRECTIONS * targets],
    };
    for shifts_ns in [&[][..], &vec![9; columns.len() / COLUMNS / DIRECTIONS]] {
        for wanted in [[true; DIRECTIONS], [false, true, false]] {
            let _ = frame::sketches_of(&[&sketches], &columns, wanted, shifts_ns);
        }
    }
    if let Ok((lengths, words)) =
        frame::sketches_of(&[&sketches], &columns, [true; DIRECTIONS], &[])
    {
        let read = SketchesRef::new(&lengths, &words).unwrap();
        let block = frame::encode_sketches(&read, &columns).unwrap();
        let again = frame::sketches_of(&[&block], &columns, [true; DIRECTIONS], &[]);
        assert_eq!(again, Ok((lengths, words)), "sketches are read back");
    }
});

/// The block with the checksum that fits it: the fuzzer is to get past it.
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

#[derive(Debug, PartialEq, Eq)]
struct Stats {
    columns: Vec<i32>,
    quantiles: Vec<u16>,
    flows: Vec<u16>,
    sources: Vec<u8>,
    by_flow: Vec<i32>,
}

impl Stats {
    fn nothing(targets: usize) -> Self {
        Self {
            columns: vec![0; COLUMNS * DIRECTIONS * targets],
            quantiles: vec![0; QUANTILES.len() * DIRECTIONS * targets],
            flows: vec![0; targets],
            sources: vec![0; targets],
            by_flow: Vec::new(),
        }
    }

    fn room(&mut self) -> StatsMut<'_> {
        StatsMut::new(
            &mut self.columns,
            &mut self.quantiles,
            &mut self.flows,
            &mut self.sources,
        )
        .unwrap()
    }

    fn read(block: &[u8]) -> Result<Self, FrameError> {
        let mut stats = Self::nothing(frame::targets_in(Kind::Stats, block)?);
        stats.by_flow = frame::stats_of(&[block], stats.room())?;
        Ok(stats)
    }
}

/// Writes what was read, and reads it back.
fn written_again(stats: &Stats) {
    let block = frame::encode_stats(&StatsRef {
        columns: &stats.columns,
        quantiles: &stats.quantiles,
        flows: &stats.flows,
        sources: &stats.sources,
        by_flow: &stats.by_flow,
    });
    let again = Stats::read(&block.unwrap());
    assert_eq!(again.as_ref(), Ok(stats), "stats are read back");
}

/// Compares what is read of one target and of one quantile with what is read of all.
fn read_in_part(block: &[u8], stats: &Stats) {
    let targets = stats.flows.len();
    for quantile in 0..QUANTILES.len() {
        let codes = frame::round_trip_codes(&[block], quantile).unwrap();
        let row = &stats.quantiles[(quantile * DIRECTIONS + ROUND_TRIP) * targets..][..targets];
        assert_eq!(codes, row);
    }
    let place = targets - 1;
    let mut target = Stats::nothing(1);
    if frame::stats_at(&[block], &[place], &mut target.room()).unwrap() {
        let whole: Vec<i32> = stats
            .columns
            .chunks_exact(targets)
            .map(|row| row[place])
            .collect();
        assert_eq!(target.columns, whole);
    }
}
