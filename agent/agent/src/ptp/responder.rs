//! The responder of exchanges between agents: the peers that may send requests, and what was received from each.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::messages::{
    Body, COMPACT_RESP_LEN, Correction, DELAY_RESP_LEN, EcnField, HardwareClockTlv, MAP_LEN,
    Message, PortIdentity, ResponseTlv, RxReportTlv, SYNC_LEN, SyncDepartures, VmTlv,
};
use super::receipt::Receipt;
use super::token_bucket::TokenBucket;
use crate::clock::RawTime;

/// Largest request rate of a mesh to one peer, 16 flows at 128 per second.
const REQUESTS_HZ: u32 = 2048;
/// The same for requests whose source address may be forged. They have a budget of their own, so that they take nothing from
/// the peer.
const UNPROVEN_HZ: u32 = 128;

/// Shortest time between two challenges to one peer, ns.
const CHALLENGE_NS: i64 = 10_000_000_000;

/// Largest number of port identities kept for one peer address.
const SESSIONS: usize = 128;

/// The reason why a request gets no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// From an address that is in no mesh of the plan.
    Stranger,
    /// Received before, or so late that its sequence id is no longer tracked.
    Duplicate,
    /// More requests than any mesh sends.
    TooMany,
    /// Without the proof that earlier requests of the same process had.
    Forged,
}

/// The response to one request: Sync, Follow_Up and Delay_Resp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Source of the request, and destination of the Sync.
    pub client: SocketAddr,
    /// Destination port of Follow_Up and Delay_Resp.
    pub general_port: u16,
    /// Destination address of the request, and source of the response.
    pub local: Option<IpAddr>,
    pub requester: PortIdentity,
    pub sequence_id: u16,
    /// The message that carries t1.
    pub form: ResponseForm,
    /// The client has proven that it receives.
    pub is_proven: bool,
    pub correction: Correction,
    /// What it reports about this VM.
    pub vm: VmTlv,
    /// t4; `None` if the request has no timestamp.
    pub received: Option<RawTime>,
    /// The ECN field that the request arrived with, if it asks for it and it is known.
    pub ecn: Option<EcnField>,
}

impl Response {
    /// Return the destination of its general messages.
    pub fn general(&self) -> SocketAddr {
        SocketAddr::new(self.client.ip(), self.general_port)
    }
}

/// The message that carries the departure of a Sync, t1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseForm {
    /// A Follow_Up, as in the standard (11.3).
    Standard,
    /// The Delay_Resp.
    InDelayResp,
    /// The Syncs of the next responses, without a Delay_Resp.
    Compact,
    /// None. The Sync only tells the client the identity that proves its address.
    Identity,
    /// None. A request of the responder in place of the Sync, which a client of an earlier version answers.
    Challenge,
}

impl ResponseForm {
    /// Return the lengths of its messages at most, bytes.
    pub fn lengths(self) -> &'static [usize] {
        match self {
            Self::Standard | Self::InDelayResp => &[SYNC_LEN, DELAY_RESP_LEN, SYNC_LEN],
            Self::Compact => &[COMPACT_RESP_LEN],
            Self::Identity | Self::Challenge => &[SYNC_LEN],
        }
    }

    /// Return true if a Delay_Resp belongs to it.
    pub fn has_delay_resp(self) -> bool {
        matches!(self, Self::Standard | Self::InDelayResp)
    }
}

/// The peers of the plan and their requests.
#[derive(Debug, Default)]
pub struct Responder {
    peers: HashMap<IpAddr, Vec<Peer>>,
}

#[derive(Debug)]
struct Peer {
    event_port: u16,
    general_port: u16,
    /// Tag of its VM and this one.
    vm_tag: u64,
    budget: TokenBucket,
    unproven: TokenBucket,
    /// Time of the latest challenge, and the clock identity of the process that answered one.
    challenged: Option<RawTime>,
    confirmed: Option<u64>,
    /// Oldest first.
    sessions: Vec<RequesterState>,
}

impl Responder {
    /// Set the peers of a new plan as (event address, general port, VM tag). Keep the state of those that stay.
    pub fn set_peers(&mut self, peers: impl Iterator<Item = (SocketAddr, u16, u64)>, now: RawTime) {
        let mut before = std::mem::take(&mut self.peers);
        for (event, general_port, vm_tag) in peers {
            let here = self.peers.entry(event.ip()).or_default();
            if here.iter().any(|peer| peer.event_port == event.port()) {
                continue;
            }
            let there = before.get_mut(&event.ip());
            let place = there.and_then(|all| {
                let index = all
                    .iter()
                    .position(|peer| peer.event_port == event.port())?;
                Some(all.swap_remove(index))
            });
            here.push(match place {
                Some(peer) => Peer {
                    general_port,
                    vm_tag,
                    ..peer
                },
                None => Peer {
                    event_port: event.port(),
                    general_port,
                    vm_tag,
                    budget: TokenBucket::new(REQUESTS_HZ, REQUESTS_HZ, now),
                    unproven: TokenBucket::new(UNPROVEN_HZ, UNPROVEN_HZ, now),
                    challenged: None,
                    confirmed: None,
                    sessions: Vec::new(),
                },
            });
        }
    }

