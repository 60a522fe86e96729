//! Blocks of sketches, to be read with the stats of the same targets only.

use std::ops::Range;

use super::stats::open_all;
use super::{Block, FrameError, Kind, begin, seal};
use crate::columns::{DIRECTIONS, INBOUND, MAX, MIN, OUTBOUND};
use crate::llq16::words;
use crate::rice::{Exhausted, Unpacker, pack};
use crate::threads;
use crate::{BINS, bin_of, value_of};

const UNSIGNED: [bool; 6] = [false; 6];
const LAST_SIGNED: [bool; 3] = [false, false, true];
const ENDS_IN_STATS: u8 = 4;

/// Largest number of words, values or bins of a sketch. Equal numbers take no bytes: without a limit a few bytes could
/// request any amount of memory.
const SIZE_MAX: i32 = u16::MAX as i32;

/// Encoding of the sketches of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Words = 0,
    Values = 1,
    Runs = 2,
}

impl Mode {
    fn heads(self) -> usize {
        if self == Self::Words { 3 } else { 6 }
    }

    /// Columns of a direction: first bins, gaps, and what is written next to them.
    fn parts(self) -> usize {
        if self == Self::Values { 2 } else { 3 }
    }

    fn signed(self) -> &'static [bool] {
        if self == Self::Runs {
            &LAST_SIGNED
        } else {
            &UNSIGNED[..self.parts()]
        }
    }
}

/// Sketches of three directions towards n targets.
pub struct SketchesRef<'a> {
    lengths: &'a [i64],
    words: &'a [u16],
}

impl<'a> SketchesRef<'a> {
    /// `lengths` in words, shape (3, n), and all words in that order.
    pub fn new(lengths: &'a [i64], words: &'a [u16]) -> Result<Self, FrameError> {
        let sum = lengths.iter().try_fold(0usize, |sum, length| {
            sum.checked_add(usize::try_from(*length).ok()?)
        });
        if sum != Some(words.len()) || lengths.len() % DIRECTIONS != 0 {
            return Err(FrameError::Arrays);
        }
        Ok(Self { lengths, words })
    }

    pub(super) fn targets(&self) -> usize {
        self.lengths.len() / DIRECTIONS
    }

    /// Return the index of the first word of each direction.
    pub(super) fn first_words(&self) -> [usize; DIRECTIONS] {
        let n = self.targets();
        let sum = |lengths: &[i64]| lengths.iter().sum::<i64>() as usize;
        [0, sum(&self.lengths[..n]), sum(&self.lengths[..2 * n])]
    }

    /// Move the indices of first words from those of some targets to those of the next ones.
    pub(super) fn skip(&self, range: Range<usize>, firsts: &mut [usize; DIRECTIONS]) {
        for (first, lengths) in firsts
            .iter_mut()
            .zip(self.lengths.chunks(self.targets().max(1)))
        {
            *first += lengths[range.clone()].iter().sum::<i64>() as usize;
        }
    }

    /// Return the block of some targets, whose words begin at `firsts`.
    pub(super) fn encode_block(
        &self,
        bounds: &Bounds<'_>,
        range: Range<usize>,
        firsts: [usize; DIRECTIONS],
    ) -> Result<Vec<u8>, FrameError> {
        let (n, all) = (range.len(), self.targets());
        let mut sketches = Vec::with_capacity(DIRECTIONS * n);
        for (direction, mut first) in firsts.into_iter().enumerate() {
            for i in range.clone() {
                let end = first + self.lengths[direction * all + i] as usize;
                sketches.push(&self.words[first..end]);
                first = end;
            }
        }
        let ends = |s: usize| {
            let (direction, i) = (s / n, range.start + s % n);
            let bin = |row: &[i32]| bin_of(i64::from(row[i]));
            (bin(bounds.min[direction]), bin(bounds.max[direction]))
        };
        let (mode, sizes) = choose(&sketches);
        let ends_in_stats = sketches.iter().enumerate().all(|(s, words)| {
            let bins = words.first().zip(words.last());
            bins.is_none_or(|(first, last)| (first >> 5, last >> 5) == ends(s))
        });
        let mut body = begin(Kind::Sketches, n)?;
        body.push(mode as u8 | if ends_in_stats { ENDS_IN_STATS } else { 0 });
        let mut heads: Vec<i32> = sketches.iter().map(|words| words.len() as i32).collect();
        if mode != Mode::Words {
            heads.extend(sizes.iter().map(|size| *size as i32));
        }
        body = pack(
            body,
            &mut heads,
            &[n; 6][..mode.heads()],
            &UNSIGNED[..mode.heads()],
        );
        for direction in 0..DIRECTIONS {
            let (mut numbers, parts) = columns_of(
                &sketches[direction * n..][..n],
                &sizes[direction * n..][..n],
                mode,
                ends_in_stats,
            );
            let start = body.len();
            body.extend([0; 4]);
            body = pack(body, &mut numbers, &parts[..mode.parts()], mode.signed());
            let size = (body.len() - start - 4) as u32;
            body[start..start + 4].copy_from_slice(&size.to_le_bytes());
        }
        Ok(seal(body))
    }
}

