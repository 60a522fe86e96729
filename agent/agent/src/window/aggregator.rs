//! The windows of one mesh: assignment of exchanges to windows, and their closing.

use std::collections::BTreeMap;
use std::ops::Range;

use sinemora_wire::MeshWindow;

use super::exchanges::Exchanges;
use super::peer_window::{Flow, PeerWindow};
use crate::clock::PeerClock;
use crate::ptp::Outcome;

const NANOS_PER_S: i64 = 1_000_000_000;

/// Summarised spans of time that are kept. One is enough while time only advances; each step of the backend's time adds at
/// most one.
const SPANS: usize = 64;

/// The place of an exchange in a window, taken when the exchange starts.
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
    /// True if the order of the packets of pairs is compared.
    keeps_order: bool,
    open: Vec<Window>,
    /// Spans of open and closed windows, s: no moment is summarised twice.
    covered_s: Vec<Range<i64>>,
}

/// One window being filled.
#[derive(Debug)]
pub struct Window {
    span_s: Range<i64>,
    /// Exchanges that started in it and are not settled.
    unsettled: u32,
    peers: BTreeMap<u32, PeerWindow>,
}

impl WindowAggregator {
    pub fn new(mesh_key: u32, window_s: u32) -> Self {
        Self {
            mesh_key,
            window_s,
            keeps_order: false,
            open: Vec::new(),
            covered_s: Vec::new(),
        }
    }

    /// Set the length of the next windows, and whether the order of the packets of pairs is compared.
    pub fn follow(&mut self, window_s: u32, keeps_order: bool) {
        (self.window_s, self.keeps_order) = (window_s, keeps_order);
    }

    /// Take a slot for an exchange that starts at `backend_ns` (Unix ns, backend's time). Return `None` if that moment was
    /// summarised before, which happens after a step back of the backend's time or a change of the window length. Such
    /// moments are left out rather than counted twice.
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

    /// Record the outcome of an exchange.
    pub fn record<T>(
        &mut self,
        slot: &WindowSlot,
        peer_key: u32,
        flow: Flow,
        outcome: &Outcome<T>,
    ) {
        let keeps_order = self.keeps_order;
        if let Some(window) = self.find(slot) {
            window.unsettled = window.unsettled.saturating_sub(1);
            let peer = window.peers.entry(peer_key).or_default();
            peer.record(slot.at_ns, flow, outcome);
            if keeps_order {
                peer.compare_order(slot.at_ns, flow, outcome);
            }
        }
    }

    /// Release the slot of an exchange that never took place.
    pub fn release_slot(&mut self, slot: &WindowSlot) {
        if let Some(window) = self.find(slot) {
            window.unsettled = window.unsettled.saturating_sub(1);
        }
    }

    /// Convert all timestamps recorded for a peer to delays, before its clock is dropped.
    pub fn resolve_delays(&mut self, peer_key: u32, clock: &PeerClock) {
        let windows = self.open.iter_mut();
        windows
            .filter_map(|window| window.peers.get_mut(&peer_key))
            .for_each(|peer| peer.resolve_delays(clock));
    }

    /// Return true if a window is open.
    pub fn has_open_windows(&self) -> bool {
        !self.open.is_empty()
    }

    /// Return true if a window is over at `backend_ns` and not closed yet.
    pub fn has_due_window(&self, backend_ns: i64) -> bool {
        self.open
            .iter()
            .any(|window| is_over(&window.span_s, backend_ns))
    }

    /// Close the windows that are over at `backend_ns` and whose exchanges are all settled. Return them oldest first.
    pub fn close(&mut self, backend_ns: i64) -> Vec<Window> {
        self.take_closed(|window| is_over(&window.span_s, backend_ns) && window.unsettled == 0)
    }

    /// Close all windows as they are.
    pub fn close_all(&mut self) -> Vec<Window> {
        self.take_closed(|_| true)
    }

    fn take_closed(&mut self, closed: impl Fn(&Window) -> bool) -> Vec<Window> {
        let (mut done, open): (Vec<_>, Vec<_>) = self.open.drain(..).partition(closed);
        self.open = open;
        done.sort_unstable_by_key(|window| window.span_s.start);
        done
    }

    /// Summarise a closed window. Return `None` if it has no requests.
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
        for column in [
            &mut summary.peer_marks,
            &mut summary.outbound_residence_ns,
            &mut summary.inbound_residence_ns,
        ] {
            if column.iter().all(|entry| *entry == 0) {
                column.clear();
            }
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

/// Return true if a window is over at `backend_ns`.
fn is_over(span_s: &Range<i64>, backend_ns: i64) -> bool {
    let (start, end) = (span_s.start * NANOS_PER_S, span_s.end * NANOS_PER_S);
    // Time soon catches up after a step back by less than a window's length.
    backend_ns >= end || backend_ns < start - (end - start)
}

impl Window {
    /// Return its end, Unix s.
    pub fn ends_at_s(&self) -> i64 {
        self.span_s.end
    }

    /// Return every exchange with a peer, in order of time, with the delays by its clock.
    pub fn exchanges_with(&mut self, peer_key: u32, clock: Option<&PeerClock>) -> Exchanges {
        let Some(peer) = self.peers.get_mut(&peer_key) else {
            return Exchanges::default();
        };
        if let Some(clock) = clock {
            peer.resolve_delays(clock);
        }
        peer.exchanges()
    }

    /// Return the start of the window, Unix s.
    pub fn started_at_s(&self) -> i64 {
        self.span_s.start
    }

    /// Return the peers with recorded outcomes.
    pub fn peers(&self) -> impl Iterator<Item = u32> + '_ {
        self.peers.keys().copied()
    }
}

#[cfg(test)]
#[path = "aggregator_tests.rs"]
mod tests;