    /// Return the number of peers.
    pub fn peers(&self) -> usize {
        self.peers.values().map(Vec::len).sum()
    }

    /// Return true if a peer of the plan has that address.
    pub fn has_peer(&self, address: IpAddr) -> bool {
        self.peers.contains_key(&address)
    }

    /// Return the event port of the peer with this general address.
    pub fn event_port_of(&self, general: SocketAddr) -> Option<u16> {
        let mut here = self.peers.get(&general.ip())?.iter();
        let peer = here.find(|peer| peer.general_port == general.port())?;
        Some(peer.event_port)
    }

    /// Forget the received requests, so that no report covers packets that this machine may have dropped.
    pub fn forget_requests(&mut self) {
        let all = self.peers.values_mut().flatten();
        all.for_each(|peer| peer.sessions.clear());
    }

    /// Record a Delay_Req and return its response. The caller sends it, and calls [`Self::count_sync`] before its Sync leaves.
    pub fn handle_request(
        &mut self,
        message: &Message,
        client: SocketAddr,
        receipt: Receipt,
        now: RawTime,
    ) -> Result<Response, Refusal> {
        let peer = self.peer(client, message.source).ok_or(Refusal::Stranger)?;
        let (general_port, tag) = (peer.general_port, peer.vm_tag);
        // The identities of an agent's process are random: who has not received one cannot name it.
        let confirmed = peer.confirmed == Some(message.source.clock);
        let proven = receipt == Receipt::Proven || receipt == Receipt::Earlier && confirmed;
        // Recorded even if it gets no response: it did arrive, and the client must not count it as lost.
        let session = peer.session(message, proven);
        if session.proven && !proven {
            return Err(Refusal::Forged);
        }
        session.record(message.sequence_id)?;
        let budget = if proven {
            &mut peer.budget
        } else {
            &mut peer.unproven
        };
        if !budget.take(1, now) {
            return Err(Refusal::TooMany);
        }
        Ok(Response {
            client,
            general_port,
            local: None,
            requester: message.source,
            sequence_id: message.sequence_id,
            form: match message.body {
                Body::CompactReq { .. } if !proven => match receipt {
                    Receipt::Earlier if peer.take_challenge(now) => ResponseForm::Challenge,
                    _ => ResponseForm::Identity,
                },
                Body::CompactReq { soon: true, .. } => ResponseForm::Compact,
                Body::CompactReq { soon: false, .. } => ResponseForm::InDelayResp,
                _ => ResponseForm::Standard,
            },
            is_proven: proven,
            correction: message.correction,
            vm: VmTlv {
                tag,
                request_correction: message.correction,
                source: 0,
            },
            received: None,
            ecn: None,
        })
    }

    /// Record that the process with this clock identity has answered a challenge to the address of a peer.
    pub fn confirm(&mut self, client: SocketAddr, source: PortIdentity) {
        if let Some(peer) = self.peer(client, source) {
            peer.confirmed = Some(source.clock);
        }
    }

    /// Count a Sync that is about to leave.
    pub fn count_sync(&mut self, response: &Response) {
        if let Some(state) = self.find(response) {
            state.rx_report.syncs = state.rx_report.syncs.wrapping_add(1);
        }
    }

    /// Take back the count of a Sync that did not leave.
    pub fn uncount_sync(&mut self, response: &Response) {
        if let Some(state) = self.find(response) {
            state.rx_report.syncs = state.rx_report.syncs.wrapping_sub(1);
        }
    }

    /// Record the departure of a Sync for the next responses.
    pub fn record_departure(&mut self, response: &Response, left_ns: i64) {
        if let Some(state) = self.find(response) {
            state.departures.add(response.sequence_id, left_ns);
        }
    }

    /// Return the Sync that is a whole compact response; `None` if the peer has left the plan.
    pub fn compact_resp(
        &mut self,
        response: &Response,
        source: PortIdentity,
        (origin_ns, receive_ns): (i64, i64),
        hardware_clock: Option<HardwareClockTlv>,
    ) -> Option<Message> {
        let state = self.find(response)?;
        let mut response_tlv = ResponseTlv::new(receive_ns, response.requester);
        state.departures.append_to(&mut response_tlv);
        Some(Message {
            domain: 0,
            source,
            sequence_id: response.sequence_id,
            correction: Correction(0),
            body: Body::CompactResp {
                origin_ns,
                response_tlv,
                rx_report: state.rx_report,
                hardware_clock,
                vm: Some(response.vm),
                ecn: response.ecn,
            },
        })
    }

