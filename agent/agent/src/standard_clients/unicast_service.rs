//! The service of standard IEEE 1588 clients by unicast negotiation (16.1): their authorization, and the granted messages.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::clock::RawTime;
use crate::network::Network;
use crate::ptp::{
    Body, ClientAddress, Correction, DueMessage, Grants, MAX_LEN, Message, PortIdentity, Receipts,
    Responder, Service, Tlv, Tlvs, octets,
};

/// Ports of clients that are not in the plan (annex C.2).
const EVENT_PORT: u16 = 319;

/// Grants, and the networks of clients outside the plan that may get them.
pub(crate) struct UnicastService {
    pub grants: Grants,
    /// Also of agents' requests.
    pub receipts: Receipts,
    standard_clients: Arc<[Network]>,
    /// Time of the last request of SPTP that was answered.
    pub sptp_at: RawTime,
}

impl UnicastService {
    pub fn new(standard_clients: Arc<[Network]>) -> Self {
        Self {
            grants: Grants::default(),
            receipts: Receipts::default(),
            standard_clients,
            sptp_at: RawTime(i64::MIN / 2),
        }
    }

    /// Return true if an address may be served. Otherwise a forged address could direct packets at a third party.
    pub fn allows(&self, address: IpAddr, responder: &Responder) -> bool {
        responder.has_peer(address)
            || self
                .standard_clients
                .iter()
                .any(|standard_clients| standard_clients.contains(address))
    }

    /// Follow a new plan.
    pub fn follow(&mut self, responder: &Responder) {
        let standard_clients = &self.standard_clients;
        self.grants.retain(|address| {
            responder.has_peer(address)
                || standard_clients
                    .iter()
                    .any(|network| network.contains(address))
        });
    }

    /// Take the Signaling message of an allowed client to a target. Return the response, if there is one. `known` is the client's event
    /// port if the plan contains it.
    pub fn negotiate(
        &mut self,
        (domain, client, target, tlvs): (u8, PortIdentity, PortIdentity, &Tlvs),
        from: SocketAddr,
        local: Option<IpAddr>,
        known: Option<u16>,
        now: RawTime,
    ) -> Option<Message> {
        let id = (from.ip(), client);
        let identity = self.receipts.identity_for(from.ip());
        let is_proven = target == identity;
        if is_proven {
            self.receipts.drop_credit(from.ip());
        }
        let address = ClientAddress {
            client: from.ip(),
            event_port: known.unwrap_or(EVENT_PORT),
            general_port: from.port(),
            domain,
            local,
        };
        let length = |message: &Message| octets(from.ip(), &[message.write(&mut [0; MAX_LEN])]);
        let request_len = length(&signaling(domain, client, target, *tlvs));
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
                let is_ended = self.grants.cancel((id, is_proven), service);
                is_ended.then_some(Tlv::Acknowledge { service })
            }
            Tlv::Grant { .. } | Tlv::Acknowledge { .. } => None,
        };
        let tlvs: Tlvs = tlvs.iter().filter_map(answer).collect();
        if tlvs.is_empty() {
            return None;
        }
        let response = signaling(domain, identity, client, tlvs);
        // A grant is two octets longer than its request: one of about fifty requests in a row gets no answer, and the first
        // one does not.
        let may_answer = is_proven
            || self
                .receipts
                .take_credit(from.ip(), request_len, length(&response));
        may_answer.then_some(response)
    }

    /// Return the message that is due by a grant.
    pub fn message(&self, due: &DueMessage, origin_ns: i64) -> Message {
        Message {
            domain: due.address.domain,
            source: self.receipts.identity_for(due.address.client),
            sequence_id: due.sequence_id,
            correction: Correction(0),
            body: match due.service {
                Service::Announce => Body::Announce {
                    origin_ns: 0,
                    utc_offset_s: None,
                },
                Service::Sync | Service::DelayResp => Body::Sync {
                    two_step: true,
                    origin_ns,
                },
            },
        }
    }
}

fn signaling(domain: u8, source: PortIdentity, target: PortIdentity, tlvs: Tlvs) -> Message {
    Message {
        domain,
        source,
        sequence_id: 0,
        correction: Correction(0),
        body: Body::Signaling { target, tlvs },
    }
}
