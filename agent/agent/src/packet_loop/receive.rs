//! Dispatch of received messages to the client, the responder and the unicast service.

use std::mem::take;
use std::net::SocketAddr;

use super::exchanger::{Exchanger, add};
use super::sockets::packet::{Port, ReceivedMessage};
use crate::clock::{Change, RawTime};
use crate::paths::peer_session::SessionUpdate;
use crate::ptp::{Body, Malformed, Message, Tlv, Verdict};

impl Exchanger {
    /// Dispatch the messages of this turn: queue responses to requests, and add responses to their exchanges.
    pub(super) fn dispatch(&mut self, backend_ns: &impl Fn(RawTime) -> i64) {
        let mut messages = take(&mut self.received);
        add(&self.counters.packets_received, messages.len() as u64);
        for received in messages.drain(..) {
            if received.after_overflow && received.by != Port::General {
                // Packets that this machine dropped did arrive: neither end may count them as lost in the network.
                self.responder.forget_requests();
                self.client.drop_unanswered(received.arrival.at);
            }
            let at_ns = backend_ns(received.arrival.at);
            match received.message {
                Ok(message)
                    if received.by == Port::Event
                        && matches!(message.body, Body::DelayReq | Body::CompactReq { .. }) =>
                {
                    if self.handle_request(&message, &received) {
                        self.note_way(&received, at_ns);
                    }
                }
                Ok(message) if received.by == Port::Event && message.body == Body::SptpReq => {
                    self.respond_to_sptp(&message, &received);
                }
                Ok(Message {
                    domain,
                    source,
                    body: Body::Signaling { target, tlvs },
                    ..
                }) if self
                    .unicast_service
                    .allows(received.from.ip(), &self.responder) =>
                {
                    let now = self.sockets.now();
                    let requests = |tlv| matches!(tlv, Tlv::Request { .. });
                    if !self.client.receive_tlvs(
                        received.from,
                        (domain, source, target, &tlvs),
                        now,
                    ) || tlvs.iter().any(requests)
                    {
                        self.negotiate((domain, source, target, &tlvs), &received);
                    }
                }
                Ok(message) => {
                    let update = self
                        .client
                        .receive(received.from, &message, received.arrival);
                    if matches!(update.verdict, None | Some(Verdict::Unsolicited))
                        && self.confirms(&message, received.from)
                    {
                        self.responder.confirm(received.from, message.source);
                        continue;
                    }
                    if matches!(update.verdict, Some(Verdict::Taken | Verdict::Complete(..))) {
                        self.note_way(&received, at_ns);
                        self.observe_hardware(&message, &received);
                    }
                    self.record_update(update, received.from, at_ns);
                }
                Err(why) => {
                    add(&self.counters.packets_rejected, 1);
                    let from = received.from;
                    let is_known = self.unicast_service.allows(from.ip(), &self.responder);
                    if why == Malformed::Authentication
                        && (self.client.authenticated(from) || is_known)
                    {
                        self.event_log.authenticated(from.ip(), at_ns);
                    }
                }
            }
        }
        self.received = messages;
    }

    /// Note how many routers a packet has passed that is of a peer for certain.
    fn note_way(&mut self, received: &ReceivedMessage, at_ns: i64) {
        let peer = received.from.ip();
        let hop_limit = received.hop_limit;
        if let Some(reroute) = hop_limit.and_then(|hops| self.hop_counts.arrived(peer, hops, at_ns))
        {
            self.event_log.rerouted(peer, reroute);
        }
    }

    /// Return true if a message answers a challenge to its source address.
    fn confirms(&self, message: &Message, from: SocketAddr) -> bool {
        let Body::CompactResp { response_tlv, .. } = message.body else {
            return false;
        };
        response_tlv.requester == self.unicast_service.receipts.challenger_for(from.ip())
    }

    /// Compare the hardware clocks of both ends if both have one.
    fn observe_hardware(&mut self, message: &Message, received: &ReceivedMessage) {
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
        if let Some((at, error_ns)) = self.hardware_time.moment_of(&hardware_clock, receive_ns) {
            self.client
                .observe_hardware(received.from, at, receive_ns, error_ns);
        }
    }

    /// Count the effect of a message and report the change that it proves.
    pub(super) fn record_update(&mut self, update: SessionUpdate, peer: SocketAddr, at_ns: i64) {
        match update.change {
            Some(Change::Stepped) => self.event_log.peer_clock_stepped(peer.ip(), at_ns),
            Some(Change::TimeScale) => self.event_log.time_scale_changed(peer.ip(), at_ns),
            Some(Change::Route(change)) => self.event_log.route_changed(peer.ip(), change, at_ns),
            None => {}
        }
        add(&self.counters.exchanges_completed, update.completed);
        let counter = match update.verdict {
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
