//! The session with one peer: its open exchanges, its clock, and the windows that outcomes are recorded in.

use std::collections::HashMap;

use super::schedule::FlowKey;
use crate::clock::{Change, PeerClock, RawTime, TimestampSource};
use crate::ptp::{Arrival, Body, ExchangeTable, Message, Outcome, PortIdentity, Verdict};
use crate::window::{Flow, WindowAggregator, WindowSlot};

/// The flow and the window of an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExchangeTag {
    pub key: FlowKey,
    /// Source ports of its path when it started.
    pub flows: u8,
    pub slot: WindowSlot,
}

/// All exchanges with one address. Paths of several meshes and all flows share it, because they share the peer's clock.
/// They share its sequence ids too, so that a Follow_Up, which comes to the one general port, matches one exchange only.
pub(crate) struct PeerSession {
    pub exchanges: ExchangeTable<ExchangeTag>,
    pub clock: PeerClock,
}

/// The effect of a message or a departure on a session.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct SessionUpdate {
    /// `None` if the message is from no peer of this agent.
    pub verdict: Option<Verdict>,
    /// Exchanges that it completes: its own and earlier ones.
    pub completed: u64,
    /// A change of a clock or a route that it proves.
    pub change: Option<Change>,
}

impl SessionUpdate {
    /// Returns the effect of two messages one after the other. The verdict is that of the one that was not merely taken.
    pub fn and(self, after: Self) -> Self {
        let is_taken = matches!(after.verdict, None | Some(Verdict::Taken));
        Self {
            verdict: if is_taken {
                self.verdict
            } else {
                after.verdict
            },
            completed: self.completed + after.completed,
            change: after.change.or(self.change),
        }
    }
}

impl PeerSession {
    pub fn new(requester: PortIdentity) -> Self {
        Self {
            exchanges: ExchangeTable::new(requester),
            clock: PeerClock::new(),
        }
    }

    /// Records the departure of a request.
    pub fn record_departure(
        &mut self,
        sequence_id: u16,
        t3: RawTime,
        source: TimestampSource,
    ) -> SessionUpdate {
        let verdict = self.exchanges.record_departure(sequence_id, t3, source);
        let mut update = SessionUpdate::default();
        self.observe(verdict, &mut update);
        SessionUpdate {
            verdict: Some(verdict),
            ..update
        }
    }

    /// Adds a message of the peer to its exchange.
    pub fn receive(&mut self, message: &Message, arrival: Arrival) -> SessionUpdate {
        let verdict = self.exchanges.receive(message, arrival);
        if self.exchanges.take_restarted() {
            self.clock.restart(arrival.at);
        }
        let mut update = SessionUpdate::default();
        self.observe(verdict, &mut update);
        if let (Body::CompactResp { response_tlv, .. }, false) =
            (message.body, verdict == Verdict::Unsolicited)
        {
            for (sequence_id, t1_ns) in response_tlv.earlier() {
                let earlier = self.exchanges.record_sync_departure(sequence_id, t1_ns);
                self.observe(earlier, &mut update);
            }
        }
        SessionUpdate {
            verdict: Some(verdict),
            ..update
        }
    }

    /// Ends open exchanges. Those decided at `now` are recorded in their window.
    pub fn end(
        &mut self,
        now: RawTime,
        aggregators: &mut Aggregators,
        which: impl Fn(&ExchangeTag) -> bool,
    ) {
        self.exchanges.end(now, which, |ended| match ended {
            Ok(outcome) => aggregators.record(&outcome),
            Err(tag) => aggregators.release(&tag),
        });
    }

    /// Adds a complete exchange to the clock.
    fn observe(&mut self, verdict: Verdict, update: &mut SessionUpdate) {
        if let Verdict::Complete(outbound, inbound) = verdict {
            update.completed += 1;
            update.change = self.clock.observe(outbound, inbound).or(update.change);
        }
    }
}

/// The window aggregator of each mesh, by mesh key. Meshes are never removed, so that a mesh that comes back reports no
/// window twice. Measurements on demand do not come back.
#[derive(Default)]
pub(crate) struct Aggregators(pub HashMap<u32, WindowAggregator>);

impl Aggregators {
    /// Records the outcome of an exchange.
    pub fn record(&mut self, outcome: &Outcome<ExchangeTag>) {
        let ExchangeTag { key, flows, slot } = outcome.tag;
        let (mesh_key, vm_key) = key.path;
        if let Some(aggregator) = self.0.get_mut(&mesh_key) {
            let flow = Flow {
                number: key.flow,
                of: flows,
            };
            aggregator.record(&slot, vm_key, flow, outcome);
        }
    }

    /// Releases the slot of an exchange that never took place.
    pub fn release(&mut self, tag: &ExchangeTag) {
        if let Some(aggregator) = self.0.get_mut(&tag.key.path.0) {
            aggregator.release_slot(&tag.slot);
        }
    }
}
