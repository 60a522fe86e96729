//! SPTP with one server (Meta's Simple PTP, facebook/time, ptp/sptp/README.md): no grants, and a request for every exchange.
//!
//! ```text
//! client                                     server
//! t3 ──── Delay_Req (profile specific 1) ─►  t4
//! t2 ◄─── Sync: t4 ────────────────────────  t1
//!    ◄─── Announce: t1, correction of the Delay_Req, UTC offset
//! ```
//!
//! All carry the sequence id of the request. They are read as the messages of the standard that carry the same times.

use std::collections::VecDeque;

use crate::clock::RawTime;
use crate::ptp::{Body, Correction, Message, NoService, PortIdentity};

/// Syncs whose Announce may still come, and Announces that may overtake their Sync.
const REMEMBERED: usize = 256;
const MOST_EARLY: usize = 16;

/// Time without an answer after which a server is reported as silent, ns.
const SILENT_NS: i64 = 10_000_000_000;

/// The sequence id of requests before the first answer, which belong to no exchange.
pub(super) const PROBE_ID: u16 = u16::MAX;

#[derive(Debug)]
pub(super) struct SptpSession {
    requester: PortIdentity,
    began: RawTime,
    answered: bool,
    /// Oldest first.
    syncs: VecDeque<ReceivedSync>,
    early: Vec<Message>,
}

/// A Sync, and what came after it with its sequence id.
#[derive(Debug)]
struct ReceivedSync {
    sequence_id: u16,
    t4_ns: i64,
    /// Its Announce has arrived.
    has_t1: bool,
    /// Another Sync with its sequence id has arrived: an Announce may carry the departure of either.
    is_repeated: bool,
}

impl SptpSession {
    pub fn new(requester: PortIdentity, now: RawTime) -> Self {
        Self {
            requester,
            began: now,
            answered: false,
            syncs: VecDeque::new(),
            early: Vec::new(),
        }
    }

    /// Return true if the server has answered once. A server that vanishes then loses requests.
    pub fn serves(&self) -> bool {
        self.answered
    }

    /// Return the reason why nothing is measured at `now`, as far as requests show it.
    pub fn no_service(&self, now: RawTime) -> Option<NoService> {
        let is_silent = !self.answered && now.since(self.began) >= SILENT_NS;
        is_silent.then_some(NoService::Silent)
    }

    /// Take a Sync or an Announce. Return the messages of the standard exchange that it completes, in UTC.
    pub fn receive(&mut self, message: &Message) -> Vec<Message> {
        self.answered = true;
        match message.body {
            Body::Sync {
                origin_ns: t4_ns, ..
            } => {
                let sync = Message {
                    body: Body::Sync {
                        two_step: true,
                        origin_ns: 0,
                    },
                    ..*message
                };
                if let Some(known) = self.find(message.sequence_id) {
                    known.is_repeated = true;
                    return vec![sync];
                }
                if self.syncs.len() == REMEMBERED {
                    self.syncs.pop_front();
                }
                let early = self.take_early(message.sequence_id);
                self.syncs.push_back(ReceivedSync {
                    sequence_id: message.sequence_id,
                    t4_ns,
                    has_t1: early.is_some(),
                    is_repeated: false,
                });
                let times = early.map(|early| self.times(&early, t4_ns));
                std::iter::once(sync)
                    .chain(times.into_iter().flatten())
                    .collect()
            }
            Body::Announce { .. } => match self.find(message.sequence_id) {
                Some(sync) if sync.is_repeated && !sync.has_t1 => Vec::new(),
                Some(sync) => {
                    sync.has_t1 = true;
                    let t4_ns = sync.t4_ns;
                    self.times(message, t4_ns).into()
                }
                None => {
                    // ptp4u builds its answers in one buffer: a request that comes while it answers another one gives the
                    // Announce of that one its own sequence id. The Sync before it then has no Announce.
                    if self.syncs.back().is_none_or(|newest| newest.has_t1) {
                        self.keep_early(*message);
                    }
                    Vec::new()
                }
            },
            _ => Vec::new(),
        }
    }

