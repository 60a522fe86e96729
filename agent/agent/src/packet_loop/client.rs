//! The measuring side: requests to peers, their responses, and the windows that outcomes are recorded in.

use std::net::SocketAddr;

use sinemora_wire::MeshWindow;

use crate::clock::{RawTime, TimestampSource};
use crate::paths::dating::{ClockWish, Found};
use crate::paths::exchange_tag::ExchangeTag;
use crate::paths::path_table::PathTable;
use crate::paths::peer_session::{Foreign, SessionUpdate};
use crate::paths::request::{Request, RequestId};
use crate::paths::schedule::{FlowKey, PathKey};
use crate::plan::{BackendTime, Plan, on_demand_key};
use crate::ptp::{
    Arrival, Body, Correction, EcnField, Message, PendingRequest, PortIdentity, Tlvs,
};
use crate::standard_clients::standard_client::{Action, Signal, StandardClient, WithoutService};
use crate::window::{OnDemandWindow, Window, WindowAggregator, WindowEnd, append_offsets};

/// Time between settlements of exchanges, ns, if no ended window waits for one: visiting each session costs more than
/// most visits find.
const SETTLE_NS: i64 = 1_000_000_000;

/// Time between two comparisons of unexpected answers with the peers, ns.
const COMPARE_NS: i64 = 1_000_000_000;

/// The exchanges of this agent with all its peers.
pub(super) struct Client {
    pub table: PathTable,
    standard: StandardClient,
    spike_threshold_ns: u64,
    /// Offset of the wire's time scale from the raw clock.
    time_scale_ns: i64,
    /// Latest time of the next settlement.
    settle_at: RawTime,
    /// Some answers were not the peers', or not from their addresses.
    has_foreign: bool,
    /// When an answer from an address that no plan holds was last compared with the peers.
    compared_at: RawTime,
}

/// A due slot of a flow.
#[derive(Default)]
pub(super) struct Slot {
    /// `None` if the slot must be left out, or is not the turn of its path.
    pub request: Option<Request>,
    /// Slots left out, because the loop woke too late or no packet may leave.
    pub left_out: u64,
}

/// The result of a settlement.
#[derive(Debug, Default)]
pub(super) struct Settlement {
    pub lost: u64,
    pub closed: ClosedWindows,
    /// A standstill of our clock that only the peers' clocks show.
    pub stood_still: Option<Found>,
    /// A standstill that the backend has corrected, and that an exchange proves now.
    pub confirmed: Option<Found>,
}

/// Windows that are over.
#[derive(Debug, Default)]
pub(super) struct ClosedWindows {
    pub meshes: Vec<MeshWindow>,
    /// Of measurements on demand, without their source ports.
    pub on_demand: Vec<OnDemandWindow>,
}

impl Client {
    /// Create a client without paths. `clock_identity` should differ between processes; `time_scale_ns` is the offset of
    /// the wire's time scale from the raw clock.
    pub fn new(clock_identity: u64, time_scale_ns: i64) -> Self {
        Self {
            table: PathTable::new(clock_identity),
            standard: StandardClient::default(),
            spike_threshold_ns: u64::MAX,
            time_scale_ns,
            settle_at: RawTime(i64::MIN),
            has_foreign: false,
            compared_at: RawTime(i64::MIN),
        }
    }

    /// Follow a new plan with at most `most_flows` source ports per path.
    pub fn follow(&mut self, plan: &Plan, most_flows: u8, now: RawTime) {
        self.spike_threshold_ns = plan.spike_threshold_ns;
        self.table.follow(plan, most_flows, now);
        self.standard.follow(plan, &self.table, now);
    }

