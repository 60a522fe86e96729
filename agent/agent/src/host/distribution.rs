//! Distribution of waits in a fixed number of bins, so that recording allocates nothing.

use crate::wire;

/// Bins of each octave. A quantile is at most an eighth above its value.
const BINS: u32 = 8;
/// Octaves of microseconds up to 2^32 us.
const OCTAVES: u32 = 30;
const SIZE: usize = (BINS * OCTAVES) as usize;
const NANOS_PER_US: i64 = 1_000;

/// Counts of waits by length.
#[derive(Debug, Clone)]
pub struct Distribution {
    bins: [u32; SIZE],
    count: u32,
    max_us: u32,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            bins: [0; SIZE],
            count: 0,
            max_us: 0,
        }
    }
}

impl Distribution {
    /// Record a wait, ns. One below zero is 0: the clocks were read one after the other.
    pub fn record(&mut self, wait_ns: i64) {
        let us = u32::try_from(wait_ns.max(0) / NANOS_PER_US).unwrap_or(u32::MAX);
        self.bins[bin_of(us)] += 1;
        self.count += 1;
        self.max_us = self.max_us.max(us);
    }

    /// Return count, median, 99th percentile and maximum; `None` without a wait.
    pub fn summary(&self) -> Option<wire::Waits> {
        (self.count > 0).then(|| wire::Waits {
            count: self.count,
            p50_us: self.quantile_us(50),
            p99_us: self.quantile_us(99),
            max_us: self.max_us,
        })
    }

    /// Return the upper end of the bin that holds a percentile, but not more than the maximum.
    fn quantile_us(&self, percent: u64) -> u32 {
        let rank = (u64::from(self.count) * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return upper_end_us(bin).min(self.max_us);
            }
        }
        self.max_us
    }
}

/// Return the bin of a wait: below 8 us one each, then 8 of each octave.
fn bin_of(us: u32) -> usize {
    let octave = us.max(1).ilog2().saturating_sub(2);
    let bin = if octave == 0 {
        us
    } else {
        octave * BINS + (us >> (octave - 1)) - BINS
    };
    (bin as usize).min(SIZE - 1)
}

fn upper_end_us(bin: usize) -> u32 {
    let (octave, place) = (bin as u32 / BINS, bin as u32 % BINS);
    match octave {
        0 => place,
        _ => (((u64::from(place + BINS) + 1) << (octave - 1)) - 1).min(u32::MAX.into()) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_is_in_the_bin_that_ends_at_most_an_eighth_above_it() {
        for us in (0..5_000).chain([123_456, 1 << 20, 500_000_000, u32::MAX - 1, u32::MAX]) {
            let end = upper_end_us(bin_of(us));
            assert!(
                end >= us && u64::from(end) <= u64::from(us) * 9 / 8,
                "{us}: {end}"
            );
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_waits() {
        let mut waits = Distribution::default();
        assert_eq!(waits.summary(), None);
        for us in 1..=1_000_i64 {
            waits.record(us * 1_000 + 999);
        }
        waits.record(-5);
        let found = waits.summary().unwrap();
        assert_eq!((found.count, found.max_us), (1_001, 1_000));
        assert!((500..563).contains(&found.p50_us), "{found:?}");
        assert!((990..=1_000).contains(&found.p99_us), "{found:?}");
        let mut one = Distribution::default();
        one.record(77_000);
        let found = one.summary().unwrap();
        assert_eq!((found.p50_us, found.p99_us, found.max_us), (77, 77, 77));
    }
}
