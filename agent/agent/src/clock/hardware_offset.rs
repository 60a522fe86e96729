//! The clock offset by hardware clocks at both ends, relative to the offset by exchanges alone.
//!
//! Exchanges show the course of an offset far more precisely than hardware clocks can be read. Hardware clocks show its
//! absolute value, which exchanges cannot. The median of the latest differences between the two moves the line.

use std::collections::VecDeque;

use super::raw_time::RawTime;

/// Differences kept.
const KEPT: usize = 32;

/// Age, ns, from which differences are no longer used.
const STALE_NS: i64 = 60_000_000_000;

/// The latest differences, newest last.
#[derive(Debug, Default)]
pub struct HardwareOffset {
    latest: VecDeque<f64>,
    newest: Option<(RawTime, u64)>,
}

impl HardwareOffset {
    /// Add a difference: the offset lies `shift_ns` above the line, by clocks whose errors add up to `error_ns`.
    pub fn add(&mut self, at: RawTime, shift_ns: f64, error_ns: u64) {
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(shift_ns);
        self.newest = Some((at, error_ns));
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Return the correction of the line and its error: that of the clocks plus the spread of the differences.
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
