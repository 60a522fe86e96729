//! Reports of agents (`agent.proto`): their columns, read where they are in their bytes and checked.
//!
//! Only what agents and protobuf libraries write is read: packed fields, each once. A message that is written otherwise
//! is to be written again by a library first. What is not a column is left to a library altogether.

use crate::bin_of;
use crate::columns::{
    CLOCK_ERROR, COLUMNS, COUNT, DIRECTIONS, LOST, M2, MAX, MEAN, MIN, QUANTILES, ROUND_TRIP, SENT,
    m2_bits,
};
use crate::frame::{Blocks, FrameError, SketchesRef, StatsRef, encode};
use crate::llq16::{is_ordered, merge, summarise};
use crate::protobuf::{Field, Fields, Kind, Malformed, varint};

const WINDOWS: u32 = 4;
const PEER_KEYS: u32 = 4;
const FLOWS: u32 = 5;
const FIRST_DIRECTION: u32 = 6;
/// The origins of delays, and the flows of both directions.
const NOT_PLAIN: [u32; 3] = [10, 14, 15];
const LARGEST: i64 = i32::MAX as i64;
const WORDS_MAX: i64 = 1 << 16;
const INTEGERS: usize = M2;
/// Number of fields of a direction.
const DIRECTION_PARTS: usize = 10;
const DIRECTION_NAMES: [&str; DIRECTIONS] = ["outbound", "inbound", "round_trip"];

/// A rule that a report breaks: the field, as in `outbound.sketch`, and the complaint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub field: String,
    pub complaint: String,
}

/// A report whose windows are found.
#[derive(Debug, PartialEq, Eq)]
pub struct Report<'a> {
    /// The message without its windows.
    pub rest: Vec<u8>,
    pub windows: Vec<&'a [u8]>,
}

/// Why a report is not split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSplit {
    /// A library has to read it, and to say what is wrong.
    Otherwise,
    /// More fields than any report has: each costs a hundred times its two bytes once a library has read it.
    TooMany,
}

/// Find the windows of a report; of more than `fields_max` fields, windows' included, it is refused.
pub fn split(body: &[u8], fields_max: usize) -> Result<Report<'_>, NotSplit> {
    let mut report = Report {
        rest: Vec::new(),
        windows: Vec::new(),
    };
    let (mut walked, mut otherwise) = (0, body.is_empty());
    for field in Fields::of(body) {
        walked += 1;
        match field {
            Ok(field) if field.number == WINDOWS => {
                walked += Fields::of(field.content).take(fields_max).count();
                otherwise |= field.kind != Kind::Bytes;
                report.windows.push(field.content);
            }
            Ok(field) => report.rest.extend_from_slice(field.whole),
            Err(Malformed) => otherwise = true,
        }
        if walked > fields_max {
            return Err(NotSplit::TooMany);
        }
    }
    if otherwise {
        return Err(NotSplit::Otherwise);
    }
    Ok(report)
}

/// A report whose windows are read.
#[derive(Debug)]
pub struct Contents {
    /// The message without its windows.
    pub rest: Vec<u8>,
    pub windows: Vec<Window>,
}

/// Read a report of the VM `own_key`.
pub fn read(body: &[u8], own_key: i64, fields_max: usize) -> Result<Contents, NotSplit> {
    let report = split(body, fields_max)?;
    let windows = report.windows.iter();
    let windows: Option<Vec<Window>> = windows.map(|part| read_window(part, own_key)).collect();
    Ok(Contents {
        rest: report.rest,
        windows: windows.ok_or(NotSplit::Otherwise)?,
    })
}

/// A window whose columns are read.
#[derive(Debug)]
pub struct Window {
    /// The message without its columns.
    pub rest: Vec<u8>,
    /// True when no flows are reported one by one and all delays have an assumed origin.
    pub plain: bool,
    /// `None` without peers.
    pub table: Option<Result<Table, Fault>>,
}

