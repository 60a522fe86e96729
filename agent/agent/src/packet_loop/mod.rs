//! The loop that sends, receives and stamps packets, and closes windows.
//!
//! One thread. It wakes when a packet comes or a request is due, but not more often than its pace, and then does
//! everything that has gathered in batches.

pub(crate) mod client;
mod event_log;
mod exchanger;
mod hardware_clock;
mod limits;
mod load_shedding;
mod receive;
mod request;
mod respond;
mod sockets;
#[cfg(feature = "synthetic-clock")]
mod synthetic;
mod time_scale;
mod transmit;
mod wakeup;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use sinemora_wire as wire;

use crate::clock::RawTime;
use crate::counters::Counters;
use crate::hardware::HardwareClock;
use crate::network::Network;
use crate::plan::{BackendClock, Plan};
use crate::timestamp::{self, BindError, raw_now};
use exchanger::Exchanger;
use wakeup::Pace;

/// How often exchanges are settled and windows closed, ns.
const SETTLE_NS: i64 = 200_000_000;

/// Where this agent receives packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// First source port of the flows beyond the first; 0 leaves their ports to the system.
    pub flow_port: u16,
}

/// What an agent has beside its plan.
pub struct Means {
    /// Networks whose stock clients are served beside the plan's peers.
    pub guests: Arc<[Network]>,
    /// The hardware clock to stand on.
    pub hardware: Option<Box<dyn HardwareClock>>,
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
    means: Means,
    plans: mpsc::Receiver<Arc<Plan>>,
    windows: mpsc::Sender<wire::MeshWindow>,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
) -> Result<(), LoopError> {
    let mut exchanger = Exchanger::open(listen, means, counters.clone())?;
    let system = timestamp::clock_source();
    counters.set_clock_source(&match exchanger.hardware() {
        Some(hardware) => format!("{system} + {hardware}"),
        None => system,
    });
    let report = |closed: Vec<wire::MeshWindow>| {
        counters
            .windows_closed
            .fetch_add(closed.len() as u64, Relaxed);
        let mut closed = closed.into_iter();
        closed.try_for_each(|window| windows.send(window).map_err(|_| LoopError::NoReports))
    };
    let mut plan_pace = Pace::idle();
    let mut pace = plan_pace;
    let mut rest = pace.rest(raw_now(), None);
    let (mut settle_at, mut listen_at) = (rest.look_at, rest.look_at);
    while !stop.load(Relaxed) {
        sleep_until(rest.look_at);
        // Whatever arrived before this moment is in the sockets and will be heard in this turn.
        let heard_until = raw_now();
        let left = nanos(rest.act_at.since(heard_until));
        let mut heard_all = false;
        if !left.is_zero() || heard_until >= listen_at.min(settle_at) {
            heard_all = exchanger.listen(left, heard_until >= settle_at)?;
            listen_at = pace.listen_at(heard_until);
        }
        let began = raw_now();
        // Told once per turn: a correction of the backend's time in the middle of one would tear a batch apart.
        let ahead_ns = backend_clock.now_ns() - began.0;
        let backend_ns = |at: RawTime| at.0.saturating_add(ahead_ns);
        if let Some(plan) = plans.try_iter().last() {
            exchanger.follow(&plan, began);
            plan_pace = Pace::of(&plan);
            pace = exchanger.pace(plan_pace);
        }
        exchanger.turn(backend_ns)?;
        if heard_all && began >= settle_at {
            report(exchanger.settle(heard_until, backend_ns))?;
            settle_at = began.plus(SETTLE_NS);
            pace = exchanger.pace(plan_pace);
        }
        rest = pace.rest(began, exchanger.next_due());
    }
    report(exchanger.finish())
}

fn sleep_until(at: RawTime) {
    std::thread::sleep(nanos(at.since(raw_now())));
}

fn nanos(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}
