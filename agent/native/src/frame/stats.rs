//! Blocks of statistics.

use std::ops::Range;

use super::{Block, FrameError, Kind, TARGETS_MAX, begin, seal};
use crate::bin_of;
use crate::columns::{
    CLOCK_ERROR, COLUMNS, COUNT, DIRECTIONS, INBOUND, LOST, M2, MAX, MEAN, MIN, OUTBOUND,
    QUANTILES, ROUND_TRIP, SENT,
};
use crate::rice::{Unpacker, pack};
use crate::threads;

/// Columns of a block of stats.
pub(super) const STATS_COLUMNS: usize = 38;

/// Mask of the signed columns.
pub(super) const STATS_SIGNED: [bool; STATS_COLUMNS] = {
    let mut signed = [false; STATS_COLUMNS];
    let which = [1, 2, 6, 7, 8, 13, 19, 21, 22, 23, 24, 25, 26];
    let mut at = 0;
    while at < which.len() {
        signed[which[at]] = true;
        at += 1;
    }
    signed
};

/// Fewer values than this make the quantile the largest one: p90, p99, p99.9.
pub(super) const FEWER: [i32; 4] = [0, 10, 100, 1000];

const FLOW_COLUMNS: usize = 6;

/// Largest number of flows of a target that are stored one by one. Equal numbers take no bytes: without a limit a few
/// bytes could request any amount of memory.
const FLOWS_MAX: u16 = 1 << 12;
const FLOWS_SIGNED: [bool; FLOW_COLUMNS] = [false; FLOW_COLUMNS];
const ROWS: usize = COLUMNS * DIRECTIONS;
const CODE_ROWS: usize = QUANTILES.len() * DIRECTIONS;

/// Stats of n targets, row by row.
pub struct StatsRef<'a> {
    /// Shape (8, 3, n).
    pub columns: &'a [i32],
    /// Shape (4, 3, n).
    pub quantiles: &'a [u16],
    pub flows: &'a [u16],
    pub sources: &'a [u8],
    /// Shape (3, 2, m): count, minimum and median of the flows of targets that have more than one; m = 0 without.
    pub by_flow: &'a [i32],
}

/// Number of flow entries of a target.
pub fn widths_of(flows: u16) -> usize {
    if flows > 1 { usize::from(flows) } else { 0 }
}

impl<'a> StatsRef<'a> {
    pub(super) fn targets(&self) -> usize {
        self.flows.len()
    }