/// Columns of a window towards n peers, as they are stored.
#[derive(Debug)]
pub struct Table {
    pub targets: Vec<i64>,
    /// Shape (8, 3, n).
    pub columns: Vec<i32>,
    /// Shape (4, 3, n).
    pub quantiles: Vec<u16>,
    pub flows: Vec<u16>,
    /// Shape (3, n).
    pub lengths: Vec<i64>,
    pub words: Vec<u16>,
    /// Number of values that did not fit 32 bits.
    pub clamped: usize,
}

impl Table {
    /// Blocks of all targets, whose flows are not stored one by one and whose delays have an assumed origin.
    pub fn encode(&self) -> Result<Vec<Blocks>, FrameError> {
        let stats = StatsRef {
            columns: &self.columns,
            quantiles: &self.quantiles,
            flows: &self.flows,
            sources: &vec![0; self.targets.len()],
            by_flow: &[],
        };
        encode(&stats, &SketchesRef::new(&self.lengths, &self.words)?)
    }
}

/// Read the columns of a window that the VM `own_key` reports. `None` when a library has to write it again first.
pub fn read_window(message: &[u8], own_key: i64) -> Option<Window> {
    let (mut rest, mut plain) = (Vec::new(), true);
    let mut parts: [Option<&[u8]>; 2 + DIRECTIONS] = [None; 2 + DIRECTIONS];
    for field in Fields::of(message) {
        let field = field.ok()?;
        match field.number {
            PEER_KEYS..=8 => take(&mut parts[(field.number - PEER_KEYS) as usize], &field)?,
            number => {
                plain &= !NOT_PLAIN.contains(&number);
                rest.extend_from_slice(field.whole);
            }
        }
    }
    const { assert!(FLOWS == PEER_KEYS + 1 && FIRST_DIRECTION == PEER_KEYS + 2) };
    let numbers = |part: usize| {
        let mut numbers = Vec::new();
        unsigned(parts[part].unwrap_or_default(), &mut numbers).map(|()| numbers)
    };
    let (targets, flows) = (numbers(0)?, numbers(1)?);
    let mut directions = [[&[][..]; DIRECTION_PARTS]; DIRECTIONS];
    for (direction, part) in directions.iter_mut().zip(&parts[2..]) {
        *direction = direction_parts(part.unwrap_or_default())?;
    }
    let columns = Columns::read(&directions, targets.len())?;
    if targets.is_empty() {
        let table = None;
        return Some(Window { rest, plain, table });
    }
    let table = Sent::new(targets, flows, columns).and_then(|sent| sent.checked(own_key));
    Some(Window {
        rest,
        plain,
        table: Some(table),
    })
}

fn take<'a>(part: &mut Option<&'a [u8]>, field: &Field<'a>) -> Option<()> {
    if field.kind != Kind::Bytes || part.is_some() {
        return None;
    }
    *part = Some(field.content);
    Some(())
}

/// The contents of the columns of a direction, by field number less 1.
type DirectionParts<'a> = [&'a [u8]; DIRECTION_PARTS];

fn direction_parts(message: &[u8]) -> Option<DirectionParts<'_>> {
    let mut parts: [Option<&[u8]>; DIRECTION_PARTS] = [None; DIRECTION_PARTS];
    for field in Fields::of(message) {
        let field = field.ok()?;
        take(parts.get_mut((field.number - 1) as usize)?, &field)?;
    }
    Some(parts.map(Option::unwrap_or_default))
}

/// The columns of all directions as they were sent, and how many numbers each has.
struct Columns<'a> {
    /// Column by column, the directions of each one after the other.
    values: Vec<i64>,
    sizes: [[usize; DIRECTIONS]; INTEGERS],
    /// By direction.
    m2: [Vec<f64>; DIRECTIONS],
    lengths: [Vec<i64>; DIRECTIONS],
    sketches: [&'a [u8]; DIRECTIONS],
}

