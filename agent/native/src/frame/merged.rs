//! Windows of clients, merged while they are read: each pair of a client and a target once.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::sketches::{Collected, Scratch, bounds_of};
use super::stats::{StatsMut, open_all, read_all};
use super::{FrameError, Kind};
use crate::columns::{
    CLOCK_ERROR, COLUMNS, COUNT, DIRECTIONS, INBOUND, MAX, MEAN, MIN, OUTBOUND, QUANTILES,
};
use crate::llq16::{Histogram, Members, ends_of};
use crate::merge::merge_columns;
use crate::threads;

const ASSUMED: u8 = 0;
const MESH: u8 = 1;
const HARDWARE: u8 = 2;
const LARGEST: i64 = i32::MAX as i64;

/// Blocks of one window of a client.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    pub client: i64,
    /// Index of its targets among the rosters.
    pub roster: usize,
    /// Index of the corrections that hold for it.
    pub corrections: Option<usize>,
    pub stats: &'a [u8],
    /// Empty where no direction of sketches is read.
    pub sketches: &'a [u8],
}

/// Corrections of one-way delays by client, then target. Five numbers each: client, target, shift and bound of the error
/// (ns), deviation (ns).
#[derive(Clone, Copy)]
pub struct Corrections<'a>(pub &'a [i32]);

impl Corrections<'_> {
    const NUMBERS: usize = 5;

    fn row(&self, at: usize) -> &[i32] {
        &self.0[at * Self::NUMBERS..][..Self::NUMBERS]
    }

    /// Return the shift and the bound of each target of a client that has them.
    fn of(&self, client: i64, targets: &[i64]) -> Vec<Shift> {
        let pair = |at: usize| (i64::from(self.row(at)[0]), i64::from(self.row(at)[1]));
        let find = |target: &i64| {
            let (mut low, mut high) = (0, self.0.len() / Self::NUMBERS);
            while low < high {
                let middle = low.midpoint(high);
                match pair(middle).cmp(&(client, *target)) {
                    Ordering::Less => low = middle + 1,
                    Ordering::Greater => high = middle,
                    Ordering::Equal => {
                        return Some((i64::from(self.row(middle)[2]), self.row(middle)[3]));
                    }
                }
            }
            None
        };
        targets.iter().map(find).collect()
    }
}

/// Everything that windows refer to.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Keys of targets.
    pub rosters: &'a [&'a [i64]],
    /// Tables by client, then target.
    pub corrections: &'a [Corrections<'a>],
    /// Directions whose sketches are merged.
    pub directions: [bool; DIRECTIONS],
    /// True to return merged sketches in addition to their quantiles.
    pub words_too: bool,
}

/// Merged pairs by client, then target: n of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    pub clients: Vec<i64>,
    pub targets: Vec<i64>,
    /// Shape (8, 3, n).
    pub columns: Vec<i32>,
    /// Shape (4, 3, n): LLQ16 bin + 1, 0 for no value.
    pub quantiles: Vec<u16>,
    pub flows: Vec<u16>,
    pub sources: Vec<u8>,
    /// Words of each merged sketch, shape (3, n), and all words in that order; empty where they are not wanted.
    pub lengths: Vec<i64>,
    pub words: Vec<u16>,
}

