//! Requests that are due, of the compact exchange and of the standard one.

use super::exchanger::{Exchanger, add};
use super::sockets::Sockets;
use super::sockets::packet::Departure;
use crate::clock::RawTime;
use crate::paths::request::Request;
use crate::standard_clients::standard_client::Action;
use crate::timestamp::raw_now;

impl Exchanger {
    /// Queue the requests that are due.
    pub(super) fn queue_requests(&mut self, backend_ns: &impl Fn(RawTime) -> i64) {
        let now = raw_now();
        let at_ns = backend_ns(now);
        while let Some(slot) = self.client.next_slot(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.event_log.shed();
            }
            allowed
        }) {
            add(&self.counters.requests_left_out, slot.left_out);
            if let Some(request) = slot.request {
                queue_request(&mut self.sockets, &request);
            }
        }
        let standard = self.client.standard_actions(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.event_log.shed();
            }
            allowed
        });
        for action in standard {
            match action {
                Action::Request(request) => queue_request(&mut self.sockets, &request),
                Action::Probe(to, message) => {
                    self.sockets
                        .queue_event(&message, to, None, Departure::Challenge, 0);
                }
                Action::Signal(signal) => {
                    self.sockets.queue_general(&signal.message, signal.to, None);
                }
                Action::Update(from, update) => self.record_update(update, from, at_ns),
            }
        }
    }
}

fn queue_request(sockets: &mut Sockets, request: &Request) {
    let departure = Departure::Request(request.id());
    sockets.queue_event(&request.message, request.to, None, departure, request.flow);
}
