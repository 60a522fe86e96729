//! Detection of route changes smaller than the noise of a path's minimum delay.
//!
//! Two consecutive segments of bins are compared by their medians. The sum of both directions, which is independent of the
//! clock, must differ between them. Against the clock as estimated before, exactly one direction must differ.

use std::collections::VecDeque;

use super::direction::Direction;
use super::filter::Filter;

/// Bins closer than this to their predecessor, s, are skipped: their noise is correlated.
const APART_S: f64 = 0.9;

/// Shortest length of a segment, s, its fewest bins, and how much longer the earlier segment may be.
const LONG_S: f64 = 18.0;
const LEAST_BINS: usize = 8;
const EARLY: f64 = 1.5;

/// Share of the change that either segment may drift by, and that may remain in the other direction.
const SHARE: f64 = 0.25;

/// Standard errors of the median beyond which two segments differ.
const GATE: f64 = 4.0;

/// Neighbouring bins are correlated: this many count as one.
const TOGETHER: f64 = 3.0;

/// A bin: the shortest measured value of each direction without the estimates of its time, and the state before it.
#[derive(Debug)]
struct Observation {
    at_s: f64,
    least_ns: [f64; 2],
    state: ClockState,
}

/// Estimates of the clock and of the routes at a time.
#[derive(Debug, Clone)]
pub struct ClockState {
    pub filter: Filter,
    pub base_ns: [f64; 2],
}

/// A change of one direction's route, and the state before it.
#[derive(Debug)]
pub struct Changepoint {
    pub direction: Direction,
    pub by_ns: f64,
    /// Estimates of clock and routes before the change.
    pub before: ClockState,
}

/// The latest bins, oldest first.
#[derive(Debug, Default)]
pub struct ChangepointDetector {
    observations: VecDeque<Observation>,
}

impl ChangepointDetector {
    /// Add a bin that lies `excess_ns` above `state`. Return false if it is skipped.
    pub fn add(&mut self, at_s: f64, excess_ns: [f64; 2], state: ClockState) -> bool {
        let last = self.observations.back();
        if last.is_some_and(|last| at_s - last.at_s < APART_S) {
            return false;
        }
        let offset_ns = state.filter.offset_at(at_s);
        self.observations.push_back(Observation {
            at_s,
            least_ns: [
                excess_ns[0] + state.base_ns[0] + offset_ns,
                excess_ns[1] + state.base_ns[1] - offset_ns,
            ],
            state,
        });
        // Keep enough for both segments, by length and by number.
        let long_s = at_s - LONG_S * (1.0 + EARLY);
        let most = (LEAST_BINS as f64 * (1.0 + EARLY)) as usize;
        while self.observations.len() > most
            && self
                .observations
                .front()
                .is_some_and(|bin| bin.at_s < long_s)
        {
            self.observations.pop_front();
        }
        true
    }

    pub fn clear(&mut self) {
        self.observations.clear();
    }

    /// Return the difference between the newest segment and the one before, if it is between `least_ns` and `most_ns`.
    pub fn compare(&self, least_ns: f64, most_ns: f64) -> Option<Changepoint> {
        let newest_s = self.observations.back()?.at_s;
        let in_late = self
            .observations
            .iter()
            .filter(|bin| newest_s - bin.at_s <= LONG_S);
        let split = self
            .observations
            .len()
            .checked_sub(in_late.count().max(LEAST_BINS))?;
        let before = &self.observations.get(split)?.state;
        let oldest_s = self.observations.front()?.at_s;
        if split < LEAST_BINS || before.filter.at_s - oldest_s < LONG_S / 2.0 {
            return None;
        }
        let above = |bin: &Observation| {
            let offset_ns = before.filter.offset_at(bin.at_s);
            let inbound = bin.least_ns[0] - before.base_ns[0] - offset_ns;
            let outbound = bin.least_ns[1] - before.base_ns[1] + offset_ns;
            [inbound, outbound, inbound + outbound]
        };
        let rows: Vec<[f64; 3]> = self.observations.iter().map(above).collect();
        let (early, late) = rows.split_at(split);
        let column = |rows: &[[f64; 3]], which: usize| rows.iter().map(|row| row[which]).collect();
        let (early_sum, late_sum) = (Spread::of(column(early, 2)), Spread::of(column(late, 2)));
        let change_ns = late_sum.middle - early_sum.middle;
        let error_ns = early_sum.error_ns().hypot(late_sum.error_ns());
        if !(least_ns..=most_ns).contains(&change_ns.abs()) || change_ns.abs() < GATE * error_ns {
            return None;
        }
        // A drift is no step, and segments that overlap do not differ.
        let drifts = |rows: &[[f64; 3]]| {
            let (first, second) = rows.split_at(rows.len() / 2);
            let [first, second] = [first, second].map(|half| Spread::of(column(half, 2)).middle);
            (second - first).abs() > SHARE * change_ns.abs() + GATE * error_ns
        };
        let apart = if change_ns > 0.0 {
            late_sum.low > early_sum.high
        } else {
            late_sum.high < early_sum.low
        };
        if !apart || drifts(early) || drifts(late) {
            return None;
        }
        let moved = [0, 1].map(|place| {
            Spread::of(column(late, place)).middle - Spread::of(column(early, place)).middle
        });
        let direction = if moved[1].abs() > moved[0].abs() {
            Direction::Outbound
        } else {
            Direction::Inbound
        };
        // The clock may have left its line by this much, which must not decide the direction.
        let clock_ns = 3.0 * before.filter.deviation_at(newest_s);
        let remaining_ns = moved[direction.other() as usize].abs();
        if remaining_ns.max(clock_ns) > SHARE * change_ns.abs() {
            return None;
        }
        Some(Changepoint {
            direction,
            by_ns: moved[direction as usize],
            before: before.clone(),
        })
    }
}

/// Quantiles of numbers: 10 %, 50 % and 90 %.
#[derive(Debug)]
struct Spread {
    low: f64,
    middle: f64,
    high: f64,
    count: usize,
}

impl Spread {
    /// Compute the quantiles of at least one number, interpolated.
    fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_unstable_by(f64::total_cmp);
        let quantile = |tenths: usize| {
            let place = (numbers.len() - 1) * tenths;
            let (below, rest) = (place / 10, (place % 10) as f64 / 10.0);
            let above = numbers[(below + 1).min(numbers.len() - 1)];
            numbers[below] + rest * (above - numbers[below])
        };
        Self {
            low: quantile(1),
            middle: quantile(5),
            high: quantile(9),
            count: numbers.len(),
        }
    }

    /// Return the standard error of the median. The outer quantiles of normal numbers are 2.56 deviations apart.
    fn error_ns(&self) -> f64 {
        let deviation = (self.high - self.low) / 2.56;
        1.25 * deviation * (TOGETHER / self.count as f64).sqrt()
    }
}

#[cfg(test)]
#[path = "changepoint_tests.rs"]
mod tests;
