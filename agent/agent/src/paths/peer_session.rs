//! The session with one peer: its open exchanges, its clock, and the windows that outcomes are recorded in.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;

use super::dating::{Dating, Place};
use super::exchange_tag::ExchangeTag;
use crate::clock::{Change, PeerClock, RawTime, Standstill, TimestampSource};
use crate::ptp::{Arrival, Body, ExchangeTable, Message, Outcome, PortIdentity, Verdict};
use crate::window::{Flow, WindowAggregator};

/// All exchanges with one address. Paths of several meshes and all flows share it, because they share the peer's clock.
/// They share its sequence ids too, so that a Follow_Up, which comes to the one general port, matches one exchange only.
pub(crate) struct PeerSession {
    pub exchanges: ExchangeTable<ExchangeTag>,
    pub clock: PeerClock,
    /// Tag of the peer's VM and this one; 0 is unknown.
    pub vm_tag: u64,
    /// Why its exchanges are neither measured nor lost, and when that was last seen.
    foreign: Option<(Foreign, RawTime)>,
    /// What of it was reported, and when.
    reported: Option<(Foreign, RawTime)>,
    /// Arrival of the newest answer of the peer itself, and of the newest that names its VM.
    answered_at: RawTime,
    named_at: RawTime,
}

/// An answer that is not the peer's, or not from its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Another VM answers at the peer's address.
    AnotherVm,
    /// The answers come from this address.
    Elsewhere(SocketAddr),
}

impl Foreign {
    /// Return the name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnotherVm => "another_vm",
            Self::Elsewhere(_) => "elsewhere",
        }
    }
}

/// Time for which a foreign answer explains what the peer does not answer, ns.
const FOREIGN_NS: i64 = 10_000_000_000;
/// Time after which it is reported again, ns.
const REPEAT_NS: i64 = 3_600_000_000_000;

/// The effect of a message or a departure on a session.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct SessionUpdate {
    /// `None` if the message is from no peer of this agent.
    pub verdict: Option<Verdict>,
    /// Exchanges that it completes: its own and earlier ones.
    pub completed: u64,
    /// A change of a clock or a route that it proves.
    pub change: Option<Change>,
    /// Start of the newest exchange, and what it shows about our own clock.
    pub standstill: Option<(RawTime, Standstill)>,
    /// The exchange that another VM has answered: it is neither measured nor lost.
    pub dropped: Option<ExchangeTag>,
}

impl SessionUpdate {
    /// Return the effect of two messages one after the other. The verdict is that of the one that was not merely taken.
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
            standstill: after.standstill.or(self.standstill),
            dropped: after.dropped.or(self.dropped),
        }
    }
}

impl PeerSession {
    pub fn new(requester: PortIdentity) -> Self {
        Self {
            exchanges: ExchangeTable::new(requester),
            clock: PeerClock::new(),
            vm_tag: 0,
            foreign: None,
            reported: None,
            answered_at: RawTime(i64::MIN),
            named_at: RawTime(i64::MIN),
        }
    }

    /// Return true if a foreign answer explains what the peer has not answered until `now`.
    pub fn is_foreign(&self, now: RawTime) -> bool {
        self.foreign
            .is_some_and(|(_, seen)| now.since(seen) < FOREIGN_NS)
    }

    /// Note an answer from another address than the peer's, unless the peer answers itself. Return true if it counts.
    pub fn note_elsewhere(&mut self, from: SocketAddr, now: RawTime) -> bool {
        let is_new = now.since(self.answered_at) > FOREIGN_NS;
        if is_new {
            self.foreign = Some((Foreign::Elsewhere(from), now));
        }
        is_new
    }

    /// Return what is foreign at `now`, unless it was returned within the last hour.
    pub fn take_foreign(&mut self, now: RawTime) -> Option<Foreign> {
        let (foreign, _) = self.foreign.filter(|_| self.is_foreign(now))?;
        let is_known = self
            .reported
            .is_some_and(|(before, at)| before == foreign && now.since(at) < REPEAT_NS);
        (!is_known).then(|| {
            self.reported = Some((foreign, now));
            foreign
        })
    }

    /// Record the departure of a request.
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

