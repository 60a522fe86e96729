//! Readings of counters become windows.

use std::time::{Duration, Instant};

use super::InterfaceCounters;
use crate::wire::TrafficWindow;

/// Length of a window, s. Windows start at its multiples in the backend's time.
pub const WINDOW_S: u32 = 10;

/// A window whose readings are farther from its ends than this, together, is left out: it is another window's traffic.
const LATENESS_LIMIT: Duration = Duration::from_secs(1);

/// Takes a reading at the end of every window, and returns the difference to that at its start.
#[derive(Debug)]
pub struct Meter {
    interface: String,
    last: Option<Reading>,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    window_end_s: i64,
    at: Instant,
    counters: InterfaceCounters,
}

impl Meter {
    pub fn new(interface: String) -> Self {
        Self {
            interface,
            last: None,
        }
    }

    /// Take the counters at the end of a window, read at `at`.
    ///
    /// Return the window; `None` without a reading at its start, after a counter fell, and after a step of either time.
    pub fn read(
        &mut self,
        window_end_s: i64,
        at: Instant,
        counters: InterfaceCounters,
    ) -> Option<TrafficWindow> {
        let now = Reading {
            window_end_s,
            at,
            counters,
        };
        let before = self.last.replace(now)?;
        let elapsed = at.checked_duration_since(before.at)?;
        let length = Duration::from_secs(WINDOW_S.into());
        let follows = window_end_s - before.window_end_s == i64::from(WINDOW_S);
        if !follows || elapsed.abs_diff(length) > LATENESS_LIMIT {
            return None;
        }
        let passed = counters.since(&before.counters)?;
        Some(TrafficWindow {
            started_at_s: before.window_end_s,
            window_s: WINDOW_S,
            elapsed_ns: u64::try_from(elapsed.as_nanos()).ok()?,
            interface: self.interface.clone(),
            bytes_sent: passed.bytes_sent,
            packets_sent: passed.packets_sent,
            bytes_received: passed.bytes_received,
            packets_received: passed.packets_received,
        })
    }

    /// Forget the last reading, because the interface could not be read.
    pub fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(bytes_sent: u64) -> InterfaceCounters {
        InterfaceCounters {
            bytes_received: 2 * bytes_sent,
            packets_received: bytes_sent / 100,
            bytes_sent,
            packets_sent: bytes_sent / 1000,
        }
    }

    #[test]
    fn a_window_is_the_difference_of_readings_at_its_ends() {
        let start = Instant::now();
        let mut meter = Meter::new("eth0".to_owned());
        assert_eq!(meter.read(100, start, counters(5_000)), None);
        let end = start + Duration::from_millis(10_003);
        let window = meter.read(110, end, counters(12_000)).unwrap();
        let expected = TrafficWindow {
            started_at_s: 100,
            window_s: 10,
            elapsed_ns: 10_003_000_000,
            interface: "eth0".to_owned(),
            bytes_sent: 7_000,
            packets_sent: 7,
            bytes_received: 14_000,
            packets_received: 70,
        };
        assert_eq!(window, expected);
    }

    /// Readings, and the starts of the windows that they give.
    type Case = (&'static [(i64, f64, u64)], &'static [i64]);

    /// Readings are (end of the window, s after the start of the test, bytes).
    #[test]
    fn a_window_without_a_reading_at_both_ends_is_left_out() {
        let cases: [Case; 6] = [
            (&[(10, 0.0, 0), (20, 10.0, 1), (30, 20.0, 2)], &[10, 20]),
            // The VM was suspended, or the process did not run.
            (&[(10, 0.0, 0), (40, 30.0, 1), (50, 40.0, 2)], &[40]),
            // The interface was created again.
            (&[(10, 0.0, 9), (20, 10.0, 1), (30, 20.0, 2)], &[20]),
            // The backend's time stepped forward, then back.
            (&[(10, 0.0, 0), (20, 4.0, 1), (30, 14.0, 2)], &[20]),
            (&[(10, 0.0, 0), (10, 10.0, 1), (20, 20.0, 2)], &[10]),
            (&[(10, 0.0, 0), (20, 11.5, 1), (30, 20.0, 2)], &[]),
        ];
        let start = Instant::now();
        for (readings, windows) in cases {
            let mut meter = Meter::new("eth0".to_owned());
            let mut starts = Vec::new();
            for &(end_s, at_s, bytes) in readings {
                let at = start + Duration::from_secs_f64(at_s);
                let window = meter.read(end_s, at, counters(bytes));
                starts.extend(window.map(|window| window.started_at_s));
            }
            assert_eq!(starts, windows, "{readings:?}");
        }
    }

    #[test]
    fn a_reading_that_failed_leaves_out_the_windows_at_both_sides() {
        let start = Instant::now();
        let mut meter = Meter::new("eth0".to_owned());
        let at = |s| start + Duration::from_secs(s);
        assert_eq!(meter.read(10, at(0), counters(0)), None);
        meter.forget();
        assert_eq!(meter.read(30, at(20), counters(0)), None);
        assert!(meter.read(40, at(30), counters(0)).is_some());
    }
}
