//! Asking: the requests that are due.

use super::client::Request;
use super::exchanger::{Exchanger, add};
use super::sockets::Ports;
use super::sockets::packet::Departure;
use crate::clock::RawTime;
use crate::standard_clients::standard_client::Asked;
use crate::timestamp::raw_now;

impl Exchanger {
    /// Queues the requests that are due.
    pub(super) fn ask(&mut self, backend_ns: &impl Fn(RawTime) -> i64) {
        let now = raw_now();
        let at_ns = backend_ns(now);
        while let Some(slot) = self.client.next_slot(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.notices.shed();
            }
            allowed
        }) {
            add(&self.counters.requests_left_out, slot.left_out);
            if let Some(request) = slot.request {
                queue_request(&mut self.ports, &request);
            }
        }
        let stocks = self.client.ask_stocks(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.notices.shed();
            }
            allowed
        });
        for asked in stocks {
            match asked {
                Asked::Request(request) => queue_request(&mut self.ports, &request),
                Asked::Signal(signal) => {
                    self.ports.queue_general(&signal.message, signal.to, None);
                }
                Asked::Heard(from, heard) => self.note(heard, from, at_ns),
            }
        }
    }
}

fn queue_request(ports: &mut Ports, request: &Request) {
    let departure = Departure::Request(request.id());
    ports.queue_event(&request.message, request.to, None, departure, request.flow);
}
