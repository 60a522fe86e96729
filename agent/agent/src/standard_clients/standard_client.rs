//! The client of standard IEEE 1588 responders: unicast negotiation (16.1) and exchanges that their Syncs start.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::search::{LAST_DOMAIN, Search};
use super::sptp_session::PROBE_ID;
use super::standard_peer::StandardPeer;
use crate::clock::{Change, RawTime};
use crate::paths::exchange_tag::ExchangeTag;
use crate::paths::path_table::PathTable;
use crate::paths::peer_session::SessionUpdate;
use crate::paths::request::Request;
use crate::paths::schedule::{FlowKey, PathKey};
use crate::plan::{Plan, Protocol, Role};
use crate::ptp::{
    Arrival, Body, Correction, MAX_LEN, Message, NoService, PendingRequest, PortIdentity, Service,
    Tlv, Tlvs, Verdict,
};

/// Time after which a responder that still has no service is reported again, ns.
const REPEAT_NS: i64 = 3_600_000_000_000;

/// Standard responders by their event address, and what waits for the next turn.
#[derive(Default)]
pub(crate) struct StandardClient {
    peers: HashMap<SocketAddr, StandardPeer>,
    /// Syncs and Follow_Ups received since the last turn.
    received: Vec<(SocketAddr, Message, Arrival)>,
    signals: Vec<Signal>,
}

/// A Signaling message that is about to leave.
pub(crate) struct Signal {
    pub to: SocketAddr,
    pub message: Message,
}

/// A standard responder that has no service for this agent.
pub(crate) struct WithoutService {
    pub path: PathKey,
    pub at: SocketAddr,
    pub reason: NoService,
    /// The domain of the plan.
    pub domain: u8,
    /// It is to be measured by SPTP.
    pub is_sptp: bool,
}

/// A message to send, or the update of a session.
pub(crate) enum Action {
    Request(Request),
    /// A request that belongs to no exchange.
    Probe(SocketAddr, Message),
    Signal(Signal),
    Update(SocketAddr, SessionUpdate),
}

impl Signal {
    fn new(peer: &StandardPeer, tlvs: Tlvs) -> Self {
        Self {
            to: peer.general,
            message: Message {
                domain: peer.domain,
                source: peer.requester,
                sequence_id: 0,
                correction: Correction(0),
                body: Body::Signaling {
                    target: peer.responder,
                    tlvs,
                },
            },
        }
    }
}

impl StandardClient {
    /// Return true if a standard responder has that event address.
    pub fn has(&self, address: &SocketAddr) -> bool {
        self.peers.contains_key(address)
    }

    fn is_idle(&self) -> bool {
        self.peers.is_empty() && self.signals.is_empty() && self.received.is_empty()
    }

    /// Return the standard responder at an IP address, whatever port it sends from: ptp4u uses ephemeral ones. `None` if
    /// there are several.
    pub fn at(&self, ip: IpAddr) -> Option<SocketAddr> {
        let mut here = self.peers.keys().filter(|address| address.ip() == ip);
        here.next().filter(|_| here.next().is_none()).copied()
    }

    /// Return when the next request is due.
    pub fn next_due(&self) -> Option<RawTime> {
        self.peers.values().map(StandardPeer::due).min()
    }

    /// Return a standard responder that grants no service at `now` and was not returned within the last hour for the same
    /// reason. Searches for the reason of a silence.
    pub fn new_without_service(
        &mut self,
        standard_ports: bool,
        now: RawTime,
    ) -> Option<WithoutService> {
        for (address, peer) in &mut self.peers {
            if peer.must_search(standard_ports, now) {
                self.signals.extend(search(*address, peer, now));
            }
        }
        self.peers.iter_mut().find_map(|(address, peer)| {
            let reason = peer.reason(standard_ports, now);
            let known = peer
                .no_service
                .filter(|(before, at)| Some(*before) == reason && now.since(*at) < REPEAT_NS);
            if known.is_some() {
                return None;
            }
            if let Some((_, at)) = peer.no_service {
                // What was silent an hour ago may have another reason today.
                if now.since(at) >= REPEAT_NS {
                    (peer.search, peer.other_domain) = (None, None);
                }
            }
            peer.no_service = reason.map(|reason| (reason, now));
            Some(WithoutService {
                path: peer.path,
                at: *address,
                reason: reason?,
                domain: peer.domain,
                is_sptp: peer.sptp.is_some(),
            })
        })
    }