/// Choose the mode of sketches; return it and the number of bins that each of them writes.
fn choose(sketches: &[&[u16]]) -> (Mode, Vec<usize>) {
    let (mut values, mut size, mut small) = (0u64, 0u64, true);
    let mut totals = Vec::with_capacity(sketches.len());
    let mut runs = Vec::with_capacity(sketches.len());
    let mut written = Vec::new();
    for sketch in sketches {
        // Most sketches have one word a bin.
        let (mut total, mut most, mut ascends, mut before) = (0u64, 0u64, true, -1i32);
        for word in *sketch {
            let (bin, count) = words::read(*word);
            ascends &= i32::from(bin) > before;
            before = i32::from(bin);
            total += count;
            most = most.max(count);
        }
        if ascends {
            small &= most <= 16;
            totals.push(total as usize);
            runs.push(sketch.len());
            values += total;
            size += sketch.len() as u64;
            continue;
        }
        let (mut total, mut run, mut before) = (0u64, 0usize, None);
        for words in sketch.chunk_by(|a, b| a >> 5 == b >> 5) {
            let bin = words[0] >> 5;
            let count = words.iter().map(|word| words::read(*word).1).sum();
            small &= count <= 16;
            let mut canonical = before.is_none_or(|before| bin > before);
            if words.len() > 1 {
                written.clear();
                words::write(bin, count, &mut written);
                canonical &= written == words;
            }
            if !canonical {
                let lengths = sketches.iter().map(|sketch| sketch.len()).collect();
                return (Mode::Words, lengths);
            }
            before = Some(bin);
            total += count;
            run += 1;
        }
        totals.push(total as usize);
        runs.push(run);
        values += total;
        size += sketch.len() as u64;
    }
    if size > 0 && small && values <= 2 * size {
        (Mode::Values, totals)
    } else {
        (Mode::Runs, runs)
    }
}

/// Return the columns of the sketches of a direction, one after the other, and their sizes.
fn columns_of(
    sketches: &[&[u16]],
    sizes: &[usize],
    mode: Mode,
    ends_in_stats: bool,
) -> (Vec<i32>, [usize; 3]) {
    let all: usize = sizes.iter().sum();
    let (mut firsts, mut gaps) = (Vec::with_capacity(sizes.len()), Vec::with_capacity(all));
    let mut others = Vec::new();
    if mode == Mode::Values && ends_in_stats {
        // The sketches of nearly all windows.
        for (sketch, size) in sketches.iter().zip(sizes) {
            push_inner_gaps(sketch, *size, &mut gaps);
        }
        let size = gaps.len();
        return (gaps, [0, size, 0]);
    }
    for (sketch, size) in sketches.iter().zip(sizes) {
        let (mut before, mut least, mut written) = (0u16, 1i64, 0);
        let mut bin_is = |bin: u16| {
            written += 1;
            if written == 1 {
                if !ends_in_stats {
                    firsts.push(i32::from(bin));
                }
            } else if !ends_in_stats || written < *size {
                gaps.push(i32::from(bin.wrapping_sub(before) % BINS));
            }
            before = bin;
        };
        match mode {
            Mode::Words => {
                for word in *sketch {
                    others.push(i32::from(word & 31));
                    bin_is(word >> 5);
                }
            }
            Mode::Values => {
                for word in *sketch {
                    let (bin, count) = words::read(*word);
                    for _ in 0..count {
                        bin_is(bin);
                    }
                }
            }
            Mode::Runs => {
                for words in sketch.chunk_by(|a, b| a >> 5 == b >> 5) {
                    let count: u64 = words.iter().map(|word| words::read(*word).1).sum();
                    others.push((count as i64 - least) as i32);
                    least = count as i64;
                    bin_is(words[0] >> 5);
                }
            }
        }
    }
    let sizes = [firsts.len(), gaps.len(), others.len()];
    firsts.extend(gaps);
    firsts.extend(others);
    (firsts, sizes)
}

