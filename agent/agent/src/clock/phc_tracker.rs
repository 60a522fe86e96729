//! Interpolation of a PTP hardware clock (PHC) between its readings, relative to the raw clock.

use std::collections::VecDeque;

use super::raw_time::RawTime;

/// Readings kept; at one per second, the rate is known to their error over this many seconds.
const KEPT: usize = 16;

/// Age of the last reading, ns, from which the clock is not used.
const STALE_NS: i64 = 10_000_000_000;

/// Largest rate between two clocks, ns per ns: quartz and a daemon that slews.
const FASTEST: f64 = 1e-3;

/// Error of a measured rate due to its changes.
const WANDER: f64 = 1e-7;

/// A reading of a hardware clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhcReading {
    pub at: RawTime,
    pub shows_ns: i64,
    /// Error bound, ns.
    pub error_ns: u64,
}

/// Offset of the hardware clock from the raw clock at a moment, and its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhcOffset {
    pub ahead_ns: i64,
    pub error_ns: u64,
}

/// The latest readings of one hardware clock.
#[derive(Debug, Default)]
pub struct PhcTracker(VecDeque<PhcReading>);

impl PhcReading {
    fn ahead_ns(&self) -> i64 {
        self.shows_ns.saturating_sub(self.at.0)
    }
}

impl PhcTracker {
    /// Add a reading newer than those before. A reading that the same clock cannot show discards those before: the clock
    /// was set, or this machine has moved.
    pub fn add(&mut self, reading: PhcReading) {
        if let Some(last) = self.0.back() {
            let passed_ns = reading.at.since(last.at);
            let moved_ns = reading.ahead_ns().saturating_sub(last.ahead_ns());
            let may_ns = FASTEST * passed_ns as f64 + (last.error_ns + reading.error_ns) as f64;
            if passed_ns <= 0 || moved_ns.unsigned_abs() as f64 > may_ns {
                self.0.clear();
            }
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(reading);
    }

    /// Discard all readings.
    pub fn reset(&mut self) {
        self.0.clear();
    }

    /// Return the offset at a moment near the last reading.
    pub fn at(&self, at: RawTime) -> Option<PhcOffset> {
        let (first, last) = (self.0.front()?, self.0.back()?);
        let since_ns = at.since(last.at);
        if since_ns.abs() > STALE_NS {
            return None;
        }
        let span_ns = last.at.since(first.at) as f64;
        let (rate, rate_error) = if span_ns > 0.0 {
            let rate = last.ahead_ns().saturating_sub(first.ahead_ns()) as f64 / span_ns;
            let error = (first.error_ns + last.error_ns) as f64 / span_ns + WANDER;
            (rate, error.min(FASTEST))
        } else {
            (0.0, FASTEST)
        };
        let since_ns = since_ns as f64;
        Some(PhcOffset {
            ahead_ns: last
                .ahead_ns()
                .saturating_add((rate * since_ns).round() as i64),
            error_ns: last.error_ns + (rate_error * since_ns.abs()).ceil() as u64,
        })
    }

    /// Return the moment near the last reading at which the clock shows `shows_ns`, and its error, ns.
    pub fn moment_of(&self, shows_ns: i64) -> Option<(RawTime, u64)> {
        let raw_at = |ahead: PhcOffset| RawTime(shows_ns.saturating_sub(ahead.ahead_ns));
        let first = raw_at(self.at(self.0.back()?.at)?);
        let ahead = self.at(first)?;
        Some((raw_at(ahead), ahead.error_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    /// Return the time of a clock that starts 1,000 s ahead and runs 20 ppm fast.
    fn shows(at: i64) -> i64 {
        at + 1_000 * S + at / 50_000
    }

    fn read(at: i64) -> PhcReading {
        PhcReading {
            at: RawTime(at),
            shows_ns: shows(at) + if at % (2 * S) == 0 { 50 } else { -50 },
            error_ns: 50,
        }
    }

    #[test]
    fn a_clock_that_was_set_starts_again() {
        let mut phc = PhcTracker::default();
        (0..10).for_each(|second| phc.add(read(second * S)));
        let set = PhcReading {
            shows_ns: read(10 * S).shows_ns + 5_000_000,
            ..read(10 * S)
        };
        phc.add(set);
        let ahead = phc.at(RawTime(10 * S)).unwrap();
        assert_eq!(ahead.ahead_ns, set.shows_ns - 10 * S);
        phc.reset();
        assert_eq!(phc.at(RawTime(10 * S)), None);
    }
}