    /// Record that a standard responder authenticates its messages.
    pub fn authenticated(&mut self, address: SocketAddr) {
        if let Some(peer) = self.peers.get_mut(&address) {
            peer.authenticates = true;
        }
    }

    /// Follow a new plan that `table` already follows. Of several meshes with one responder the first measures it: its
    /// Syncs do not show which request they belong to.
    pub fn follow(&mut self, plan: &Plan, table: &PathTable, now: RawTime) {
        let mut before = std::mem::take(&mut self.peers);
        for mesh in &plan.meshes {
            for peer in &mesh.peers {
                let (key, address) = ((mesh.key, peer.vm_key), peer.event_address());
                if peer.role != Role::Client || peer.protocol == Protocol::Compact {
                    continue;
                }
                let Some(session) = table.sessions.get(&address) else {
                    continue;
                };
                let deadline_ns = i64::from(mesh.loss_deadline_ms) * 1_000_000;
                let requester = session.exchanges.requester();
                let kept = before
                    .remove(&address)
                    .filter(|kept| kept.path == key && kept.requester == requester)
                    .filter(|kept| kept.domain == peer.domain)
                    .filter(|kept| kept.sptp.is_some() == (peer.protocol == Protocol::Sptp));
                let mut standard = kept.unwrap_or_else(|| {
                    let general = peer.general_address();
                    let settings = (peer.protocol, peer.domain, mesh.rate_hz);
                    StandardPeer::new(key, requester, general, settings, now)
                });
                standard.follow(deadline_ns, mesh.rate_hz, now);
                self.peers.entry(address).or_insert(standard);
            }
        }
        self.signals
            .extend(before.values().filter_map(cancellation));
    }

    /// Take a message of a standard responder.
    pub fn receive(
        &mut self,
        table: &mut PathTable,
        address: SocketAddr,
        message: &Message,
        arrival: Arrival,
    ) -> SessionUpdate {
        let peer = self.peers.get_mut(&address);
        let (Some(peer), Some(session)) = (peer, table.sessions.get_mut(&address)) else {
            return SessionUpdate::default();
        };
        if message.domain != peer.domain {
            // An SPTP server answers in its own domain, whatever that of the request.
            if peer.sptp.is_some() && matches!(message.body, Body::Sync { .. }) {
                peer.other_domain = Some(message.domain);
            }
            return SessionUpdate::default();
        }
        if !peer.accept(message.source, false, arrival.at) {
            return SessionUpdate::default();
        }
        if let Some(sptp) = &mut peer.sptp {
            let is_probe = message.sequence_id == PROBE_ID && !session.exchanges.is_open(PROBE_ID);
            return match message.body {
                Body::Sync { .. } | Body::Announce { .. } => {
                    let parts = sptp.receive(message);
                    let mut update = SessionUpdate {
                        verdict: Some(Verdict::Taken),
                        ..SessionUpdate::default()
                    };
                    let parts = parts.iter().filter(|_| !is_probe);
                    parts.for_each(|part| update = update.and(session.receive(part, arrival)));
                    update
                }
                _ => session.receive(message, arrival),
            };
        }
        match message.body {
            Body::Announce { utc_offset_s, .. } => {
                if peer.unicast.receive_announce(utc_offset_s) {
                    // Of an exchange under way, one time would be read by each of the two offsets.
                    peer.scale_since = arrival.at;
                    session.end(arrival.at, &mut table.aggregators, |_| true);
                    session.clock.restart(arrival.at);
                    return SessionUpdate {
                        verdict: Some(Verdict::Taken),
                        change: Some(Change::TimeScale),
                        ..SessionUpdate::default()
                    };
                }
            }
            Body::Sync { .. } | Body::FollowUp { .. } => {
                self.received.push((address, *message, arrival));
            }
            _ => return session.receive(&peer.in_utc(message), arrival),
        }
        SessionUpdate {
            verdict: Some(Verdict::Taken),
            ..SessionUpdate::default()
        }
    }

