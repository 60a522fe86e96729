//! Frames: one agent's window towards all its peers, as a block of statistics and a block of sketches.
//!
//! All numbers are little-endian. Directions are in the order outbound, inbound, round trip.
//!
//! ```text
//! 0  1  codec version: 3 for stats, 2 for sketches
//! 1  1  kind: 0 stats, 1 sketches
//! 2  2  n, the number of targets (1 … 256) in the order of the frame's roster
//! 4  4  checksum (`rice::checksum`) of the body and the four bytes before
//! 8     the body: packs of columns (`rice`), each in as few bits as its numbers need
//! ```
//!
//! Each column stores a residual: the value minus a prediction from columns decoded earlier. *Code* means an LLQ16
//! bin + 1, 0 for no value; the codes of mean and max are 0 where count is.
//!
//! ```text
//! stats: 1 byte that is 1 where flows are stored, a pack, and then the pack of the flows. Columns (± signed):
//!   count of the outbound direction, ± what inbound has more, ± what round trip has more than that
//!   lost; ± sent less count and lost, each x 3 directions (-1 when not known)
//!   min_ns of outbound and inbound; their mean_ns less min_ns
//!   ± mean_ns of the round trip less both; that mean less min_ns of the round trip
//!   max_ns less mean_ns, x 3
//!   clock_error_ns of the outbound direction, ± what inbound has more; of the round trip
//!   ± m2 x 3, bits of a float32 (ns^2) rotated right by 8, less the upper 24 bits of (max_ns - min_ns)^2 * count
//!   ± p50 less the code of mean_ns, x 3
//!   p90, p99, p99.9, each x 3: where count is below 10, 100, 1,000 the code of max_ns less it, else it less the one
//!   before
//!   number of source ports used; origin of one-way delays (0 assumed, 1 mesh, 2 hardware clocks)
//! The pack of the flows has a number for each flow of each target with more than one:
//!   count x 2 directions, min_ns x 2, p50_ns less min_ns x 2
//!
//! sketches: 1 byte, the mode; a pack; then for each direction 4 bytes with the length of its pack, and that pack
//!   Modes: 0 words as they are; 1 value by value, for canonical sketches of one word a bin (at most 16 values) and at
//!   most two values a word on average; 2 bins with their counts, for other canonical ones. 4 more where the first and
//!   last bin of each sketch are those of its min_ns and max_ns, as they should be.
//!   The first pack has the number of words of each sketch, x 3 directions; in modes 1 and 2 then that of values or bins.
//!   The packs of directions have the first bins of sketches that are not empty, unless the mode has the 4; how far each
//!   further bin is from the one before it, of 2048 (but for the last ones, where the mode has the 4); and in mode 0 the
//!   codes of all words, in mode 2 ± what each count is more than the one before it, the first ones more than 1.
//! ```
//!
//! Delay columns of an entry with count 0 hold 0 and mean nothing.

mod merged;
mod projection;
mod sketches;
mod stats;

pub use merged::{Context, Corrections, Pairs, Window, merge_windows};
pub use projection::{round_trip_values, stats_at};
pub use sketches::{Bounds, SketchesRef, bounds_of, sketches_of};
pub use stats::{StatsMut, StatsRef, stats_of, widths_of};

use std::ops::Range;

use crate::columns::DIRECTIONS;
use crate::rice::{Exhausted, checksum};
use crate::threads;

/// Targets of a block, at most.
pub const TARGETS_MAX: usize = 256;
const STATS_VERSION: u8 = 3;
const SKETCH_VERSION: u8 = 2;
const BODY_AT: usize = 8;

/// Two kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Stats = 0,
    Sketches = 1,
}

impl Kind {
    fn version(self) -> u8 {
        match self {
            Self::Stats => STATS_VERSION,
            Self::Sketches => SKETCH_VERSION,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Stats => "stats",
            Self::Sketches => "sketches",
        }
    }
}

/// Failure to read or write a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// There are fewer bytes than in a header.
    Short,
    /// The header is of another version, kind or size.
    Header { version: u8, kind: u8, targets: u16 },
    /// The checksum does not match the bytes.
    Checksum,
    /// The columns need more bytes than there are.
    Truncated { kind: Kind, targets: usize },
    /// Sketches and stats are of different numbers of targets.
    TargetMismatch { sketches: usize, stats: usize },
    /// The number of flows does not match the numbers of source ports.
    Flows { given: usize, expected: usize },
    /// There are more targets than a block holds, or none.
    Targets(usize),
    /// The sizes of the arrays do not match.
    Arrays,
}

impl std::fmt::Display for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Short => f.write_str("too short for a header"),
            Self::Header {
                version,
                kind,
                targets,
            } => write!(
                f,
                "unknown header: version {version}, kind {kind}, {targets} targets"
            ),
            Self::Checksum => f.write_str(
                "the checksum does not match: the bytes have changed since they were written",
            ),
            Self::Truncated { kind, targets } => write!(
                f,
                "{} of {targets} targets need more bytes than there are",
                kind.name()
            ),
            Self::TargetMismatch { sketches, stats } => write!(
                f,
                "the sketches are of {sketches} targets and the stats of {stats}"
            ),
            Self::Flows { given, expected } => {
                write!(f, "{given} flows for targets that have {expected}")
            }
            Self::Targets(n) => write!(f, "a frame holds 1 to {TARGETS_MAX} targets, not {n}"),
            Self::Arrays => f.write_str("arrays whose sizes do not match"),
        }
    }
}

