use super::super::field::Correction;
use super::super::response_tlv::ResponseTlv;
use super::*;

const US: i64 = 1_000;
const INTERVAL: i64 = 10_000 * US;
const DEADLINE: i64 = 1_000_000 * US;
const REQUESTER: PortIdentity = PortIdentity { clock: 7, port: 1 };

/// A client and an idealised responder: what was asked, what came back.
struct Talk {
    exchanges: ExchangeTable<u16>,
    received: Vec<u16>,
    responder: u64,
    unanswered: u32,
}

impl Talk {
    fn new() -> Self {
        Self {
            exchanges: ExchangeTable::new(REQUESTER),
            received: Vec::new(),
            responder: 9,
            unanswered: 0,
        }
    }

    fn sent_at(id: u16) -> RawTime {
        RawTime(i64::from(id) * INTERVAL)
    }

    /// Sends the next request, held for an answer for `hold_s`.
    fn ask(&mut self, hold_s: i64) -> u16 {
        let tag = self
            .exchanges
            .first
            .wrapping_add(self.exchanges.open.len() as u16);
        let at = Self::sent_at(tag);
        let pending = PendingRequest {
            at,
            deadline: at.plus(DEADLINE),
            hold_until: at.plus(DEADLINE.max(hold_s * 1_000_000_000)),
            t1_deadline: at.plus(DEADLINE),
            tag,
        };
        assert_eq!(self.exchanges.open(pending), Some(tag));
        assert_eq!(self.exchanges.departed(tag, at), Verdict::Taken);
        tag
    }

    fn ask_times(&mut self, times: u16, hold_s: i64) {
        for _ in 0..times {
            self.ask(hold_s);
        }
    }

    fn arrives(&mut self, id: u16) {
        self.received.push(id);
    }

    /// Returns the responder's report by a naive count of everything received.
    fn rx_report(&self) -> RxReportTlv {
        let newest = *self.received.iter().max().unwrap();
        let watched = (newest - self.received[0] + 1).min(128);
        let arrived = (0..watched)
            .filter(|back| self.received.contains(&(newest - back)))
            .map(|back| 1 << back)
            .sum();
        let requests = self.received.len() as u32;
        RxReportTlv {
            requests,
            syncs: requests - self.unanswered,
            newest,
            watched,
            arrived,
        }
    }

    fn hear(&mut self, id: u16, after_us: i64, body: Body) -> Verdict {
        let at = Self::sent_at(id).plus(after_us * US);
        let message = Message {
            source: PortIdentity {
                clock: self.responder,
                port: 1,
            },
            sequence_id: id,
            correction: Correction(0),
            body,
        };
        self.exchanges.receive(
            &message,
            Arrival {
                at,
                stamp: Some(at),
            },
        )
    }

    fn sync(&mut self, id: u16) -> Verdict {
        self.hear(
            id,
            300,
            Body::Sync {
                two_step: true,
                origin_ns: 0,
            },
        )
    }

    fn follow_up(&mut self, id: u16) -> Verdict {
        let origin_ns = Self::sent_at(id).0 + 200 * US;
        self.hear(id, 310, Body::FollowUp { origin_ns })
    }

    fn delay_resp(&mut self, id: u16, rx_report: Option<RxReportTlv>) -> Verdict {
        let receive_ns = Self::sent_at(id).0 + 100 * US;
        self.hear(
            id,
            320,
            Body::DelayResp {
                receive_ns,
                requester: REQUESTER,
                rx_report,
                sync_left_ns: None,
                hardware_clock: None,
            },
        )
    }

    /// The whole answer arrives.
    fn response(&mut self, id: u16) {
        self.arrives(id);
        self.sync(id);
        self.follow_up(id);
        let rx_report = self.rx_report();
        self.delay_resp(id, Some(rx_report));
    }

    /// (request lost, Sync lost) as settled by `at_s`; `?` for what nobody knows.
    fn settle(&mut self, at_s: i64) -> Vec<(u16, String)> {
        let mut outcome = Vec::new();
        self.exchanges.settle(RawTime(at_s * 1_000_000_000), |s| {
            let word = match (s.request_arrived, s.sync_sent, s.sync_arrived) {
                (Some(true), Some(true), true) => "back",
                (Some(false), Some(false), false) => "lost out",
                (Some(true), Some(true), false) => "lost in",
                (Some(true), None, false) => "shed?",
                (None, None, false) => "?",
                other => panic!("{other:?}"),
            };
            outcome.push((s.tag, word.to_owned()));
        });
        outcome
    }