    /// Take the TLVs of a unicast negotiation from a port identity. Return true if they come from a standard responder.
    pub fn receive_tlvs(
        &mut self,
        address: SocketAddr,
        (domain, source, target, tlvs): (u8, PortIdentity, PortIdentity, &Tlvs),
        now: RawTime,
    ) -> bool {
        let Some(peer) = self.peers.get_mut(&address) else {
            return false;
        };
        if domain != peer.domain {
            if tlvs.iter().any(|tlv| matches!(tlv, Tlv::Grant { .. })) {
                peer.other_domain = Some(domain);
            }
            return true;
        }
        if target != peer.requester || !peer.accept(source, true, now) {
            return true;
        }
        let cancelled = tlvs.iter().filter(|tlv| peer.unicast.receive(*tlv, now));
        let acknowledged: Tlvs = cancelled
            .filter_map(|tlv| match tlv {
                Tlv::Cancel { service } => Some(Tlv::Acknowledge { service }),
                _ => None,
            })
            .collect();
        if !acknowledged.is_empty() {
            let signal = Signal::new(peer, acknowledged);
            self.signals.push(signal);
        }
        true
    }

    /// Return what is due at `now`, which is `backend_ns` in the backend's time. Call `allowed` to ask whether a packet
    /// may leave.
    pub fn actions(
        &mut self,
        table: &mut PathTable,
        now: RawTime,
        backend_ns: i64,
        mut allowed: impl FnMut() -> bool,
    ) -> Vec<Action> {
        if self.is_idle() {
            return Vec::new();
        }
        let mut turn = Turn {
            table,
            now,
            backend_ns,
            actions: self.signals.drain(..).map(Action::Signal).collect(),
        };
        let received = std::mem::take(&mut self.received);
        let (syncs, follow_ups): (Vec<_>, Vec<_>) = received
            .into_iter()
            .partition(|(_, message, _)| matches!(message.body, Body::Sync { .. }));
        for (address, sync, arrival) in syncs {
            let peer = self.peers.get_mut(&address);
            if let Some(peer) = peer.filter(|peer| arrival.at > peer.scale_since) {
                turn.start(address, peer, Some((sync, arrival)), &mut allowed);
            }
        }
        for (address, message, arrival) in follow_ups {
            if let Some(peer) = self.peers.get_mut(&address) {
                match peer.exchange(message.sequence_id) {
                    Some(exchange) => turn.add(address, peer, exchange, &message, arrival),
                    None => peer.keep_early(message, arrival),
                }
            }
        }
        let peers = self.peers.iter_mut();
        for (&address, peer) in peers.filter(|(_, peer)| peer.due() <= now) {
            if peer.sptp.is_some() && !peer.serves() {
                if allowed() {
                    turn.actions.push(Action::Probe(address, probe(peer)));
                }
                peer.postpone(now);
                continue;
            }
            let tlvs = match peer.sptp {
                Some(_) => Tlvs::default(),
                None => peer.unicast.due_requests(now),
            };
            if !tlvs.is_empty() && allowed() {
                let signal = Signal::new(peer, tlvs);
                turn.actions.push(Action::Signal(signal));
            }
            if peer.next <= now {
                turn.start(address, peer, None, &mut allowed);
            }
        }
        turn.actions
    }

    /// Return the cancellations that every standard responder gets before this agent stops.
    pub fn cancellations(&self) -> Vec<Signal> {
        self.peers.values().filter_map(cancellation).collect()
    }
}

/// One turn of the loop: the moment, and the actions so far.
struct Turn<'a> {
    table: &'a mut PathTable,
    now: RawTime,
    backend_ns: i64,
    actions: Vec<Action>,
}

