//! The thread that reads the connections of this VM every second.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::sock_diag::{Connection, SockDiag};
use super::tally::{Tally, WINDOW_S};
use crate::log_throttle::LogThrottle;
use crate::plan::{BackendClock, PeerAddresses};
use crate::report::WindowQueue;
use crate::stop::Stop;
use crate::wire::ConnectionWindow;

const NANOS_PER_S: i64 = 1_000_000_000;
/// A connection that lasts less than this may be missed.
const INTERVAL: Duration = Duration::from_secs(1);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Reads the connections of this VM and adds up their retransmissions by peer.
#[derive(Debug)]
pub struct ConnectionWorker {
    pub peers: Arc<PeerAddresses>,
    pub backend_clock: Arc<BackendClock>,
    pub windows: Arc<WindowQueue<ConnectionWindow>>,
    pub stop: Stop,
}

impl ConnectionWorker {
    /// Read until stopped. The window that is open then is not reported.
    pub fn run(self) {
        let mut tally = Tally::default();
        let mut socket = None;
        let mut failures = LogThrottle::new(LOG_INTERVAL);
        let mut open = self.window_now();
        while !self.stop.wait(INTERVAL) {
            match read(&mut socket) {
                Ok(connections) => {
                    failures.reset();
                    self.peers.with(|peers| tally.read(&connections, peers));
                }
                Err(error) => {
                    socket = None;
                    tally.forget();
                    if failures.due(Instant::now()) {
                        tracing::warn!("connections are not read: {error}");
                    }
                }
            }
            let now = self.window_now();
            if now != open {
                let window = tally.end_window(open);
                // After a step of the backend's time the readings belong to no window.
                if let Some(window) = window.filter(|_| now == open + i64::from(WINDOW_S)) {
                    self.windows.push(window);
                }
                open = now;
            }
        }
    }

    /// Return the start of the window at this time, Unix s in the backend's time.
    fn window_now(&self) -> i64 {
        let length = i64::from(WINDOW_S);
        (self.backend_clock.now_ns() / NANOS_PER_S).div_euclid(length) * length
    }
}

fn read(socket: &mut Option<SockDiag>) -> io::Result<Vec<Connection>> {
    if socket.is_none() {
        *socket = Some(SockDiag::open()?);
    }
    socket
        .as_mut()
        .map_or_else(|| Ok(Vec::new()), SockDiag::connections)
}
