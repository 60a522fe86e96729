//! What was heard: each message to whom it concerns.

use std::mem::take;
use std::net::SocketAddr;

use super::exchanger::{Exchanger, add};
use super::sockets::packet::{Port, Received};
use crate::clock::{Change, RawTime};
use crate::paths::peer_session::Heard;
use crate::ptp::{Body, Message, Tlv, Verdict};

impl Exchanger {
    /// Takes the messages of this turn: requests are answered, answers go to their exchanges.
    pub(super) fn hear(&mut self, backend_ns: &impl Fn(RawTime) -> i64) {
        let mut heard = take(&mut self.received);
        add(&self.counters.packets_received, heard.len() as u64);
        for received in heard.drain(..) {
            if received.after_overflow && received.by != Port::General {
                // What this machine dropped did arrive; nobody may take it for lost on the way.
                self.responder.forget();
                self.client.disregard_unanswered(received.arrival.at);
            }
            match received.message {
                Some(message)
                    if received.by == Port::Event
                        && matches!(message.body, Body::DelayReq | Body::CompactReq { .. }) =>
                {
                    self.handle_request(&message, &received);
                }
                Some(Message {
                    source,
                    body: Body::Signaling { tlvs, .. },
                    ..
                }) if self.serving.allows(received.from.ip(), &self.responder) => {
                    let now = self.ports.now();
                    let asks = |tlv| matches!(tlv, Tlv::Request { .. });
                    if !self.client.signaled(received.from, &tlvs, now) || tlvs.iter().any(asks) {
                        self.negotiate((source, &tlvs), &received);
                    }
                }
                Some(message) => {
                    let heard = self.client.hear(received.from, &message, received.arrival);
                    if matches!(heard.verdict, Some(Verdict::Taken | Verdict::Complete(..))) {
                        self.compare(&message, &received);
                    }
                    self.note(heard, received.from, backend_ns(received.arrival.at));
                }
                None => add(&self.counters.packets_rejected, 1),
            }
        }
        self.received = heard;
    }

    /// Compares the hardware clocks of both ends, if both have one.
    fn compare(&mut self, message: &Message, received: &Received) {
        let (receive_ns, hardware_clock) = match message.body {
            Body::DelayResp {
                receive_ns,
                hardware_clock: Some(hardware_clock),
                ..
            } => (receive_ns, hardware_clock),
            Body::CompactResp {
                response_tlv,
                hardware_clock: Some(hardware_clock),
                ..
            } => (response_tlv.receive_ns, hardware_clock),
            _ => return,
        };
        let about = received.arrival.at;
        if let Some((at, error_ns)) = self.standing.moment_of(&hardware_clock, receive_ns, about) {
            self.client
                .observe_hardware(received.from, at, receive_ns, error_ns);
        }
    }

    /// Counts what a message of a peer has led to, and tells of what it proves.
    pub(super) fn note(&mut self, heard: Heard, peer: SocketAddr, at_ns: i64) {
        match heard.change {
            Some(Change::Stepped) => self.notices.peer_clock_stepped(peer.ip(), at_ns),
            Some(Change::Route(change)) => self.notices.route_changed(peer.ip(), change, at_ns),
            None => {}
        }
        add(&self.counters.exchanges_completed, heard.completed);
        let counter = match heard.verdict {
            None | Some(Verdict::Unsolicited | Verdict::Implausible) => {
                &self.counters.packets_rejected
            }
            Some(Verdict::Duplicate) => &self.counters.duplicates,
            Some(Verdict::Late) => &self.counters.responses_late,
            Some(Verdict::Taken | Verdict::Complete(..)) => return,
        };
        add(counter, 1);
    }
}
