//! Answering: requests of our own exchange, and clients of the standard.

use super::exchanger::{ANSWER_PACKETS, Exchanger, add};
use super::sockets::packet::{Departure, Received};
use crate::ptp::{
    Answer, Body, Correction, Form, Message, NoDelayResp, PortIdentity, Refusal, Service, Tlvs, Way,
};
use crate::timestamp::raw_now;

/// Packets that leave for one answered request.
fn packets(form: Form) -> u32 {
    match form {
        Form::Later => 1,
        Form::Joint | Form::Standard => ANSWER_PACKETS,
    }
}

impl Exchanger {
    /// Answers a request, or not.
    pub(super) fn consider(&mut self, message: &Message, received: &Received) {
        let now = self.ports.now();
        let id = (received.from.ip(), message.source);
        match self.serving.grants.delay_resp(id, now) {
            Ok(way) => return self.respond(message, received, &way),
            Err(NoDelayResp::TooOften) => return add(&self.counters.packets_rejected, 1),
            Err(NoDelayResp::NotGranted) => {}
        }
        match self.responder.request(message, received.from, now) {
            Ok(answer) if self.budget.take(packets(answer.form), now) => {
                self.answer(Answer {
                    local: received.to,
                    received: received.arrival.stamp,
                    ..answer
                });
            }
            Ok(_) => self.notices.shed(),
            Err(Refusal::Duplicate) => add(&self.counters.duplicates, 1),
            Err(Refusal::Stranger | Refusal::TooMany) => add(&self.counters.packets_rejected, 1),
        }
    }

    /// Queues the Sync of an answer.
    fn answer(&mut self, mut answer: Answer) {
        let origin_ns = self.ports.on_the_wire(self.ports.now());
        self.responder.synced(&answer);
        let whole = match (answer.form, answer.received) {
            (Form::Later, Some(received)) => {
                let received = received.plus(-answer.correction.nanos());
                let receive_ns = self.ports.on_the_wire(received);
                let claim = self.standing.claim(received, receive_ns);
                let times = (origin_ns, receive_ns);
                self.responder.answer(&answer, self.identity, times, claim)
            }
            _ => None,
        };
        let sync = whole.unwrap_or_else(|| {
            answer.form = match answer.form {
                // Without a stamp of its arrival there is nothing to tell but that it came.
                Form::Later => Form::Joint,
                form => form,
            };
            let body = Body::Sync {
                two_step: true,
                origin_ns,
            };
            self.reply(&answer, body)
        });
        let (to, from) = (answer.client, answer.local);
        self.ports
            .queue_event(&sync, to, from, Departure::Sync(answer), 0);
    }

    /// Answers the Delay_Req of a client of the standard, which gets its Sync at other times.
    fn respond(&mut self, message: &Message, received: &Received, way: &Way) {
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
                tally: None,
                sync_left_ns: None,
                claim: None,
            },
            ..*message
        };
        self.ports
            .queue_general(&response, way.general(), way.local);
    }

    /// Grants what a client asks for.
    pub(super) fn negotiate(&mut self, asked: (PortIdentity, &Tlvs), received: &Received) {
        let now = self.ports.now();
        if !self.budget.take(1, now) {
            return self.notices.shed();
        }
        let known = self.responder.event_port_of(received.from);
        let (from, local) = (received.from, received.to);
        if let Some(answer) = self.serving.negotiate(asked, from, local, known, now) {
            self.ports.queue_general(&answer, from, local);
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
            let way = due.way;
            if due.service == Service::Sync {
                let departure = Departure::Granted(due.sequence_id, way);
                self.ports
                    .queue_event(&message, way.event(), way.local, departure, 0);
            } else {
                self.ports.queue_general(&message, way.general(), way.local);
            }
        }
    }

    /// A message of an answer.
    pub(super) fn reply(&self, answer: &Answer, body: Body) -> Message {
        Message {
            source: self.identity,
            sequence_id: answer.sequence_id,
            correction: Correction(0),
            body,
        }
    }
}