impl std::error::Error for FrameError {}

/// A block with a valid header and checksum.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    pub targets: usize,
    body: &'a [u8],
    kind: Kind,
}

impl<'a> Block<'a> {
    /// Read the header and the checksum.
    pub fn open(kind: Kind, bytes: &'a [u8]) -> Result<Self, FrameError> {
        let targets = targets_in(kind, bytes)?;
        let head = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let Some(body) = bytes.get(BODY_AT..) else {
            return Err(FrameError::Checksum);
        };
        let written = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        if checksum(head, body) != written {
            return Err(FrameError::Checksum);
        }
        Ok(Self {
            targets,
            body,
            kind,
        })
    }

    fn truncated(&self) -> FrameError {
        FrameError::Truncated {
            kind: self.kind,
            targets: self.targets,
        }
    }

    fn read<T>(&self, result: Result<T, Exhausted>) -> Result<T, FrameError> {
        result.map_err(|Exhausted| self.truncated())
    }
}

/// Return the number of targets in the header of a block.
pub fn targets_in(kind: Kind, bytes: &[u8]) -> Result<usize, FrameError> {
    let Some(&[version, kind_code, low, high]) = bytes.get(..4) else {
        return Err(FrameError::Short);
    };
    let targets = u16::from_le_bytes([low, high]);
    let known = (1..=TARGETS_MAX).contains(&usize::from(targets));
    if version != kind.version() || kind_code != kind as u8 || !known {
        return Err(FrameError::Header {
            version,
            kind: kind_code,
            targets,
        });
    }
    Ok(usize::from(targets))
}

/// Return the header of a block without its checksum, to which the caller appends the body.
fn begin(kind: Kind, targets: usize) -> Result<Vec<u8>, FrameError> {
    if !(1..=TARGETS_MAX).contains(&targets) {
        return Err(FrameError::Targets(targets));
    }
    let [low, high] = (targets as u16).to_le_bytes();
    Ok(vec![kind.version(), kind as u8, low, high, 0, 0, 0, 0])
}

/// Write the checksum into a block.
fn seal(mut block: Vec<u8>) -> Vec<u8> {
    let head = u32::from_le_bytes([block[0], block[1], block[2], block[3]]);
    let sum = checksum(head, &block[BODY_AT..]);
    block[4..BODY_AT].copy_from_slice(&sum.to_le_bytes());
    block
}

/// Return the block of the sketches of all targets, `TARGETS_MAX` at most; `columns` are those of their stats.
pub fn encode_sketches(sketches: &SketchesRef<'_>, columns: &[i32]) -> Result<Vec<u8>, FrameError> {
    let n = sketches.targets();
    let bounds = bounds_of(columns, n, &[])?;
    sketches.encode_block(&bounds, 0..n, sketches.first_words())
}

/// Return the block of the stats of all targets, `TARGETS_MAX` at most.
pub fn encode_stats(stats: &StatsRef<'_>) -> Result<Vec<u8>, FrameError> {
    stats.check_flows()?;
    let n = stats.targets();
    stats.encode_block(0..n, 0..stats.flows_of(0, n))
}

/// Bytes of the stats block and of the sketches block of some targets.
pub type Blocks = (Vec<u8>, Vec<u8>);

/// Return the blocks of stats and sketches of all targets, each of at most `TARGETS_MAX`.
pub fn encode(stats: &StatsRef<'_>, sketches: &SketchesRef<'_>) -> Result<Vec<Blocks>, FrameError> {
    encode_clients(stats, sketches, &[stats.targets()])
}

/// Return the blocks of all clients; `sizes` are their numbers of targets. No block has targets of two clients.
pub fn encode_clients(
    stats: &StatsRef<'_>,
    sketches: &SketchesRef<'_>,
    sizes: &[usize],
) -> Result<Vec<Blocks>, FrameError> {
    let n = stats.targets();
    if sketches.targets() != n {
        return Err(FrameError::TargetMismatch {
            sketches: sketches.targets(),
            stats: n,
        });
    }
    if sizes
        .iter()
        .try_fold(0usize, |sum, size| sum.checked_add(*size))
        != Some(n)
    {
        return Err(FrameError::Arrays);
    }
    stats.check_flows()?;
    let bounds = bounds_of(stats.columns, n, &[])?;
    let mut parts = Vec::new();
    let (mut low, mut flow, mut words) = (0, 0, sketches.first_words());
    for size in sizes {
        let end = low + size;
        while low < end {
            let range = low..(low + TARGETS_MAX).min(end);
            let flows = flow..flow + stats.flows_of(range.start, range.end);
            parts.push((range.clone(), flows.clone(), words));
            sketches.skip(range.clone(), &mut words);
            (low, flow) = (range.end, flows.end);
        }
    }
    let encode = |(range, flows, words): &(Range<usize>, Range<usize>, [usize; DIRECTIONS])| {
        Ok((
            stats.encode_block(range.clone(), flows.clone())?,
            sketches.encode_block(&bounds, range.clone(), *words)?,
        ))
    };
    if sizes.len() > 1 {
        threads::map(&parts, encode).into_iter().collect()
    } else {
        parts.iter().map(encode).collect()
    }
}
