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
    fn between_readings_it_runs_on_within_what_is_admitted() {
        let mut phc = PhcTracker::default();
        assert_eq!(phc.at(RawTime(0)), None);
        for second in 0..40 {
            phc.add(read(second * S));
            for ms in [0, 10, 500, 999] {
                let at = second * S + ms * 1_000_000;
                let ahead = phc.at(RawTime(at)).unwrap();
                let off_ns = ahead.ahead_ns - (shows(at) - at);
                assert!(
                    off_ns.unsigned_abs() <= ahead.error_ns,
                    "{second} s {ms} ms: {off_ns}"
                );
                assert!(second < 8 || ahead.error_ns < 300, "{ahead:?}");
            }
        }
        assert_eq!(phc.at(RawTime(60 * S)), None, "not read for too long");
    }

    #[test]
    fn the_moment_that_it_shows_a_time_is_found_within_what_is_admitted() {
        let mut phc = PhcTracker::default();
        assert_eq!(phc.moment_of(0), None);
        (0..20).for_each(|second| phc.add(read(second * S)));
        for ms in [-900, -1, 0, 1, 400, 2_000] {
            let at = 19 * S + ms * 1_000_000;
            let (found, error_ns) = phc.moment_of(shows(at)).unwrap();
            let off_ns = found.since(RawTime(at)).unsigned_abs();
            assert!(off_ns <= error_ns + 1, "{ms} ms: {off_ns} of {error_ns}");
        }
        assert_eq!(
            phc.moment_of(shows(60 * S)),
            None,
            "too far from the last reading"
        );
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