    fn words(&mut self, at_s: i64) -> String {
        let outcome = self.settle(at_s);
        outcome
            .into_iter()
            .map(|(_, word)| word)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[test]
fn one_exchange_gives_both_directions() {
    let mut talk = Talk::new();
    let id = talk.ask(0);
    talk.arrives(id);
    assert_eq!(talk.sync(id), Verdict::Taken);
    assert_eq!(talk.follow_up(id), Verdict::Taken);
    let Verdict::Complete(outbound, inbound) = talk.delay_resp(id, None) else {
        panic!()
    };
    assert_eq!(
        (-outbound.difference_ns(), inbound.difference_ns()),
        (100 * US, 100 * US)
    );
    assert_eq!(talk.delay_resp(id, None), Verdict::Duplicate);
    assert_eq!(talk.sync(id), Verdict::Duplicate);
    assert_eq!(talk.words(0), "");
    assert_eq!(talk.words(2), "back");
    assert_eq!(talk.words(2), "", "settled once");
}

#[test]
fn impossible_times_are_counted_and_not_measured() {
    // Answered before it was asked; longer away than time passed here; whatever else a peer may claim.
    for (t1_us, t4_us) in [
        (100, 200),
        (900, 100),
        (i64::MAX / US, 0),
        (0, i64::MAX / US),
    ] {
        let mut talk = Talk::new();
        talk.ask(0);
        talk.arrives(0);
        talk.sync(0);
        talk.hear(
            0,
            310,
            Body::FollowUp {
                origin_ns: t1_us * US,
            },
        );
        let body = Body::DelayResp {
            receive_ns: t4_us * US,
            requester: REQUESTER,
            rx_report: None,
            sync_left_ns: None,
            hardware_clock: None,
        };
        assert_eq!(
            talk.hear(0, 320, body),
            Verdict::Implausible,
            "{t1_us} {t4_us}"
        );
        talk.exchanges.settle(RawTime(2 * DEADLINE), |s| {
            assert_eq!((s.sync_arrived, s.outbound, s.inbound), (true, None, None));
        });
    }
}

#[test]
fn the_departure_may_be_known_last() {
    let mut talk = Talk::new();
    let pending = PendingRequest {
        at: RawTime(0),
        deadline: RawTime(DEADLINE),
        hold_until: RawTime(DEADLINE),
        t1_deadline: RawTime(DEADLINE),
        tag: 0,
    };
    let id = talk.exchanges.open(pending).unwrap();
    talk.response(id);
    assert!(matches!(
        talk.exchanges.departed(id, RawTime(0)),
        Verdict::Complete(..)
    ));
}

#[test]
fn says_in_which_direction_a_packet_was_lost() {
    let mut talk = Talk::new();
    talk.ask_times(6, 0);
    talk.response(0);
    // 1 is lost on its way out. Of 2 all answers are lost, of 3 the Sync. 4 loses Delay_Resp. 5 tells of all.
    talk.arrives(2);
    talk.arrives(3);
    talk.follow_up(3);
    talk.arrives(4);
    talk.sync(4);
    talk.response(5);
    assert_eq!(
        talk.words(5),
        "back, lost out, lost in, lost in, back, back"
    );
}

#[test]
fn without_counts_silence_has_no_direction() {
    let mut talk = Talk::new();
    talk.ask_times(3, 0);
    for id in [0, 2] {
        talk.sync(id);
        talk.follow_up(id);
        talk.delay_resp(id, None);
    }
    assert_eq!(talk.words(5), "back, ?, back");
}

#[test]
fn what_a_later_answer_tells_is_waited_for() {
    let mut talk = Talk::new();
    talk.ask_times(4, 9);
    talk.response(0);
    assert_eq!(talk.words(2), "back");
    talk.arrives(2);
    talk.response(3);
    assert_eq!(talk.words(2), "lost out, lost in, back");

    let mut talk = Talk::new();
    talk.ask_times(2, 9);
    assert_eq!(talk.words(2), "");
    assert_eq!(talk.words(10), "?, ?", "its window must close");
}

#[test]
fn an_outage_longer_than_the_map_is_told_by_the_counts() {
    for (arrives, word) in [(true, "lost in"), (false, "lost out")] {
        let mut talk = Talk::new();
        talk.ask_times(400, 30);
        talk.response(0);
        if arrives {
            (1..399).for_each(|id| talk.arrives(id));
        }
        talk.response(399);
        let outcome = talk.settle(60);
        assert_eq!(outcome.len(), 400);
        assert!(
            outcome[1..399].iter().all(|(_, w)| w == word),
            "{outcome:?}"
        );
    }
    let mut talk = Talk::new();
    talk.ask_times(400, 30);
    talk.response(0);
    (1..100).for_each(|id| talk.arrives(id));
    talk.response(399);
    let outcome = talk.settle(60);
    // Which of those beyond the map arrived, the counts alone cannot tell.
    assert!(outcome[1..272].iter().all(|(_, w)| w == "?"));
    assert!(outcome[272..399].iter().all(|(_, w)| w == "lost out"));
}

#[test]
fn answers_slower_than_the_next_requests_are_no_loss() {
    let mut talk = Talk::new();
    talk.ask_times(50, 0);
    // All answers come after the last request, in the wrong order.
    (0..50).for_each(|id| talk.arrives(id));
    let rx_report = talk.rx_report();
    for id in (0..50).rev() {
        talk.follow_up(id);
        assert!(matches!(
            talk.delay_resp(id, Some(rx_report)),
            Verdict::Taken
        ));
        assert!(matches!(talk.sync(id), Verdict::Complete(..)));
    }
    assert!(talk.settle(60).iter().all(|(_, word)| word == "back"));
}

#[test]
fn after_the_deadline_it_is_too_late() {
    let mut talk = Talk::new();
    talk.ask(9);
    talk.ask(9);
    talk.arrives(0);
    let late = DEADLINE / US + 1;
    assert_eq!(
        talk.hear(
            0,
            late,
            Body::Sync {
                two_step: true,
                origin_ns: 0
            }
        ),
        Verdict::Late
    );
    talk.response(1);
    assert_eq!(talk.words(5), "lost in, back");
    assert_eq!(talk.sync(0), Verdict::Late);
    assert_eq!(talk.sync(700), Verdict::Unsolicited);
}

#[test]
fn an_overloaded_responder_is_not_counted_as_loss() {
    let mut talk = Talk::new();
    talk.ask_times(4, 0);
    talk.response(0);
    talk.arrives(1);
    talk.unanswered = 1;
    talk.response(2);
    talk.arrives(3);
    talk.delay_resp(3, Some(talk.rx_report()));
    assert_eq!(talk.words(5), "back, shed?, back, lost in");
}

#[test]
fn a_restarted_responder_is_noticed_and_its_counts_start_anew() {
    let mut talk = Talk::new();
    talk.ask_times(5, 9);
    talk.response(0);
    talk.response(1);
    assert!(!talk.exchanges.take_restarted());
    talk.responder = 10;
    talk.received.clear();
    talk.response(3);
    assert!(talk.exchanges.take_restarted());
    assert!(!talk.exchanges.take_restarted());
    talk.response(4);
    // The new process never saw 2, nor could it have.
    assert_eq!(talk.words(12), "back, back, ?, back, back");
}

#[test]
fn answers_to_another_are_foreign() {
    let mut talk = Talk::new();
    talk.ask(0);
    let requester = PortIdentity { clock: 7, port: 2 };
    let body = Body::DelayResp {
        receive_ns: 0,
        requester,
        rx_report: None,
        sync_left_ns: None,
        hardware_clock: None,
    };
    assert_eq!(talk.hear(0, 100, body), Verdict::Unsolicited);
    assert_eq!(talk.hear(0, 100, Body::DelayReq), Verdict::Unsolicited);
}

#[test]
fn a_request_that_never_left_is_not_settled() {
    let mut talk = Talk::new();
    talk.ask_times(3, 0);
    talk.exchanges.withdraw(1);
    talk.response(0);
    talk.response(2);
    assert_eq!(talk.words(5), "back, back");
    talk.ask(0);
    talk.ask(0);
    talk.exchanges.withdraw(3);
    talk.sync(4);
    talk.ask(0);
    talk.ask(0);
    let mut ended = Vec::new();
    talk.exchanges.end(
        RawTime(0),
        |tag| *tag < 6,
        |outcome| ended.push(outcome.map(|outcome| outcome.tag)),
    );
    assert_eq!(ended, [Ok(4), Err(5)]);
    assert_eq!(talk.words(9), "?");
    assert_eq!(talk.ask(0), 7);
}

#[test]
fn random_losses_are_told_apart_exactly_over_many_rollovers() {
    losing_at_random(Body::DelayReq);
    losing_at_random(Body::CompactReq { soon: true });
}

fn losing_at_random(request: Body) {
    let mut exchanges: ExchangeTable<u32> = ExchangeTable::new(REQUESTER);
    let mut responder = super::super::Responder::default();
    let client: std::net::SocketAddr = "10.0.0.1:319".parse().unwrap();
    responder.set_peers([(client, 320)].into_iter(), RawTime(0));
    let mut state = 5u64;
    let mut lost = |percent: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % 100 < percent
    };
    let source = PortIdentity { clock: 9, port: 1 };
    let (mut truth, mut told) = ([0u32; 2], [0u32; 3]);
    for n in 0..200_000u32 {
        let at = RawTime(i64::from(n) * INTERVAL);
        let pending = PendingRequest {
            at,
            deadline: at.plus(DEADLINE),
            hold_until: at.plus(5 * DEADLINE),
            t1_deadline: at.plus(DEADLINE),
            tag: n,
        };
        let sequence_id = exchanges.open(pending).unwrap();
        let request = Message {
            source: REQUESTER,
            sequence_id,
            correction: Correction(0),
            body: request,
        };
        // The last requests all return, so that nothing stays unknown.
        let losing = n < 199_000;
        if losing && lost(7) {
            truth[0] += 1;
        } else {
            let response = responder.handle_request(&request, client, at).unwrap();
            responder.count_sync(&response);
            let arrival = Arrival {
                at: at.plus(US),
                stamp: None,
            };
            if request.body != Body::DelayReq {
                let whole = responder
                    .compact_resp(&response, source, (1, 1), None)
                    .unwrap();
                if losing && lost(12) {
                    truth[1] += 1;
                } else {
                    exchanges.receive(&whole, arrival);
                }
            } else if losing && lost(12) {
                truth[1] += 1;
            } else {
                let body = Body::Sync {
                    two_step: true,
                    origin_ns: 1,
                };
                exchanges.receive(
                    &Message {
                        source,
                        body,
                        ..request
                    },
                    arrival,
                );
            }
            if request.body == Body::DelayReq && (!losing || !lost(12)) {
                let message = responder
                    .delay_resp(&response, source, 1, None, None)
                    .unwrap();
                exchanges.receive(&message, arrival);
            }
        }
        exchanges.settle(at, |s| {
            told[0] += u32::from(s.request_arrived == Some(false));
            told[1] += u32::from(s.sync_sent == Some(true) && !s.sync_arrived);
            told[2] += u32::from(s.request_arrived.is_none() || s.sync_sent.is_none());
        });
    }
    assert_eq!(told, [truth[0], truth[1], 0]);
}

/// Opens an exchange with a standard responder at 0 and sets its departure.
fn standard(exchanges: &mut ExchangeTable<u16>) -> u16 {
    let deadline = RawTime(DEADLINE);
    let pending = PendingRequest {
        at: RawTime(0),
        deadline,
        hold_until: deadline,
        t1_deadline: deadline,
        tag: 1,
    };
    let id = exchanges.open_standard(pending, 0).unwrap();
    exchanges.departed(id, RawTime(0));
    id
}

fn told(id: u16, body: Body) -> Message {
    Message {
        source: PortIdentity { clock: 9, port: 1 },
        sequence_id: id,
        correction: Correction(0),
        body,
    }
}

#[test]
fn a_stock_responders_sync_may_leave_before_the_request_and_answers_nothing() {
    let mut exchanges = ExchangeTable::new(REQUESTER);
    let id = standard(&mut exchanges);
    let arrival = |us: i64| Arrival {
        at: RawTime(us * US),
        stamp: Some(RawTime(us * US)),
    };
    let sync = Body::Sync {
        two_step: false,
        origin_ns: -60 * US,
    };
    assert_eq!(
        exchanges.receive(&told(id, sync), arrival(-10)),
        Verdict::Taken
    );
    let response = Body::DelayResp {
        receive_ns: 40 * US,
        requester: REQUESTER,
        rx_report: None,
        sync_left_ns: None,
        hardware_clock: None,
    };
    let verdict = exchanges.receive(&told(id, response), arrival(90));
    let Verdict::Complete(outbound, inbound) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((outbound.remote_ns, inbound.remote_ns), (40 * US, -60 * US));
}

#[test]
fn an_unanswered_request_to_a_stock_responder_is_settled_at_its_deadline() {
    let mut exchanges = ExchangeTable::new(REQUESTER);
    let id = standard(&mut exchanges);
    let sync = Body::Sync {
        two_step: true,
        origin_ns: 0,
    };
    let arrival = Arrival {
        at: RawTime(0),
        stamp: Some(RawTime(0)),
    };
    exchanges.receive(&told(id, sync), arrival);
    let mut outcome = Vec::new();
    exchanges.settle(RawTime(DEADLINE), |s| outcome.push(s));
    assert_eq!(outcome.len(), 1);
    let s = &outcome[0];
    assert_eq!(
        (s.request_arrived, s.answered, s.sync_sent),
        (None, false, Some(true))
    );
}

#[test]
fn a_delay_resp_that_tells_when_the_sync_left_needs_no_follow_up() {
    let mut talk = Talk::new();
    let id = talk.ask(1);
    talk.arrives(id);
    let sync = Body::Sync {
        two_step: true,
        origin_ns: 0,
    };
    assert_eq!(talk.hear(id, 100, sync), Verdict::Taken);
    let joint = Body::DelayResp {
        receive_ns: 40 * US,
        requester: REQUESTER,
        rx_report: Some(talk.rx_report()),
        sync_left_ns: Some(60 * US),
        hardware_clock: None,
    };
    let verdict = talk.hear(id, 110, joint);
    let Verdict::Complete(outbound, inbound) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((outbound.remote_ns, inbound.remote_ns), (40 * US, 60 * US));
    let late = Body::FollowUp { origin_ns: 60 * US };
    assert_eq!(talk.hear(id, 120, late), Verdict::Duplicate);
}

/// The Sync that is a whole answer, sent 60 us after the request was, which arrived after 40 us.
fn whole(talk: &Talk, id: u16, requester: PortIdentity) -> Body {
    Body::CompactResp {
        origin_ns: 0,
        response_tlv: ResponseTlv::new(Talk::sent_at(id).0 + 40 * US, requester),
        rx_report: talk.rx_report(),
        hardware_clock: None,
    }
}

#[test]
fn an_answer_of_one_packet_is_complete_when_a_later_one_tells_when_it_left() {
    let mut talk = Talk::new();
    let id = talk.ask(1);
    talk.arrives(id);
    let body = whole(&talk, id, REQUESTER);
    assert_eq!(talk.hear(id, 100, body), Verdict::Taken);
    assert_eq!(talk.hear(id, 100, body), Verdict::Duplicate);
    let verdict = talk.exchanges.sync_departed(id, 60 * US);
    let Verdict::Complete(outbound, inbound) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((outbound.remote_ns, inbound.remote_ns), (40 * US, 60 * US));
    assert_eq!(
        talk.exchanges.sync_departed(id, 60 * US),
        Verdict::Duplicate
    );
    assert_eq!(talk.words(2), "back");
    assert_eq!(talk.exchanges.sync_departed(id, 60 * US), Verdict::Late);
}

#[test]
fn an_answer_of_one_packet_counts_although_nobody_tells_when_it_left() {
    let mut talk = Talk::new();
    talk.ask_times(2, 1);
    talk.arrives(1);
    let body = whole(&talk, 1, PortIdentity { clock: 8, port: 1 });
    assert_eq!(talk.hear(1, 100, body), Verdict::Unsolicited);
    let body = whole(&talk, 1, REQUESTER);
    assert_eq!(talk.hear(1, 100, body), Verdict::Taken);
    assert_eq!(talk.words(2), "?, back");
}

#[test]
fn an_answer_of_one_packet_waits_for_the_next_one_beyond_its_deadline() {
    for is_told in [true, false] {
        let mut talk = Talk::new();
        let id = talk.ask(1);
        let t1_deadline = Talk::sent_at(id).plus(DEADLINE + 1_000 * US);
        talk.exchanges.open.back_mut().unwrap().pending.t1_deadline = t1_deadline;
        talk.arrives(id);
        let body = whole(&talk, id, REQUESTER);
        assert_eq!(talk.hear(id, 100, body), Verdict::Taken);
        let mut outcome = Vec::new();
        let mut settle = |exchanges: &mut ExchangeTable<u16>, at: RawTime| {
            exchanges.settle(at, |s| outcome.push((s.answered, s.inbound.is_some())));
            outcome.clone()
        };
        // The next answer takes as long to come as this one did.
        let last = t1_deadline.plus(100 * US);
        assert_eq!(settle(&mut talk.exchanges, last.plus(-1)), []);
        if is_told {
            let verdict = talk.exchanges.sync_departed(id, 60 * US);
            assert!(matches!(verdict, Verdict::Complete(..)), "{verdict:?}");
            assert_eq!(settle(&mut talk.exchanges, last.plus(-1)), [(true, true)]);
        } else {
            assert_eq!(settle(&mut talk.exchanges, last), [(true, false)]);
        }
    }
}
