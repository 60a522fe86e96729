//! Everything asked of one address, and the books its answers go to.

use std::collections::HashMap;

use super::schedule::FlowKey;
use crate::clock::{Change, PeerClock, RawTime};
use crate::ptp::{Arrival, Body, ExchangeTable, Message, Outcome, PortIdentity, Verdict};
use crate::window::{Flow, WindowAggregator, WindowSlot};

/// What an exchange is part of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag {
    pub key: FlowKey,
    /// Source ports of its path when it set out.
    pub flows: u8,
    pub slot: WindowSlot,
}

/// All exchanges with one address; paths of several meshes and all flows share it, as they share its clock. They
/// share its sequence ids too, so that a Follow_Up, which comes to the one general port, is of one exchange only.
pub(crate) struct Conversation {
    pub exchanges: ExchangeTable<Tag>,
    pub clock: PeerClock,
}

/// What a message from a peer has led to; no verdict when it comes from nobody that is asked.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Heard {
    pub verdict: Option<Verdict>,
    /// Exchanges that it completes, its own and earlier ones.
    pub completed: u64,
    /// What it proves to have changed: a clock or a route.
    pub change: Option<Change>,
}

impl Conversation {
    pub fn new(requester: PortIdentity) -> Self {
        Self {
            exchanges: ExchangeTable::new(requester),
            clock: PeerClock::new(),
        }
    }

    pub fn departed(&mut self, sequence_id: u16, t3: RawTime) -> Heard {
        let verdict = self.exchanges.departed(sequence_id, t3);
        let mut heard = Heard::default();
        self.observe(verdict, &mut heard);
        Heard {
            verdict: Some(verdict),
            ..heard
        }
    }

    pub fn hear(&mut self, message: &Message, arrival: Arrival) -> Heard {
        let verdict = self.exchanges.receive(message, arrival);
        if self.exchanges.take_restarted() {
            self.clock.restart(arrival.at);
        }
        let mut heard = Heard::default();
        self.observe(verdict, &mut heard);
        if let (Body::CompactResp { response_tlv, .. }, false) =
            (message.body, verdict == Verdict::Unsolicited)
        {
            for (sequence_id, t1_ns) in response_tlv.earlier() {
                let told = self.exchanges.synced(sequence_id, t1_ns);
                self.observe(told, &mut heard);
            }
        }
        Heard {
            verdict: Some(verdict),
            ..heard
        }
    }

    /// Ends open exchanges; what is decided at `now` goes to its window.
    pub fn end(
        &mut self,
        now: RawTime,
        aggregators: &mut Aggregators,
        which: impl Fn(&Tag) -> bool,
    ) {
        self.exchanges.end(now, which, |outcome| match outcome {
            Ok(outcome) => aggregators.record(&outcome),
            Err(tag) => aggregators.release(&tag),
        });
    }

    /// Takes a complete exchange to the clock.
    fn observe(&mut self, verdict: Verdict, heard: &mut Heard) {
        if let Verdict::Complete(outbound, inbound) = verdict {
            heard.completed += 1;
            heard.change = self.clock.observe(outbound, inbound).or(heard.change);
        }
    }
}

/// The windows of every mesh by its key. Meshes are never removed, so that no window of one that comes back is
/// handed over twice.
#[derive(Default)]
pub(crate) struct Aggregators(pub HashMap<u32, WindowAggregator>);

impl Aggregators {
    /// Files what became of an exchange.
    pub fn record(&mut self, outcome: &Outcome<Tag>) {
        let Tag { key, flows, slot } = outcome.tag;
        let (mesh_key, vm_key) = key.path;
        if let Some(aggregator) = self.0.get_mut(&mesh_key) {
            let flow = Flow {
                number: key.flow,
                of: flows,
            };
            aggregator.record(&slot, vm_key, flow, outcome);
        }
    }

    /// The exchange never took place.
    pub fn release(&mut self, tag: &Tag) {
        if let Some(aggregator) = self.0.get_mut(&tag.key.path.0) {
            aggregator.release_slot(&tag.slot);
        }
    }
}
