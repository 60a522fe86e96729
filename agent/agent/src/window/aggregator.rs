//! The windows of one mesh: which one a moment belongs to, and when each may be handed over.

use std::collections::BTreeMap;
use std::ops::Range;

use sinemora_wire::MeshWindow;

use super::peer_window::{Flow, PeerWindow};
use crate::clock::PeerClock;
use crate::ptp::Outcome;

const NANOS_PER_S: i64 = 1_000_000_000;

/// Spans of time already summarised that are remembered. One is enough as long as time only runs forward; each
/// step of the backend's time costs at most one.
const SPANS: usize = 64;

/// A place in a window, taken by an exchange when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSlot {
    pub started_at_s: i64,
    /// Since the window started, ns.
    pub at_ns: u64,
    /// Until it ends, ns.
    pub left_ns: i64,
}

/// Open windows of one mesh.
#[derive(Debug)]
pub struct WindowAggregator {
    mesh_key: u32,
    window_s: u32,
    open: Vec<Window>,
    /// What open and closed windows cover, seconds: nothing is summarised twice.
    covered_s: Vec<Range<i64>>,
}

/// One window being filled.
#[derive(Debug)]
pub struct Window {
    span_s: Range<i64>,
    /// Exchanges that have started in it and are not settled.
    unsettled: u32,
    peers: BTreeMap<u32, PeerWindow>,
}

impl WindowAggregator {
    pub fn new(mesh_key: u32, window_s: u32) -> Self {
        Self {
            mesh_key,
            window_s,
            open: Vec::new(),
            covered_s: Vec::new(),
        }
    }

    /// Changes the length of windows from the next one on.
    pub fn set_window_s(&mut self, window_s: u32) {
        self.window_s = window_s;
    }

    /// Takes a place for an exchange that starts at `backend_ns` (Unix ns, backend's time). `None` when that
    /// moment was summarised before, which happens after a step back of the backend's time, or would share a
    /// window of a new length with one of the old: such moments are left out rather than counted twice.
    pub fn take_slot(&mut self, backend_ns: i64) -> Option<WindowSlot> {
        let now_s = backend_ns.div_euclid(NANOS_PER_S);
        let index = match self
            .open
            .iter()
            .position(|window| window.span_s.contains(&now_s))
        {
            Some(index) => index,
            None => self.open_at(now_s)?,
        };
        let window = &mut self.open[index];
        window.unsettled += 1;
        let since_ns = backend_ns - window.span_s.start * NANOS_PER_S;
        Some(WindowSlot {
            started_at_s: window.span_s.start,
            at_ns: since_ns.unsigned_abs(),
            left_ns: window.span_s.end * NANOS_PER_S - backend_ns,
        })
    }

    /// Files what became of an exchange.
    pub fn record<T>(
        &mut self,
        slot: &WindowSlot,
        peer_key: u32,
        flow: Flow,
        outcome: &Outcome<T>,
    ) {
        if let Some(window) = self.find(slot) {
            window.unsettled = window.unsettled.saturating_sub(1);
            window
                .peers
                .entry(peer_key)
                .or_default()
                .record(slot.at_ns, flow, outcome);
        }
    }

    /// Gives a place back: the exchange never took place.
    pub fn release_slot(&mut self, slot: &WindowSlot) {
        if let Some(window) = self.find(slot) {
            window.unsettled = window.unsettled.saturating_sub(1);
        }
    }

    /// Reads everything filed for a peer against its clock, which is about to go.
    pub fn resolve_delays(&mut self, peer_key: u32, clock: &PeerClock) {
        let windows = self.open.iter_mut();
        windows
            .filter_map(|window| window.peers.get_mut(&peer_key))
            .for_each(|peer| peer.resolve_delays(clock));
    }

    /// Whether a window is over at `backend_ns` and not handed over yet.
    pub fn has_due_window(&self, backend_ns: i64) -> bool {
        self.open
            .iter()
            .any(|window| is_over(&window.span_s, backend_ns))
    }

    /// The windows that are over at `backend_ns` and whose exchanges are all settled, oldest first.
    pub fn close(&mut self, backend_ns: i64) -> Vec<Window> {
        self.take_closed(|window| is_over(&window.span_s, backend_ns) && window.unsettled == 0)
    }

    /// All windows, as they stand.
    pub fn close_all(&mut self) -> Vec<Window> {
        self.take_closed(|_| true)
    }

    fn take_closed(&mut self, closed: impl Fn(&Window) -> bool) -> Vec<Window> {
        let (mut done, open): (Vec<_>, Vec<_>) = self.open.drain(..).partition(closed);
        self.open = open;
        done.sort_unstable_by_key(|window| window.span_s.start);
        done
    }

    /// Summarises a closed window; `None` when nothing was asked in it.
    pub fn summarise<'a>(
        &self,
        mut window: Window,
        clock: impl Fn(u32) -> Option<&'a PeerClock>,
        spike_threshold_ns: u64,
    ) -> Option<MeshWindow> {
        let mut summary = MeshWindow {
            mesh_key: self.mesh_key,
            started_at_s: window.span_s.start,
            window_s: (window.span_s.end - window.span_s.start) as u32,
            ..MeshWindow::default()
        };
        for (&peer_key, peer) in &mut window.peers {
            if let Some(clock) = clock(peer_key) {
                peer.resolve_delays(clock);
            }
            peer.append_to(&mut summary, peer_key, spike_threshold_ns);
        }
        if summary.flows.iter().all(|flows| *flows == 1) {
            (summary.outbound_flows, summary.inbound_flows) = (None, None);
        }
        if summary.asymmetry_source.iter().all(|source| *source == 0) {
            summary.asymmetry_source.clear();
        }
        (!summary.peer_keys.is_empty()).then_some(summary)
    }

    fn open_at(&mut self, now_s: i64) -> Option<usize> {
        let length = i64::from(self.window_s);
        let start = now_s.div_euclid(length) * length;
        let span_s = start..start + length;
        if self
            .covered_s
            .iter()
            .any(|t| t.start < span_s.end && span_s.start < t.end)
        {
            return None;
        }
        match self.covered_s.iter_mut().find(|t| t.end == span_s.start) {
            Some(before) => before.end = span_s.end,
            None => self.covered_s.push(span_s.clone()),
        }
        if self.covered_s.len() > SPANS {
            self.covered_s.remove(0);
        }
        self.open.push(Window {
            span_s,
            unsettled: 0,
            peers: BTreeMap::new(),
        });
        Some(self.open.len() - 1)
    }

    fn find(&mut self, slot: &WindowSlot) -> Option<&mut Window> {
        self.open
            .iter_mut()
            .find(|window| window.span_s.start == slot.started_at_s)
    }
}

/// Whether a window is over at `backend_ns`.
fn is_over(span_s: &Range<i64>, backend_ns: i64) -> bool {
    let (start, end) = (span_s.start * NANOS_PER_S, span_s.end * NANOS_PER_S);
    // A step back by less than a window's length will soon be made up for.
    backend_ns >= end || backend_ns < start - (end - start)
}

impl Window {
    /// When it ends, Unix s.
    pub fn ends_at_s(&self) -> i64 {
        self.span_s.end
    }

    /// The peers that something was filed for.
    pub fn peers(&self) -> impl Iterator<Item = u32> + '_ {
        self.peers.keys().copied()
    }
}

#[cfg(test)]
#[path = "aggregator_tests.rs"]
mod tests;
