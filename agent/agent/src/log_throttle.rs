//! Throttling of repeated log messages: the first one is logged at once.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct LogThrottle {
    every: Duration,
    last: Option<Instant>,
}

impl LogThrottle {
    pub fn new(every: Duration) -> Self {
        Self { every, last: None }
    }

    /// Return true if the message is to be logged now.
    pub fn due(&mut self, now: Instant) -> bool {
        let due = self
            .last
            .is_none_or(|last| now.duration_since(last) >= self.every);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// Reset the throttle after recovery. Return true if the message was logged since the last reset.
    pub fn reset(&mut self) -> bool {
        self.last.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_due_at_first_and_then_once_per_interval() {
        let start = Instant::now();
        let mut throttle = LogThrottle::new(Duration::from_secs(60));
        let due: Vec<bool> = [0, 1, 59, 60, 61]
            .map(|s| throttle.due(start + Duration::from_secs(s)))
            .into();
        assert_eq!(due, [true, false, false, true, false]);
        assert!(throttle.reset());
        assert!(!throttle.reset());
        assert!(throttle.due(start + Duration::from_secs(62)));
    }
}
