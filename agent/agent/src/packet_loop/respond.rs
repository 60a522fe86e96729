//! Responses to agents, and messages granted to standard clients.

use super::event_log::STANDARD_PORTS;
use super::exchanger::{Exchanger, add};
use super::sockets::packet::{Departure, ReceivedMessage};
use crate::clock::{RawTime, TimestampSource};
use crate::ptp::{
    ANNOUNCE_LEN, Body, ClientAddress, Correction, MAX_LEN, Message, NoDelayResp, PortIdentity,
    REQUEST_LEN, Receipt, Refusal, Response, ResponseForm, SYNC_LEN, Service, Tlvs, VmTlv, octets,
};
use crate::timestamp::raw_now;

/// Largest port number of the identity of an SPTP daemon, which receives Announces at the general port.
const SPTP_DAEMON_PORTS: u16 = 10;

impl Exchanger {
    /// Respond to a request that may be answered. Return true if it proves that it is of a peer.
    pub(super) fn handle_request(&mut self, message: &Message, received: &ReceivedMessage) -> bool {
        let now = self.sockets.now();
        let id = (received.from.ip(), message.source);
        let sequence_id = message.sequence_id;
        match self.unicast_service.grants.delay_resp(id, sequence_id, now) {
            Ok(granted) => {
                self.respond(message, received, granted);
                return granted.1;
            }
            Err(NoDelayResp::NotGranted) if message.domain == 0 => {}
            Err(_) => {
                add(&self.counters.packets_rejected, 1);
                return false;
            }
        }
        let from = received.from.ip();
        let receipts = &mut self.unicast_service.receipts;
        let receipt = receipts.of(from, &message.body);
        let handled = self
            .responder
            .handle_request(message, received.from, receipt, now);
        let is_proven = handled.is_ok_and(|response| response.is_proven);
        match handled {
            Ok(response)
                if receipt == Receipt::Standard
                    && !receipts.take_credit(
                        from,
                        octets(from, &[REQUEST_LEN]),
                        octets(from, response.form.lengths()),
                    ) =>
            {
                add(&self.counters.packets_rejected, 1);
            }
            Ok(response)
                if self.take_budget(
                    response.form.lengths().len() as u32,
                    response.is_proven,
                    now,
                ) =>
            {
                let source = received.arrival.source;
                let least = source.min(if self.sockets.kernel_stamps() {
                    source
                } else {
                    TimestampSource::User
                });
                self.queue_response(Response {
                    vm: VmTlv {
                        source: least as u8,
                        ..response.vm
                    },
                    local: received.to,
                    received: received.arrival.stamp,
                    ecn: match message.body {
                        Body::CompactReq { ecn: Some(_), .. } => received.arrival.ecn,
                        _ => None,
                    },
                    ..response
                });
            }
            Ok(_) => self.event_log.shed(),
            Err(Refusal::Duplicate) => add(&self.counters.duplicates, 1),
            Err(Refusal::Stranger | Refusal::TooMany | Refusal::Forged) => {
                add(&self.counters.packets_rejected, 1);
            }
        }
        is_proven
    }

    /// Return true if packets may leave for an address that has proven that it receives, or has not.
    fn take_budget(&mut self, packets: u32, is_proven: bool, now: RawTime) -> bool {
        (is_proven || self.unproven_budget.take(packets, now)) && self.budget.take(packets, now)
    }

    /// Queue the Sync of a response.
    fn queue_response(&mut self, mut response: Response) {
        let (to, from) = (response.client, response.local);
        if response.form == ResponseForm::Challenge {
            let challenge = Message {
                domain: 0,
                source: self.unicast_service.receipts.challenger_for(to.ip()),
                sequence_id: response.sequence_id,
                correction: Correction(0),
                body: Body::CompactReq {
                    soon: true,
                    receipt: None,
                    ecn: None,
                },
            };
            self.sockets
                .queue_event(&challenge, to, from, Departure::Challenge, 0);
            return;
        }
        let origin_ns = self.sockets.wire_ns(self.sockets.now());
        self.responder.count_sync(&response);
        let compact = match (response.form, response.received) {
            (ResponseForm::Compact, Some(received)) => {
                let receive_ns = self.sockets.wire_ns(received);
                let hardware_clock = self.hardware_time.hardware_clock(received, receive_ns);
                let times = (origin_ns, receive_ns);
                let identity = self
                    .unicast_service
                    .receipts
                    .identity_for(response.client.ip());
                self.responder
                    .compact_resp(&response, identity, times, hardware_clock)
            }
            _ => None,
        };
        let sync = compact.unwrap_or_else(|| {
            response.form = match response.form {
                // Without a timestamp of its arrival, the response can only confirm the request.
                ResponseForm::Compact => ResponseForm::InDelayResp,
                form => form,
            };
            let body = Body::Sync {
                two_step: true,
                origin_ns,
            };
            self.response_message(&response, body)
        });
        self.sockets
            .queue_event(&sync, to, from, Departure::Sync(response), 0);
    }

