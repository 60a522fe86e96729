//! The loop that sends, receives and stamps packets, and closes windows.
//!
//! One thread. It wakes when a packet comes or a request is due, but not more often than once per tick, and then
//! does everything that has gathered in batches. The kernel stamps packets as they pass, so it costs no precision
//! that they wait for the loop; it costs far less than waking for each.

mod client;
mod conversation;
mod exchanger;
mod notices;
mod ports;
mod schedule;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use sinemora_wire as wire;

use crate::clock::RawTime;
use crate::counters::Counters;
use crate::plan::{BackendClock, Plan};
use crate::timestamp::{self, BindError, raw_now};
use exchanger::Exchanger;

/// Least time between two turns, ns: half of it for the fastest meshes, whose requests are 7.8 ms apart.
const TICK_NS: i64 = 10_000_000;
const FAST_TICK_NS: i64 = 5_000_000;
const FAST_HZ: u32 = 128;

/// How long the loop may sleep, ns: plans, deadlines and the order to stop wait for it.
const NAP_NS: i64 = 50_000_000;

/// How often exchanges are settled and windows closed, ns.
const SETTLE_NS: i64 = 100_000_000;

/// Where this agent receives packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
}

/// Why measuring stopped.
#[derive(Debug)]
pub enum LoopError {
    /// A port could not be opened; says what to do.
    Bind(BindError),
    /// A socket could not be used.
    Socket(std::io::Error),
    /// Nobody takes the windows any more.
    NoReports,
}

impl std::fmt::Display for LoopError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Socket(error) => write!(f, "a socket failed: {error}"),
            Self::NoReports => {
                f.write_str("the windows cannot be reported: the reporting thread has ended")
            }
        }
    }
}

impl std::error::Error for LoopError {}

impl From<std::io::Error> for LoopError {
    fn from(error: std::io::Error) -> Self {
        Self::Socket(error)
    }
}

/// Measures by the newest plan until `stop` is set, then hands over what it has and returns.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the loop owns its ends of the channels"
)]
pub fn run(
    listen: Listen,
    plans: mpsc::Receiver<Arc<Plan>>,
    windows: mpsc::Sender<wire::MeshWindow>,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
) -> Result<(), LoopError> {
    let mut exchanger = Exchanger::open(listen, counters.clone())?;
    counters.set_clock_source(&timestamp::clock_source());
    let report = |closed: Vec<wire::MeshWindow>| {
        counters
            .windows_closed
            .fetch_add(closed.len() as u64, Relaxed);
        let mut closed = closed.into_iter();
        closed.try_for_each(|window| windows.send(window).map_err(|_| LoopError::NoReports))
    };
    let mut tick_ns = TICK_NS;
    let mut settle_at = raw_now();
    let mut heard_until = raw_now();
    while !stop.load(Relaxed) {
        let (event, general) = exchanger.sockets();
        let ready = timestamp::wait(
            event,
            general,
            nap(heard_until, exchanger.next_due(), settle_at),
        )?;
        let began = raw_now();
        // Told once per turn: a correction of the backend's time in the middle of one would tear a batch apart.
        let ahead_ns = backend_clock.now_ns() - began.0;
        let backend_ns = |at: RawTime| at.0.saturating_add(ahead_ns);
        if let Some(plan) = plans.try_iter().last() {
            exchanger.follow(&plan, began);
            tick_ns = tick_of(&plan);
        }
        exchanger.turn(ready, backend_ns)?;
        if began >= settle_at {
            report(exchanger.settle(heard_until, backend_ns))?;
            settle_at = began.plus(SETTLE_NS);
        }
        let spent_ns = raw_now().since(began);
        std::thread::sleep(nanos(tick_ns - spent_ns));
        heard_until = raw_now();
    }
    report(exchanger.finish())
}

/// Until the next thing that has a time, and no longer than a nap.
fn nap(now: RawTime, next_due: Option<RawTime>, settle_at: RawTime) -> Duration {
    let next = next_due.map_or(settle_at, |due| due.min(settle_at));
    nanos(next.since(now).min(NAP_NS))
}

fn nanos(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

fn tick_of(plan: &Plan) -> i64 {
    let fast = plan.meshes.iter().any(|mesh| mesh.rate_hz >= FAST_HZ);
    if fast { FAST_TICK_NS } else { TICK_NS }
}
