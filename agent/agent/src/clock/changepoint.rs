//! Routes that change by less than the shortest delays of a path wander.
//!
//! Where no single bin can tell a longer route from noise, many of them can: two stretches of time are compared by the
//! middles of their bins. The sum of both directions, which no clock enters, must be another one after than before;
//! and against the clock as it was known before, one direction alone must be.

use std::collections::VecDeque;

use super::filter::Filter;

/// Bins nearer than this to the one before, s, are passed over: what lies closer wanders together.
const APART_S: f64 = 0.9;

/// A stretch is at least so long, s, and has at least so many bins; the one before may be so much longer.
const LONG_S: f64 = 18.0;
const LEAST_BINS: usize = 8;
const EARLY: f64 = 1.5;

/// Part of the change that either stretch may drift by within itself, and that is left in the other direction.
const SHARE: f64 = 0.25;

/// Deviations of the middle of a stretch beyond which two of them differ.
const GATE: f64 = 4.0;

/// Neighbouring bins wander together: so many count as one.
const TOGETHER: f64 = 3.0;

/// A bin as it was seen: the shortest of each direction, inbound first, as stamps have it, so that estimates that
/// change later do not change it; and what was known before it.
#[derive(Debug)]
struct Seen {
    at_s: f64,
    least_ns: [f64; 2],
    known: ClockState,
}

/// What was known of clock and routes at a time.
#[derive(Debug, Clone)]
pub struct ClockState {
    pub filter: Filter,
    pub base_ns: [f64; 2],
}

/// One direction has become longer, or shorter, than it was known to be.
#[derive(Debug)]
pub struct Changepoint {
    pub way: usize,
    pub by_ns: f64,
    /// What was known when it did.
    pub before: ClockState,
}

/// The latest bins, oldest first.
#[derive(Debug, Default)]
pub struct ChangepointDetector {
    seen: VecDeque<Seen>,
}

impl ChangepointDetector {
    /// Takes in a bin of which `excess_ns` lies above what is `known` (inbound, outbound). Whether it counts.
    pub fn add(&mut self, at_s: f64, excess_ns: [f64; 2], known: ClockState) -> bool {
        let last = self.seen.back();
        if last.is_some_and(|last| at_s - last.at_s < APART_S) {
            return false;
        }
        let offset_ns = known.filter.offset_at(at_s);
        self.seen.push_back(Seen {
            at_s,
            least_ns: [
                excess_ns[0] + known.base_ns[0] + offset_ns,
                excess_ns[1] + known.base_ns[1] - offset_ns,
            ],
            known,
        });
        // Both stretches, whichever of length and number makes them longer.
        let long_s = at_s - LONG_S * (1.0 + EARLY);
        let most = (LEAST_BINS as f64 * (1.0 + EARLY)) as usize;
        while self.seen.len() > most && self.seen.front().is_some_and(|seen| seen.at_s < long_s) {
            self.seen.pop_front();
        }
        true
    }

    pub fn clear(&mut self) {
        self.seen.clear();
    }

    /// What the newest stretch differs in from the one before, if that is between `least_ns` and `most_ns`.
    pub fn compare(&self, least_ns: f64, most_ns: f64) -> Option<Changepoint> {
        let newest_s = self.seen.back()?.at_s;
        let in_late = self
            .seen
            .iter()
            .filter(|seen| newest_s - seen.at_s <= LONG_S);
        let split = self
            .seen
            .len()
            .checked_sub(in_late.count().max(LEAST_BINS))?;
        let before = &self.seen.get(split)?.known;
        let oldest_s = self.seen.front()?.at_s;
        if split < LEAST_BINS || before.filter.at_s - oldest_s < LONG_S / 2.0 {
            return None;
        }
        let above = |seen: &Seen| {
            let offset_ns = before.filter.offset_at(seen.at_s);
            let inbound = seen.least_ns[0] - before.base_ns[0] - offset_ns;
            let outbound = seen.least_ns[1] - before.base_ns[1] + offset_ns;
            [inbound, outbound, inbound + outbound]
        };
        let rows: Vec<[f64; 3]> = self.seen.iter().map(above).collect();
        let (early, late) = rows.split_at(split);
        let column = |rows: &[[f64; 3]], which: usize| rows.iter().map(|row| row[which]).collect();
        let (early_sum, late_sum) = (Spread::of(column(early, 2)), Spread::of(column(late, 2)));
        let change_ns = late_sum.middle - early_sum.middle;
        let error_ns = early_sum.error_ns().hypot(late_sum.error_ns());
        if !(least_ns..=most_ns).contains(&change_ns.abs()) || change_ns.abs() < GATE * error_ns {
            return None;
        }
        // What drifts is no step, and two that overlap are not two.
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
        let moved = [0, 1].map(|way| {
            Spread::of(column(late, way)).middle - Spread::of(column(early, way)).middle
        });
        let way = usize::from(moved[1].abs() > moved[0].abs());
        // The clock may have run off its line by as much, and that must not decide.
        let clock_ns = 3.0 * before.filter.deviation_at(newest_s);
        if moved[1 - way].abs().max(clock_ns) > SHARE * change_ns.abs() {
            return None;
        }
        Some(Changepoint {
            way,
            by_ns: moved[way],
            before: before.clone(),
        })
    }
}

/// Numbers by their quantiles: a tenth, a half, nine tenths.
#[derive(Debug)]
struct Spread {
    low: f64,
    middle: f64,
    high: f64,
    count: usize,
}

impl Spread {
    /// Of at least one number.
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

    /// Standard error of the middle: of normal numbers, tenths lie 2.56 deviations apart.
    fn error_ns(&self) -> f64 {
        let deviation = (self.high - self.low) / 2.56;
        1.25 * deviation * (TOGETHER / self.count as f64).sqrt()
    }
}

#[cfg(test)]
#[path = "changepoint_tests.rs"]
mod tests;
