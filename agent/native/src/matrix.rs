//! Cells of a matrix: the newest window of each path, its statistic, its state and its code.

use crate::bin_of;
use crate::columns::{CLOCK_ERROR, COUNT, M2, MAX, MIN};
use crate::threads;
use crate::value_of;

/// Why a cell has a value or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Measured = 0,
    NotPlanned = 1,
    NoData = 2,
    Stale = 3,
    Lost = 4,
}

/// Write to `at` (size, size) the newest window of each path; of equals the last, inbound after outbound.
///
/// `sources` and `targets` are places of n pairs on the axis, -1 off it; inbound windows have places n … 2n-1.
pub fn newest(
    sources: &[i64],
    targets: &[i64],
    ended_at_s: &[i64],
    size: usize,
    at: &mut [i64],
) -> bool {
    let n = sources.len();
    if targets.len() != n || ended_at_s.len() != n || at.len() != size * size {
        return false;
    }
    let place = |key: i64| usize::try_from(key).ok().filter(|place| *place < size);
    for inbound in [false, true] {
        for i in 0..n {
            let (Some(source), Some(target)) = (place(sources[i]), place(targets[i])) else {
                continue;
            };
            if source == target {
                continue;
            }
            let (row, column) = if inbound {
                (target, source)
            } else {
                (source, target)
            };
            let cell = &mut at[row * size + column];
            if *cell < 0 || ended_at_s[i] >= ended_at_s[*cell as usize % n] {
                *cell = (i + if inbound { n } else { 0 }) as i64;
            }
        }
    }
    true
}

/// Statistic of a distribution to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Column(usize),
    StandardDeviation,
    Quantile(usize),
}

/// Distributions, row by row.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// Shape (8, k).
    pub columns: &'a [i32],
    /// Shape (4, k).
    pub codes: &'a [u16],
    pub size: usize,
}

/// Cells and what is known of them.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    /// Place of each cell in the table that is measured, -1 for none.
    pub at: &'a [i64],
    /// Place in the one-way table, and packets sent and lost of that, shape (2, k).
    pub one_way_at: &'a [i64],
    pub one_way: &'a [i32],
    /// Place in the table of exchanges, and packets sent and lost of that, shape (2, k).
    pub round_at: &'a [i64],
    pub exchanges: &'a [i32],
    /// Flags: not 0 is true.
    pub planned: &'a [u8],
    pub stale: &'a [u8],
}

/// Values of cells, of the length of these.
pub struct Measured<'a> {
    pub values: &'a mut [i64],
    pub clock_errors: &'a mut [i64],
    pub states: &'a mut [u8],
    pub valued: &'a mut [u8],
}

impl Table<'_> {
    fn number(&self, column: usize, place: Option<usize>) -> i64 {
        place.map_or(0, |place| {
            i64::from(self.columns[column * self.size + place])
        })
    }
}

impl Cells<'_> {
    fn fits(&self, table: &Table<'_>) -> bool {
        let n = self.at.len();
        let within = |at: &[i64], size: usize| at.iter().all(|at| *at < size as i64);
        self.one_way_at.len() == n
            && self.round_at.len() == n
            && self.planned.len() == n
            && self.stale.len() == n
            && table.columns.len() == 8 * table.size
            && table.codes.len() == 4 * table.size
            && within(self.at, table.size)
            && within(self.one_way_at, self.one_way.len() / 2)
            && within(self.round_at, self.exchanges.len() / 2)
    }

    fn split_at(&self, n: usize) -> (Self, Self) {
        let part = |range: std::ops::Range<usize>| Self {
            at: &self.at[range.clone()],
            one_way_at: &self.one_way_at[range.clone()],
            round_at: &self.round_at[range.clone()],
            planned: &self.planned[range.clone()],
            stale: &self.stale[range],
            ..*self
        };
        (part(0..n), part(n..self.at.len()))
    }

    /// Packets that set out, of which some are not known to have arrived: why a path has no delay.
    fn unanswered(&self, cell: usize) -> bool {
        let of = |at: i64, counts: &[i32], which: usize| match usize::try_from(at) {
            Ok(at) => counts[which * (counts.len() / 2) + at],
            Err(_) => 0,
        };
        let way = self.one_way_at[cell];
        if way < 0 {
            return false;
        }
        let (sent, lost) = (of(way, self.one_way, 0), of(way, self.one_way, 1));
        let round = self.round_at[cell];
        let (exchanges, unfinished) = (of(round, self.exchanges, 0), of(round, self.exchanges, 1));
        (sent > 0 || (sent < 0 && exchanges > 0)) && (lost != 0 || unfinished != 0)
    }
}

