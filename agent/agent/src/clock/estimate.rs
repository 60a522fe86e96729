//! The estimate of a clock at one moment, and the estimates before it.

use std::collections::VecDeque;

/// The offset at one moment of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub at_s: f64,
    /// Our clock minus the peer's.
    pub offset_ns: f64,
    /// ns per s.
    pub skew: f64,
    /// Error of the estimation (three standard deviations), ns.
    pub error_ns: f64,
    /// Additional error that an unknown asymmetry of the routes may hide, ns: at most the longer of the two shortest delays.
    pub hidden_ns: f64,
}

/// Rate at which the error grows outside the estimates, ns per s.
const AHEAD: f64 = 100.0;

/// Time that estimates are kept, s: longer than the longest window with its deadline.
const KEPT_S: f64 = 130.0;

/// Distance between kept estimates, s: bounds the memory of a fast mesh.
const APART_S: f64 = 1.0;

/// Estimates of the last two minutes, oldest first.
#[derive(Debug, Default)]
pub struct History(VecDeque<Estimate>);

impl Estimate {
    /// Return the estimate on the same line at another time.
    pub fn moved_to(&self, at_s: f64) -> Self {
        let passed_s = at_s - self.at_s;
        Self {
            at_s,
            offset_ns: self.offset_ns + self.skew * passed_s,
            error_ns: self.error_ns + AHEAD * passed_s.abs(),
            ..*self
        }
    }

    /// Return the bound on the total error of the offset, ns.
    pub fn bound_ns(&self) -> f64 {
        self.hidden_ns + self.error_ns
    }

    /// Interpolate between this and a later estimate.
    fn towards(&self, later: &Self, at_s: f64) -> Self {
        let share = (at_s - self.at_s) / (later.at_s - self.at_s);
        Self {
            at_s,
            offset_ns: self.offset_ns + share * (later.offset_ns - self.offset_ns),
            skew: later.skew,
            error_ns: self.error_ns.max(later.error_ns),
            hidden_ns: self.hidden_ns.max(later.hidden_ns),
        }
    }
}

impl History {
    /// Add the newest estimate. It replaces its predecessor if that one is too close to the estimate before it.
    pub fn push(&mut self, estimate: Estimate) {
        let close = |kept: &VecDeque<Estimate>| {
            let n = kept.len();
            n >= 2 && kept[n - 1].at_s - kept[n - 2].at_s < APART_S
        };
        if close(&self.0) {
            self.0.pop_back();
        }
        self.0.push_back(estimate);
        while self.0.len() > 2 && self.0[1].at_s < estimate.at_s - KEPT_S {
            self.0.pop_front();
        }
    }

    /// Return the estimate for a time between two estimates or before the first; `None` beyond the last.
    pub fn at(&self, at_s: f64) -> Option<Estimate> {
        let after = self.0.partition_point(|estimate| estimate.at_s <= at_s);
        let later = self.0.get(after)?;
        Some(match after.checked_sub(1) {
            Some(before) => self.0[before].towards(later, at_s),
            None => later.moved_to(at_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(at_s: f64, offset_ns: f64) -> Estimate {
        Estimate {
            at_s,
            offset_ns,
            skew: 10.0,
            error_ns: 5.0,
            hidden_ns: 50.0,
        }
    }

    #[test]
    fn keeps_two_minutes_at_any_rate_of_estimates() {
        let mut history = History::default();
        for i in 0..10_000 {
            history.push(estimate(f64::from(i) / 4.0, 0.0));
        }
        assert!(history.0.len() < 140, "{}", history.0.len());
        assert!(history.0[0].at_s < 2500.0 - 128.0 && history.at(2400.0).is_some());
    }
}
