//! The thread that reads the counters of the interface and of this VM at the end of every window.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::InterfaceCounters;
use super::meter::{Meter, WINDOW_S};
use crate::host::HostMeter;
use crate::log_throttle::LogThrottle;
use crate::plan::BackendClock;
use crate::report::WindowQueue;
use crate::stop::Stop;
use crate::wire::{HostWindow, TrafficWindow};

const NANOS_PER_S: i64 = 1_000_000_000;
const WINDOW_NS: i64 = WINDOW_S as i64 * NANOS_PER_S;
const WINDOW: Duration = Duration::from_secs(WINDOW_S as u64);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Counts the traffic of one interface, and the waits on this VM.
#[derive(Debug)]
pub struct TrafficWorker {
    /// `None`: only waits are counted.
    pub interface: Option<String>,
    pub host: HostMeter,
    pub backend_clock: Arc<BackendClock>,
    pub windows: Arc<WindowQueue<TrafficWindow>>,
    pub host_windows: Arc<WindowQueue<HostWindow>>,
    pub stop: Stop,
}

impl TrafficWorker {
    /// Count until stopped. The window that is open then is not reported.
    pub fn run(mut self) {
        let interface = self.interface.take();
        let mut meter = interface.map(|name| (Meter::new(name.clone()), name));
        let mut failures = LogThrottle::new(LOG_INTERVAL);
        while let Some(end_s) = self.await_end_of_window() {
            let at = Instant::now();
            if let Some((meter, name)) = &mut meter {
                self.count_traffic(meter, name, (end_s, at), &mut failures);
            }
            if let Some(window) = self.host.read(end_s, WINDOW_S, at) {
                self.host_windows.push(window);
            }
        }
    }

    fn count_traffic(
        &self,
        meter: &mut Meter,
        name: &str,
        (end_s, at): (i64, Instant),
        failures: &mut LogThrottle,
    ) {
        match InterfaceCounters::read(name) {
            Ok(counters) => {
                failures.reset();
                if let Some(window) = meter.read(end_s, at, counters) {
                    self.windows.push(window);
                }
            }
            Err(error) => {
                meter.forget();
                if failures.due(at) {
                    tracing::warn!("traffic is not counted: {error}");
                }
            }
        }
    }

    /// Wait for the end of the window and return it, Unix s in the backend's time; `None` if stopped before.
    fn await_end_of_window(&self) -> Option<i64> {
        let now_ns = self.backend_clock.now_ns();
        let end_ns = (now_ns.div_euclid(WINDOW_NS) + 1) * WINDOW_NS;
        loop {
            // The backend's time may be corrected while this waits.
            let left_ns = end_ns - self.backend_clock.now_ns();
            match u64::try_from(left_ns) {
                Ok(left_ns) if left_ns > 0 => {
                    let pause = Duration::from_nanos(left_ns).min(2 * WINDOW);
                    if self.stop.wait(pause) {
                        return None;
                    }
                }
                _ => return (!self.stop.is_set()).then_some(end_ns / NANOS_PER_S),
            }
        }
    }
}
