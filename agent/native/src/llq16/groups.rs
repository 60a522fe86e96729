//! Many sketches at once, their words one sketch after the other.

use super::bin::BINS;
use super::words;
use crate::threads;

/// Number of values a word represents, by its low five bits.
pub const fn count_of(code: u16) -> u32 {
    if code < 16 {
        code as u32 + 1
    } else {
        1 << (code - 11)
    }
}

const COUNTS: [u32; 32] = {
    let mut counts = [0; 32];
    let mut code = 0;
    while code < 32 {
        counts[code] = count_of(code as u16);
        code += 1;
    }
    counts
};

/// Values of one distribution by bin.
pub struct Histogram {
    held: Box<[u64; BINS as usize]>,
    /// A bit for each bin that holds something.
    present: [u64; BINS as usize / 64],
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            held: Box::new([0; BINS as usize]),
            present: [0; BINS as usize / 64],
            total: 0,
        }
    }
}

impl Histogram {
    /// Add the values of a word.
    #[inline]
    pub fn add_word(&mut self, word: u16) {
        self.add(word >> 5, u64::from(COUNTS[usize::from(word & 31)]));
    }

    /// Add the values of words.
    pub fn add_words(&mut self, words: &[u16]) {
        for word in words {
            self.add_word(*word);
        }
    }

    /// Add values of a bin; bins beyond the last are taken modulo their number.
    #[inline]
    pub fn add(&mut self, bin: u16, count: u64) {
        let bin = usize::from(bin % BINS);
        self.held[bin] = self.held[bin].wrapping_add(count);
        self.present[bin / 64] |= 1 << (bin % 64);
        self.total = self.total.wrapping_add(count);
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bins that hold something, ascending, with their counts.
    pub fn bins(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        (0u16..).zip(self.present).flat_map(move |(part, bits)| {
            let bins = std::iter::successors((bits != 0).then_some(bits), |bits| {
                let left = bits & (bits - 1);
                (left != 0).then_some(left)
            });
            bins.map(move |bits: u64| {
                let bin = part * 64 + bits.trailing_zeros() as u16;
                (bin, self.held[usize::from(bin)])
            })
        })
    }

    /// Find the bins at ascending quantiles: the smallest whose cumulative count reaches max(1, ceil(q * n)).
    ///
    /// Call `found` with the index of the quantile and its bin; never without values.
    pub fn quantiles(&self, at: &[f64], mut found: impl FnMut(usize, u16)) {
        let rank = |q: f64| ((q * self.total as f64).ceil() as u64).max(1);
        let (mut q, mut running) = (0, 0u64);
        for (bin, count) in self.bins() {
            running = running.wrapping_add(count);
            while q < at.len() && running >= rank(at[q]) {
                found(q, bin);
                q += 1;
            }
            if q == at.len() {
                break;
            }
        }
    }

    /// Append the canonical words.
    pub fn write(&self, out: &mut Vec<u16>) {
        for (bin, count) in self.bins() {
            words::write(bin, count, out);
        }
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        for (part, bits) in self.present.iter_mut().enumerate() {
            while *bits != 0 {
                self.held[part * 64 + bits.trailing_zeros() as usize] = 0;
                *bits &= *bits - 1;
            }
        }
        self.total = 0;
    }
}

/// Members of groups.
pub struct Members {
    /// Members of each group in their order, one group after the other.
    members: Vec<usize>,
    /// Start of each group, and the end of the last.
    bounds: Vec<usize>,
}

impl Members {
    /// Sort members into groups; `owners` holds the group of each. A negative or unknown one is left out.
    pub fn of(owners: &[i64], groups: usize) -> Self {
        let known = |owner: i64| usize::try_from(owner).ok().filter(|owner| *owner < groups);
        let mut bounds = vec![0; groups + 1];
        for owner in owners.iter().filter_map(|owner| known(*owner)) {
            bounds[owner + 1] += 1;
        }
        for group in 0..groups {
            bounds[group + 1] += bounds[group];
        }
        let mut free = bounds.clone();
        let mut members = vec![0; bounds[groups]];
        for (member, owner) in owners.iter().enumerate() {
            if let Some(owner) = known(*owner) {
                members[free[owner]] = member;
                free[owner] += 1;
            }
        }
        Self { members, bounds }
    }

