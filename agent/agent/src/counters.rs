//! The agent's own counters, for `/metrics` and for the health part of each report.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::TimestampSource;

/// Counters since the start of the process, and gauges of the present state.
///
/// Any thread may write any field; writes of different fields have no order.
#[derive(Debug, Default)]
pub struct Counters {
    pub packets_sent: AtomicU64,
    pub packets_received: AtomicU64,
    pub packets_rejected: AtomicU64,
    pub transmit_stamps_missing: AtomicU64,
    pub receive_queue_overflows: AtomicU64,
    /// Exchanges with all four timestamps in time.
    pub exchanges_completed: AtomicU64,
    /// Exchanges abandoned at their loss deadline.
    pub exchanges_lost: AtomicU64,
    /// Responses after the loss deadline.
    pub responses_late: AtomicU64,
    /// Repeated packets; the first one counts.
    pub duplicates: AtomicU64,
    /// Requests of the plan that this agent did not send: it woke too late, or had reached its packet cap.
    pub requests_left_out: AtomicU64,
    /// Requests not sent or not answered because of the plan's packet cap.
    pub requests_shed: AtomicU64,
    /// Gauge: packet cap of the plan, packets per second; 0 is no plan.
    pub packets_per_s_cap: AtomicU64,
    /// Gauge: packet limit in force, packets per second; below the cap while this agent exceeds a resource cap.
    pub packets_per_s_allowed: AtomicU64,
    /// Gauges: processor time over the last seconds, thousandths of a percent of one processor, and the cap in percent;
    /// 0 is none.
    pub cpu_millipercent: AtomicU64,
    pub cpu_percent_cap: AtomicU64,
    /// Gauges: memory in use, and the cap; 0 is none.
    pub memory_bytes: AtomicU64,
    pub memory_mib_cap: AtomicU64,
    /// Gauge: error bound of the hardware clock in use, ns; 0 is none.
    pub hardware_error_ns: AtomicU64,
    /// Gauge: error bound of converted timestamps of the network card, ns; 0 is none.
    pub card_error_ns: AtomicU64,
    /// Windows passed to reporting.
    pub windows_closed: AtomicU64,
    /// Gauge: peers of the plan in force, in either role.
    pub peers: AtomicU64,

    pub reports_sent: AtomicU64,
    /// Of these, reports that a gateway had queued on its disk and the backend had not stored yet.
    pub reports_queued: AtomicU64,
    /// Reports dropped because the spool was full.
    pub reports_dropped: AtomicU64,
    /// Reports that the backend refused.
    pub reports_refused: AtomicU64,
    pub upload_failures: AtomicU64,
    pub plan_failures: AtomicU64,
    /// Gauge: bytes and reports waiting to be sent.
    pub spool_bytes: AtomicU64,
    pub spool_reports: AtomicU64,
    /// Gauge: Unix time, seconds, of the last report the backend acknowledged; 0 is never.
    pub last_report_at_s: AtomicU64,
    /// Gauge: Unix time, seconds, of the last answer about the plan; 0 is never.
    pub last_plan_at_s: AtomicU64,
    /// True while the backend accepts nothing from this agent: it was revoked, or was never known.
    pub credential_refused: AtomicBool,

    timestamp_source: AtomicU8,
    clock_source: Mutex<String>,
    pub events: EventQueue,
}

impl Counters {
    pub fn set_timestamp_source(&self, source: TimestampSource) {
        self.timestamp_source.store(source as u8, Relaxed);
    }

    /// Return `hardware`, `kernel` or `user`; empty until a socket is open.
    pub fn timestamp_source(&self) -> &'static str {
        use TimestampSource::{Hardware, Kernel, User};
        let code = self.timestamp_source.load(Relaxed);
        let source = [User, Kernel, Hardware]
            .into_iter()
            .find(|source| *source as u8 == code);
        source.map_or("", TimestampSource::as_str)
    }

    /// Set the kernel's clock source, for example `tsc` or `kvm-clock`.
    pub fn set_clock_source(&self, name: &str) {
        name.clone_into(
            &mut self
                .clock_source
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    pub fn clock_source(&self) -> String {
        self.clock_source
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The kind of an event (`POST /v1/agents/self/events`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    ClockStep,
    RouteChange,
    /// The origin of the timestamps of sent packets has changed.
    Timestamps,
    /// The time of windows is bounded badly.
    WindowTime,
    /// A standard responder has no service for this agent.
    NoService,
    RateShed,
    /// Parts of the plan exceed the limits of this VM.
    PlanLimited,
    ReportsDropped,
    Error,
}

impl EventKind {
    /// Return the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClockStep => "clock_step",
            Self::RouteChange => "route_change",
            Self::Timestamps => "timestamps",
            Self::WindowTime => "window_time",
            Self::NoService => "no_service",
            Self::RateShed => "rate_shed",
            Self::PlanLimited => "plan_limited",
            Self::ReportsDropped => "reports_dropped",
            Self::Error => "error",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: EventKind,
    /// Unix time, ns, in the backend's time as far as it is known.
    pub at_ns: i64,
    /// One sentence for a person.
    pub detail: String,
    /// The path that it is about.
    pub path: Option<EventPath>,
}

/// The path that an event is about, and a reason for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPath {
    pub mesh_key: u32,
    pub peer_key: u32,
    pub reason: &'static str,
}

/// Bounded queue of events to be sent. A full queue drops the oldest event and counts it.
#[derive(Debug, Default)]
pub struct EventQueue {
    waiting: Mutex<VecDeque<Event>>,
    dropped: AtomicU64,
}

impl EventQueue {
    const LIMIT: usize = 256;

    /// Queue an event; `at_ns` is Unix ns in the backend's time.
    pub fn raise(&self, kind: EventKind, at_ns: i64, detail: impl Into<String>) {
        self.raise_of(kind, at_ns, detail, None);
    }

    /// Queue an event about a path.
    pub fn raise_of(
        &self,
        kind: EventKind,
        at_ns: i64,
        detail: impl Into<String>,
        path: Option<EventPath>,
    ) {
        let mut waiting = self.lock();
        waiting.push_back(Event {
            kind,
            at_ns,
            detail: detail.into(),
            path,
        });
        self.shorten(&mut waiting);
    }

    /// Remove and return the oldest events, at most `most` of them.
    pub fn take(&self, most: usize) -> Vec<Event> {
        let mut waiting = self.lock();
        let count = waiting.len().min(most);
        waiting.drain(..count).collect()
    }

    /// Return events to the front of the queue after they could not be sent.
    pub fn put_back(&self, events: Vec<Event>) {
        let mut waiting = self.lock();
        for event in events.into_iter().rev() {
            waiting.push_front(event);
        }
        self.shorten(&mut waiting);
    }

    /// Return the number of events dropped since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    fn shorten(&self, waiting: &mut VecDeque<Event>) {
        while waiting.len() > Self::LIMIT {
            waiting.pop_front();
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_and_counts_the_oldest_events() {
        let queue = EventQueue::default();
        for at_ns in 0..300 {
            queue.raise(EventKind::Error, at_ns, "x");
        }
        let events = queue.take(1000);
        assert_eq!(
            (events.len(), events[0].at_ns, queue.dropped()),
            (256, 44, 44)
        );
        queue.raise(EventKind::ClockStep, 300, "newer");
        queue.put_back(events);
        let events = queue.take(1000);
        assert_eq!(
            (events[0].at_ns, events[255].at_ns, queue.dropped()),
            (45, 300, 45)
        );
    }
}