    fn row(&self, column: usize, direction: usize) -> &'a [i32] {
        let n = self.targets();
        &self.columns[(column * DIRECTIONS + direction) * n..][..n]
    }

    fn codes(&self, quantile: usize, direction: usize) -> &'a [u16] {
        let n = self.targets();
        &self.quantiles[(quantile * DIRECTIONS + direction) * n..][..n]
    }

    /// Number of flows of each target, where flows are stored.
    pub(super) fn flows_of(&self, low: usize, high: usize) -> usize {
        if self.by_flow.is_empty() {
            return 0;
        }
        self.flows[low..high]
            .iter()
            .map(|flows| widths_of(*flows))
            .sum()
    }

    /// Refuse arrays whose sizes do not match.
    pub(super) fn check_flows(&self) -> Result<(), FrameError> {
        let n = self.targets();
        if self.columns.len() != ROWS * n
            || self.quantiles.len() != CODE_ROWS * n
            || self.sources.len() != n
            || self.by_flow.len() % FLOW_COLUMNS != 0
        {
            return Err(FrameError::Arrays);
        }
        let (given, expected) = (self.by_flow.len() / FLOW_COLUMNS, self.flows_of(0, n));
        if given != expected {
            return Err(FrameError::Flows { given, expected });
        }
        Ok(())
    }

    /// Return the block of some targets, whose flows are `flows`.
    pub(super) fn encode_block(
        &self,
        range: Range<usize>,
        flows: Range<usize>,
    ) -> Result<Vec<u8>, FrameError> {
        let n = range.len();
        let mut body = begin(Kind::Stats, n)?;
        body.push(u8::from(!flows.is_empty()));
        let mut numbers = vec![0; STATS_COLUMNS * n];
        for (column, row) in numbers.chunks_exact_mut(n).enumerate() {
            self.residuals(column, range.clone(), row);
        }
        let mut body = pack(body, &mut numbers, &[n; STATS_COLUMNS], &STATS_SIGNED);
        if !flows.is_empty() {
            let (m, all) = (flows.len(), self.by_flow.len() / FLOW_COLUMNS);
            let row = |at: usize| &self.by_flow[at * all..][flows.clone()];
            let mut numbers: Vec<i32> = (0..4).flat_map(row).copied().collect();
            for direction in 0..2 {
                let pairs = row(4 + direction).iter().zip(row(2 + direction));
                numbers.extend(pairs.map(|(median, least)| median.wrapping_sub(*least)));
            }
            body = pack(body, &mut numbers, &[m; FLOW_COLUMNS], &FLOWS_SIGNED);
        }
        Ok(seal(body))
    }

    /// Return the content of a column of a block: the residuals of some targets.
    fn residuals(&self, column: usize, range: Range<usize>, out: &mut [i32]) {
        let of = |column: usize, direction: usize| &self.row(column, direction)[range.clone()];
        let less = |out: &mut [i32], number: &[i32], other: &[i32]| {
            for ((out, number), other) in out.iter_mut().zip(number).zip(other) {
                *out = number.wrapping_sub(*other);
            }
        };
        match column {
            0 => out.copy_from_slice(of(COUNT, OUTBOUND)),
            1 | 2 => less(out, of(COUNT, column), of(COUNT, column - 1)),
            3..6 => out.copy_from_slice(of(LOST, column - 3)),
            6..9 => {
                less(out, of(SENT, column - 6), of(COUNT, column - 6));
                subtract(out, of(LOST, column - 6));
            }
            9 | 10 => out.copy_from_slice(of(MIN, column - 9)),
            11 | 12 => less(out, of(MEAN, column - 11), of(MIN, column - 11)),
            13 => {
                less(out, of(MEAN, ROUND_TRIP), of(MEAN, OUTBOUND));
                subtract(out, of(MEAN, INBOUND));
            }
            14 => less(out, of(MEAN, ROUND_TRIP), of(MIN, ROUND_TRIP)),
            15..18 => less(out, of(MAX, column - 15), of(MEAN, column - 15)),
            18 => out.copy_from_slice(of(CLOCK_ERROR, OUTBOUND)),
            19 => less(out, of(CLOCK_ERROR, INBOUND), of(CLOCK_ERROR, OUTBOUND)),
            20 => out.copy_from_slice(of(CLOCK_ERROR, ROUND_TRIP)),
            21..24 => {
                let direction = column - 21;
                let (most, least) = (of(MAX, direction), of(MIN, direction));
                let (count, m2) = (of(COUNT, direction), of(M2, direction));
                for (i, out) in out.iter_mut().enumerate() {
                    let near = squares(most[i], least[i], count[i]);
                    *out = ((m2[i] as u32).rotate_right(8)).wrapping_sub(near) as i32;
                }
            }
            24..36 => {
                let (q, direction) = ((column - 24) / DIRECTIONS, (column - 24) % DIRECTIONS);
                let codes = &self.codes(q, direction)[range.clone()];
                let count = of(COUNT, direction);
                let near = of(if q == 0 { MEAN } else { MAX }, direction);
                let before = &self.codes(q.saturating_sub(1), direction)[range];
                for (i, out) in out.iter_mut().enumerate() {
                    let code = i32::from(codes[i]);
                    *out = if q == 0 {
                        code - code_of(count[i], near[i])
                    } else if count[i] < FEWER[q] {
                        code_of(count[i], near[i]) - code
                    } else {
                        code - i32::from(before[i])
                    };
                }
            }
            36 => copy(out, &self.flows[range]),
            _ => copy(out, &self.sources[range]),
        }
    }
}

fn subtract(out: &mut [i32], other: &[i32]) {
    for (out, other) in out.iter_mut().zip(other) {
        *out = out.wrapping_sub(*other);
    }
}

fn copy<T: Copy + Into<i32>>(out: &mut [i32], numbers: &[T]) {
    for (out, number) in out.iter_mut().zip(numbers) {
        *out = (*number).into();
    }
}

/// Return the code of a mean or a largest value; 0 without values.
#[inline]
fn code_of(count: i32, value: i32) -> i32 {
    if count > 0 {
        i32::from(bin_of(i64::from(value))) + 1
    } else {
        0
    }
}

/// Predict m2 up to a factor: count times the square of the range; the upper 24 bits of its float32.
#[inline]
fn squares(most: i32, least: i32, count: i32) -> u32 {
    let span = f64::from(most) - f64::from(least);
    ((span * span * f64::from(count)) as f32).to_bits() >> 8
}

/// Room for stats, as rows of targets.
pub struct StatsMut<'a> {
    rows: Vec<&'a mut [i32]>,
    codes: Vec<&'a mut [u16]>,
    flows: &'a mut [u16],
    sources: &'a mut [u8],
}

