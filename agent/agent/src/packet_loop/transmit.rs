//! Sending what is queued, and what follows from when it left.

use std::io;

use super::exchanger::{Exchanger, add};
use super::sockets::packet::Departure;
use crate::clock::RawTime;
use crate::ptp::{Body, Correction, Message, Response, ResponseForm};

/// An answer whose Delay_Resp is still to be sent, and when its Sync left, if that is known.
type Half = (Response, Option<RawTime>);

impl Exchanger {
    /// Sends all that is queued: event messages first, then what their departure stamps are needed for.
    pub(super) fn send(&mut self, backend_ns: &impl Fn(RawTime) -> i64) -> io::Result<()> {
        let (mut sent, mut halves) = (self.ports.send_late(), Vec::<Half>::new());
        let (client, responder) = (&mut self.client, &mut self.responder);
        let mut refused = None;
        self.ports.send_events(|packet, left| {
            sent += u64::from(left.is_ok());
            if let Err(error) = left {
                refused = Some((packet.to, error.to_string()));
            }
            match packet.token {
                Departure::Request(id) if left.is_err() => client.refused(&id),
                Departure::Request(_) | Departure::Granted(..) => {}
                Departure::Sync(response) => {
                    if left.is_err() {
                        responder.uncount_sync(&response);
                    }
                    if response.form != ResponseForm::Compact {
                        halves.push((response, None));
                    }
                }
            }
        })?;
        if let Some((to, why)) = refused {
            self.notices.refused(to, &why, backend_ns(self.ports.now()));
        }
        self.depart(&mut halves, backend_ns);
        // After all Syncs of the batch, so that the counts they carry are of one moment.
        for (response, left) in halves {
            let Some(received) = response.received else {
                continue;
            };
            let receive_ns = self.ports.on_the_wire(received);
            let left_ns = left.map(|t1| self.ports.on_the_wire(t1));
            let hardware_clock = self.standing.hardware_clock(received, receive_ns);
            if let Some(message) = self.responder.delay_resp(
                &response,
                self.identity,
                receive_ns,
                left_ns,
                hardware_clock.filter(|_| response.form != ResponseForm::Standard),
            ) {
                self.ports
                    .queue_general(&message, response.general(), response.local);
            }
        }
        sent += self.ports.send_generals(self.serves_soon());
        add(&self.counters.packets_sent, sent);
        Ok(())
    }

    /// Takes the departures that have become known: t3 to its exchange, t1 to its half of an answer, to a Follow_Up or
    /// to the next answers.
    pub(super) fn depart(&mut self, halves: &mut [Half], backend_ns: &impl Fn(RawTime) -> i64) {
        let mut departures = std::mem::take(&mut self.departures);
        self.ports.departures(&mut departures);
        let mut next = 0;
        for departed in departures.drain(..) {
            match (departed.token, departed.at) {
                (Departure::Request(id), Some(t3)) => {
                    let heard = self.client.departed(&id, t3);
                    self.note(heard, id.to, backend_ns(t3));
                }
                (Departure::Sync(response), Some(t1)) if response.form == ResponseForm::Compact => {
                    let left_ns = self.ports.on_the_wire(t1);
                    self.responder.record_departure(&response, left_ns);
                }
                (Departure::Sync(response), Some(t1)) => {
                    // Stamps come in the order of sending, so the search ends where it begins.
                    let rest = halves.get(next..).unwrap_or_default();
                    let joint =
                        response.form == ResponseForm::InDelayResp && response.received.is_some();
                    let place = rest.iter().position(|(of, _)| joint && *of == response);
                    if let Some(place) = place {
                        halves[next + place].1 = Some(t1);
                        next += place + 1;
                        continue;
                    }
                    let origin_ns = self.ports.on_the_wire(t1);
                    let message = self.response_message(&response, Body::FollowUp { origin_ns });
                    self.ports
                        .queue_general(&message, response.general(), response.local);
                }
                (Departure::Granted(sequence_id, address), Some(t1)) => {
                    let message = Message {
                        source: self.identity,
                        sequence_id,
                        correction: Correction(0),
                        body: Body::FollowUp {
                            origin_ns: self.ports.on_the_wire(t1),
                        },
                    };
                    // One whose stamp came late must not wait any longer.
                    if t1 >= self.ports.now() {
                        self.ports
                            .queue_follow_up(&message, address.general(), address.local);
                    } else {
                        self.ports
                            .queue_general(&message, address.general(), address.local);
                    }
                }
                (_, None) => {}
            }
        }
        self.departures = departures;
    }
}
