//! The paths of the plan with their schedule, and the sessions and windows that their exchanges belong to.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::dating::{Found, ShownBy};
use super::peer_session::{Aggregators, PeerSession};
use super::request::RequestId;
use super::schedule::{FlowKey, PathKey, Rhythm, Schedule, Slots};
use super::turns::Turns;
use crate::clock::RawTime;
use crate::plan::{MeshPlan, PathProbes, Plan, Protocol, Role, on_demand_key};
use crate::ptp::PortIdentity;
use crate::window::WindowAggregator;

/// Time to read the response to the next request, ns, beyond the round trip. That response carries t1 of this one ...
const READ_NS: i64 = 250_000_000;
/// ... if no window waits longer for it than this beyond the deadline of its exchanges, ns.
const LONGER_NS: i64 = 300_000_000;

/// A path that this agent measures.
pub(crate) struct Path {
    pub peer: SocketAddr,
    /// One for each source port.
    pub slots: Vec<Slots>,
    pub deadline_ns: i64,
    pub turns: Turns,
    pub probes: PathProbes,
}

impl Path {
    /// Return true if its slots are those that a plan asks for.
    fn keeps(&self, mesh: &MeshPlan, flows: u8) -> bool {
        self.slots.len() == usize::from(flows)
            && self.slots.iter().all(|slots| slots.are_of(rhythm_of(mesh)))
    }

    /// Return the time by which the response to its next request has reported t1 of a request that leaves `now`, which is
    /// `backend_ns` in the backend's time; `None` if that is too late to wait for.
    pub fn t1_deadline(&self, now: RawTime, backend_ns: i64) -> Option<RawTime> {
        // A slot may not be used, because the turn of the path is over by then.
        let is_turn = |next: &RawTime| {
            let next_ns = backend_ns.saturating_add(next.since(now) + self.turns.late_ns());
            self.turns.wait_ns(next_ns) == 0
        };
        let next = self.slots.iter().map(Slots::next).filter(is_turn).min()?;
        let t1_deadline = next.max(now).plus(READ_NS);
        (t1_deadline <= now.plus(self.deadline_ns + LONGER_NS)).then_some(t1_deadline)
    }
}

/// Return the rhythm of the requests of a mesh.
fn rhythm_of(mesh: &MeshPlan) -> Rhythm {
    Rhythm::of(mesh.rate_hz, mesh.probes.reordering)
}

/// The paths that this agent measures, and everything their exchanges share.
pub(crate) struct PathTable {
    /// Clock identity of this process.
    clock_identity: u64,
    sessions_opened: u16,
    pub paths: HashMap<PathKey, Path>,
    pub schedule: Schedule,
    /// By the peer's event address.
    pub sessions: HashMap<SocketAddr, PeerSession>,
    /// Event address of the peer behind each of its two addresses.
    addresses: HashMap<SocketAddr, SocketAddr>,
    pub aggregators: Aggregators,
}

impl PathTable {
    /// Create an empty table. `clock_identity` should differ between processes.
    pub fn new(clock_identity: u64) -> Self {
        Self {
            clock_identity,
            // Port 1 is the responder's. SPTP servers answer to the port of a request if its identity has a number above 10.
            sessions_opened: 10,
            paths: HashMap::new(),
            schedule: Schedule::default(),
            sessions: HashMap::new(),
            addresses: HashMap::new(),
            aggregators: Aggregators::default(),
        }
    }

