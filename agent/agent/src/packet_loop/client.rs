//! The asking side: paths, what was asked of each peer, and the windows the answers go to.

use std::collections::HashMap;
use std::net::SocketAddr;

use sinemora_wire::MeshWindow;

use crate::clock::RawTime;
use crate::paths::path_table::Path;
use crate::paths::peer_session::{Aggregators, Conversation, Heard, Tag};
use crate::paths::schedule::{FlowKey, PathKey, Schedule};
use crate::ptp::{Arrival, Body, Correction, Message, PendingRequest, PortIdentity};
use crate::standard_clients::standard_client::Stocks;
use crate::window::{Window, WindowAggregator, WindowEnd, append_clocks};

/// Exchanges are settled so often, ns, and sooner when a window that is over waits for its last ones: to look at each
/// conversation costs more than what is found there.
const SETTLE_NS: i64 = 1_000_000_000;

/// Every path that this agent measures.
pub(crate) struct Client {
    /// Names this process among clocks.
    pub(crate) clock_identity: u64,
    pub(crate) sessions_opened: u16,
    pub(crate) paths: HashMap<PathKey, Path>,
    pub(crate) schedule: Schedule,
    /// By the peer's event address.
    pub(crate) conversations: HashMap<SocketAddr, Conversation>,
    /// Event address of the peer behind any of its two addresses.
    pub(crate) senders: HashMap<SocketAddr, SocketAddr>,
    pub(crate) stocks: Stocks,
    pub(crate) aggregators: Aggregators,
    pub(crate) spike_threshold_ns: u64,
    /// What our stamps are ahead of the raw clock on the wire.
    time_scale_ns: i64,
    /// When exchanges are settled at the latest.
    settle_at: RawTime,
}

/// A request that is about to leave.
pub(crate) struct Request {
    pub to: SocketAddr,
    /// Which source port it leaves by.
    pub flow: u8,
    pub message: Message,
}

impl Request {
    pub fn id(&self) -> RequestId {
        RequestId {
            to: self.to,
            source: self.message.source,
            sequence_id: self.message.sequence_id,
        }
    }
}

/// A due slot of a flow.
pub(crate) struct Slot {
    /// `None` when it has to be left out.
    pub request: Option<Request>,
    /// Slots left out, because the loop woke too late or no packet may leave.
    pub left_out: u64,
}

/// Identifies a request that has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub to: SocketAddr,
    pub source: PortIdentity,
    pub sequence_id: u16,
}

/// Exchanges counted when they are settled.
#[derive(Debug, Default)]
pub(crate) struct Settlement {
    pub lost: u64,
    pub windows: Vec<MeshWindow>,
}

impl Client {
    /// A client that measures nothing yet. `clock_identity` should differ between processes; `time_scale_ns` is what
    /// our stamps are ahead of the raw clock on the wire.
    pub fn new(clock_identity: u64, time_scale_ns: i64) -> Self {
        Self {
            clock_identity,
            // Port 1 is the responder's.
            sessions_opened: 1,
            paths: HashMap::new(),
            schedule: Schedule::default(),
            conversations: HashMap::new(),
            senders: HashMap::new(),
            stocks: Stocks::default(),
            aggregators: Aggregators::default(),
            spike_threshold_ns: u64::MAX,
            time_scale_ns,
            settle_at: RawTime(i64::MIN),
        }
    }

    /// The next slot that is due. `allowed` is asked last whether a packet may leave.
    pub fn next_slot(
        &mut self,
        now: RawTime,
        backend_ns: i64,
        mut allowed: impl FnMut() -> bool,
    ) -> Option<Slot> {
        let find = |key: FlowKey| {
            self.paths
                .get(&key.path)?
                .slots
                .get(key.flow as usize)
                .copied()
        };
        let (key, slots, left_out) = self.schedule.pop(now, find)?;
        let path = self.paths.get_mut(&key.path)?;
        *path.slots.get_mut(key.flow as usize)? = slots;
        let (aggregator, peer) = (self.aggregators.0.get_mut(&key.path.0)?, path.peer);
        let Some(slot) = aggregator.take_slot(backend_ns) else {
            return Some(Slot {
                request: None,
                left_out,
            });
        };
        let deadline = now.plus(path.deadline_ns);
        let t1_deadline = path.t1_deadline(now);
        let pending = PendingRequest {
            at: now,
            deadline,
            hold_until: deadline.plus(slot.left_ns),
            t1_deadline: t1_deadline.unwrap_or(deadline),
            tag: Tag {
                key,
                flows: path.slots.len() as u8,
                slot,
            },
        };
        let exchanges = &mut self.conversations.get_mut(&peer)?.exchanges;
        let Some(sequence_id) = allowed().then(|| exchanges.open(pending)).flatten() else {
            aggregator.release_slot(&slot);
            return Some(Slot {
                request: None,
                left_out: left_out + 1,
            });
        };
        let message = Message {
            source: exchanges.requester(),
            sequence_id,
            correction: Correction(0),
            body: Body::CompactReq {
                soon: t1_deadline.is_some(),
            },
        };
        let request = Some(Request {
            to: peer,
            flow: key.flow,
            message,
        });
        Some(Slot { request, left_out })
    }