/// Append the gaps before all values of a sketch of `size` values but the first and the last.
fn push_inner_gaps(sketch: &[u16], size: usize, gaps: &mut Vec<i32>) {
    let Some((first, others)) = sketch.split_first() else {
        return;
    };
    let start = gaps.len();
    gaps.resize(start + size - 1, 0);
    let room = &mut gaps[start..];
    let (mut before, count) = words::read(*first);
    let mut at = count as usize - 1;
    // Values of the same bin leave their gaps at 0.
    for word in others {
        let (bin, count) = words::read(*word);
        room[at] = i32::from(bin.wrapping_sub(before) % BINS);
        at += count as usize;
        before = bin;
    }
    if size > 1 {
        gaps.pop();
    }
}

/// Smallest and largest delays of the targets of some blocks, ns, and what is added to their values.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    min: [&'a [i32]; DIRECTIONS],
    max: [&'a [i32]; DIRECTIONS],
    /// Added to outbound delays and taken from inbound ones, ns; empty for none.
    shifts_ns: &'a [i64],
}

impl Bounds<'_> {
    fn shift(&self, direction: usize, place: usize) -> i64 {
        match (self.shifts_ns.get(place), direction) {
            (Some(shift), OUTBOUND) => *shift,
            (Some(shift), INBOUND) => shift.wrapping_neg(),
            _ => 0,
        }
    }
}

#[derive(Default)]
pub(super) struct Scratch {
    heads: Vec<i32>,
    numbers: Vec<i32>,
}

impl Block<'_> {
    /// Read the sketches of some directions; `to` is the place of the block's first target.
    pub(super) fn sketches(
        &self,
        bounds: &Bounds<'_>,
        to: usize,
        wanted: [bool; DIRECTIONS],
        scratch: &mut Scratch,
        out: &mut Collected,
    ) -> Result<(), FrameError> {
        let result = self.try_sketches(bounds, to, wanted, scratch, out);
        self.read(result)
    }

    fn try_sketches(
        &self,
        bounds: &Bounds<'_>,
        to: usize,
        wanted: [bool; DIRECTIONS],
        scratch: &mut Scratch,
        out: &mut Collected,
    ) -> Result<(), Exhausted> {
        let n = self.targets;
        let mut read = Unpacker::new(self.body);
        let byte = read.byte()?;
        let ends_in_stats = byte & ENDS_IN_STATS != 0;
        let mode = match byte & !ENDS_IN_STATS {
            0 => Mode::Words,
            1 => Mode::Values,
            2 => Mode::Runs,
            _ => return Err(Exhausted),
        };
        let heads = &mut scratch.heads;
        heads.resize(mode.heads() * n, 0);
        read.columns(heads, &[n; 6][..mode.heads()], &UNSIGNED[..mode.heads()])?;
        if heads.iter().any(|size| !(0..=SIZE_MAX).contains(size)) {
            return Err(Exhausted);
        }
        for direction in 0..DIRECTIONS {
            let size = read.word()? as usize;
            let start = read.at;
            if wanted[direction] {
                let lengths = &heads[direction * n..][..n];
                let held = if mode == Mode::Words {
                    lengths
                } else {
                    &heads[(direction + 3) * n..][..n]
                };
                let parts = parts_of(held, mode, ends_in_stats);
                let all: usize = parts.iter().sum();
                let numbers = &mut scratch.numbers;
                numbers.clear();
                numbers.resize(all, 0);
                read.columns(numbers, &parts[..mode.parts()], mode.signed())?;
                let (firsts, others) = numbers.split_at(parts[0]);
                let (gaps, others) = others.split_at(parts[1]);
                let mut numbers = Numbers {
                    firsts,
                    gaps,
                    others,
                };
                let words = &mut out.words[direction];
                words.reserve(lengths.iter().map(|length| *length as usize).sum());
                for p in 0..n {
                    let (place, start) = (to + p, words.len());
                    let length = lengths[p] as usize;
                    out.lengths[direction].push(length as i64);
                    if held[p] > 0 {
                        let ends = ends_in_stats.then(|| {
                            let bin = |row: &[i32]| bin_of(i64::from(row[place]));
                            (bin(bounds.min[direction]), bin(bounds.max[direction]))
                        });
                        numbers.sketch(mode, (held[p] as usize, ends, length), words)?;
                    }
                    if words.len() - start != length {
                        return Err(Exhausted);
                    }
                    shift(&mut words[start..], bounds.shift(direction, place));
                }
            }
            read.at = start.checked_add(size).ok_or(Exhausted)?;
        }
        Ok(())
    }
}