impl Turn<'_> {
    /// Start an exchange, with the Sync that triggers it or without one.
    fn start(
        &mut self,
        address: SocketAddr,
        peer: &mut StandardPeer,
        sync: Option<(Message, Arrival)>,
        allowed: &mut impl FnMut() -> bool,
    ) -> Option<()> {
        let mut missed = Some(0);
        if let Some((sync, arrival)) = &sync {
            let Some(count) = peer.count(sync.sequence_id, arrival.at) else {
                let update = SessionUpdate {
                    verdict: Some(Verdict::Duplicate),
                    ..SessionUpdate::default()
                };
                self.actions.push(Action::Update(address, update));
                return None;
            };
            missed = count;
        }
        if !peer.serves() {
            peer.postpone(self.now);
            return None;
        }
        peer.requested(self.now, sync.is_some());
        let aggregator = self.table.aggregators.meshes.get_mut(&peer.path.0)?;
        let slot = aggregator.take_slot(self.backend_ns)?;
        let deadline = self.now.plus(peer.deadline_ns);
        let pending = PendingRequest {
            at: self.now,
            deadline,
            // No later message reports whether the request arrived.
            hold_until: deadline,
            t1_deadline: deadline,
            tag: ExchangeTag {
                key: FlowKey {
                    path: peer.path,
                    flow: 0,
                },
                flows: 1,
                at: self.now,
                slot,
            },
        };
        let exchanges = &mut self.table.sessions.get_mut(&address)?.exchanges;
        let is_sptp = peer.sptp.is_some();
        let open = || match is_sptp {
            true => exchanges.open_sptp(pending),
            false => exchanges.open_standard(pending, missed),
        };
        let Some(exchange) = allowed().then(open).flatten() else {
            aggregator.release_slot(&slot);
            return None;
        };
        self.actions.push(Action::Request(Request {
            to: address,
            flow: 0,
            message: Message {
                domain: peer.domain,
                source: peer.requester,
                sequence_id: exchange,
                correction: Correction(0),
                body: if is_sptp {
                    Body::SptpReq
                } else {
                    Body::DelayReq
                },
            },
        }));
        if let Some((sync, arrival)) = sync {
            let early = peer.started(sync.sequence_id, exchange, arrival.at);
            self.add(address, peer, exchange, &sync, arrival);
            if let Some((follow_up, arrival)) = early {
                self.add(address, peer, exchange, &follow_up, arrival);
            }
        }
        Some(())
    }

    /// Add a Sync or Follow_Up to the exchange it belongs to.
    fn add(
        &mut self,
        address: SocketAddr,
        peer: &StandardPeer,
        exchange: u16,
        message: &Message,
        arrival: Arrival,
    ) {
        if let Some(session) = self.table.sessions.get_mut(&address) {
            let message = Message {
                sequence_id: exchange,
                ..peer.in_utc(message)
            };
            let update = session.receive(&message, arrival);
            self.actions.push(Action::Update(address, update));
        }
    }
}

/// Return a request of SPTP that belongs to no exchange.
fn probe(peer: &StandardPeer) -> Message {
    Message {
        domain: peer.domain,
        source: peer.requester,
        sequence_id: PROBE_ID,
        correction: Correction(0),
        body: Body::SptpReq,
    }
}

/// Begin the search for the reason of a silence. Return requests for the shortest service in every other domain, where
/// these need an answer in their own.
fn search(address: SocketAddr, peer: &mut StandardPeer, now: RawTime) -> Vec<Signal> {
    let mut bytes = [0; MAX_LEN];
    if peer.sptp.is_some() {
        let length = probe(peer).write(&mut bytes);
        peer.search = Some(Search::begin(address, &bytes[..length], now));
        return Vec::new();
    }
    let request = |domain| {
        let shortest = Tlv::Request {
            service: Service::Announce,
            interval: 4,
            duration_s: 1,
        };
        let mut signal = Signal::new(peer, [shortest].into_iter().collect());
        signal.message.domain = domain;
        signal
    };
    let length = request(peer.domain).message.write(&mut bytes);
    let others = (0..=LAST_DOMAIN).filter(|domain| *domain != peer.domain);
    let requests = others.map(request).collect();
    peer.search = Some(Search::begin(peer.general, &bytes[..length], now));
    requests
}

fn cancellation(peer: &StandardPeer) -> Option<Signal> {
    let tlvs = peer.unicast.cancellations();
    (!tlvs.is_empty()).then(|| Signal::new(peer, tlvs))
}