impl<'a> StatsMut<'a> {
    /// Rows of arrays of the shapes (8, 3, n), (4, 3, n), (n,) and (n,).
    pub fn new(
        columns: &'a mut [i32],
        quantiles: &'a mut [u16],
        flows: &'a mut [u16],
        sources: &'a mut [u8],
    ) -> Result<Self, FrameError> {
        let n = flows.len();
        if columns.len() != ROWS * n || quantiles.len() != CODE_ROWS * n || sources.len() != n {
            return Err(FrameError::Arrays);
        }
        let mut rows: Vec<&mut [i32]> = columns.chunks_exact_mut(n.max(1)).collect();
        rows.resize_with(ROWS, Default::default);
        let mut codes: Vec<&mut [u16]> = quantiles.chunks_exact_mut(n.max(1)).collect();
        codes.resize_with(CODE_ROWS, Default::default);
        Ok(Self {
            rows,
            codes,
            flows,
            sources,
        })
    }

    pub(super) fn targets(&self) -> usize {
        self.flows.len()
    }

    /// Split into the first `n` targets and the others.
    pub(super) fn split_at(self, n: usize) -> (Self, Self) {
        let (rows, other_rows) = self.rows.into_iter().map(|row| row.split_at_mut(n)).unzip();
        let (codes, other_codes) = self
            .codes
            .into_iter()
            .map(|row| row.split_at_mut(n))
            .unzip();
        let (flows, other_flows) = self.flows.split_at_mut(n);
        let (sources, other_sources) = self.sources.split_at_mut(n);
        (
            Self {
                rows,
                codes,
                flows,
                sources,
            },
            Self {
                rows: other_rows,
                codes: other_codes,
                flows: other_flows,
                sources: other_sources,
            },
        )
    }

    /// Write the targets from `to` on out of what the columns of a block hold.
    pub(super) fn restore(&mut self, numbers: &[i32], to: usize) {
        let n = numbers.len() / STATS_COLUMNS;
        let held = |column: usize| &numbers[column * n..][..n];
        let rows = &mut self.rows;
        for direction in 0..DIRECTIONS {
            let at = |column: usize| column * DIRECTIONS + direction;
            for i in 0..n {
                let p = to + i;
                let mut count = held(direction)[i];
                if direction != OUTBOUND {
                    count = count.wrapping_add(rows[COUNT * DIRECTIONS + direction - 1][p]);
                }
                let lost = held(3 + direction)[i];
                rows[at(COUNT)][p] = count;
                rows[at(LOST)][p] = lost;
                rows[at(SENT)][p] = held(6 + direction)[i]
                    .wrapping_add(count)
                    .wrapping_add(lost);
                let (least, mean) = if direction == ROUND_TRIP {
                    let mean = held(13)[i]
                        .wrapping_add(rows[MEAN * DIRECTIONS + OUTBOUND][p])
                        .wrapping_add(rows[MEAN * DIRECTIONS + INBOUND][p]);
                    (mean.wrapping_sub(held(14)[i]), mean)
                } else {
                    let least = held(9 + direction)[i];
                    (least, held(11 + direction)[i].wrapping_add(least))
                };
                let most = held(15 + direction)[i].wrapping_add(mean);
                rows[at(MIN)][p] = least;
                rows[at(MEAN)][p] = mean;
                rows[at(MAX)][p] = most;
                let mut error = held(18 + direction)[i];
                if direction == INBOUND {
                    error = error.wrapping_add(rows[CLOCK_ERROR * DIRECTIONS + OUTBOUND][p]);
                }
                rows[at(CLOCK_ERROR)][p] = error;
                let turned =
                    (held(21 + direction)[i] as u32).wrapping_add(squares(most, least, count));
                rows[at(M2)][p] = turned.rotate_left(8) as i32;
                let mut code = held(24 + direction)[i].wrapping_add(code_of(count, mean)) as u16;
                self.codes[direction][p] = code;
                let largest = code_of(count, most);
                for (q, fewer) in FEWER.iter().enumerate().skip(1) {
                    let left = held(24 + 3 * q + direction)[i];
                    code = if count < *fewer {
                        largest.wrapping_sub(left)
                    } else {
                        left.wrapping_add(i32::from(code))
                    } as u16;
                    self.codes[q * DIRECTIONS + direction][p] = code;
                }
            }
        }
        for i in 0..n {
            self.flows[to + i] = held(36)[i] as u16;
            self.sources[to + i] = held(37)[i] as u8;
        }
    }
}