    /// Return the next slot that is due. Call `allowed` last, to ask whether a packet may leave.
    pub fn next_slot(
        &mut self,
        now: RawTime,
        backend_ns: i64,
        mut allowed: impl FnMut() -> bool,
    ) -> Option<Slot> {
        let table = &mut self.table;
        let find = |key: FlowKey| {
            table
                .paths
                .get(&key.path)?
                .slots
                .get(key.flow as usize)
                .copied()
        };
        let (key, mut slots, left_out) = table.schedule.pop(now, find)?;
        let path = table.paths.get_mut(&key.path)?;
        let wait_ns = path.turns.wait_ns(backend_ns);
        // The slot after this one may be in a window that is another path's turn. It is postponed at once, so that this
        // request does not announce another one soon.
        let next_ns = backend_ns.saturating_add(slots.next().since(now));
        let next_wait_ns = path.turns.wait_ns(next_ns);
        if next_wait_ns > 0 {
            slots.postpone(next_wait_ns);
            table.schedule.push(key, &slots);
        }
        *path.slots.get_mut(key.flow as usize)? = slots;
        if wait_ns > 0 {
            return Some(Slot::default());
        }
        let asks_ecn = path.probes.ecn;
        let (aggregator, peer) = (table.aggregators.meshes.get_mut(&key.path.0)?, path.peer);
        let Some(slot) = aggregator.take_slot(backend_ns) else {
            return Some(Slot {
                request: None,
                left_out,
            });
        };
        let deadline = now.plus(path.deadline_ns);
        let t1_deadline = path.t1_deadline(now, backend_ns);
        let pending = PendingRequest {
            at: now,
            deadline,
            hold_until: deadline.plus(slot.left_ns),
            t1_deadline: t1_deadline.unwrap_or(deadline),
            tag: ExchangeTag {
                key,
                flows: path.slots.len() as u8,
                at: now,
                slot,
            },
        };
        let exchanges = &mut table.sessions.get_mut(&peer)?.exchanges;
        let Some(sequence_id) = allowed().then(|| exchanges.open(pending)).flatten() else {
            aggregator.release_slot(&slot);
            return Some(Slot {
                request: None,
                left_out: left_out + 1,
            });
        };
        let message = Message {
            domain: 0,
            source: exchanges.requester(),
            sequence_id,
            correction: Correction(0),
            body: Body::CompactReq {
                soon: t1_deadline.is_some(),
                receipt: Some(exchanges.receipt()),
                ecn: asks_ecn.then_some(EcnField::ECT0),
            },
        };
        let request = Some(Request {
            to: peer,
            flow: key.flow,
            message,
        });
        Some(Slot { request, left_out })
    }

    /// Withdraw a request that could not be sent.
    pub fn withdraw_request(&mut self, id: &RequestId) {
        let session = self.table.session_of(id);
        let tag = session.and_then(|session| session.exchanges.withdraw(id.sequence_id));
        if let Some(tag) = tag {
            self.table.aggregators.release(&tag);
        }
    }

    /// Record the departure of a request. Its timestamp may come after the response.
    pub fn record_departure(
        &mut self,
        id: &RequestId,
        t3: RawTime,
        source: TimestampSource,
    ) -> SessionUpdate {
        let session = self.table.session_of(id);
        let update = session.map_or_else(SessionUpdate::default, |s| {
            s.record_departure(id.sequence_id, t3, source)
        });
        self.note_standstill(id.to, &update);
        update
    }

    /// Add a message from any address to the session it belongs to.
    pub fn receive(
        &mut self,
        from: SocketAddr,
        message: &Message,
        arrival: Arrival,
    ) -> SessionUpdate {
        let Some(address) = self.event_address(from) else {
            self.note_elsewhere(from, message, arrival.at);
            return SessionUpdate::default();
        };
        let update = if self.standard.has(&address) {
            let table = &mut self.table;
            self.standard.receive(table, address, message, arrival)
        } else {
            let session = self.table.sessions.get_mut(&address);
            session.map_or_else(SessionUpdate::default, |s| s.receive(message, arrival))
        };
        if let Some(tag) = &update.dropped {
            self.table.aggregators.release(tag);
        }
        self.has_foreign |= update.dropped.is_some();
        self.note_standstill(address, &update);
        update
    }

    /// Note an answer of a peer from an address that no plan holds, if it can only be of one peer.
    fn note_elsewhere(&mut self, from: SocketAddr, message: &Message, now: RawTime) {
        let is_answer = message.requester().is_some() || matches!(message.body, Body::Sync { .. });
        // Anyone can send such a packet, so that looking for its peer must not cost much.
        if !is_answer || now.since(self.compared_at) < COMPARE_NS {
            return;
        }
        self.compared_at = now;
        let sessions = self.table.sessions.iter_mut();
        let mut fitting = sessions.filter(|(address, session)| match message.requester() {
            Some(requester) => session.exchanges.requester() == requester,
            None => address.ip() == from.ip(),
        });
        if let (Some((_, session)), None) = (fitting.next(), fitting.next()) {
            self.has_foreign |= session.note_elsewhere(from, now);
        }
    }