    /// Follow a new plan with at most `most_flows` source ports per path. Unchanged paths keep their slots, open
    /// exchanges and clocks.
    pub fn follow(&mut self, plan: &Plan, most_flows: u8, now: RawTime) {
        let mut before = std::mem::take(&mut self.paths);
        self.addresses.clear();
        for mesh in &plan.meshes {
            let aggregator = self.aggregators.meshes.entry(mesh.key);
            aggregator
                .or_insert_with(|| WindowAggregator::new(mesh.key, mesh.window_s))
                .follow(mesh.window_s, mesh.probes.reordering);
            for peer in mesh.peers.iter().filter(|peer| peer.role == Role::Client) {
                let key = (mesh.key, peer.vm_key);
                let address = peer.event_address();
                self.addresses.insert(address, address);
                self.addresses.insert(peer.general_address(), address);
                let flows = match peer.protocol {
                    Protocol::Compact => most_flows.min(peer.flows.try_into().unwrap_or(u8::MAX)),
                    // The Syncs of the peer start exchanges, or the client of standard responders does, not slots.
                    Protocol::Ieee1588 | Protocol::Sptp => 0,
                };
                let kept = before.get(&key).filter(|path| path.keeps(mesh, flows));
                let slots = kept.map(|path| path.slots.clone());
                let slots = slots.unwrap_or_else(|| {
                    let rhythm = rhythm_of(mesh);
                    let add = |flow| {
                        let key = FlowKey { path: key, flow };
                        if mesh.span_ns.is_some() {
                            return self
                                .schedule
                                .add_steady(key, flows, plan.vm_key, rhythm, now);
                        }
                        self.schedule.add(key, flows, plan.vm_key, rhythm, now)
                    };
                    (0..flows).map(add).collect()
                });
                let deadline_ns = i64::from(mesh.loss_deadline_ms) * 1_000_000;
                self.paths.insert(
                    key,
                    Path {
                        peer: address,
                        slots,
                        deadline_ns,
                        turns: Turns::of(mesh, peer),
                        probes: mesh.probes,
                    },
                );
                if before.get(&key).is_some_and(|path| path.peer == address) {
                    before.remove(&key);
                }
            }
        }
        self.close(&before, now);
        let mut tags = HashMap::new();
        self.aggregators.meshes.retain(|&key, aggregator| {
            on_demand_key(key).is_none()
                || aggregator.has_open_windows()
                || plan.meshes.iter().any(|mesh| mesh.key == key)
        });
        for mesh in &plan.meshes {
            for peer in &mesh.peers {
                tags.insert(peer.event_address(), peer.vm_tag);
            }
        }
        for path in self.paths.values() {
            let (identity, opened) = (self.clock_identity, &mut self.sessions_opened);
            let session = self.sessions.entry(path.peer).or_insert_with(|| {
                *opened = opened.wrapping_add(1);
                PeerSession::new(PortIdentity {
                    clock: identity,
                    port: *opened,
                })
            });
            session.vm_tag = tags.get(&path.peer).copied().unwrap_or(0);
        }
    }

    /// Return the event address of the peer that sends from `from`.
    pub fn event_address(&self, from: SocketAddr) -> Option<SocketAddr> {
        self.addresses.get(&from).copied()
    }

    /// Return the session that a request belongs to, if it is still the one that sent it.
    pub fn session_of(&mut self, id: &RequestId) -> Option<&mut PeerSession> {
        let session = self.sessions.get_mut(&id.to)?;
        (session.exchanges.requester() == id.source).then_some(session)
    }

    /// Date the exchanges again that started after a standstill of our clock.
    pub fn date_again(&mut self, found: &Found) {
        let range = found.from..RawTime(i64::MAX);
        let aggregators = &mut self.aggregators;
        for session in self.sessions.values_mut() {
            let exchanges = &mut session.exchanges;
            exchanges.retain_open(|tag| aggregators.move_slot(tag, &range));
        }
        aggregators.date_again(&range);
    }

    /// Take a standstill of our clock into account in the clocks of the peers: their next exchanges are as expected.
    pub fn account_standstill(&mut self, found: &Found) {
        // A suspension ends their epochs.
        let is_suspension = found.shown_by == ShownBy::Suspension;
        for session in self.sessions.values_mut().filter(|_| !is_suspension) {
            session.clock.account_standstill(found.from, found.for_ns);
        }
    }

    /// End the exchanges of paths that are gone or lead to another address now.
    fn close(&mut self, gone: &HashMap<PathKey, Path>, now: RawTime) {
        for (&(mesh_key, vm_key), path) in gone {
            let Some(session) = self.sessions.get_mut(&path.peer) else {
                continue;
            };
            // The clock of the new address must not resolve the delays of the old one.
            session.end(now, &mut self.aggregators, |tag| {
                tag.key.path == (mesh_key, vm_key)
            });
            session.clock.refresh();
            if let Some(aggregator) = self.aggregators.meshes.get_mut(&mesh_key) {
                aggregator.resolve_delays(vm_key, &session.clock);
            }
            if self.addresses.get(&path.peer) != Some(&path.peer) {
                self.sessions.remove(&path.peer);
            }
        }
    }
}