    /// Queue the Delay_Resp for a standard client, which gets its Syncs at other times. A Delay_Resp is longer than its
    /// request: in the sequence of the client's requests the difference is lent, otherwise no more octets leave than came.
    fn respond(
        &mut self,
        message: &Message,
        received: &ReceivedMessage,
        (address, is_in_sequence): (ClientAddress, bool),
    ) {
        let Some(stamp) = received.arrival.stamp else {
            return add(&self.counters.packets_rejected, 1);
        };
        let response = Message {
            source: self.unicast_service.receipts.identity_for(address.client),
            body: Body::DelayResp {
                receive_ns: self.sockets.wire_ns(stamp),
                requester: message.source,
                rx_report: None,
                sync_left_ns: None,
                hardware_clock: None,
                vm: None,
            },
            ..*message
        };
        let service = &mut self.unicast_service;
        let octets =
            |message: &Message| octets(address.client, &[message.write(&mut [0; MAX_LEN])]);
        let (came, leaves) = (octets(message), octets(&response));
        let id = (address.client, message.source);
        let is_lent = is_in_sequence
            && service
                .grants
                .lend(id, leaves.saturating_sub(came), self.sockets.now());
        let may_answer = is_lent || service.receipts.take_credit(address.client, came, leaves);
        if !may_answer {
            return add(&self.counters.packets_rejected, 1);
        }
        if !self.budget.take(1, self.sockets.now()) {
            return self.event_log.shed();
        }
        self.sockets
            .queue_general(&response, address.general(), address.local);
    }

    /// Queue the Sync of an SPTP exchange; the Announce with its departure ends it. No message of SPTP proves that its sender
    /// receives, so no more octets go to an address than have come from it: about one of two requests is answered.
    pub(super) fn respond_to_sptp(&mut self, message: &Message, received: &ReceivedMessage) {
        let from = received.from;
        let service = &mut self.unicast_service;
        let Some(stamp) = received.arrival.stamp else {
            return add(&self.counters.packets_rejected, 1);
        };
        let may_answer = service.allows(from.ip(), &self.responder)
            && service.receipts.take_credit(
                from.ip(),
                octets(from.ip(), &[REQUEST_LEN]),
                octets(from.ip(), &[SYNC_LEN, ANNOUNCE_LEN]),
            );
        if !may_answer {
            return add(&self.counters.packets_rejected, 1);
        }
        if !self.take_budget(2, false, self.sockets.now()) {
            return self.event_log.shed();
        }
        self.unicast_service.sptp_at = self.sockets.now();
        let address = ClientAddress {
            client: from.ip(),
            event_port: from.port(),
            // Tools that send from any port await everything there, and say so by a high port number of their identity.
            general_port: if message.source.port > SPTP_DAEMON_PORTS {
                from.port()
            } else {
                STANDARD_PORTS.1
            },
            domain: message.domain,
            local: received.to,
        };
        let sync = Message {
            domain: message.domain,
            source: self.unicast_service.receipts.identity_for(from.ip()),
            sequence_id: message.sequence_id,
            correction: Correction(0),
            body: Body::Sync {
                two_step: true,
                origin_ns: self.sockets.wire_ns(stamp),
            },
        };
        let departure = Departure::Sptp(message.sequence_id, message.correction, address);
        self.sockets
            .queue_event(&sync, from, received.to, departure, 0);
    }

    /// Respond to the unicast negotiation of a client.
    pub(super) fn negotiate(
        &mut self,
        request: (u8, PortIdentity, PortIdentity, &Tlvs),
        received: &ReceivedMessage,
    ) {
        let now = self.sockets.now();
        let identity = self
            .unicast_service
            .receipts
            .identity_for(received.from.ip());
        if !self.take_budget(1, request.2 == identity, now) {
            return self.event_log.shed();
        }
        let known = self.responder.event_port_of(received.from);
        let (from, local) = (received.from, received.to);
        if let Some(response) = self
            .unicast_service
            .negotiate(request, from, local, known, now)
        {
            self.sockets.queue_general(&response, from, local);
        }
    }

    /// Queue the granted messages that are due.
    pub(super) fn queue_granted(&mut self) {
        let now = raw_now();
        while let Some(due) = self.unicast_service.grants.next_due(now) {
            let packets = 1 + u32::from(due.service == Service::Sync);
            if !self.budget.take(packets, now) {
                self.event_log.shed();
                continue;
            }
            let message = self
                .unicast_service
                .message(&due, self.sockets.wire_ns(now));
            let address = due.address;
            if due.service == Service::Sync {
                let departure = Departure::Granted(due.sequence_id, address);
                self.sockets
                    .queue_event(&message, address.event(), address.local, departure, 0);
            } else {
                self.sockets
                    .queue_general(&message, address.general(), address.local);
            }
        }
    }

    /// Return a message of a response.
    pub(super) fn response_message(&self, response: &Response, body: Body) -> Message {
        Message {
            domain: 0,
            source: self
                .unicast_service
                .receipts
                .identity_for(response.client.ip()),
            sequence_id: response.sequence_id,
            correction: Correction(0),
            body,
        }
    }
}