    /// Return a path whose answers are not the peer's, or not from its address, unless it was returned within the last hour.
    pub fn new_foreign(&mut self, now: RawTime) -> Option<(PathKey, SocketAddr, Foreign)> {
        if !self.has_foreign {
            return None;
        }
        let table = &mut self.table;
        for (address, session) in &mut table.sessions {
            let mut paths = table.paths.iter();
            let Some((key, _)) = paths.find(|(_, path)| path.peer == *address) else {
                continue;
            };
            if let Some(foreign) = session.take_foreign(now) {
                return Some((*key, *address, foreign));
            }
        }
        self.has_foreign = false;
        None
    }

    /// Take the TLVs of a unicast negotiation. Return true if they come from a responder that this agent measures.
    pub fn receive_tlvs(
        &mut self,
        from: SocketAddr,
        signal: (u8, PortIdentity, PortIdentity, &Tlvs),
        now: RawTime,
    ) -> bool {
        let address = self.event_address(from);
        address.is_some_and(|address| self.standard.receive_tlvs(address, signal, now))
    }

    /// Return what is to be sent to standard responders at `now`, which is `backend_ns` in the backend's time, and the
    /// updates of their sessions. Call `allowed` to ask whether a packet may leave.
    pub fn standard_actions(
        &mut self,
        now: RawTime,
        backend_ns: i64,
        allowed: impl FnMut() -> bool,
    ) -> Vec<Action> {
        let table = &mut self.table;
        let actions = self.standard.actions(table, now, backend_ns, allowed);
        for action in &actions {
            if let Action::Update(address, update) = action {
                self.note_standstill(*address, update);
            }
        }
        actions
    }

    /// Return the cancellations that standard responders get before this agent stops.
    pub fn cancellations(&self) -> Vec<Signal> {
        self.standard.cancellations()
    }

    /// Record that a message from `from` was authenticated, which this agent does not support. Return true for a peer.
    pub fn authenticated(&mut self, from: SocketAddr) -> bool {
        let address = self.event_address(from);
        address.is_some_and(|address| {
            self.standard.authenticated(address);
            true
        })
    }

    /// Return a standard responder that has no service for this agent and was not returned within the last hour for the
    /// same reason. `standard_ports`: this agent listens where standard responders send to.
    pub fn new_without_service(
        &mut self,
        standard_ports: bool,
        now: RawTime,
    ) -> Option<WithoutService> {
        self.standard.new_without_service(standard_ports, now)
    }

    /// Record that a peer received a request at `at`, by hardware clocks of both ends; its timestamp is `wire_ns`.
    pub fn observe_hardware(&mut self, from: SocketAddr, at: RawTime, wire_ns: i64, error_ns: u64) {
        let address = self.event_address(from);
        if let Some(session) = address.and_then(|at| self.table.sessions.get_mut(&at)) {
            let offset_ns = at.0.saturating_sub(wire_ns);
            session.clock.observe_hardware(at, offset_ns, error_ns);
        }
    }

    /// Settle exchanges that are due at `polled_until`, and close the windows that have ended `now`, which is `backend_ns` in
    /// the backend's time. All packets that arrived before `polled_until` must have been received.
    pub fn settle(&mut self, polled_until: RawTime, now: RawTime, backend_ns: i64) -> Settlement {
        let mut settlement = Settlement::default();
        if polled_until < self.settle_at && !self.has_due_window(backend_ns) {
            return settlement;
        }
        self.settle_at = polled_until.plus(SETTLE_NS);
        let aggregators = &mut self.table.aggregators;
        for session in self.table.sessions.values_mut() {
            let is_foreign = session.is_foreign(polled_until);
            session.exchanges.settle(polled_until, |outcome| {
                if is_foreign {
                    // Nothing says whether the peer was reached.
                    return aggregators.release(&outcome.tag);
                }
                settlement.lost += u64::from(!outcome.answered);
                aggregators.record(&outcome);
            });
        }
        aggregators.record_dated();
        settlement.confirmed = aggregators.dating.take_confirmed();
        settlement.stood_still = aggregators.dating.wait(now);
        if let Some(found) = &settlement.stood_still {
            self.table.account_standstill(found);
            self.table.date_again(found);
        }
        self.table.aggregators.record_dated();
        let time_scale_ns = self.time_scale_ns;
        let end = |end_s: i64| {
            let since_ns = backend_ns.saturating_sub(end_s.saturating_mul(1_000_000_000));
            Some(WindowEnd {
                at: now.plus(since_ns.saturating_neg()),
                time_scale_ns,
            })
        };
        settlement.closed = self.close(|aggregator| aggregator.close(backend_ns), end);
        settlement
    }

