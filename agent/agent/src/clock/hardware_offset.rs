//! What hardware clocks at both ends say of an offset, beside what exchanges alone say.
//!
//! Exchanges tell how an offset runs far better than hardware clocks can be read, and hardware clocks where it lies,
//! which exchanges cannot. So the latest differences of the two are kept, and their middle moves the line.

use std::collections::VecDeque;

use super::raw_time::RawTime;

/// Differences kept.
const KEPT: usize = 32;

/// Nothing new for so long, ns, and hardware clocks say nothing any more.
const STALE_NS: i64 = 60_000_000_000;

/// The latest differences, newest last.
#[derive(Debug, Default)]
pub struct HardwareOffset {
    latest: VecDeque<f64>,
    newest: Option<(RawTime, u64)>,
}

impl HardwareOffset {
    /// Takes in that the offset lies `shift_ns` above the line at a time, by clocks that may be off `error_ns` together.
    pub fn take(&mut self, at: RawTime, shift_ns: f64, error_ns: u64) {
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(shift_ns);
        self.newest = Some((at, error_ns));
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// By how much the line is to be moved, and what that may be off: by the clocks, and by how much the differences
    /// themselves differ.
    pub fn at(&self, at: RawTime) -> Option<(f64, f64)> {
        let (newest, error_ns) = self.newest?;
        if at.since(newest) > STALE_NS {
            return None;
        }
        let mut sorted: Vec<f64> = self.latest.iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let spread_ns = sorted.last()? - sorted.first()?;
        Some((sorted[sorted.len() / 2], error_ns as f64 + spread_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_moves_the_line_and_the_spread_is_admitted() {
        let mut shift = HardwareOffset::default();
        assert_eq!(shift.at(RawTime(0)), None);
        for (at, ns) in [500.0, 100.0, 300.0].into_iter().enumerate() {
            shift.take(RawTime(at as i64), ns, 1_000);
        }
        assert_eq!(shift.at(RawTime(5)), Some((300.0, 1_400.0)));
        (0..KEPT).for_each(|at| shift.take(RawTime(at as i64), 7.0, 900));
        assert_eq!(shift.at(RawTime(40)), Some((7.0, 900.0)));
        assert_eq!(shift.at(RawTime(STALE_NS + 100)), None);
        shift.clear();
        assert_eq!(shift.at(RawTime(0)), None);
    }
}
