//! Answering: requests of our own exchange, and clients of the standard.

use super::exchanger::{ANSWER_PACKETS, Exchanger, add};
use super::sockets::packet::{Departure, Received};
use crate::ptp::{
    Body, ClientAddress, Correction, Message, NoDelayResp, PortIdentity, Refusal, Response,
    ResponseForm, Service, Tlvs,
};
use crate::timestamp::raw_now;

/// Packets that leave for one answered request.
fn packets(form: ResponseForm) -> u32 {
    match form {
        ResponseForm::Compact => 1,
        ResponseForm::InDelayResp | ResponseForm::Standard => ANSWER_PACKETS,
    }
}

impl Exchanger {
    /// Answers a request, or not.
    pub(super) fn handle_request(&mut self, message: &Message, received: &Received) {
        let now = self.ports.now();
        let id = (received.from.ip(), message.source);
        match self.serving.grants.delay_resp(id, now) {
            Ok(address) => return self.respond(message, received, &address),
            Err(NoDelayResp::TooOften) => return add(&self.counters.packets_rejected, 1),
            Err(NoDelayResp::NotGranted) => {}
        }
        match self.responder.handle_request(message, received.from, now) {
            Ok(response) if self.budget.take(packets(response.form), now) => {
                self.queue_response(Response {
                    local: received.to,
                    received: received.arrival.stamp,
                    ..response
                });
            }
            Ok(_) => self.notices.shed(),
            Err(Refusal::Duplicate) => add(&self.counters.duplicates, 1),
            Err(Refusal::Stranger | Refusal::TooMany) => add(&self.counters.packets_rejected, 1),
        }
    }

    /// Queues the Sync of an answer.
    fn queue_response(&mut self, mut response: Response) {
        let origin_ns = self.ports.on_the_wire(self.ports.now());
        self.responder.count_sync(&response);
        let whole = match (response.form, response.received) {
            (ResponseForm::Compact, Some(received)) => {
                let received = received.plus(-response.correction.nanos());
                let receive_ns = self.ports.on_the_wire(received);
                let hardware_clock = self.standing.hardware_clock(received, receive_ns);
                let times = (origin_ns, receive_ns);
                self.responder
                    .compact_resp(&response, self.identity, times, hardware_clock)
            }
            _ => None,
        };
        let sync = whole.unwrap_or_else(|| {
            response.form = match response.form {
                // Without a stamp of its arrival there is nothing to tell but that it came.
                ResponseForm::Compact => ResponseForm::InDelayResp,
                form => form,
            };
            let body = Body::Sync {
                two_step: true,
                origin_ns,
            };
            self.response_message(&response, body)
        });
        let (to, from) = (response.client, response.local);
        self.ports
            .queue_event(&sync, to, from, Departure::Sync(response), 0);
    }

    /// Answers the Delay_Req of a client of the standard, which gets its Sync at other times.
    fn respond(&mut self, message: &Message, received: &Received, address: &ClientAddress) {
        let Some(stamp) = received.arrival.stamp else {
            return add(&self.counters.packets_rejected, 1);
        };
        if !self.budget.take(1, self.ports.now()) {
            return self.notices.shed();
        }
        let response = Message {
            source: self.identity,
            body: Body::DelayResp {
                receive_ns: self.ports.on_the_wire(stamp),
                requester: message.source,
                rx_report: None,
                sync_left_ns: None,
                hardware_clock: None,
            },
            ..*message
        };
        self.ports
            .queue_general(&response, address.general(), address.local);
    }

    /// Grants what a client asks for.
    pub(super) fn negotiate(&mut self, asked: (PortIdentity, &Tlvs), received: &Received) {
        let now = self.ports.now();
        if !self.budget.take(1, now) {
            return self.notices.shed();
        }
        let known = self.responder.event_port_of(received.from);
        let (from, local) = (received.from, received.to);
        if let Some(response) = self.serving.negotiate(asked, from, local, known, now) {
            self.ports.queue_general(&response, from, local);
        }
    }

    /// Queues what has been granted and is due.
    pub(super) fn serve(&mut self) {
        let now = raw_now();
        while let Some(due) = self.serving.grants.next_due(now) {
            let packets = 1 + u32::from(due.service == Service::Sync);
            if !self.budget.take(packets, now) {
                self.notices.shed();
                continue;
            }
            let message = self.serving.message(&due, self.ports.on_the_wire(now));
            let address = due.address;
            if due.service == Service::Sync {
                let departure = Departure::Granted(due.sequence_id, address);
                self.ports
                    .queue_event(&message, address.event(), address.local, departure, 0);
            } else {
                self.ports
                    .queue_general(&message, address.general(), address.local);
            }
        }
    }

    /// A message of an answer.
    pub(super) fn response_message(&self, response: &Response, body: Body) -> Message {
        Message {
            source: self.identity,
            sequence_id: response.sequence_id,
            correction: Correction(0),
            body,
        }
    }
}