    /// Follow the backend's time, read at `now`. Return the standstill of our clock that was found with it.
    pub fn follow_time(&mut self, time: BackendTime, now: RawTime) -> Option<Found> {
        let found = self.table.aggregators.dating.follow(time, now)?;
        self.table.account_standstill(&found);
        self.table.date_again(&found);
        Some(found)
    }

    /// Note what an update of a session shows about our own clock.
    fn note_standstill(&mut self, peer: SocketAddr, update: &SessionUpdate) {
        if let Some((start, shows)) = update.standstill {
            let dating = &mut self.table.aggregators.dating;
            if let Some(found) = dating.note(peer, start, shows) {
                self.table.date_again(&found);
            }
        }
    }

    /// Take the wishes to the clock of windows.
    pub fn take_clock_wishes(&mut self) -> Vec<ClockWish> {
        self.table.aggregators.dating.take_wishes()
    }

    /// Return true if a window is over at `backend_ns` and waits for exchanges.
    pub fn has_due_window(&self, backend_ns: i64) -> bool {
        let mut aggregators = self.table.aggregators.meshes.values();
        aggregators.any(|aggregator| aggregator.has_due_window(backend_ns))
    }

    /// Drop the unanswered exchanges, because this machine has dropped packets unread.
    pub fn drop_unanswered(&mut self, now: RawTime) {
        for session in self.table.sessions.values_mut() {
            session.end(now, &mut self.table.aggregators, |_| true);
        }
    }

    /// End the epoch of every peer's clock, because this machine was disrupted before `now`. If it has `moved`, also
    /// forgets the routes.
    pub fn disrupted(&mut self, moved: bool, now: RawTime) {
        self.table.aggregators.dating.disrupted(now);
        self.drop_unanswered(now);
        for session in self.table.sessions.values_mut() {
            if moved {
                session.clock.reset(now);
            } else {
                session.clock.restart(now);
            }
        }
    }

    /// End all exchanges and return every window as it is.
    pub fn finish(&mut self, now: RawTime) -> ClosedWindows {
        self.drop_unanswered(now);
        self.table.aggregators.dating.end();
        self.table.aggregators.record_dated();
        // Windows that are cut short have no end at which clocks could be compared.
        self.close(WindowAggregator::close_all, |_| None)
    }

    /// Return when the next request is due.
    pub fn next_due(&self) -> Option<RawTime> {
        let standard = self.standard.next_due();
        self.table.schedule.next().into_iter().chain(standard).min()
    }

    /// Return the event address of the peer that sends from `from`.
    fn event_address(&self, from: SocketAddr) -> Option<SocketAddr> {
        let address = self.table.event_address(from);
        address.or_else(|| self.standard.at(from.ip()))
    }

    /// Close windows and summarise them with the clocks of their peers.
    fn close(
        &mut self,
        mut close: impl FnMut(&mut WindowAggregator) -> Vec<Window>,
        end: impl Fn(i64) -> Option<WindowEnd>,
    ) -> ClosedWindows {
        let mut closed = ClosedWindows::default();
        let (paths, sessions) = (&self.table.paths, &mut self.table.sessions);
        for (&mesh_key, aggregator) in &mut self.table.aggregators.meshes {
            for mut window in close(aggregator) {
                for vm_key in window.peers() {
                    if let Some(path) = paths.get(&(mesh_key, vm_key)) {
                        if let Some(session) = sessions.get_mut(&path.peer) {
                            session.clock.refresh();
                        }
                    }
                }
                let clock = |vm_key| {
                    let path = paths.get(&(mesh_key, vm_key))?;
                    sessions.get(&path.peer).map(|session| &session.clock)
                };
                if let Some(key) = on_demand_key(mesh_key) {
                    let peer_key = window.peers().next();
                    let of_peer = peer_key.map(|peer_key| OnDemandWindow {
                        key,
                        started_at_s: window.started_at_s(),
                        ports: Vec::new(),
                        exchanges: window.exchanges_with(peer_key, clock(peer_key)),
                    });
                    closed.on_demand.extend(of_peer);
                    continue;
                }
                let end = end(window.ends_at_s());
                let mut summary = aggregator.summarise(window, clock, self.spike_threshold_ns);
                if let (Some(summary), Some(end)) = (&mut summary, end) {
                    append_offsets(summary, end, clock);
                }
                closed.meshes.extend(summary);
            }
        }
        closed
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
pub(super) mod tests;

#[cfg(test)]
#[path = "standstill_tests.rs"]
mod standstill_tests;