    /// A request could not be sent.
    pub fn refused(&mut self, id: &RequestId) {
        let tag = self
            .of(id)
            .and_then(|conversation| conversation.exchanges.withdraw(id.sequence_id));
        if let Some(tag) = tag {
            self.aggregators.release(&tag);
        }
    }

    /// A request has left; the stamp of its departure may come after the answer.
    pub fn departed(&mut self, id: &RequestId, t3: RawTime) -> Heard {
        let conversation = self.of(id);
        conversation.map_or_else(Heard::default, |c| c.departed(id.sequence_id, t3))
    }

    /// A message from anywhere.
    pub fn hear(&mut self, from: SocketAddr, message: &Message, arrival: Arrival) -> Heard {
        let Some(address) = self.sender(from) else {
            return Heard::default();
        };
        if self.stocks.has(&address) {
            return self.hear_stock(address, message, arrival);
        }
        let conversation = self.conversations.get_mut(&address);
        conversation.map_or_else(Heard::default, |c| c.hear(message, arrival))
    }

    /// A peer received a request at `at` by hardware clocks of both ends, which its stamp calls `wire_ns`.
    pub fn observe_hardware(&mut self, from: SocketAddr, at: RawTime, wire_ns: i64, error_ns: u64) {
        let address = self.sender(from);
        if let Some(conversation) = address.and_then(|at| self.conversations.get_mut(&at)) {
            let offset_ns = at.0.saturating_sub(wire_ns);
            conversation.clock.observe_hardware(at, offset_ns, error_ns);
        }
    }

    /// Settles what is due at `heard_until`, before which all packets must have been heard, and closes the windows that
    /// are over `now`, which is `backend_ns` in the backend's time.
    pub fn settle(&mut self, heard_until: RawTime, now: RawTime, backend_ns: i64) -> Settlement {
        let mut settlement = Settlement::default();
        let aggregators = &mut self.aggregators;
        if heard_until < self.settle_at
            && !aggregators
                .0
                .values()
                .any(|aggregator| aggregator.has_due_window(backend_ns))
        {
            return settlement;
        }
        self.settle_at = heard_until.plus(SETTLE_NS);
        for conversation in self.conversations.values_mut() {
            conversation.exchanges.settle(heard_until, |outcome| {
                settlement.lost += u64::from(!outcome.answered);
                aggregators.record(&outcome);
            });
        }
        let time_scale_ns = self.time_scale_ns;
        let ended = |end_s: i64| {
            let since_ns = backend_ns.saturating_sub(end_s.saturating_mul(1_000_000_000));
            Some(WindowEnd {
                at: now.plus(since_ns.saturating_neg()),
                time_scale_ns,
            })
        };
        settlement.windows = self.close(|aggregator| aggregator.close(backend_ns), ended);
        settlement
    }

    /// This machine has dropped packets unread: what is unanswered now is not counted.
    pub fn disregard_unanswered(&mut self, now: RawTime) {
        for conversation in self.conversations.values_mut() {
            conversation.end(now, &mut self.aggregators, |_| true);
        }
    }

    /// This machine was disrupted before `now`: what is known of the clocks holds for before. If it `moved`, nor are the
    /// routes what they were.
    pub fn disrupted(&mut self, moved: bool, now: RawTime) {
        self.disregard_unanswered(now);
        for conversation in self.conversations.values_mut() {
            if moved {
                conversation.clock.forget(now);
            } else {
                conversation.clock.restart(now);
            }
        }
    }

    /// Ends all exchanges and hands over every window as it stands.
    pub fn finish(&mut self, now: RawTime) -> Vec<MeshWindow> {
        self.disregard_unanswered(now);
        // Windows that are cut short have no end yet that clocks could be told at.
        self.close(WindowAggregator::close_all, |_| None)
    }

    /// When the next request is due.
    pub fn next_due(&self) -> Option<RawTime> {
        let stocks = self.stocks.next_due();
        self.schedule.next().into_iter().chain(stocks).min()
    }

    fn close(
        &mut self,
        mut close: impl FnMut(&mut WindowAggregator) -> Vec<Window>,
        ended: impl Fn(i64) -> Option<WindowEnd>,
    ) -> Vec<MeshWindow> {
        let mut summaries = Vec::new();
        for (&mesh_key, aggregator) in &mut self.aggregators.0 {
            for window in close(aggregator) {
                for vm_key in window.peers() {
                    if let Some(path) = self.paths.get(&(mesh_key, vm_key)) {
                        if let Some(conversation) = self.conversations.get_mut(&path.peer) {
                            conversation.clock.refresh();
                        }
                    }
                }
                let clock = |vm_key| {
                    let path = self.paths.get(&(mesh_key, vm_key))?;
                    self.conversations
                        .get(&path.peer)
                        .map(|conversation| &conversation.clock)
                };
                let ended = ended(window.ends_at_s());
                let mut summary = aggregator.summarise(window, clock, self.spike_threshold_ns);
                if let (Some(summary), Some(ended)) = (&mut summary, ended) {
                    append_clocks(summary, ended, clock);
                }
                summaries.extend(summary);
            }
        }
        summaries
    }

    fn of(&mut self, id: &RequestId) -> Option<&mut Conversation> {
        let conversation = self.conversations.get_mut(&id.to)?;
        (conversation.exchanges.requester() == id.source).then_some(conversation)
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