/// Sizes of the columns of a direction whose sketches write `held` bins each.
fn parts_of(held: &[i32], mode: Mode, ends_in_stats: bool) -> [usize; 3] {
    let (mut all, mut some, mut inner) = (0, 0, 0);
    for held in held {
        let held = *held as usize;
        all += held;
        some += usize::from(held > 0);
        inner += held.saturating_sub(2);
    }
    [
        if ends_in_stats { 0 } else { some },
        if ends_in_stats { inner } else { all - some },
        if mode == Mode::Values { 0 } else { all },
    ]
}

/// Move each value to its bin after a shift, ns. Bins still ascend, but may repeat.
fn shift(words: &mut [u16], by: i64) {
    if by != 0 {
        for word in words {
            let value = (value_of(*word >> 5) as i64).saturating_add(by);
            *word = bin_of(value) << 5 | *word & 31;
        }
    }
}

/// The columns of a direction that are not read yet.
struct Numbers<'a> {
    firsts: &'a [i32],
    gaps: &'a [i32],
    others: &'a [i32],
}

/// Take the first `count` of some numbers.
fn take<'a>(numbers: &mut &'a [i32], count: usize) -> Result<&'a [i32], Exhausted> {
    let (taken, left) = numbers.split_at_checked(count).ok_or(Exhausted)?;
    *numbers = left;
    Ok(taken)
}

impl Numbers<'_> {
    /// Read one sketch of `size` bins and `length` words, whose first and last bins may be known.
    fn sketch(
        &mut self,
        mode: Mode,
        (size, ends, length): (usize, Option<(u16, u16)>, usize),
        words: &mut Vec<u16>,
    ) -> Result<(), Exhausted> {
        let (first, gaps) = match ends {
            Some((first, _)) => (first, take(&mut self.gaps, size.saturating_sub(2))?),
            None => (
                take(&mut self.firsts, 1)?[0] as u16 % BINS,
                take(&mut self.gaps, size - 1)?,
            ),
        };
        let last = ends.filter(|_| size > 1).map(|(_, last)| last);
        match mode {
            Mode::Values => read_values(first, gaps, last, length, words),
            Mode::Words => {
                let codes = take(&mut self.others, size)?;
                for (bin, code) in bins(first, gaps, last).zip(codes) {
                    words.push(bin << 5 | *code as u16 & 31);
                }
                Ok(())
            }
            Mode::Runs => {
                let more = take(&mut self.others, size)?;
                read_runs(bins(first, gaps, last), more, length, words)
            }
        }
    }
}

/// Return the bins of a sketch: the first one, those by the gaps between them, and the last one where it is known.
fn bins(first: u16, gaps: &[i32], last: Option<u16>) -> impl Iterator<Item = u16> {
    let inner = gaps.iter().scan(first, |bin, gap| {
        *bin = bin.wrapping_add(*gap as u16) % BINS;
        Some(*bin)
    });
    std::iter::once(first).chain(inner).chain(last)
}

/// Append the words of values whose bins are these; 16 of a bin at most.
fn read_values(
    first: u16,
    gaps: &[i32],
    last: Option<u16>,
    length: usize,
    words: &mut Vec<u16>,
) -> Result<(), Exhausted> {
    let start = words.len();
    words.resize(start + length, 0);
    let room = &mut words[start..];
    let (mut bin, mut count, mut at, mut most) = (first, 0u16, 0usize, 0u16);
    *room.first_mut().ok_or(Exhausted)? = first << 5;
    // Each value writes the word of its bin again. Whether bins repeat is random: a branch on it would cost more than
    // the store.
    let mut add = |step: u16| {
        let same = step == 0;
        at += usize::from(!same);
        count = if same { count + 1 } else { 0 };
        most = most.max(count);
        bin = bin.wrapping_add(step) % BINS;
        if let Some(word) = room.get_mut(at) {
            *word = bin << 5 | count & 31;
        }
        bin
    };
    let mut before = first;
    for gap in gaps {
        before = add(*gap as u16 % BINS);
    }
    if let Some(last) = last {
        add(last.wrapping_sub(before) % BINS);
    }
    if most < 16 && at + 1 == length {
        Ok(())
    } else {
        Err(Exhausted)
    }
}

