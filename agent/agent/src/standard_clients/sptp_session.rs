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
    /// Sequence ids and t4 of Syncs, oldest first.
    syncs: VecDeque<(u16, i64)>,
    early: Vec<Message>,
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

    /// Returns true if the server has answered once. A server that vanishes then loses requests.
    pub fn serves(&self) -> bool {
        self.answered
    }

    /// Returns the reason why nothing is measured at `now`, as far as requests show it.
    pub fn no_service(&self, now: RawTime) -> Option<NoService> {
        let is_silent = !self.answered && now.since(self.began) >= SILENT_NS;
        is_silent.then_some(NoService::Silent)
    }

    /// Takes a Sync or an Announce. Returns the messages of the standard exchange that it completes, in UTC.
    pub fn receive(&mut self, message: &Message) -> Vec<Message> {
        self.answered = true;
        match message.body {
            Body::Sync { origin_ns: t4, .. } => {
                if self.syncs.len() == REMEMBERED {
                    self.syncs.pop_front();
                }
                self.syncs.push_back((message.sequence_id, t4));
                let sync = Message {
                    body: Body::Sync {
                        two_step: true,
                        origin_ns: 0,
                    },
                    ..*message
                };
                let times = self
                    .take_early(message.sequence_id)
                    .map(|early| self.times(&early, t4));
                std::iter::once(sync)
                    .chain(times.into_iter().flatten())
                    .collect()
            }
            Body::Announce { .. } => {
                let mut newest_first = self.syncs.iter().rev();
                let sync = newest_first
                    .find(|(id, _)| *id == message.sequence_id)
                    .copied();
                match sync {
                    Some((_, t4)) => self.times(message, t4).into(),
                    None => {
                        self.keep_early(*message);
                        Vec::new()
                    }
                }
            }
            _ => Vec::new(),
        }
    }

    /// Returns t4 and t1 as a Delay_Resp and a Follow_Up. The correction of an Announce is that of the request.
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

    /// Removes the newest Announce of a sequence id: ptp4u may send one with the departure of another Sync before it.
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

    /// Returns the times of the messages: t4 and its correction, or t1.
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
        all.map(|message| {
            (
                message.sequence_id,
                time(message),
                message.correction.nanos(),
            )
        })
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

    #[test]
    fn a_server_that_never_answers_has_no_service() {
        let mut session = SptpSession::new(CLIENT, RawTime(0));
        assert_eq!(session.no_service(RawTime(SILENT_NS - 1)), None);
        assert_eq!(
            session.no_service(RawTime(SILENT_NS)),
            Some(NoService::Silent)
        );
        assert!(!session.serves());
        session.receive(&sync(PROBE_ID, 0));
        assert!(session.serves());
        assert_eq!(session.no_service(RawTime(100 * SILENT_NS)), None);
    }
}
