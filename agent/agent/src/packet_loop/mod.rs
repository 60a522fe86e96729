//! The loop that sends, receives and timestamps packets, and closes windows.
//!
//! It is one thread. It wakes when a packet arrives or a request is due, but not more often than its intervals allow. It
//! then handles all waiting packets in batches.

mod client;
mod event_log;
mod exchanger;
mod hardware_time;
mod hop_counts;
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
mod waits;
mod wakeup;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use sinemora_wire as wire;

use crate::clock::RawTime;
use crate::counters::Counters;
use crate::hardware_clock::HardwareClock;
use crate::hardware_timestamps::CardInUse;
use crate::host::SharedWaits;
use crate::network::{Listen, Network};
use crate::paths::dating::ClockWish;
use crate::plan::{BackendClock, PassedPlan};
use crate::timestamp::{self, BindError, CardClock, raw_now};
use crate::window::OnDemandWindow;
use client::ClosedWindows;
use exchanger::Exchanger;
use waits::Wakeup;
use wakeup::WakeupIntervals;

/// The resources of an agent in addition to its plan.
pub struct Options {
    /// Networks whose standard clients are served in addition to the plan's peers.
    pub standard_clients: Arc<[Network]>,
    /// Minor version of PTP in messages that are sent.
    pub ptp_minor_version: u8,
    /// The hardware clock that delays are measured with, if there is one.
    pub hardware: Option<Box<dyn HardwareClock>>,
    /// The network card whose timestamps are used, and its clock.
    pub card: Option<(CardInUse, Box<dyn CardClock>)>,
    /// Receiver of the windows of measurements on demand.
    pub on_demand: Option<mpsc::Sender<OnDemandWindow>>,
    /// Waits on this VM, which the packet loop records.
    pub waits: Arc<SharedWaits>,
}

/// A failure that stops the measurement.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// A port could not be opened. The message says what to do.
    #[error(transparent)]
    Bind(BindError),
    /// A socket could not be used.
    #[error("a socket failed: {0}")]
    Socket(#[from] std::io::Error),
    /// The receiver of windows is gone.
    #[error("the windows cannot be reported: the reporting thread has ended")]
    NoReports,
}

/// Measures by the newest plan until `stop` is set, then reports the open windows and returns.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the loop owns its ends of the channels"
)]
pub fn run(
    listen: Listen,
    mut options: Options,
    plans: mpsc::Receiver<PassedPlan>,
    windows: mpsc::Sender<wire::MeshWindow>,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
) -> Result<(), LoopError> {
    let on_demand = options.on_demand.take();
    let mut exchanger = Exchanger::open(listen, options, counters.clone())?;
    let system = timestamp::clock_source();
    counters.set_clock_source(&match exchanger.hardware() {
        Some(hardware) => format!("{system} + {hardware}"),
        None => system,
    });
    let report = |closed: ClosedWindows| {
        counters
            .windows_closed
            .fetch_add(closed.meshes.len() as u64, Relaxed);
        if let Some(on_demand) = &on_demand {
            // Without its receiver the agent stops.
            let windows = closed.on_demand.into_iter();
            windows.for_each(|window| drop(on_demand.send(window)));
        }
        let mut windows_of_meshes = closed.meshes.into_iter();
        windows_of_meshes
            .try_for_each(|window| windows.send(window).map_err(|_| LoopError::NoReports))
    };
    let mut plan_intervals = WakeupIntervals::idle();
    let mut intervals = plan_intervals;
    let now = raw_now();
    let (mut settle_at, mut poll_at) = (now, now);
    let mut sleep = intervals.sleep((now, false), None, settle_at);
    while !stop.load(Relaxed) {
        let slept_from = raw_now();
        std::thread::sleep(nanos(sleep.sleep_until.since(slept_from)));
        // Packets that arrived before this moment are in the sockets and are received in this turn.
        let polled_until = raw_now();
        let left = nanos(sleep.poll_until.since(polled_until));
        let (mut complete, mut polled) = (false, None);
        let settles_now = intervals.settles_early(exchanger.next_due(), settle_at);
        if !left.is_zero() || polled_until >= poll_at.min(settle_at) {
            complete = exchanger.poll(left, settles_now || polled_until >= settle_at)?;
            poll_at = intervals.poll_at(polled_until);
            polled = Some(raw_now());
        }
        let began = polled.unwrap_or_else(raw_now);
        // Read once per turn: a correction of the backend's time in the middle of a turn would split a batch.
        let time = backend_clock.time();
        exchanger.follow_time(time);
        let ahead_ns = time.ahead_ns;
        let wakeup = Wakeup {
            sleep,
            slept_from,
            polled_from: polled_until,
            polled_until: polled,
        };
        exchanger.record_wakeup(&wakeup, ahead_ns);
        // The first packet ends a wait: all that arrived before it is read.
        let first = exchanger.received.iter().map(|packet| packet.arrival.at);
        let waited_until = first.min().unwrap_or(sleep.poll_until).min(began);
        let read_until = polled_until.max(waited_until);
        let backend_ns = |at: RawTime| at.0.saturating_add(ahead_ns);
        if let Some(passed) = plans.try_iter().last() {
            let plan = passed.plan.within_caps();
            let plan = plan.with_on_demand();
            exchanger.follow(&plan, began);
            plan_intervals = WakeupIntervals::of(&plan);
            intervals = exchanger.intervals(plan_intervals);
            passed.followed();
        }
        let has_sent = exchanger.turn(backend_ns)?;
        if complete && (settles_now || read_until >= settle_at) {
            report(exchanger.settle(read_until, backend_ns)?)?;
            settle_at = began.plus(exchanger.settle_ns());
            intervals = exchanger.intervals(plan_intervals);
        }
        for wish in exchanger.take_clock_wishes() {
            match wish {
                ClockWish::Doubt => backend_clock.doubt(),
                ClockWish::Ask => backend_clock.ask(),
                ClockWish::Advance(by_ns) => backend_clock.advance(by_ns),
                ClockWish::ReportUnknown => backend_clock.report_unknown(),
            }
        }
        sleep = intervals.sleep((began, has_sent), exchanger.next_due(), settle_at);
    }
    report(exchanger.finish())
}

fn nanos(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}