    /// Return t4 and t1 as a Delay_Resp and a Follow_Up. The correction of an Announce is that of the request.
    fn times(&self, announce: &Message, t4: i64) -> [Message; 2] {
        let (t1, utc_offset_s) = match announce.body {
            Body::Announce {
                origin_ns,
                utc_offset_s,
            } => (origin_ns, utc_offset_s.unwrap_or(0)),
            _ => (0, 0),
        };
        let ahead_ns = i64::from(utc_offset_s) * 1_000_000_000;
        let delay_resp = Body::DelayResp {
            receive_ns: t4.saturating_sub(ahead_ns),
            requester: self.requester,
            rx_report: None,
            sync_left_ns: None,
            hardware_clock: None,
            vm: None,
        };
        let follow_up = Body::FollowUp {
            origin_ns: t1.saturating_sub(ahead_ns),
        };
        [
            (delay_resp, announce.correction),
            (follow_up, Correction(0)),
        ]
        .map(|(body, correction)| Message {
            correction,
            body,
            ..*announce
        })
    }

    /// Return the Sync of a sequence id.
    fn find(&mut self, sequence_id: u16) -> Option<&mut ReceivedSync> {
        let mut newest_first = self.syncs.iter_mut().rev();
        newest_first.find(|sync| sync.sequence_id == sequence_id)
    }

    /// Remove the newest Announce of a sequence id, which has overtaken its Sync.
    fn take_early(&mut self, sequence_id: u16) -> Option<Message> {
        let place = self
            .early
            .iter()
            .rposition(|early| early.sequence_id == sequence_id)?;
        Some(self.early.remove(place))
    }

    fn keep_early(&mut self, announce: Message) {
        if self.early.len() == MOST_EARLY {
            self.early.remove(0);
        }
        self.early.push(announce);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: PortIdentity = PortIdentity { clock: 5, port: 1 };
    const CLIENT: PortIdentity = PortIdentity { clock: 9, port: 11 };
    const S: i64 = 1_000_000_000;

    fn message(sequence_id: u16, correction_ns: i64, body: Body) -> Message {
        Message {
            domain: 0,
            source: SERVER,
            sequence_id,
            correction: Correction(correction_ns << 16),
            body,
        }
    }

    fn sync(sequence_id: u16, t4: i64) -> Message {
        let body = Body::Sync {
            two_step: true,
            origin_ns: t4,
        };
        message(sequence_id, 30, body)
    }

    fn announce(sequence_id: u16, t1: i64) -> Message {
        let body = Body::Announce {
            origin_ns: t1,
            utc_offset_s: Some(37),
        };
        message(sequence_id, 20, body)
    }

    /// Return the times of the messages: t4 and its correction, or t1.
    fn times(messages: &[Message]) -> Vec<(u16, i64, i64)> {
        let time = |message: &Message| match message.body {
            Body::Sync { .. } => 0,
            Body::DelayResp {
                receive_ns,
                requester,
                ..
            } => {
                assert_eq!(requester, CLIENT);
                receive_ns
            }
            Body::FollowUp { origin_ns } => origin_ns,
            other => panic!("{other:?}"),
        };
        let all = messages.iter();
        all.map(|one| (one.sequence_id, time(one), one.correction.nanos()))
            .collect()
    }

    #[test]
    fn both_answers_are_read_as_messages_of_the_standard_in_utc() {
        let mut session = SptpSession::new(CLIENT, RawTime(0));
        assert_eq!(times(&session.receive(&sync(4, 40 * S))), [(4, 0, 30)]);
        let read = session.receive(&announce(4, 41 * S));
        assert_eq!(times(&read), [(4, 3 * S, 20), (4, 4 * S, 0)]);
    }

    #[test]
    fn an_announce_that_overtakes_its_sync_waits_for_it_and_the_newest_counts() {
        let mut session = SptpSession::new(CLIENT, RawTime(0));
        assert_eq!(session.receive(&announce(7, 1)), []);
        assert_eq!(session.receive(&announce(7, 42 * S)), []);
        let read = session.receive(&sync(7, 40 * S));
        assert_eq!(times(&read), [(7, 0, 30), (7, 3 * S, 20), (7, 5 * S, 0)]);
        (0..100).for_each(|id| assert_eq!(session.receive(&announce(id + 100, 0)), []));
        assert_eq!(session.early.len(), MOST_EARLY);
    }

    /// A step of ptp4u with two requests that come close together: it receives the second one, whose numbers go to the Sync
    /// and then to the Announce in its buffer, and it sends.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Step {
        NumberSync,
        NumberAnnounce,
        SendSync,
        SendAnnounce,
    }