    /// Add a message of the peer to its exchange.
    pub fn receive(&mut self, message: &Message, arrival: Arrival) -> SessionUpdate {
        if self.is_of_another_vm(message, arrival.at) {
            let mut update = SessionUpdate {
                verdict: Some(Verdict::Unsolicited),
                ..SessionUpdate::default()
            };
            // Copies of what another VM has answered to others find the answer of the peer before them.
            if self.exchanges.is_unanswered(message.sequence_id) {
                self.foreign = Some((Foreign::AnotherVm, arrival.at));
                update.dropped = self.exchanges.withdraw(message.sequence_id);
            }
            return update;
        }
        let verdict = self.exchanges.receive(message, arrival);
        if self.exchanges.take_restarted() {
            self.clock.restart(arrival.at);
        }
        if matches!(verdict, Verdict::Taken | Verdict::Complete(..)) {
            self.answered_at = arrival.at;
            let is_named = message.vm().is_some_and(|vm| vm.tag != 0);
            self.named_at = if is_named { arrival.at } else { self.named_at };
            // A Sync of its own may not say which VM sent it.
            self.foreign = self.foreign.filter(|_| message.vm().is_none());
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

    /// Return true if a response to this agent names another VM than the peer's, or none while the peer itself does.
    fn is_of_another_vm(&self, message: &Message, now: RawTime) -> bool {
        if message.requester() != Some(self.exchanges.requester()) || self.vm_tag == 0 {
            return false;
        }
        match message.vm().map_or(0, |vm| vm.tag) {
            0 => {
                let is_known = self.exchanges.responder() == Some(message.source);
                !is_known && now.since(self.named_at) < FOREIGN_NS
            }
            tag => tag != self.vm_tag,
        }
    }

    /// End open exchanges. Those decided at `now` are recorded in their window.
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

    /// Add a complete exchange to the clock.
    fn observe(&mut self, verdict: Verdict, update: &mut SessionUpdate) {
        if let Verdict::Complete(outbound, inbound) = verdict {
            update.completed += 1;
            update.change = self.clock.observe(outbound, inbound).or(update.change);
            let standstill = self.clock.standstill();
            update.standstill = standstill
                .map(|standstill| (outbound.local, standstill))
                .or(update.standstill);
        }
    }
}

/// The windows of all meshes, and the dating of exchanges.
#[derive(Default)]
pub(crate) struct Aggregators {
    /// By mesh key. Meshes are never removed, so that a mesh that comes back reports no window twice. Measurements on demand
    /// do not come back.
    pub meshes: HashMap<u32, WindowAggregator>,
    pub dating: Dating,
}

impl Aggregators {
    /// Record the outcome of an exchange, or keep it until it is dated.
    pub fn record(&mut self, outcome: &Outcome<ExchangeTag>) {
        match self.dating.place(outcome) {
            Place::Window => self.file(outcome),
            Place::Waits => self.dating.keep(*outcome),
            Place::Nowhere => self.release(&outcome.tag),
        }
    }

    /// Record the outcomes that have waited and are dated now.
    pub fn record_dated(&mut self) {
        for outcome in self.dating.take_undated() {
            self.record(&outcome);
        }
    }

    /// Date outcomes that wait again if they started in `range`.
    pub fn date_again(&mut self, range: &Range<RawTime>) {
        for mut outcome in self.dating.take_undated() {
            if self.move_slot(&mut outcome.tag, range) {
                self.dating.keep(outcome);
            }
        }
    }

    /// Move an exchange that started in `range` into its window by the present backend time. Return false if that time was
    /// summarised before.
    pub fn move_slot(&mut self, tag: &mut ExchangeTag, range: &Range<RawTime>) -> bool {
        let backend_ns = self.dating.backend_ns(tag.at);
        let (true, Some(backend_ns)) = (range.contains(&tag.at), backend_ns) else {
            return true;
        };
        let Some(aggregator) = self.meshes.get_mut(&tag.key.path.0) else {
            return false;
        };
        aggregator.release_slot(&tag.slot);
        let slot = aggregator.take_slot(backend_ns);
        slot.is_some_and(|slot| {
            tag.slot = slot;
            true
        })
    }

    /// Release the slot of an exchange that never took place.
    pub fn release(&mut self, tag: &ExchangeTag) {
        if let Some(aggregator) = self.meshes.get_mut(&tag.key.path.0) {
            aggregator.release_slot(&tag.slot);
        }
    }

    fn file(&mut self, outcome: &Outcome<ExchangeTag>) {
        let ExchangeTag {
            key, flows, slot, ..
        } = outcome.tag;
        let (mesh_key, vm_key) = key.path;
        if let Some(aggregator) = self.meshes.get_mut(&mesh_key) {
            let flow = Flow {
                number: key.flow,
                of: flows,
            };
            aggregator.record(&slot, vm_key, flow, outcome);
        }
    }
}
