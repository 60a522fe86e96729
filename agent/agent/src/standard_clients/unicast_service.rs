//! The service of standard IEEE 1588 clients by unicast negotiation (16.1): their authorization, and the granted messages.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::clock::RawTime;
use crate::network::Network;
use crate::ptp::{
    Body, ClientAddress, Correction, DueMessage, Grants, MAX_LEN, Message, PortIdentity, Responder,
    Service, Tlv, Tlvs,
};

/// Ports of clients that are not in the plan (annex C.2).
const EVENT_PORT: u16 = 319;

/// Octets that an address without a proof may save up, and the number of such addresses that are remembered.
const MOST_CREDIT: usize = 160;
const MOST_UNPROVEN: usize = 4096;

/// Grants, and the networks of clients outside the plan that may get them.
pub(crate) struct UnicastService {
    pub grants: Grants,
    standard_clients: Arc<[Network]>,
    /// Key of the identities below, different in each process.
    secret: RandomState,
    /// Octets received from addresses that have not proven that they receive, less those sent to them.
    credit: FxHashMap<IpAddr, usize>,
}

impl UnicastService {
    pub fn new(standard_clients: Arc<[Network]>) -> Self {
        Self {
            grants: Grants::default(),
            standard_clients,
            secret: RandomState::new(),
            credit: FxHashMap::default(),
        }
    }

    /// Returns the port identity that an address knows this agent by. It is locally administered. Only who receives packets
    /// at that address can name it: a request that does proves that its source address is not forged.
    pub fn identity_for(&self, client: IpAddr) -> PortIdentity {
        let clock = self.secret.hash_one(client) & !(0x03 << 56) | 0x02 << 56;
        PortIdentity { clock, port: 1 }
    }

    /// Returns true if an address may be served. Otherwise a forged address could direct packets at a third party.
    pub fn allows(&self, address: IpAddr, responder: &Responder) -> bool {
        responder.has_peer(address)
            || self
                .standard_clients
                .iter()
                .any(|standard_clients| standard_clients.contains(address))
    }

    /// Follows a new plan.
    pub fn follow(&mut self, responder: &Responder) {
        let standard_clients = &self.standard_clients;
        self.grants.retain(|address| {
            responder.has_peer(address)
                || standard_clients
                    .iter()
                    .any(|network| network.contains(address))
        });
    }

    /// Takes the Signaling message of an allowed client to a target. Returns the response, if there is one. `known` is the client's event
    /// port if the plan contains it.
    pub fn negotiate(
        &mut self,
        (client, target, tlvs): (PortIdentity, PortIdentity, &Tlvs),
        from: SocketAddr,
        local: Option<IpAddr>,
        known: Option<u16>,
        now: RawTime,
    ) -> Option<Message> {
        let id = (from.ip(), client);
        let identity = self.identity_for(from.ip());
        let is_proven = target == identity;
        let address = ClientAddress {
            client: from.ip(),
            event_port: known.unwrap_or(EVENT_PORT),
            general_port: from.port(),
            local,
        };
        let request_len = length(&signaling(client, target, *tlvs));
        let answer = |tlv| match tlv {
            Tlv::Request {
                service,
                interval,
                duration_s,
            } => {
                let request = (service, interval, duration_s);
                Some(self.grants.request((id, is_proven), address, request, now))
            }
            Tlv::Cancel { service } => {
                self.grants.cancel(id, service);
                Some(Tlv::Acknowledge { service })
            }
            Tlv::Grant { .. } | Tlv::Acknowledge { .. } => None,
        };
        let tlvs: Tlvs = tlvs.iter().filter_map(answer).collect();
        if tlvs.is_empty() {
            return None;
        }
        let response = signaling(identity, client, tlvs);
        let may_answer = is_proven || self.take_credit(from.ip(), request_len, length(&response));
        may_answer.then_some(response)
    }

    /// Returns true if no more octets go to an address without a proof than have come from it. A grant is two octets longer
    /// than its request, so one of about fifty requests in a row gets no answer, and the first one does not.
    fn take_credit(&mut self, address: IpAddr, received: usize, sent: usize) -> bool {
        if self.credit.len() >= MOST_UNPROVEN && !self.credit.contains_key(&address) {
            self.credit.clear();
        }
        let credit = self.credit.entry(address).or_default();
        *credit = (*credit + received).min(MOST_CREDIT);
        let enough = *credit >= sent;
        *credit -= if enough { sent } else { 0 };
        enough
    }

    /// Returns the message that is due by a grant.
    pub fn message(&self, due: &DueMessage, origin_ns: i64) -> Message {
        Message {
            source: self.identity_for(due.address.client),
            sequence_id: due.sequence_id,
            correction: Correction(0),
            body: match due.service {
                Service::Announce => Body::Announce { utc_offset_s: None },
                Service::Sync | Service::DelayResp => Body::Sync {
                    two_step: true,
                    origin_ns,
                },
            },
        }
    }
}

fn signaling(source: PortIdentity, target: PortIdentity, tlvs: Tlvs) -> Message {
    Message {
        source,
        sequence_id: 0,
        correction: Correction(0),
        body: Body::Signaling { target, tlvs },
    }
}

/// Returns the length of a message with its IPv4 and UDP headers, octets.
fn length(message: &Message) -> usize {
    const HEADERS: usize = 28;
    message.write(&mut [0; MAX_LEN]) + HEADERS
}
