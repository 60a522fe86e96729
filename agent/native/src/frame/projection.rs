//! Some of the numbers of blocks, without reading the others.

use super::stats::{FEWER, STATS_COLUMNS, STATS_SIGNED, StatsMut, open_all};
use super::{Block, FrameError, Kind, TARGETS_MAX};
use crate::columns::QUANTILES;
use crate::rice::Unpacker;
use crate::threads;
use crate::{BINS, bin_of, value_of};

// Columns of stats: three counts, the parts of the mean of a round trip, the distances of its minimum and its maximum
// from it, its p50.
const COUNTS: [usize; 3] = [0, 1, 2];
const MEAN: [usize; 5] = [9, 10, 11, 12, 13];
const MIN: usize = 14;
const MAX: usize = 17;
const P50: usize = 26;

/// Fewer targets are read sooner than another thread starts.
const PARALLEL_TARGETS: usize = 1 << 13;

/// Return one of `QUANTILES`, by its index, of the round trips of all targets of all blocks, in their order.
///
/// The middle of its bin, but never outside the smallest and largest round trip, ns; -1 for no value.
pub fn round_trip_values(blobs: &[&[u8]], quantile: usize) -> Result<Vec<i64>, FrameError> {
    if quantile >= QUANTILES.len() {
        return Err(FrameError::Arrays);
    }
    let blocks = open_all(Kind::Stats, blobs)?;
    let targets: usize = blocks.iter().map(|block| block.targets).sum();
    let some = |blocks: &[Block<'_>]| {
        let mut values = Vec::with_capacity(blocks.iter().map(|block| block.targets).sum());
        for block in blocks {
            block.round_trip_values(quantile, &mut values)?;
        }
        Ok::<_, FrameError>(values)
    };
    if targets < PARALLEL_TARGETS {
        return some(&blocks);
    }
    let (first, second) = blocks.split_at(blocks.len() / 2);
    let (first, second) = threads::both(|| some(first), || some(second));
    let mut values = first?;
    values.extend(second?);
    Ok(values)
}

impl Block<'_> {
    fn round_trip_values(&self, quantile: usize, values: &mut Vec<i64>) -> Result<(), FrameError> {
        let n = self.targets;
        let mut wanted = [false; STATS_COLUMNS];
        for column in COUNTS.into_iter().chain(MEAN) {
            wanted[column] = true;
        }
        wanted[MIN] = true;
        wanted[MAX] = true;
        for q in 0..=quantile {
            wanted[P50 + 3 * q] = true;
        }
        let mut numbers = [0; STATS_COLUMNS * TARGETS_MAX];
        let numbers = &mut numbers[..STATS_COLUMNS * n];
        let mut read = Unpacker::new(self.body);
        self.read(read.byte())?;
        if !self.read(read.some_columns(numbers, n, &STATS_SIGNED, &wanted))? {
            self.read(read.columns(numbers, &[n; STATS_COLUMNS], &STATS_SIGNED))?;
        }
        let held = |column: usize| &numbers[column * n..][..n];
        values.extend((0..n).map(|p| {
            let sum = |columns: &[usize]| {
                columns
                    .iter()
                    .fold(0i32, |sum, column| sum.wrapping_add(held(*column)[p]))
            };
            let (count, mean) = (sum(&COUNTS), sum(&MEAN));
            let code_of = |value: i32| {
                if count > 0 {
                    i32::from(bin_of(i64::from(value))) + 1
                } else {
                    0
                }
            };
            let most = held(MAX)[p].wrapping_add(mean);
            let mut code = held(P50)[p].wrapping_add(code_of(mean)) as u16;
            if quantile > 0 {
                let largest = code_of(most);
                for (q, fewer) in FEWER.iter().enumerate().take(quantile + 1).skip(1) {
                    let left = held(P50 + 3 * q)[p];
                    code = if count < *fewer {
                        largest.wrapping_sub(left)
                    } else {
                        left.wrapping_add(i32::from(code))
                    } as u16;
                }
            }
            if code == 0 {
                return -1;
            }
            let least = i64::from(mean.wrapping_sub(held(MIN)[p]));
            // Not `clamp`: bytes that only look like a block may hold a minimum above the maximum.
            let middle = value_of((code - 1).min(BINS - 1)) as i64;
            middle.max(least).min(i64::from(most))
        }));
        Ok(())
    }

    /// Report whether the block stores flows.
    fn has_flows(&self) -> bool {
        self.body.first().is_some_and(|byte| *byte != 0)
    }
}

/// Read the stats of one target of each block, that at its place. `Ok(false)` when one of them stores its flows.
pub fn stats_at(
    blobs: &[&[u8]],
    places: &[usize],
    out: &mut StatsMut<'_>,
) -> Result<bool, FrameError> {
    let blocks = open_all(Kind::Stats, blobs)?;
    if places.len() != blocks.len() || out.targets() != blocks.len() {
        return Err(FrameError::Arrays);
    }
    for (to, (block, place)) in blocks.iter().zip(places).enumerate() {
        if *place >= block.targets {
            return Err(FrameError::Arrays);
        }
        if block.has_flows() {
            return Ok(false);
        }
        let n = block.targets;
        let mut numbers = [0; STATS_COLUMNS];
        let mut read = Unpacker::new(block.body);
        block.read(read.byte())?;
        if !block.read(read.at_place(&mut numbers, n, &STATS_SIGNED, *place))? {
            let mut whole = [0; STATS_COLUMNS * TARGETS_MAX];
            let whole = &mut whole[..STATS_COLUMNS * n];
            block.read(read.columns(whole, &[n; STATS_COLUMNS], &STATS_SIGNED))?;
            for (column, number) in numbers.iter_mut().enumerate() {
                *number = whole[column * n + place];
            }
        }
        out.restore(&numbers, to);
    }
    Ok(true)
}