impl Block<'_> {
    /// Read stats into the targets from `to` on; the flows of those, if the block stores them: shape (3, 2, m).
    fn stats(&self, out: &mut StatsMut<'_>, to: usize) -> Result<Option<Vec<i32>>, FrameError> {
        let n = self.targets;
        let mut numbers = [0; STATS_COLUMNS * TARGETS_MAX];
        let numbers = &mut numbers[..STATS_COLUMNS * n];
        let mut read = Unpacker::new(self.body);
        let stored = self.read(read.byte())? != 0;
        self.read(read.columns(numbers, &[n; STATS_COLUMNS], &STATS_SIGNED))?;
        out.restore(numbers, to);
        if !stored {
            return Ok(None);
        }
        let flows = &out.flows[to..to + n];
        if flows.iter().any(|flows| *flows > FLOWS_MAX) {
            return Err(self.truncated());
        }
        let m: usize = flows.iter().map(|f| widths_of(*f)).sum();
        let mut flows = vec![0; FLOW_COLUMNS * m];
        self.read(read.columns(&mut flows, &[m; FLOW_COLUMNS], &FLOWS_SIGNED))?;
        let (known, medians) = flows.split_at_mut(4 * m);
        for (median, least) in medians.iter_mut().zip(&known[2 * m..]) {
            *median = median.wrapping_add(*least);
        }
        Ok(Some(flows))
    }
}

/// Fewer targets are read sooner than another thread starts.
const PARALLEL_TARGETS: usize = 1 << 11;

/// Read the stats of all targets of all blocks into `out`; their flows, shape (3, 2, m), m = 0 where none are stored.
///
/// A block without flows among others that store them has flows of count 0.
pub fn stats_of(blobs: &[&[u8]], out: StatsMut<'_>) -> Result<Vec<i32>, FrameError> {
    let blocks: Vec<Block<'_>> = open_all(Kind::Stats, blobs)?;
    let targets = blocks.iter().map(|block| block.targets).sum::<usize>();
    if targets != out.targets() {
        return Err(FrameError::Arrays);
    }
    let half = if targets < PARALLEL_TARGETS {
        0
    } else {
        blocks.len() / 2
    };
    let (first, second) = blocks.split_at(half);
    let (mine, others) = out.split_at(first.iter().map(|block| block.targets).sum());
    let (one, two) = if half == 0 {
        (read_all(first, mine), read_all(second, others))
    } else {
        threads::both(|| read_all(first, mine), || read_all(second, others))
    };
    let (mut flows, mine) = one?;
    let (more, others) = two?;
    flows.extend(more.into_iter().map(|(place, found)| (place + half, found)));
    if flows.is_empty() {
        return Ok(Vec::new());
    }
    let widths = |part: &StatsMut<'_>, low: usize, n: usize| -> usize {
        part.flows[low..low + n].iter().map(|f| widths_of(*f)).sum()
    };
    let mut sizes = Vec::with_capacity(blocks.len());
    for (part, blocks) in [(&mine, first), (&others, second)] {
        let mut low = 0;
        for block in blocks {
            sizes.push(widths(part, low, block.targets));
            low += block.targets;
        }
    }
    let all: usize = sizes.iter().sum();
    let mut together = Vec::with_capacity(FLOW_COLUMNS * all);
    for column in 0..FLOW_COLUMNS {
        let mut next = flows.iter().peekable();
        for (place, m) in sizes.iter().enumerate() {
            match next.next_if(|(stored, _)| *stored == place) {
                Some((_, found)) => together.extend_from_slice(&found[column * m..][..*m]),
                None => together.extend(std::iter::repeat_n(0, *m)),
            }
        }
    }
    Ok(together)
}

/// The place of a block, and its flows.
pub(super) type Flows = (usize, Vec<i32>);

/// Read the stats of some blocks; the flows of those that store them.
pub(super) fn read_all<'a>(
    blocks: &[Block<'_>],
    mut out: StatsMut<'a>,
) -> Result<(Vec<Flows>, StatsMut<'a>), FrameError> {
    let (mut to, mut flows) = (0, Vec::new());
    for (place, block) in blocks.iter().enumerate() {
        if let Some(found) = block.stats(&mut out, to)? {
            flows.push((place, found));
        }
        to += block.targets;
    }
    Ok((flows, out))
}

/// Read the headers and checksums of all blocks. The first that is broken is refused.
pub(super) fn open_all<'a>(kind: Kind, blobs: &[&'a [u8]]) -> Result<Vec<Block<'a>>, FrameError> {
    for blob in blobs {
        super::targets_in(kind, blob)?;
    }
    blobs.iter().map(|blob| Block::open(kind, blob)).collect()
}