impl<'a> Columns<'a> {
    /// Read the columns, most likely of `n` numbers each.
    fn read(directions: &[DirectionParts<'a>; DIRECTIONS], n: usize) -> Option<Self> {
        let numbers_max: usize = directions
            .as_flattened()
            .iter()
            .map(|part| part.len())
            .sum();
        let mut columns = Self {
            values: Vec::with_capacity(numbers_max.min(INTEGERS * DIRECTIONS * n)),
            sizes: Default::default(),
            m2: Default::default(),
            lengths: Default::default(),
            sketches: directions.map(|parts| parts[9]),
        };
        let values = &mut columns.values;
        for (column, sizes) in columns.sizes.iter_mut().enumerate() {
            for (parts, size) in directions.iter().zip(sizes) {
                let before = values.len();
                match column {
                    COUNT => unsigned(parts[0], values)?,
                    SENT => zigzag(parts[1], true, values)?,
                    LOST => zigzag(parts[2], true, values)?,
                    MIN => zigzag(parts[3], false, values)?,
                    MEAN => zigzag(parts[4], false, values)?,
                    MAX => zigzag(parts[5], false, values)?,
                    // Unsigned 64 bits: cut before they become signed.
                    _ => read_varints(
                        parts[7],
                        |number| Some(number.min(LARGEST as u64 + 1) as i64),
                        values,
                    )?,
                }
                *size = values.len() - before;
            }
        }
        for (direction, parts) in directions.iter().enumerate() {
            let doubles = parts[6].chunks_exact(8);
            if !doubles.remainder().is_empty() {
                return None;
            }
            columns.m2[direction].extend(doubles.map(|bytes| {
                let mut eight = [0; 8];
                eight.copy_from_slice(bytes);
                f64::from_le_bytes(eight)
            }));
            unsigned(parts[8], &mut columns.lengths[direction])?;
        }
        Some(columns)
    }
}

fn read_varints(
    mut bytes: &[u8],
    number: impl Fn(u64) -> Option<i64>,
    out: &mut Vec<i64>,
) -> Option<()> {
    while !bytes.is_empty() {
        let (value, left) = varint(bytes)?;
        out.push(number(value)?);
        bytes = left;
    }
    Some(())
}

/// Numbers of 32 bits.
fn unsigned(bytes: &[u8], out: &mut Vec<i64>) -> Option<()> {
    read_varints(
        bytes,
        |number| u32::try_from(number).ok().map(i64::from),
        out,
    )
}

fn zigzag(bytes: &[u8], short: bool, out: &mut Vec<i64>) -> Option<()> {
    let fits = |number: u64| !short || number >> 32 == 0;
    let signed =
        |number: u64| fits(number).then_some((number >> 1) as i64 ^ -((number & 1) as i64));
    read_varints(bytes, signed, out)
}

/// A window as it was sent: every column has an entry for each peer.
struct Sent {
    targets: Vec<i64>,
    flows: Vec<i64>,
    /// Shape (7, 3, n).
    values: Vec<i64>,
    /// Shape (3, n).
    m2: Vec<f64>,
    /// Shape (3, n).
    lengths: Vec<i64>,
    words: Vec<u16>,
}

/// Report whether all `keys` are among `known`; both ascend.
pub fn are_among(keys: &[i64], mut known: &[i64]) -> bool {
    keys.iter().all(|key| {
        // Neighbours in a mesh are mostly neighbours here.
        let near = known.iter().take(8).position(|other| other >= key);
        let at = near.unwrap_or_else(|| known.partition_point(|other| other < key));
        known = &known[at..];
        known.first() == Some(key)
    })
}

/// A rule about a direction of a peer.
#[derive(Clone, Copy)]
struct Rule {
    column: &'static str,
    complaint: &'static str,
    breaks: fn(&Path) -> bool,
}

/// Numbers of one direction of one peer.
struct Path {
    values: [i64; INTEGERS],
    m2: f64,
    total: i64,
    first_bin: u16,
    last_bin: u16,
    round_trip: bool,
}

impl Path {
    fn empty(&self) -> bool {
        self.values[COUNT] == 0
    }
}

const RULES: [Rule; 13] = [
    Rule {
        column: "count",
        complaint: "more than 2^31 - 1",
        breaks: |path| path.values[COUNT] > LARGEST,
    },
    Rule {
        column: "sent",
        complaint: "packets sent are -1 (not known), 0 or more",
        breaks: |path| !(-1..=LARGEST).contains(&path.values[SENT]),
    },
    Rule {
        column: "lost",
        complaint: "packets lost are -1 (not known), 0 or more",
        breaks: |path| path.values[LOST] < -1,
    },
    Rule {
        column: "lost",
        complaint: "more packets lost than sent, or lost known and sent not",
        breaks: |path| path.values[LOST] > path.values[SENT] && path.values[LOST] >= 0,
    },
    Rule {
        column: "min_ns",
        complaint: "delays of a peer with count 0 are 0",
        breaks: |path| path.empty() && (path.values[MIN] | path.values[MAX]) != 0,
    },
    Rule {
        column: "mean_ns",
        complaint: "the mean is below the minimum",
        breaks: |path| path.values[MIN] > path.values[MEAN],
    },
    Rule {
        column: "mean_ns",
        complaint: "the mean is above the maximum",
        breaks: |path| path.values[MEAN] > path.values[MAX],
    },
    Rule {
        column: "min_ns",
        complaint: "a round trip takes no less than no time",
        breaks: |path| path.round_trip && path.values[MIN] < 0,
    },
    Rule {
        column: "m2",
        complaint: "a sum of squares is a finite number, 0 or more",
        breaks: |path| !(path.m2 >= 0.0 && path.m2.is_finite()),
    },
    Rule {
        column: "sketch",
        complaint: "the sketch holds another number of delays than count",
        breaks: |path| path.total != path.values[COUNT],
    },
    Rule {
        column: "sketch",
        complaint: "its smallest delay is not in the bin of min_ns",
        breaks: |path| !path.empty() && path.first_bin != bin_of(path.values[MIN]),
    },
    Rule {
        column: "sketch",
        complaint: "its largest delay is not in the bin of max_ns",
        breaks: |path| !path.empty() && path.last_bin != bin_of(path.values[MAX]),
    },
    Rule {
        column: "clock_error_ns",
        complaint: "a round trip has no clock error",
        breaks: |path| path.round_trip && path.values[CLOCK_ERROR] != 0,
    },
];

impl Sent {
    fn new(targets: Vec<i64>, flows: Vec<i64>, columns: Columns<'_>) -> Result<Self, Fault> {
        let n = targets.len();
        let sized = |path: &str, size: usize| {
            if size == n {
                return Ok(());
            }
            Err(Fault {
                field: path.to_owned(),
                complaint: format!("{size} entries for {n} peers"),
            })
        };
        sized("flows", flows.len())?;
        let mut sent = Self {
            targets,
            flows,
            values: columns.values,
            m2: Vec::with_capacity(DIRECTIONS * n),
            lengths: Vec::with_capacity(DIRECTIONS * n),
            words: Vec::new(),
        };
        let names = ["count", "sent", "lost", "min_ns", "mean_ns", "max_ns"];
        for (direction, name) in DIRECTION_NAMES.iter().enumerate() {
            for (column, sizes) in names.iter().zip(&columns.sizes) {
                sized(&format!("{name}.{column}"), sizes[direction])?;
            }
            let (m2, lengths) = (&columns.m2[direction], &columns.lengths[direction]);
            sized(&format!("{name}.m2"), m2.len())?;
            sized(&format!("{name}.sketch_words"), lengths.len())?;
            let errors = columns.sizes[CLOCK_ERROR][direction];
            sized(&format!("{name}.clock_error_ns"), errors)?;
            let (words, sketch) = (lengths.iter().sum::<i64>(), columns.sketches[direction]);
            if words * 2 != sketch.len() as i64 {
                return Err(Fault {
                    field: format!("{name}.sketch"),
                    complaint: format!(
                        "{} bytes, but sketch_words add up to {words} words",
                        sketch.len()
                    ),
                });
            }
            sent.m2.extend(m2);
            sent.lengths.extend(lengths);
            let pairs = sketch.chunks_exact(2);
            sent.words
                .extend(pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        }
        Ok(sent)
    }

    fn checked(mut self, own_key: i64) -> Result<Table, Fault> {
        let n = self.targets.len();
        let fault = |field: &str, complaint: String| {
            Err(Fault {
                field: field.to_owned(),
                complaint,
            })
        };
        let ascends = self.targets.is_sorted_by(|a, b| a < b);
        if !ascends || self.targets[0] <= 0 || self.targets[n - 1] > LARGEST {
            let complaint = "keys of VMs are above 0 and strictly ascending";
            return fault("peer_keys", complaint.to_owned());
        }
        if self.targets.contains(&own_key) {
            return fault("peer_keys", format!("{own_key} is the reporting VM itself"));
        }
        let long = self.lengths.iter().any(|length| *length >= WORDS_MAX);
        if long || is_ordered(&self.words, &self.lengths) != Some(true) {
            let owners: Vec<i64> = (0..self.lengths.len() as i64).collect();
            let groups = owners.len();
            let merged = merge(&self.words, &self.lengths, &owners, groups, &[], true);
            if let Some(merged) = merged {
                self.words = merged.words;
                self.lengths = merged.lengths;
            }
        }
        let Some(summary) = summarise(&self.words, &self.lengths, &QUANTILES) else {
            return fault(
                "sketch",
                "another number of words than its header says".to_owned(),
            );
        };
        self.complain(&summary.totals)?;
        let mut columns = Vec::with_capacity(COLUMNS * DIRECTIONS * n);
        let mut clamped = 0;
        for value in &self.values {
            let kept = (*value).clamp(-LARGEST, LARGEST);
            clamped += usize::from(kept != *value);
            columns.push(kept as i32);
        }
        columns.extend(self.m2.iter().map(|squares| m2_bits(*squares)));
        Ok(Table {
            targets: self.targets,
            columns,
            quantiles: summary.bins.iter().map(|bin| (bin + 1) as u16).collect(),
            flows: self
                .flows
                .iter()
                .map(|flows| (*flows).min(i64::from(u16::MAX)) as u16)
                .collect(),
            lengths: self.lengths,
            words: self.words,
            clamped,
        })
    }

    /// Name the first rule that a path breaks, and the first path that breaks it.
    fn complain(&self, totals: &[i64]) -> Result<(), Fault> {
        let n = self.targets.len();
        let mut start = 0;
        let mut first = None;
        for (at, length) in self.lengths.iter().enumerate() {
            let sketch = &self.words[start..start + *length as usize];
            start += sketch.len();
            let path = Path {
                values: std::array::from_fn(|column| self.values[column * DIRECTIONS * n + at]),
                m2: self.m2[at],
                total: totals[at],
                first_bin: sketch.first().map_or(0, |word| word >> 5),
                last_bin: sketch.last().map_or(0, |word| word >> 5),
                round_trip: at / n == ROUND_TRIP,
            };
            // All rules, without a branch after each: nearly every path keeps them.
            let broken = RULES.map(|rule| (rule.breaks)(&path));
            let known = first.map_or(RULES.len(), |(rule, _)| rule);
            if let Some(rule) = broken[..known].iter().position(|broken| *broken) {
                first = Some((rule, at));
            }
        }
        match first {
            None => Ok(()),
            Some((rule, at)) => Err(Fault {
                field: format!("{}.{}", DIRECTION_NAMES[at / n], RULES[rule].column),
                complaint: format!("{} (peer {})", RULES[rule].complaint, self.targets[at % n]),
            }),
        }
    }
}
