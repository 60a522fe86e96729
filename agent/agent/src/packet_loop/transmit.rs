//! Transmission of the queued messages, and the messages that carry their departure timestamps.

use std::io;

use super::exchanger::{Exchanger, add};
use super::sockets::packet::Departure;
use crate::clock::{RawTime, TimestampSource};
use crate::ptp::{Body, Correction, Message, Response, ResponseForm};

/// A response whose Delay_Resp is not yet sent, and the departure of its Sync if known.
type Half = (Response, Option<RawTime>);

impl Exchanger {
    /// Send the queued messages: responses to standard clients, event messages, and those that carry the departure
    /// timestamps of these. Return how many left.
    pub(super) fn transmit(&mut self, backend_ns: &impl Fn(RawTime) -> i64) -> io::Result<u64> {
        // Nothing that a client waits for stays behind the Syncs of others: each wakes its receiver, which may take the
        // processor, and ptpd accepts a response only until its next request.
        let mut sent = self.sockets.send_generals(self.grant_due_soon());
        let mut halves = Vec::<Half>::new();
        let (client, responder) = (&mut self.client, &mut self.responder);
        let mut refused = None;
        self.sockets.send_events(|packet, left| {
            sent += u64::from(left.is_ok());
            if let Err(error) = left {
                refused = Some((packet.to, error.to_string()));
            }
            match packet.token {
                Departure::Request(id) if left.is_err() => client.withdraw_request(&id),
                Departure::Request(_)
                | Departure::Granted(..)
                | Departure::Sptp(..)
                | Departure::Challenge => {}
                Departure::Sync(response) => {
                    if left.is_err() {
                        responder.uncount_sync(&response);
                    }
                    if response.form.has_delay_resp() {
                        halves.push((response, None));
                    }
                }
            }
        })?;
        if let Some((to, why)) = refused {
            self.event_log
                .refused(to, &why, backend_ns(self.sockets.now()));
        }
        self.record_departures(&mut halves, backend_ns);
        // After all Syncs of the batch, so that their reception reports are of one moment.
        for (response, left) in halves {
            let Some(received) = response.received else {
                continue;
            };
            let receive_ns = self.sockets.wire_ns(received);
            let left_ns = left.map(|t1| self.sockets.wire_ns(t1));
            let hardware_clock = self.hardware_time.hardware_clock(received, receive_ns);
            if let Some(message) = self.responder.delay_resp(
                &response,
                self.unicast_service
                    .receipts
                    .identity_for(response.client.ip()),
                receive_ns,
                left_ns,
                hardware_clock.filter(|_| response.form != ResponseForm::Standard),
            ) {
                self.sockets
                    .queue_general(&message, response.general(), response.local);
            }
        }
        sent += self.sockets.send_generals(self.grant_due_soon());
        add(&self.counters.packets_sent, sent);
        Ok(sent)
    }

    /// Distribute departure timestamps: t3 to its exchange, and t1 to its Delay_Resp, to a Follow_Up or to the next compact
    /// responses.
    pub(super) fn record_departures(
        &mut self,
        halves: &mut [Half],
        backend_ns: &impl Fn(RawTime) -> i64,
    ) {
        let mut departures = std::mem::take(&mut self.departures);
        self.sockets.take_departures(&mut departures);
        self.record_send_waits(&departures);
        let mut next = 0;
        for departure in departures.drain(..) {
            let stamp = departure.stamp;
            let source = stamp.map_or(TimestampSource::User, |stamp| stamp.source);
            match (departure.token, stamp.map(|stamp| stamp.at)) {
                (Departure::Request(id), Some(t3)) => {
                    let update = self.client.record_departure(&id, t3, source);
                    self.record_update(update, id.to, backend_ns(t3));
                }
                (Departure::Sync(response), Some(t1)) if response.form == ResponseForm::Compact => {
                    let left_ns = self.sockets.wire_ns(t1);
                    self.responder.record_departure(&response, left_ns);
                }
                (Departure::Sync(response), Some(t1)) if response.form.has_delay_resp() => {
                    // Timestamps arrive in the order of sending, so the search continues where the last one ended.
                    let rest = halves.get(next..).unwrap_or_default();
                    let in_delay_resp =
                        response.form == ResponseForm::InDelayResp && response.received.is_some();
                    let place = rest
                        .iter()
                        .position(|(of, _)| in_delay_resp && *of == response);
                    if let Some(place) = place {
                        halves[next + place].1 = Some(t1);
                        next += place + 1;
                        continue;
                    }
                    let origin_ns = self.sockets.wire_ns(t1);
                    let message = self.response_message(&response, Body::FollowUp { origin_ns });
                    self.sockets
                        .queue_general(&message, response.general(), response.local);
                }
                (Departure::Granted(sequence_id, address), Some(t1)) => {
                    let message = Message {
                        domain: address.domain,
                        source: self.unicast_service.receipts.identity_for(address.client),
                        sequence_id,
                        correction: Correction(0),
                        body: Body::FollowUp {
                            origin_ns: self.sockets.wire_ns(t1),
                        },
                    };
                    // One whose timestamp came late must not wait any longer.
                    if t1 >= self.sockets.now() {
                        self.sockets
                            .queue_follow_up(&message, address.general(), address.local);
                    } else {
                        self.sockets
                            .queue_general(&message, address.general(), address.local);
                    }
                }
                (Departure::Sptp(sequence_id, correction, address), Some(t1)) => {
                    let message = Message {
                        domain: address.domain,
                        source: self.unicast_service.receipts.identity_for(address.client),
                        sequence_id,
                        correction,
                        body: Body::Announce {
                            origin_ns: self.sockets.wire_ns(t1),
                            utc_offset_s: None,
                        },
                    };
                    self.sockets
                        .queue_general(&message, address.general(), address.local);
                }
                (Departure::Sync(_) | Departure::Challenge, Some(_)) | (_, None) => {}
            }
        }
        self.departures = departures;
    }
}