    /// Return the Delay_Resp of a response; `None` if the peer has left the plan.
    pub fn delay_resp(
        &mut self,
        response: &Response,
        source: PortIdentity,
        receive_ns: i64,
        sync_left_ns: Option<i64>,
        hardware_clock: Option<HardwareClockTlv>,
    ) -> Option<Message> {
        let rx_report = self.find(response)?.rx_report;
        Some(Message {
            domain: 0,
            source,
            sequence_id: response.sequence_id,
            correction: response.correction,
            body: Body::DelayResp {
                receive_ns,
                requester: response.requester,
                rx_report: Some(rx_report),
                sync_left_ns,
                hardware_clock,
                vm: (response.form != ResponseForm::Standard).then_some(response.vm),
            },
        })
    }

    /// Return the peer behind an address: by its event port, or for another flow of its path the only peer there, or the
    /// one with this port identity.
    fn peer(&mut self, client: SocketAddr, requester: PortIdentity) -> Option<&mut Peer> {
        let here = self.peers.get_mut(&client.ip())?;
        let index = match here
            .iter()
            .position(|peer| peer.event_port == client.port())
        {
            Some(index) => index,
            None if here.len() == 1 => 0,
            None => here.iter().position(|peer| {
                let mut sessions = peer.sessions.iter();
                sessions.any(|state| state.requester == requester)
            })?,
        };
        here.get_mut(index)
    }

    fn find(&mut self, response: &Response) -> Option<&mut RequesterState> {
        let sessions = &mut self.peer(response.client, response.requester)?.sessions;
        sessions
            .iter_mut()
            .rev()
            .find(|state| state.requester == response.requester)
    }
}

impl Peer {
    /// Return true if a challenge may be sent now.
    fn take_challenge(&mut self, now: RawTime) -> bool {
        let may = self
            .challenged
            .is_none_or(|at| now.since(at) >= CHALLENGE_NS);
        if may {
            self.challenged = Some(now);
        }
        may
    }

    /// Return the state of a message's sender. A new sender replaces the oldest one if there are too many, of those without
    /// a proof if there are any.
    fn session(&mut self, message: &Message, proven: bool) -> &mut RequesterState {
        let mut sessions = self.sessions.iter();
        let index = sessions.rposition(|state| state.requester == message.source);
        let index = index.unwrap_or_else(|| {
            if self.sessions.len() == SESSIONS {
                let oldest = self.sessions.iter().position(|state| !state.proven);
                self.sessions.remove(oldest.unwrap_or(0));
            }
            self.sessions.push(RequesterState::start(message));
            self.sessions.len() - 1
        });
        let session = &mut self.sessions[index];
        session.proven |= proven;
        session
    }
}

/// The requests received from one process of a client, from all its source ports: they share its sequence ids.
#[derive(Debug)]
struct RequesterState {
    requester: PortIdentity,
    /// One of its requests has proven that it receives.
    proven: bool,
    rx_report: RxReportTlv,
    departures: SyncDepartures,
}

impl RequesterState {
    /// Create the state before the first message.
    fn start(message: &Message) -> Self {
        Self {
            requester: message.source,
            proven: false,
            rx_report: RxReportTlv {
                requests: 0,
                syncs: 0,
                newest: message.sequence_id.wrapping_sub(1),
                watched: 0,
                arrived: 0,
            },
            departures: SyncDepartures::default(),
        }
    }

    fn record(&mut self, sequence_id: u16) -> Result<(), Refusal> {
        let rx_report = &mut self.rx_report;
        let ahead = sequence_id.wrapping_sub(rx_report.newest);
        let back = rx_report.newest.wrapping_sub(sequence_id);
        let bit = if ahead != 0 && ahead <= u16::MAX / 2 {
            rx_report.newest = sequence_id;
            rx_report.arrived = rx_report.arrived.checked_shl(u32::from(ahead)).unwrap_or(0);
            rx_report.watched = rx_report.watched.saturating_add(ahead).min(MAP_LEN);
            1
        } else if back < rx_report.watched {
            1 << back
        } else {
            return Err(Refusal::Duplicate);
        };
        if rx_report.arrived & bit != 0 {
            return Err(Refusal::Duplicate);
        }
        rx_report.arrived |= bit;
        rx_report.requests = rx_report.requests.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
#[path = "responder_tests.rs"]
mod tests;
