//! Pauses between retries.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Exponential backoff with jitter, so that a thousand agents do not retry at the same moment.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

/// Longest pause accepted from `Retry-After`.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(15 * 60);

impl Backoff {
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            failures: 0,
        }
    }

    /// Return the pause after a failure: half to all of `first`, doubled for each failure before, at most `longest`.
    ///
    /// The pause is at least `retry_after` of the backend, lengthened by up to a quarter to spread agents with the same value.
    /// `random` is uniform in `[0, 1)`.
    pub fn failed(&mut self, retry_after: Option<Duration>, random: f64) -> Duration {
        let doubled = self
            .first
            .saturating_mul(1 << self.failures.min(20))
            .min(self.longest);
        self.failures += 1;
        let own = doubled.mul_f64(0.5 + random / 2.0);
        match retry_after {
            Some(asked) => asked
                .min(LONGEST_RETRY_AFTER)
                .mul_f64(1.0 + random / 4.0)
                .max(own),
            None => own,
        }
    }

    pub fn succeeded(&mut self) {
        self.failures = 0;
    }
}

/// Return a number uniform in `[0, 1)`; suitable for spreading load, not for secrets.
pub fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_the_longest_and_start_over() {
        let mut backoff = Backoff::new(S, 60 * S);
        let pauses: Vec<u64> = (0..9)
            .map(|_| backoff.failed(None, 1.0).as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        backoff.succeeded();
        assert_eq!(backoff.failed(None, 0.0), S / 2);
        for _ in 0..100 {
            assert!(backoff.failed(None, 1.0) <= 60 * S);
        }
    }

    #[test]
    fn a_retry_after_is_never_undercut() {
        let mut backoff = Backoff::new(S, 60 * S);
        assert_eq!(backoff.failed(Some(7 * S), 0.0), 7 * S);
        assert_eq!(backoff.failed(Some(8 * S), 1.0), 10 * S);
        assert_eq!(
            backoff.failed(Some(Duration::ZERO), 1.0),
            4 * S,
            "zero does not mean to spin"
        );
        assert_eq!(backoff.failed(Some(86_400 * S), 0.0), LONGEST_RETRY_AFTER);
    }

    #[test]
    fn random_numbers_fill_the_interval() {
        let numbers: Vec<f64> = (0..1000).map(|_| random()).collect();
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = numbers.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