    /// Return the orders of both steps of the receiver among those of the sender, which answers twice.
    fn orders() -> Vec<Vec<Step>> {
        use Step::{NumberAnnounce, NumberSync, SendAnnounce, SendSync};
        let sends = [SendSync, SendAnnounce, SendSync, SendAnnounce];
        let mut orders = Vec::new();
        // The second request is answered after it was received.
        for sync_at in 0..=2 {
            for announce_at in sync_at..=2 {
                let mut order = sends.to_vec();
                order.insert(announce_at, NumberAnnounce);
                order.insert(sync_at, NumberSync);
                orders.push(order);
            }
        }
        orders
    }

    /// Return the departure of the first Sync of each sequence id, and the first t1 that a session reads of it.
    fn t1_by_exchange(order: &[Step]) -> Vec<(u16, i64, Option<i64>)> {
        let mut session = SptpSession::new(CLIENT, RawTime(0));
        // The exchange before is complete.
        session.receive(&sync(6, 0));
        session.receive(&announce(6, 37 * S));
        let (mut sync_id, mut announce_id, mut left) = (7, 7, 40 * S);
        let mut exchanges: Vec<(u16, i64, Option<i64>)> = Vec::new();
        for step in order {
            let parts = match step {
                Step::NumberSync => {
                    sync_id = 8;
                    continue;
                }
                Step::NumberAnnounce => {
                    announce_id = 8;
                    continue;
                }
                Step::SendSync => {
                    left += S;
                    if exchanges.iter().all(|(id, ..)| *id != sync_id) {
                        exchanges.push((sync_id, left, None));
                    }
                    session.receive(&sync(sync_id, 40 * S))
                }
                Step::SendAnnounce => session.receive(&announce(announce_id, left)),
            };
            for part in parts {
                let mut all = exchanges.iter_mut();
                let of = all.find(|(id, ..)| *id == part.sequence_id);
                if let (Body::FollowUp { origin_ns }, Some(of)) = (part.body, of) {
                    of.2.get_or_insert(origin_ns + 37 * S);
                }
            }
        }
        exchanges
    }

    #[test]
    fn no_t1_is_that_of_another_sync_in_any_order_of_close_requests() {
        let mut measured = 0;
        for order in orders() {
            for (id, left, t1) in t1_by_exchange(&order) {
                assert!(t1.is_none_or(|t1| t1 == left), "{order:?}: {id} {t1:?}");
                measured += i32::from(t1.is_some());
            }
        }
        assert_eq!(measured, 7, "what is certain is measured");
    }

    #[test]
    fn a_server_that_never_answers_has_no_service() {
        let mut session = SptpSession::new(CLIENT, RawTime(0));
        assert_eq!(session.no_service(RawTime(SILENT_NS - 1)), None);
        let late = session.no_service(RawTime(SILENT_NS));
        assert_eq!(late, Some(NoService::Silent));
        assert!(!session.serves());
        session.receive(&sync(PROBE_ID, 0));
        assert!(session.serves());
        assert_eq!(session.no_service(RawTime(100 * SILENT_NS)), None);
    }
}