/// Measure cells. `above_min`: less the smallest delay. `false` when sizes do not fit.
pub fn measure(
    table: &Table<'_>,
    cells: &Cells<'_>,
    statistic: Statistic,
    above_min: bool,
    out: &mut Measured<'_>,
) -> bool {
    let n = cells.at.len();
    let room = [
        out.values.len(),
        out.clock_errors.len(),
        out.states.len(),
        out.valued.len(),
    ];
    let known = match statistic {
        Statistic::Column(column) => column < 8,
        Statistic::Quantile(quantile) => quantile < 4,
        Statistic::StandardDeviation => true,
    };
    if room != [n; 4] || !known || !cells.fits(table) {
        return false;
    }
    if n < PARALLEL_CELLS {
        measure_some(table, cells, statistic, above_min, out);
        return true;
    }
    let half = n / 2;
    let (first, second) = cells.split_at(half);
    let (values, other_values) = out.values.split_at_mut(half);
    let (clock_errors, other_errors) = out.clock_errors.split_at_mut(half);
    let (states, other_states) = out.states.split_at_mut(half);
    let (valued, other_valued) = out.valued.split_at_mut(half);
    let mut mine = Measured {
        values,
        clock_errors,
        states,
        valued,
    };
    let mut others = Measured {
        values: other_values,
        clock_errors: other_errors,
        states: other_states,
        valued: other_valued,
    };
    threads::both(
        || measure_some(table, &first, statistic, above_min, &mut mine),
        || measure_some(table, &second, statistic, above_min, &mut others),
    );
    true
}

/// Fewer cells are measured sooner than another thread starts.
const PARALLEL_CELLS: usize = 1 << 15;

fn measure_some(
    table: &Table<'_>,
    cells: &Cells<'_>,
    statistic: Statistic,
    above_min: bool,
    out: &mut Measured<'_>,
) {
    for i in 0..cells.at.len() {
        let place = usize::try_from(cells.at[i]).ok();
        let count = table.number(COUNT, place);
        let mut state = State::NoData;
        if count > 0 {
            state = State::Measured;
        } else if cells.unanswered(i) {
            state = State::Lost;
        }
        if cells.stale[i] != 0 {
            state = State::Stale;
        }
        if cells.planned[i] == 0 {
            state = State::NotPlanned;
        }
        let mut has = count > 0;
        let mut value = match (statistic, place) {
            (_, None) => 0,
            (Statistic::Column(column), _) => table.number(column, place),
            (Statistic::StandardDeviation, _) => {
                let squares = f32::from_bits(table.number(M2, place) as u32);
                let deviation = (f64::from(squares) / count.max(1) as f64).sqrt();
                deviation.round_ties_even() as i64
            }
            (Statistic::Quantile(quantile), Some(place)) => {
                let code = table.codes[quantile * table.size + place];
                has = has && code > 0;
                let middle = value_of(code.saturating_sub(1)) as i64;
                // The middle of a bin, but never outside the smallest and largest delay, which are known exactly.
                middle
                    .max(table.number(MIN, Some(place)))
                    .min(table.number(MAX, Some(place)))
            }
        };
        if above_min {
            value -= table.number(MIN, place);
        }
        out.values[i] = value;
        out.clock_errors[i] = table.number(CLOCK_ERROR, place);
        out.states[i] = state as u8;
        out.valued[i] = u8::from(has && matches!(state, State::Measured | State::Stale));
    }
}

/// Rooms of the pairs of cells: their pairs, whether those are old, and the origin of their one-way delays.
pub struct Described<'a> {
    pub round_at: &'a mut [i64],
    pub stale: &'a mut [u8],
    pub sources: &'a mut [i64],
}

/// Describe the cells of `newest`, of `old.len()` pairs; -1 stays where there is no window.
pub fn describe(at: &[i64], old: &[u8], sources: &[u8], out: &mut Described<'_>) -> bool {
    let pairs = old.len();
    let fits = |at: &i64| *at < 2 * pairs as i64;
    if sources.len() != pairs
        || [out.round_at.len(), out.stale.len(), out.sources.len()] != [at.len(); 3]
        || !at.iter().all(fits)
    {
        return false;
    }
    for (i, at) in at.iter().enumerate() {
        let (pair, stale, source) = match usize::try_from(*at) {
            Ok(at) => {
                let pair = if at >= pairs { at - pairs } else { at };
                (pair as i64, old[pair], i64::from(sources[pair]))
            }
            Err(_) => (-1, 0, -1),
        };
        out.round_at[i] = pair;
        out.stale[i] = stale;
        out.sources[i] = source;
    }
    true
}

/// Bin + 1 of each value that counts, 0 of the others.
pub fn bin_codes(values: &[i64], valued: &[u8], codes: &mut [u16]) -> bool {
    if valued.len() != values.len() || codes.len() != values.len() {
        return false;
    }
    for ((code, value), valued) in codes.iter_mut().zip(values).zip(valued) {
        *code = if *valued != 0 { bin_of(*value) + 1 } else { 0 };
    }
    true
}
