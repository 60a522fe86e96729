//! Conversion of kernel timestamps to the undisciplined clock.

use super::kernel_clocks::{CrossTimestamp, RealTime};
use crate::clock::RawTime;

/// Change of the real-time clock's rate up to which it counts as slewed.
const TOLERANCE_PPM: f64 = 1000.0;

/// Smallest step, ns.
const LEAST_STEP_NS: f64 = 20_000.0;

/// Packets sent after the latest cross-timestamp are timestamped within this time, ns.
const JUST_SENT_NS: i64 = 5_000_000;

/// Distance from the latest cross-timestamp, ns, from which a timestamp is rejected.
const FARTHEST_NS: u64 = 60_000_000_000;

/// Two cross-timestamps of both clocks; timestamps between them are interpolated.
#[derive(Debug, Clone)]
pub struct ClockMap {
    before: CrossTimestamp,
    latest: CrossTimestamp,
    /// Rate of the real-time clock relative to the raw clock between the two.
    rate: f64,
    stepped: bool,
}

impl ClockMap {
    pub fn new(cross_timestamp: CrossTimestamp) -> Self {
        Self {
            before: cross_timestamp,
            latest: cross_timestamp,
            rate: 0.0,
            stepped: false,
        }
    }

    pub fn latest(&self) -> CrossTimestamp {
        self.latest
    }

    /// Add a cross-timestamp. Return the step of the real-time clock since the last one, ns, if it ran neither like the raw
    /// clock nor as fast as in the interval before.
    pub fn update(&mut self, cross_timestamp: CrossTimestamp) -> Option<i64> {
        let passed = cross_timestamp.raw.since(self.latest.raw);
        if passed <= 0 {
            return None;
        }
        let gained = cross_timestamp
            .real
            .0
            .saturating_sub(self.latest.real.0)
            .saturating_sub(passed);
        let (passed_ns, gained_ns) = (passed as f64, gained as f64);
        let allowed = LEAST_STEP_NS + TOLERANCE_PPM * 1e-6 * passed_ns;
        let runs_at = |rate: f64| (gained_ns - rate * passed_ns).abs() <= allowed;
        self.stepped = !(runs_at(0.0) || runs_at(self.rate));
        self.rate = gained_ns / passed_ns;
        (self.before, self.latest) = (self.latest, cross_timestamp);
        self.stepped.then_some(gained)
    }

    /// Convert a timestamp; `None` if the clock was stepped around it and both results are possible.
    pub fn raw(&self, stamp: RealTime) -> Option<RawTime> {
        let by = |cross_timestamp: CrossTimestamp| {
            cross_timestamp
                .raw
                .plus(stamp.0.saturating_sub(cross_timestamp.real.0))
        };
        let (by_before, by_latest) = (by(self.before), by(self.latest));
        if self.stepped {
            // Before the step it reads by the older cross-timestamp, after it by the newer.
            let between =
                |raw: RawTime| raw >= self.before.raw && raw <= self.latest.raw.plus(JUST_SENT_NS);
            return match (between(by_before), between(by_latest)) {
                (true, false) => Some(by_before),
                (false, true) => Some(by_latest),
                _ => None,
            };
        }
        let real_between = self.latest.real.0 - self.before.real.0;
        let since_before = stamp.0.saturating_sub(self.before.real.0);
        if stamp >= self.latest.real || real_between <= 0 {
            near(by_latest, self.latest.raw)
        } else if since_before <= 0 {
            near(by_before, self.latest.raw)
        } else {
            let raw_between = self.latest.raw.since(self.before.raw);
            let share = since_before as f64 / real_between as f64;
            Some(
                self.before
                    .raw
                    .plus((share * raw_between as f64 + 0.5) as i64),
            )
        }
    }
}

fn near(raw: RawTime, latest: RawTime) -> Option<RawTime> {
    (raw.since(latest).unsigned_abs() < FARTHEST_NS).then_some(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const EPOCH: i64 = 1_700_000_000_000_000_000;

    fn at(raw: i64, real: i64) -> CrossTimestamp {
        CrossTimestamp {
            raw: RawTime(raw),
            real: RealTime(EPOCH + real),
        }
    }

    fn map(cross_timestamps: &[CrossTimestamp]) -> (ClockMap, Vec<Option<i64>>) {
        let mut map = ClockMap::new(cross_timestamps[0]);
        let later = cross_timestamps[1..].iter();
        let steps = later.map(|s| map.update(*s)).collect();
        (map, steps)
    }

    fn raw(map: &ClockMap, real: i64) -> Option<i64> {
        map.raw(RealTime(EPOCH + real)).map(|raw| raw.0)
    }

    #[test]
    fn a_slewed_clock_is_interpolated() {
        // 500 ppm fast.
        let (map, steps) = map(&[at(0, 0), at(10 * MS, 10 * MS), at(20 * MS, 20 * MS + 5_000)]);
        assert_eq!(steps, [None, None]);
        assert_eq!(raw(&map, 15 * MS + 2_500), Some(15 * MS));
        assert_eq!(raw(&map, 21 * MS + 5_000), Some(21 * MS));
        assert_eq!(raw(&map, 4 * MS), Some(4 * MS));
    }

    #[test]
    fn a_fast_slew_is_a_step_only_at_its_start() {
        let fast = |tick: i64| at(tick * 10 * MS, tick * 11 * MS);
        let (map, steps) = map(&[at(-10 * MS, -10 * MS), fast(0), fast(1), fast(2)]);
        assert_eq!(steps, [None, Some(MS), None]);
        assert_eq!(raw(&map, 15 * MS + MS + MS / 2), Some(15 * MS));
    }

    #[test]
    fn stamps_around_a_step_are_read_on_their_own_side_of_it() {
        for step in [-3_600_000 * MS, -50 * MS, 50 * MS, 3_600_000 * MS] {
            let after = at(20 * MS, 20 * MS + step);
            let (mut map, steps) = map(&[at(0, 0), at(10 * MS, 10 * MS), after]);
            assert_eq!(steps, [None, Some(step)]);
            assert_eq!(raw(&map, 12 * MS), Some(12 * MS), "before {step}");
            assert_eq!(raw(&map, 18 * MS + step), Some(18 * MS), "after {step}");
            // Sent just now.
            assert_eq!(raw(&map, 21 * MS + step), Some(21 * MS), "{step}");
            map.update(at(30 * MS, 30 * MS + step));
            assert_eq!(raw(&map, 25 * MS + step), Some(25 * MS));
        }
    }

    #[test]
    fn what_a_small_step_makes_ambiguous_is_not_guessed() {
        let (map, steps) = map(&[at(0, 0), at(10 * MS, 10 * MS), at(20 * MS, 21 * MS)]);
        assert_eq!(steps, [None, Some(MS)]);
        assert_eq!(raw(&map, 15 * MS), None);
    }

    #[test]
    fn absurd_stamps_are_rejected() {
        let (map, _) = map(&[at(0, 0), at(10 * MS, 10 * MS)]);
        assert_eq!(map.raw(RealTime(0)), None);
        assert_eq!(map.raw(RealTime(i64::MAX)), None);
        assert_eq!(map.raw(RealTime(i64::MIN)), None);
    }

    #[test]
    fn follows_the_real_clocks() {
        let mut map = ClockMap::new(super::super::cross_timestamp());
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let between = super::super::cross_timestamp();
            std::thread::sleep(std::time::Duration::from_millis(1));
            map.update(super::super::cross_timestamp());
            let error = map.raw(between.real).unwrap().since(between.raw);
            assert!(error.abs() < 100_000, "{error} ns");
        }
    }
}
