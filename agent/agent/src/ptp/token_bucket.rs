//! A token bucket that limits a packet rate.

use crate::clock::RawTime;

/// Allows `rate_hz` packets per second on average and a burst of `burst` after a pause.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    rate_hz: u32,
    burst: u32,
    left: f64,
    at: RawTime,
}

impl TokenBucket {
    /// Create a full bucket.
    pub fn new(rate_hz: u32, burst: u32, now: RawTime) -> Self {
        Self {
            rate_hz,
            burst,
            left: f64::from(burst),
            at: now,
        }
    }

    /// Change the limits and keep the tokens.
    pub fn set_limit(&mut self, rate_hz: u32, burst: u32) {
        (self.rate_hz, self.burst) = (rate_hz, burst);
    }

    /// Take `packets` tokens if the bucket holds that many at `now`.
    pub fn take(&mut self, packets: u32, now: RawTime) -> bool {
        let passed_ns = now.since(self.at).max(0);
        self.at = self.at.max(now);
        let earned = passed_ns as f64 * f64::from(self.rate_hz) / 1e9;
        self.left = (self.left + earned).min(f64::from(self.burst));
        let enough = self.left >= f64::from(packets);
        if enough {
            self.left -= f64::from(packets);
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_the_rate_and_one_burst_on_top() {
        let mut budget = TokenBucket::new(100, 10, RawTime(0));
        let taken = (0..10_000)
            .filter(|ms| budget.take(1, RawTime(ms * 1_000_000)))
            .count();
        assert!((1000..=1010).contains(&taken), "{taken}");
    }

    #[test]
    fn a_clock_that_stands_earns_nothing() {
        let mut budget = TokenBucket::new(100, 3, RawTime(5));
        assert!(budget.take(3, RawTime(5)));
        assert!(!budget.take(1, RawTime(5)));
        assert!(!budget.take(1, RawTime(0)));
    }
}