/// Append the words of bins. `more` has the increase of each count over the one before, and of the first over 1.
fn read_runs(
    bins: impl Iterator<Item = u16>,
    more: &[i32],
    length: usize,
    words: &mut Vec<u16>,
) -> Result<(), Exhausted> {
    let mut count = 1i64;
    for (bin, more) in bins.zip(more) {
        count += i64::from(*more);
        // Words of 2^20 values each, and few more.
        if count < 1 || (count >> 20) as u64 > length as u64 {
            return Err(Exhausted);
        }
        if count <= 16 {
            words.push(bin << 5 | (count as u16 - 1));
        } else {
            words::write(bin, count as u64, words);
        }
    }
    Ok(())
}

/// Words and lengths of sketches by direction.
#[derive(Default)]
pub(super) struct Collected {
    lengths: [Vec<i64>; DIRECTIONS],
    words: [Vec<u16>; DIRECTIONS],
}

impl Collected {
    /// Return the lengths and the words of a direction.
    pub(super) fn of(&self, direction: usize) -> (&[i64], &[u16]) {
        (&self.lengths[direction], &self.words[direction])
    }
}

/// Fewer targets are read sooner than another thread starts.
const PARALLEL_TARGETS: usize = 1 << 10;

/// Lengths, shape (3, n), and words of the sketches of all targets of all blocks; those of unwanted directions are empty.
///
/// `columns`, shape (8, 3, n), are those of the stats of the same blocks. `shifts_ns` (n, or empty) are added to outbound
/// delays and taken from inbound ones: each value moves to the bin it is in then, so that bins ascend, but may repeat.
pub fn sketches_of(
    blobs: &[&[u8]],
    columns: &[i32],
    wanted: [bool; DIRECTIONS],
    shifts_ns: &[i64],
) -> Result<(Vec<i64>, Vec<u16>), FrameError> {
    let blocks = open_all(Kind::Sketches, blobs)?;
    let n: usize = blocks.iter().map(|block| block.targets).sum();
    let bounds = bounds_of(columns, n, shifts_ns)?;
    let some = |blocks: &[Block<'_>], mut to: usize| {
        let mut found = Collected::default();
        let mut scratch = Scratch::default();
        for block in blocks {
            block.sketches(&bounds, to, wanted, &mut scratch, &mut found)?;
            to += block.targets;
        }
        Ok::<_, FrameError>(found)
    };
    let half = if n < PARALLEL_TARGETS {
        0
    } else {
        blocks.len() / 2
    };
    let (first, second) = blocks.split_at(half);
    let start = first.iter().map(|block| block.targets).sum();
    let parts = if half == 0 {
        [some(second, 0)?, Collected::default()]
    } else {
        let (one, two) = threads::both(|| some(first, 0), || some(second, start));
        [one?, two?]
    };
    let mut lengths = Vec::with_capacity(DIRECTIONS * n);
    let size = parts
        .iter()
        .flat_map(|part| &part.words)
        .map(Vec::len)
        .sum();
    let mut words = Vec::with_capacity(size);
    for (direction, wanted) in wanted.iter().enumerate() {
        for part in &parts {
            lengths.extend_from_slice(&part.lengths[direction]);
            words.extend_from_slice(&part.words[direction]);
        }
        if !wanted {
            lengths.resize(lengths.len() + n, 0);
        }
    }
    Ok((lengths, words))
}

/// Rows of columns of shape (8, 3, n).
pub fn bounds_of<'a>(
    columns: &'a [i32],
    n: usize,
    shifts_ns: &'a [i64],
) -> Result<Bounds<'a>, FrameError> {
    if columns.len() != crate::columns::COLUMNS * DIRECTIONS * n {
        let stats = columns.len() / (crate::columns::COLUMNS * DIRECTIONS);
        return Err(FrameError::TargetMismatch { sketches: n, stats });
    }
    if !shifts_ns.is_empty() && shifts_ns.len() != n {
        return Err(FrameError::Arrays);
    }
    let row =
        |column: usize, direction: usize| &columns[(column * DIRECTIONS + direction) * n..][..n];
    Ok(Bounds {
        min: [0, 1, 2].map(|direction| row(MIN, direction)),
        max: [0, 1, 2].map(|direction| row(MAX, direction)),
        shifts_ns,
    })
}
