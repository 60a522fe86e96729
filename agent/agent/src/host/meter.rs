//! Waits and readings of counters become windows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counters::HostCounters;
use super::waits::{SharedWaits, Waits};
use crate::wire::HostWindow;

const NANOS_PER_S: i64 = 1_000_000_000;
const NANOS_PER_US: i64 = 1_000;
/// Longest time between two readings that is reported: the backend refuses longer ones.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Takes the waits and a reading of the counters at the end of every window.
#[derive(Debug)]
pub struct HostMeter {
    waits: Arc<SharedWaits>,
    last: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    window_end_s: i64,
    at: Instant,
    counters: HostCounters,
}

impl HostMeter {
    pub fn new(waits: Arc<SharedWaits>) -> Self {
        Self { waits, last: None }
    }

    /// Read the counters at `at`, the end of the window of `window_s` seconds before `window_end_s`. Return that window;
    /// `None` at the first reading, and after a step back of the backend's time.
    pub fn read(&mut self, window_end_s: i64, window_s: u32, at: Instant) -> Option<HostWindow> {
        self.end(window_end_s, window_s, at, HostCounters::read())
    }

    /// A late reading is reported with the time that it is of: a VM that stood still is what the window shows.
    fn end(
        &mut self,
        window_end_s: i64,
        window_s: u32,
        at: Instant,
        counters: HostCounters,
    ) -> Option<HostWindow> {
        let waits = self.waits.take();
        let now = Reading {
            window_end_s,
            at,
            counters,
        };
        let before = self.last.replace(now)?;
        let now = self.last.as_ref()?;
        let elapsed = at.checked_duration_since(before.at)?;
        if window_end_s <= before.window_end_s || elapsed.is_zero() || elapsed > LONGEST {
            return None;
        }
        let passed = now.counters.since(&before.counters);
        let started_at_s = window_end_s - i64::from(window_s);
        let mut window = of_waits(&waits, started_at_s);
        window.window_s = window_s;
        window.elapsed_ns = u64::try_from(elapsed.as_nanos()).ok()?;
        window.processors = passed.processors;
        window.steal_ms = passed.steal_ms;
        window.pressure_us = passed.pressure_us;
        window.throttled_us = passed.throttled_us;
        window.softirq_squeezed = passed.softirq_squeezed;
        window.receive_drops = passed.receive_drops;
        Some(window)
    }
}

fn of_waits(waits: &Waits, started_at_s: i64) -> HostWindow {
    let (mut stalls, stalled_ns) = waits.stalls();
    // The time of one from before a step of the clock is unknown: reports may not name it, and its length counts.
    let start_ns = started_at_s * NANOS_PER_S;
    stalls.retain(|stall| stall.at_ns.abs_diff(start_ns) < 3_600 * NANOS_PER_S.unsigned_abs());
    let micros = |ns: i64| ns / NANOS_PER_US;
    HostWindow {
        started_at_s,
        wake: waits.wake.summary(),
        receive: waits.receive.summary(),
        send: waits.send.summary(),
        queue: waits.queue.summary(),
        stalled_us: u64::try_from(micros(stalled_ns)).unwrap_or(0),
        stall_at_us: stalls
            .iter()
            .map(|stall| micros(stall.at_ns - start_ns))
            .collect(),
        stall_us: stalls
            .iter()
            .map(|stall| u32::try_from(micros(stall.length_ns)).unwrap_or(u32::MAX))
            .collect(),
        ..HostWindow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn counters(steal_ms: u64) -> HostCounters {
        HostCounters {
            steal_ms: Some(steal_ms),
            ..HostCounters::default()
        }
    }

    #[test]
    fn a_window_has_the_waits_and_counts_between_two_readings() {
        let waits = Arc::new(SharedWaits::default());
        let mut meter = HostMeter::new(Arc::clone(&waits));
        let start = Instant::now();
        waits.lock().woke(0, 9 * MS); // Before the first reading: of no window.
        assert_eq!(meter.end(100, 10, start, counters(70)), None);
        waits.lock().woke(103 * NANOS_PER_S, 50 * MS);
        waits.lock().woke(-86_297 * NANOS_PER_S, 20 * MS); // A day ago, by a clock that was set since.
        waits.lock().receive.record(2 * MS);
        let end = start + Duration::from_secs(10);
        let window = meter.end(110, 10, end, counters(100)).unwrap();
        let wake = window.wake.as_ref().unwrap();
        assert_eq!((window.started_at_s, window.window_s), (100, 10));
        assert_eq!((wake.max_us, window.stalled_us), (50_000, 70_000));
        assert_eq!(window.stall_at_us, [3_000_000]);
        assert_eq!(window.stall_us, [50_000]);
        assert_eq!(window.steal_ms, Some(30));
        assert_eq!((window.pressure_us, window.send), (None, None));
    }

    /// Readings are (end of the window, s after the start); expected are starts and times of the windows, s.
    #[test]
    fn a_late_reading_says_what_time_it_is_of_and_a_step_back_gives_none() {
        let cases: [[&[(i64, u64)]; 2]; 3] = [
            [&[(10, 0), (20, 10), (30, 20)], &[(10, 10), (20, 10)]],
            // The process was stopped for 24 s.
            [&[(10, 0), (40, 34), (50, 40)], &[(30, 34), (40, 6)]],
            // The backend's time stepped back.
            [&[(10, 0), (10, 10), (20, 20)], &[(10, 10)]],
        ];
        let start = Instant::now();
        for [readings, expected] in cases {
            let mut meter = HostMeter::new(Arc::default());
            let mut found = Vec::new();
            for &(end_s, at_s) in readings {
                let at = start + Duration::from_secs(at_s);
                let window = meter.end(end_s, 10, at, counters(0));
                found.extend(window.map(|one| (one.started_at_s, one.elapsed_ns / 1_000_000_000)));
            }
            assert_eq!(found, expected);
        }
    }
}