/// Merge the windows of clients, which come client by client in ascending order.
///
/// One-way delays are corrected first, by the corrections of each window. `Ok(None)` when a block stores its flows one
/// by one.
pub fn merge_windows(
    windows: &[Window<'_>],
    context: &Context<'_>,
) -> Result<Option<Pairs>, FrameError> {
    let fits = |window: &Window<'_>| {
        window.roster < context.rosters.len()
            && window
                .corrections
                .is_none_or(|table| table < context.corrections.len())
    };
    let ascend = windows.is_sorted_by_key(|window| window.client);
    if !ascend || !windows.iter().all(fits) {
        return Err(FrameError::Arrays);
    }
    let clients: Vec<&[Window<'_>]> = windows.chunk_by(|a, b| a.client == b.client).collect();
    let mut parts = Vec::with_capacity(clients.len());
    for part in threads::map(&clients, |windows| of_client(windows, context)) {
        match part? {
            Some(part) => parts.push(part),
            None => return Ok(None),
        }
    }
    Ok(Some(together(parts)))
}

/// Merge the windows of one client.
fn of_client(windows: &[Window<'_>], context: &Context<'_>) -> Result<Option<Pairs>, FrameError> {
    let (targets, positions) = targets_of(windows, context);
    let mut owners = Vec::new();
    for window in windows {
        owners.extend_from_slice(&positions[&window.roster]);
    }
    let (m, n) = (owners.len(), targets.len());
    let mut columns = vec![0; COLUMNS * DIRECTIONS * m];
    let mut quantiles = vec![0; QUANTILES.len() * DIRECTIONS * m];
    let (mut flows, mut sources) = (vec![0; m], vec![0; m]);
    let blobs: Vec<&[u8]> = windows.iter().map(|window| window.stats).collect();
    let blocks = open_all(Kind::Stats, &blobs)?;
    let roster_of = |window: &Window<'_>| context.rosters[window.roster].len();
    if blocks
        .iter()
        .zip(windows)
        .any(|(block, window)| block.targets != roster_of(window))
    {
        return Err(FrameError::Arrays);
    }
    let out = StatsMut::new(&mut columns, &mut quantiles, &mut flows, &mut sources)?;
    if !read_all(&blocks, out)?.0.is_empty() {
        return Ok(None);
    }
    let shifts = Shifts::find(windows, context);
    let sketches = read_sketches(windows, &columns, &shifts.of(&sources), context)?;
    shifts.correct(&mut columns, &mut sources);
    let mut merged = Pairs {
        clients: vec![windows[0].client; n],
        columns: vec![0; COLUMNS * DIRECTIONS * n],
        quantiles: vec![0; QUANTILES.len() * DIRECTIONS * n],
        flows: vec![0; n],
        sources: weakest(&columns, &sources, &owners, n),
        lengths: vec![0; DIRECTIONS * n],
        targets,
        words: Vec::new(),
    };
    for (owner, flows) in owners.iter().zip(flows) {
        let most = &mut merged.flows[*owner as usize];
        *most = flows.max(*most);
    }
    let directed: Vec<i64> = (0..DIRECTIONS as i64)
        .flat_map(|direction| owners.iter().map(move |owner| direction * n as i64 + owner))
        .collect();
    if !merge_columns(&columns, &directed, &mut merged.columns) {
        return Err(FrameError::Arrays);
    }
    merge_sketches(&sketches, &owners, context, &mut merged)?;
    Ok(Some(merged))
}

/// Return the targets of some windows, ascending, and the position of each target of their rosters among them.
fn targets_of(
    windows: &[Window<'_>],
    context: &Context<'_>,
) -> (Vec<i64>, HashMap<usize, Vec<i64>>) {
    let mut positions: HashMap<usize, Vec<i64>> = HashMap::new();
    let mut targets = Vec::new();
    for window in windows {
        positions.entry(window.roster).or_insert_with(|| {
            targets.extend_from_slice(context.rosters[window.roster]);
            Vec::new()
        });
    }
    targets.sort_unstable();
    targets.dedup();
    for (roster, positions) in &mut positions {
        let position = |target| targets.partition_point(|other| other < target) as i64;
        positions.extend(context.rosters[*roster].iter().map(position));
    }
    (targets, positions)
}

/// Return the weakest origin of the one-way delays of each pair, of the windows with values.
fn weakest(columns: &[i32], sources: &[u8], owners: &[i64], n: usize) -> Vec<u8> {
    let m = owners.len();
    let counts = &columns[COUNT * DIRECTIONS * m..][..DIRECTIONS * m];
    let mut weakest: Vec<Option<u8>> = vec![None; n];
    for (i, (owner, source)) in owners.iter().zip(sources).enumerate() {
        if (0..DIRECTIONS).any(|direction| counts[direction * m + i] > 0) {
            let known = &mut weakest[*owner as usize];
            *known = Some(
                known
                    .map_or(*source, |known| known.min(*source))
                    .min(HARDWARE),
            );
        }
    }
    weakest
        .into_iter()
        .map(|source| source.unwrap_or(ASSUMED))
        .collect()
}

/// Read the sketches of windows whose delays are shifted.
fn read_sketches(
    windows: &[Window<'_>],
    columns: &[i32],
    shifts_ns: &[i64],
    context: &Context<'_>,
) -> Result<Collected, FrameError> {
    let mut sketches = Collected::default();
    if context.directions == [false; DIRECTIONS] {
        return Ok(sketches);
    }
    let blobs: Vec<&[u8]> = windows.iter().map(|window| window.sketches).collect();
    let blocks = open_all(Kind::Sketches, &blobs)?;
    let n = blocks.iter().map(|block| block.targets).sum();
    let bounds = bounds_of(columns, n, shifts_ns)?;
    let (mut scratch, mut to) = (Scratch::default(), 0);
    for block in blocks {
        block.sketches(&bounds, to, context.directions, &mut scratch, &mut sketches)?;
        to += block.targets;
    }
    Ok(sketches)
}

/// Merge the sketches of all windows into those of the pairs, and write their quantiles.
fn merge_sketches(
    sketches: &Collected,
    owners: &[i64],
    context: &Context<'_>,
    merged: &mut Pairs,
) -> Result<(), FrameError> {
    let n = merged.targets.len();
    let members = Members::of(owners, n);
    let mut held = Histogram::default();
    for direction in 0..DIRECTIONS {
        if !context.directions[direction] {
            continue;
        }
        let (lengths, words) = sketches.of(direction);
        let ends = ends_of(lengths, words.len()).ok_or(FrameError::Arrays)?;
        for target in 0..n {
            for &member in members.of_group(target) {
                let start = if member == 0 { 0 } else { ends[member - 1] };
                held.add_words(&words[start..ends[member]]);
            }
            let at = direction * n + target;
            held.quantiles(&QUANTILES, |quantile, bin| {
                merged.quantiles[quantile * DIRECTIONS * n + at] = bin + 1;
            });
            if context.words_too {
                let before = merged.words.len();
                held.write(&mut merged.words);
                merged.lengths[at] = (merged.words.len() - before) as i64;
            }
            held.clear();
        }
    }
    Ok(())
}

/// Shift and bound of the error of a pair that has a correction, ns.
type Shift = Option<(i64, i32)>;

/// Shifts of each target of each window; empty without any.
#[derive(Default)]
struct Shifts(Vec<Shift>);

impl Shifts {
    fn find(windows: &[Window<'_>], context: &Context<'_>) -> Self {
        if windows.iter().all(|window| window.corrections.is_none()) {
            return Self::default();
        }
        let mut of_rosters: HashMap<(usize, usize), Vec<Shift>> = HashMap::new();
        let mut all = Vec::new();
        for window in windows {
            let roster = context.rosters[window.roster];
            let Some(table) = window.corrections else {
                all.resize(all.len() + roster.len(), None);
                continue;
            };
            let found = of_rosters
                .entry((table, window.roster))
                .or_insert_with(|| context.corrections[table].of(window.client, roster));
            all.extend_from_slice(found);
        }
        Self(all)
    }

    /// Return the shift of the outbound delays of each target: none with clocks that are better known.
    fn of(&self, sources: &[u8]) -> Vec<i64> {
        let shift = |(correction, source): (&Shift, &u8)| match correction {
            Some((shift, _)) if *source == ASSUMED => *shift,
            _ => 0,
        };
        self.0.iter().zip(sources).map(shift).collect()
    }

    /// Shift one-way delays, and write the bound of their errors and the origin that they have then.
    fn correct(&self, columns: &mut [i32], sources: &mut [u8]) {
        let m = sources.len();
        for (i, (correction, source)) in self.0.iter().zip(sources).enumerate() {
            let (Some((shift, bound)), ASSUMED) = (correction, *source) else {
                continue;
            };
            *source = MESH;
            for (direction, by) in [(OUTBOUND, *shift), (INBOUND, -*shift)] {
                let at = |column: usize| (column * DIRECTIONS + direction) * m + i;
                if columns[at(COUNT)] <= 0 {
                    continue;
                }
                for column in [MIN, MEAN, MAX] {
                    let delay = &mut columns[at(column)];
                    *delay = (i64::from(*delay) + by).clamp(-LARGEST, LARGEST) as i32;
                }
                columns[at(CLOCK_ERROR)] = *bound;
            }
        }
    }
}

/// Join the pairs of different clients.
fn together(parts: Vec<Pairs>) -> Pairs {
    let n = parts.iter().map(|part| part.targets.len()).sum();
    let mut all = Pairs {
        clients: Vec::with_capacity(n),
        targets: Vec::with_capacity(n),
        columns: rows(&parts, COLUMNS * DIRECTIONS, n, |part| &part.columns),
        quantiles: rows(&parts, QUANTILES.len() * DIRECTIONS, n, |part| {
            &part.quantiles
        }),
        flows: Vec::with_capacity(n),
        sources: Vec::with_capacity(n),
        lengths: rows(&parts, DIRECTIONS, n, |part| &part.lengths),
        words: Vec::with_capacity(parts.iter().map(|part| part.words.len()).sum()),
    };
    let mut starts = vec![0; parts.len()];
    for direction in 0..DIRECTIONS {
        for (part, start) in parts.iter().zip(&mut starts) {
            let n = part.targets.len();
            let size = part.lengths[direction * n..][..n].iter().sum::<i64>() as usize;
            all.words
                .extend_from_slice(&part.words[*start..*start + size]);
            *start += size;
        }
    }
    for part in parts {
        all.clients.extend(part.clients);
        all.targets.extend(part.targets);
        all.flows.extend(part.flows);
        all.sources.extend(part.sources);
    }
    all
}

/// Join the rows of all parts, each part next to the one before.
fn rows<T: Copy>(
    parts: &[Pairs],
    count: usize,
    n: usize,
    of: impl Fn(&Pairs) -> &Vec<T>,
) -> Vec<T> {
    let mut all = Vec::with_capacity(count * n);
    for row in 0..count {
        for part in parts {
            let n = part.targets.len();
            all.extend_from_slice(&of(part)[row * n..][..n]);
        }
    }
    all
}