    /// Return the members of a group.
    pub fn of_group(&self, group: usize) -> &[usize] {
        &self.members[self.bounds[group]..self.bounds[group + 1]]
    }
}

/// Merged distributions by group.
pub struct Merged {
    pub totals: Vec<i64>,
    /// Bins at the quantiles, shape (quantiles, groups); -1 for a group without values.
    pub bins: Vec<i64>,
    /// Canonical sketches, one after the other; empty when they are not wanted.
    pub words: Vec<u16>,
    /// Words of each group; 0 when they are not wanted.
    pub lengths: Vec<i64>,
}

/// Merge sketches of `lengths` words each into `groups` groups; `owners` holds the group of each, -1 for none.
///
/// `None` when the lengths do not add up to the words.
pub fn merge(
    words: &[u16],
    lengths: &[i64],
    owners: &[i64],
    groups: usize,
    at: &[f64],
    words_too: bool,
) -> Option<Merged> {
    let ends = ends_of(lengths, words.len())?;
    if owners.len() != lengths.len() {
        return None;
    }
    let members = Members::of(owners, groups);
    let part = |groups: std::ops::Range<usize>| {
        let size = groups.len();
        let mut merged = Merged {
            totals: vec![0; size],
            bins: vec![-1; at.len() * size],
            words: Vec::new(),
            lengths: vec![0; size],
        };
        let mut held = Histogram::default();
        for (to, group) in groups.enumerate() {
            for &member in members.of_group(group) {
                let start = if member == 0 { 0 } else { ends[member - 1] };
                held.add_words(&words[start..ends[member]]);
            }
            merged.totals[to] = held.total() as i64;
            held.quantiles(at, |q, bin| merged.bins[q * size + to] = i64::from(bin));
            if words_too {
                let before = merged.words.len();
                held.write(&mut merged.words);
                merged.lengths[to] = (merged.words.len() - before) as i64;
            }
            held.clear();
        }
        merged
    };
    if words.len() < PARALLEL_WORDS {
        return Some(part(0..groups));
    }
    let half = groups / 2;
    let (mut first, second) = threads::both(|| part(0..half), || part(half..groups));
    let bins = (0..at.len()).flat_map(|q| {
        let mine = &first.bins[q * half..(q + 1) * half];
        mine.iter()
            .chain(&second.bins[q * (groups - half)..(q + 1) * (groups - half)])
    });
    first.bins = bins.copied().collect();
    first.totals.extend(second.totals);
    first.words.extend(second.words);
    first.lengths.extend(second.lengths);
    Some(first)
}

/// Fewer words are merged sooner than another thread starts.
const PARALLEL_WORDS: usize = 1 << 15;

/// Totals of groups, and their bins at quantiles, shape (quantiles, groups); -1 for a group without values.
pub struct Summary {
    pub totals: Vec<i64>,
    pub bins: Vec<i64>,
}

/// Summarise sketches whose words are ordered. `None` when the lengths do not add up to the words.
pub fn summarise(words: &[u16], lengths: &[i64], at: &[f64]) -> Option<Summary> {
    let ends = ends_of(lengths, words.len())?;
    let groups = lengths.len();
    let mut summary = Summary {
        totals: vec![0; groups],
        bins: vec![-1; at.len() * groups],
    };
    let mut start = 0;
    for (group, end) in ends.into_iter().enumerate() {
        let mine = &words[start..end];
        start = end;
        let count = |word: &u16| i64::from(COUNTS[usize::from(word & 31)]);
        let total: i64 = mine.iter().map(count).sum();
        summary.totals[group] = total;
        let (mut running, mut next) = (0, 0);
        for (q, share) in at.iter().enumerate() {
            let rank = ((share * total as f64).ceil() as i64).max(1);
            if rank >= total {
                next = mine.len();
            }
            while next < mine.len() && running < rank {
                running += count(&mine[next]);
                next += 1;
            }
            if next > 0 {
                summary.bins[q * groups + group] = i64::from(mine[next - 1] >> 5);
            }
        }
    }
    Some(summary)
}

/// Report whether bins ascend within every sketch. `None` when the lengths do not add up to the words.
pub fn is_ordered(words: &[u16], lengths: &[i64]) -> Option<bool> {
    let ends = ends_of(lengths, words.len())?;
    // All descents, less those from one sketch to the next: a loop for each of many short sketches takes longer.
    let descends = |pair: &[u16]| u32::from(pair[0] >> 5 > pair[1] >> 5);
    let all: u32 = words.windows(2).map(descends).sum();
    let between = lengths.iter().zip(ends).map(|(length, end)| {
        let start = end - *length as usize;
        if start > 0 && start < end {
            descends(&words[start - 1..=start])
        } else {
            0
        }
    });
    Some(all == between.sum())
}

/// Canonical words of bins with their counts, in their order, and how many words each pair takes.
pub fn canonical_words(bins: &[i64], counts: &[i64]) -> (Vec<u16>, Vec<i64>) {
    let mut out = Vec::with_capacity(bins.len());
    let sizes = bins
        .iter()
        .zip(counts)
        .map(|(&bin, &count)| {
            let before = out.len();
            words::write(bin as u16 % BINS, count.max(0) as u64, &mut out);
            (out.len() - before) as i64
        })
        .collect();
    (out, sizes)
}

/// Return the end of each sketch; `None` if the lengths do not add up to the words.
pub(crate) fn ends_of(lengths: &[i64], words: usize) -> Option<Vec<usize>> {
    let mut end = 0usize;
    let ends: Option<Vec<usize>> = lengths
        .iter()
        .map(|length| {
            end = end.checked_add(usize::try_from(*length).ok()?)?;
            Some(end)
        })
        .collect();
    ends.filter(|_| end == words)
}
