//! The thread that reads the connections of this VM.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::services::{self, Services};
use super::sock_diag::{Reading, SockDiag};
use super::tally::{self, Tally};
use crate::log_throttle::LogThrottle;
use crate::plan::{BackendClock, PeerAddresses};
use crate::report::WindowQueue;
use crate::stop::Stop;
use crate::wire::{ConnectionWindow, ServiceWindow};

const NANOS_PER_S: i64 = 1_000_000_000;
/// Time between readings for timeouts. A connection that lasts less may be missed.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time between readings for services, which are at its multiples, and that of a VM with very many connections.
const SERVICES_INTERVAL_S: i64 = 10;
const SLOW_INTERVAL_S: i64 = services::WINDOW_S as i64;
/// Processor time of a reading from which the next ones are farther apart: readings take less than a hundredth of a
/// processor.
const SLOW_COST: Duration = Duration::from_millis(50);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Reads the connections of this VM and adds them up by peer.
#[derive(Debug)]
pub struct ConnectionWorker {
    pub counts_timeouts: bool,
    /// False: no connections by listening port, whatever the plan says.
    pub counts_services: bool,
    pub peers: Arc<PeerAddresses>,
    pub backend_clock: Arc<BackendClock>,
    pub windows: Arc<WindowQueue<ConnectionWindow>>,
    pub services: Arc<WindowQueue<ServiceWindow>>,
    pub stop: Stop,
}

impl ConnectionWorker {
    /// Read until stopped. The windows that are open then are not reported.
    pub fn run(self) {
        let (mut tally, mut services) = (Tally::default(), Services::default());
        let mut socket = None;
        let mut failures = LogThrottle::new(LOG_INTERVAL);
        let mut left_out = LogThrottle::new(LOG_INTERVAL);
        let now_s = self.now_s();
        let mut timeouts_window = Window::of(now_s, tally::WINDOW_S);
        let mut services_window = Window::of(now_s, services::WINDOW_S);
        let (mut turn, mut cost) = (now_s / SERVICES_INTERVAL_S, Duration::ZERO);
        while !self.stop.wait(self.pause(cost)) {
            let interval_s = if cost < SLOW_COST {
                SERVICES_INTERVAL_S
            } else {
                SLOW_INTERVAL_S
            };
            let wants_services =
                self.counts_services && self.peers.with(|addresses| addresses.services.is_some());
            let is_due =
                wants_services && std::mem::replace(&mut turn, self.now_s() / interval_s) != turn;
            if !wants_services {
                services = Services::default();
            }
            if self.counts_timeouts || is_due {
                match read(&mut socket, is_due) {
                    Ok(reading) => {
                        failures.reset();
                        cost = reading.cost;
                        if reading.left_out > 0 && left_out.due(Instant::now()) {
                            tracing::warn!(
                                "at least {} connections are not counted: there are too many",
                                reading.left_out
                            );
                        }
                        self.add(&reading, is_due, &mut tally, &mut services);
                    }
                    Err(error) => {
                        (socket, tally, services) = <_>::default();
                        if failures.due(Instant::now()) {
                            tracing::warn!("connections are not read: {error}");
                        }
                    }
                }
            }
            let now_s = self.now_s();
            if let Some((started_at_s, is_whole)) = timeouts_window.ended(now_s) {
                let window = tally.end_window(started_at_s).filter(|_| is_whole);
                window.into_iter().for_each(|one| self.windows.push(one));
            }
            if let Some((started_at_s, is_whole)) = services_window.ended(now_s) {
                if !is_whole {
                    services = Services::default();
                }
                let window = services.end_window(started_at_s);
                window.into_iter().for_each(|one| self.services.push(one));
            }
        }
    }

    fn add(&self, reading: &Reading, is_due: bool, tally: &mut Tally, services: &mut Services) {
        self.peers.with(|addresses| {
            if self.counts_timeouts {
                tally.read(&reading.connections, &addresses.peers);
            }
            if let Some(vms) = addresses.services.as_ref().filter(|_| is_due) {
                services.read(reading, vms);
            }
        });
    }

    /// Return the time until the next reading, which is longer after one that was costly.
    fn pause(&self, cost: Duration) -> Duration {
        if self.counts_timeouts {
            return INTERVAL.max(cost * 100);
        }
        let interval_ns = SERVICES_INTERVAL_S * NANOS_PER_S;
        let left_ns = interval_ns - self.backend_clock.now_ns().rem_euclid(interval_ns);
        // Not a moment before: that turn would be the last one's.
        Duration::from_nanos(left_ns.unsigned_abs()) + Duration::from_millis(5)
    }

    fn now_s(&self) -> i64 {
        self.backend_clock.now_ns() / NANOS_PER_S
    }
}

/// The open window of one kind, in the backend's time.
struct Window {
    length_s: i64,
    started_at_s: i64,
}

impl Window {
    fn of(now_s: i64, length_s: u32) -> Self {
        let length_s = i64::from(length_s);
        Self {
            length_s,
            started_at_s: now_s.div_euclid(length_s) * length_s,
        }
    }

    /// Return the start of the window that ended before `now_s`, and false if its readings belong to no window, as after
    /// a step of the backend's time.
    fn ended(&mut self, now_s: i64) -> Option<(i64, bool)> {
        let start_s = now_s.div_euclid(self.length_s) * self.length_s;
        let before_s = std::mem::replace(&mut self.started_at_s, start_s);
        (start_s != before_s).then_some((before_s, start_s == before_s + self.length_s))
    }
}

fn read(socket: &mut Option<SockDiag>, all: bool) -> io::Result<Reading> {
    let mut open = match socket.take() {
        Some(open) => open,
        None => SockDiag::open()?,
    };
    let reading = open.read(all)?;
    if !reading.is_cut {
        *socket = Some(open);
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_a_step_of_time_interrupts_is_not_whole() {
        let mut window = Window::of(1_000, 30);
        let ends = [1_019, 1_020, 1_079, 1_140, 600, 619, 631].map(|now_s| window.ended(now_s));
        let expected = [
            None,
            Some((990, true)),
            Some((1_020, true)),
            Some((1_050, false)),
            Some((1_140, false)),
            None,
            Some((600, true)),
        ];
        assert_eq!(ends, expected);
    }
}
