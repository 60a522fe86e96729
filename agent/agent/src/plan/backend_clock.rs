//! The backend's time on this machine, so that the windows of all agents start at the same moments.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Backend time as an offset from this process's monotonic clock.
///
/// It does not follow the local wall clock: a step of that clock, by an operator or by NTP, must not split a window. Until
/// the first answer of the backend it shows the wall clock.
#[derive(Debug)]
pub struct BackendClock {
    origin: Instant,
    at_origin_ns: AtomicI64,
    known: AtomicBool,
}

impl BackendClock {
    /// Creates a clock that shows the local wall clock until [`set`](Self::set) is called.
    pub fn new() -> Self {
        let origin = Instant::now();
        Self {
            origin,
            at_origin_ns: AtomicI64::new(realtime_ns()),
            known: AtomicBool::new(false),
        }
    }

    /// Returns the current backend time, Unix ns.
    pub fn now_ns(&self) -> i64 {
        self.at(Instant::now())
    }

    /// Returns the backend time at `instant`, Unix ns.
    pub fn at(&self, instant: Instant) -> i64 {
        self.at_origin_ns.load(Relaxed) + self.since_origin_ns(instant)
    }

    /// Returns the current backend time minus the local `CLOCK_REALTIME`, ns.
    pub fn offset_ns(&self) -> i64 {
        self.now_ns() - realtime_ns()
    }

    /// Sets the backend time at `instant` to `backend_ns` (Unix ns).
    pub fn set(&self, backend_ns: i64, instant: Instant) {
        self.at_origin_ns
            .store(backend_ns - self.since_origin_ns(instant), Relaxed);
        self.known.store(true, Relaxed);
    }

    /// Returns true if the backend has reported its time since the start of the process.
    pub fn is_known(&self) -> bool {
        self.known.load(Relaxed)
    }

    /// Sets the backend time at `instant` to `backend_ns` unless this clock is within `tolerance` of it already: each step
    /// moves the edges of windows, so network noise must not cause one. Returns the step, ns.
    pub fn follow(&self, backend_ns: i64, instant: Instant, tolerance: Duration) -> Option<i64> {
        let step_ns = backend_ns.saturating_sub(self.at(instant));
        if self.is_known()
            && step_ns.unsigned_abs() <= u64::try_from(tolerance.as_nanos()).unwrap_or(u64::MAX)
        {
            return None;
        }
        self.set(backend_ns, instant);
        Some(step_ns)
    }

    fn since_origin_ns(&self, instant: Instant) -> i64 {
        let nanos = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
        match instant.checked_duration_since(self.origin) {
            Some(since) => nanos(since),
            None => -nanos(self.origin.duration_since(instant)),
        }
    }
}

impl Default for BackendClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the local wall clock, Unix ns; 0 if it shows a time before 1970.
fn realtime_ns() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_wall_clock_until_it_is_set() {
        let clock = BackendClock::new();
        assert!(!clock.is_known());
        assert!(clock.offset_ns().abs() < 1_000_000_000);
    }

    #[test]
    fn continues_from_the_time_it_was_set_to() {
        let clock = BackendClock::new();
        let then = Instant::now();
        clock.set(5_000_000_000, then);
        assert!(clock.is_known());
        assert_eq!(clock.at(then), 5_000_000_000);
        assert_eq!(clock.at(then + Duration::from_secs(3)), 8_000_000_000);
        assert!(clock.offset_ns() < -1_000_000_000_000_000_000);
    }

    #[test]
    fn noise_does_not_move_it_but_a_step_does() {
        let clock = BackendClock::new();
        let (then, ms) = (Instant::now(), 1_000_000);
        let follow = |backend_ns| clock.follow(backend_ns, then, Duration::from_millis(20));
        assert!(
            follow(10_000 * ms).is_some(),
            "the first time is taken over in any case"
        );
        assert_eq!(follow(10_015 * ms), None);
        assert_eq!(follow(9_985 * ms), None);
        assert_eq!(clock.at(then), 10_000 * ms);
        assert_eq!(follow(10_025 * ms), Some(25 * ms));
        assert_eq!(clock.at(then), 10_025 * ms);
    }
}
