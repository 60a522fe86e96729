use super::super::messages::{Correction, ResponseTlv};
use super::Verdict::{Complete, Duplicate, Implausible, Late, Taken, Unsolicited};
use super::*;
use crate::ptp::Receipt;

const US: i64 = 1_000;
const INTERVAL: i64 = 10_000 * US;
const DEADLINE: i64 = 1_000_000 * US;
const REQUESTER: PortIdentity = PortIdentity { clock: 7, port: 1 };
const SYNC: Body = Body::Sync {
    two_step: true,
    origin_ns: 0,
};

/// Return the body of a Delay_Resp to `REQUESTER` that carries no more than t4.
fn delay_resp(receive_ns: i64) -> Body {
    delay_resp_to(REQUESTER, receive_ns, None, None)
}

fn delay_resp_to(
    requester: PortIdentity,
    receive_ns: i64,
    rx_report: Option<RxReportTlv>,
    sync_left_ns: Option<i64>,
) -> Body {
    Body::DelayResp {
        receive_ns,
        requester,
        rx_report,
        sync_left_ns,
        hardware_clock: None,
        vm: None,
    }
}

fn message(id: u16, body: Body) -> Message {
    Message {
        domain: 0,
        source: PortIdentity { clock: 9, port: 1 },
        sequence_id: id,
        correction: Correction(0),
        body,
    }
}

fn pending<T>(at: RawTime, tag: T) -> PendingRequest<T> {
    let deadline = at.plus(DEADLINE);
    PendingRequest {
        at,
        deadline,
        hold_until: deadline,
        t1_deadline: deadline,
        tag,
    }
}

/// Return when the request arrived and the Sync left in a complete exchange, ns.
fn remote_ns(verdict: Verdict) -> (i64, i64) {
    match verdict {
        Complete(outbound, inbound) => (outbound.remote_ns, inbound.remote_ns),
        other => panic!("{other:?}"),
    }
}

fn arrival(at: RawTime) -> Arrival {
    Arrival {
        at,
        stamp: Some(at),
        source: TimestampSource::Kernel,
        ecn: None,
    }
}

/// Settle exchanges at `at_ns` and return their outcomes.
fn settled(exchanges: &mut ExchangeTable<u16>, at_ns: i64) -> Vec<Outcome<u16>> {
    let mut outcomes = Vec::new();
    exchanges.settle(RawTime(at_ns), |outcome| outcomes.push(outcome));
    outcomes
}

/// A client and an idealised responder, with the requests it has received.
struct Dialogue {
    exchanges: ExchangeTable<u16>,
    received: Vec<u16>,
    responder: u64,
    unanswered: u32,
}

impl Dialogue {
    fn new() -> Self {
        Self {
            exchanges: ExchangeTable::new(REQUESTER),
            received: Vec::new(),
            responder: 9,
            unanswered: 0,
        }
    }

    /// Return a dialogue with requests that are sent, each of which may stay open for `hold_s`.
    fn of(requests: u16, hold_s: i64) -> Self {
        let mut dialogue = Self::new();
        (0..requests).for_each(|_| _ = dialogue.send_request(hold_s));
        dialogue
    }

    fn sent_at(id: u16) -> RawTime {
        RawTime(i64::from(id) * INTERVAL)
    }

    /// Send the next request, which may stay open for `hold_s`.
    fn send_request(&mut self, hold_s: i64) -> u16 {
        let tag = self
            .exchanges
            .first
            .wrapping_add(self.exchanges.open.len() as u16);
        let at = Self::sent_at(tag);
        let pending = PendingRequest {
            hold_until: at.plus(DEADLINE.max(hold_s * 1_000_000_000)),
            ..pending(at, tag)
        };
        assert_eq!(self.exchanges.open(pending), Some(tag));
        assert_eq!(
            self.exchanges
                .record_departure(tag, at, TimestampSource::Kernel),
            Taken
        );
        tag
    }

    fn request_arrives(&mut self, id: u16) {
        self.received.push(id);
    }

    /// Return the responder's report by a naive count of everything received.
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

    fn receive_response(&mut self, id: u16, after_us: i64, body: Body) -> Verdict {
        let at = Self::sent_at(id).plus(after_us * US);
        let mut message = message(id, body);
        message.source.clock = self.responder;
        self.exchanges.receive(&message, arrival(at))
    }

    fn sync(&mut self, id: u16) -> Verdict {
        self.receive_response(id, 300, SYNC)
    }

    fn follow_up(&mut self, id: u16) -> Verdict {
        let origin_ns = Self::sent_at(id).0 + 200 * US;
        self.receive_response(id, 310, Body::FollowUp { origin_ns })
    }

    fn delay_resp(&mut self, id: u16, rx_report: Option<RxReportTlv>) -> Verdict {
        let receive_ns = Self::sent_at(id).0 + 100 * US;
        let body = delay_resp_to(REQUESTER, receive_ns, rx_report, None);
        self.receive_response(id, 320, body)
    }

    /// Deliver the request and all messages of its response.
    fn response(&mut self, id: u16) {
        self.request_arrives(id);
        self.sync(id);
        self.follow_up(id);
        let rx_report = self.rx_report();
        self.delay_resp(id, Some(rx_report));
    }

    /// Return the outcomes settled at `at_s`; `?` for unknown ones.
    fn settle(&mut self, at_s: i64) -> Vec<&'static str> {
        let word = |s: Outcome<u16>| match (s.request_arrived, s.sync_sent, s.sync_arrived) {
            (Some(true), Some(true), true) => "back",
            (Some(false), Some(false), false) => "lost out",
            (Some(true), Some(true), false) => "lost in",
            (Some(true), None, false) => "shed?",
            (None, None, false) => "?",
            other => panic!("{other:?}"),
        };
        let outcomes = settled(&mut self.exchanges, at_s * 1_000_000_000);
        outcomes.into_iter().map(word).collect()
    }

    fn outcomes(&mut self, at_s: i64) -> String {
        self.settle(at_s).join(", ")
    }
}

#[test]
fn one_exchange_gives_both_directions() {
    let mut dialogue = Dialogue::of(1, 0);
    dialogue.request_arrives(0);
    assert_eq!(dialogue.sync(0), Taken);
    assert_eq!(dialogue.follow_up(0), Taken);
    let Complete(outbound, inbound) = dialogue.delay_resp(0, None) else {
        panic!()
    };
    assert_eq!(
        (-outbound.difference_ns(), inbound.difference_ns()),
        (100 * US, 100 * US)
    );
    assert_eq!(dialogue.delay_resp(0, None), Duplicate);
    assert_eq!(dialogue.sync(0), Duplicate);
    assert_eq!(dialogue.outcomes(0), "");
    assert_eq!(dialogue.outcomes(2), "back");
    assert_eq!(dialogue.outcomes(2), "", "settled once");
}

#[test]
fn an_exchange_has_the_less_precise_origin_of_its_own_timestamps() {
    use TimestampSource::{Hardware, Kernel, User};
    for (sent, arrived, expected) in [
        (Hardware, Hardware, Hardware),
        (Hardware, Kernel, Kernel),
        (User, Hardware, User),
    ] {
        let mut open = Exchange::new(pending(RawTime(0), ()));
        assert_eq!(open.outcome().source, None);
        open.record_departure(RawTime(0), sent);
        let arrival = Arrival {
            source: arrived,
            ..arrival(RawTime(1))
        };
        open.add_part(&message(0, SYNC), arrival);
        assert_eq!(open.outcome().source, Some(expected));
    }
}

#[test]
fn impossible_times_are_counted_and_not_measured() {
    // Sent before the request arrived; longer at the responder than the round trip; extreme times.
    for (t1_us, t4_us) in [
        (100, 200),
        (900, 100),
        (i64::MAX / US, 0),
        (0, i64::MAX / US),
    ] {
        let mut dialogue = Dialogue::of(1, 0);
        dialogue.request_arrives(0);
        dialogue.sync(0);
        let origin_ns = t1_us * US;
        dialogue.receive_response(0, 310, Body::FollowUp { origin_ns });
        let verdict = dialogue.receive_response(0, 320, delay_resp(t4_us * US));
        assert_eq!(verdict, Implausible, "{t1_us} {t4_us}");
        for s in settled(&mut dialogue.exchanges, 2 * DEADLINE) {
            assert_eq!((s.sync_arrived, s.outbound, s.inbound), (true, None, None));
        }
    }
}

#[test]
fn the_departure_may_be_known_last() {
    let mut dialogue = Dialogue::new();
    let id = dialogue.exchanges.open(pending(RawTime(0), 0)).unwrap();
    dialogue.response(id);
    assert!(matches!(
        dialogue
            .exchanges
            .record_departure(id, RawTime(0), TimestampSource::Kernel),
        Complete(..)
    ));
}

#[test]
fn losses_are_attributed_to_a_direction() {
    let mut dialogue = Dialogue::of(6, 0);
    dialogue.response(0);
    // Request 1 is lost; of 2 all responses, of 3 the Sync, of 4 the Delay_Resp. The response to 5 reports on all.
    dialogue.request_arrives(2);
    dialogue.request_arrives(3);
    dialogue.follow_up(3);
    dialogue.request_arrives(4);
    dialogue.sync(4);
    dialogue.response(5);
    assert_eq!(
        dialogue.outcomes(5),
        "back, lost out, lost in, lost in, back, back"
    );
}

#[test]
fn without_reception_reports_a_loss_has_no_direction() {
    let mut dialogue = Dialogue::of(3, 0);
    for id in [0, 2] {
        dialogue.sync(id);
        dialogue.follow_up(id);
        dialogue.delay_resp(id, None);
    }
    assert_eq!(dialogue.outcomes(5), "back, ?, back");
}

#[test]
fn settlement_waits_for_the_report_of_a_later_response() {
    let mut dialogue = Dialogue::of(4, 9);
    dialogue.response(0);
    assert_eq!(dialogue.outcomes(2), "back");
    dialogue.request_arrives(2);
    dialogue.response(3);
    assert_eq!(dialogue.outcomes(2), "lost out, lost in, back");

    let mut dialogue = Dialogue::of(2, 9);
    assert_eq!(dialogue.outcomes(2), "");
    assert_eq!(dialogue.outcomes(10), "?, ?", "its window must close");
}

#[test]
fn counts_attribute_an_outage_longer_than_the_map() {
    for (arrives, word) in [(true, "lost in"), (false, "lost out")] {
        let mut dialogue = Dialogue::of(400, 30);
        dialogue.response(0);
        if arrives {
            (1..399).for_each(|id| dialogue.request_arrives(id));
        }
        dialogue.response(399);
        let outcome = dialogue.settle(60);
        assert_eq!(outcome.len(), 400);
        assert!(outcome[1..399].iter().all(|w| *w == word), "{outcome:?}");
    }
    let mut dialogue = Dialogue::of(400, 30);
    dialogue.response(0);
    (1..100).for_each(|id| dialogue.request_arrives(id));
    dialogue.response(399);
    let outcome = dialogue.settle(60);
    // Counts alone do not show which of the requests beyond the map arrived.
    assert!(outcome[1..272].iter().all(|w| *w == "?"));
    assert!(outcome[272..399].iter().all(|w| *w == "lost out"));
}

#[test]
fn responses_slower_than_the_next_requests_are_no_loss() {
    let mut dialogue = Dialogue::of(50, 0);
    // All responses arrive after the last request, in reverse order.
    (0..50).for_each(|id| dialogue.request_arrives(id));
    let rx_report = dialogue.rx_report();
    for id in (0..50).rev() {
        dialogue.follow_up(id);
        assert!(matches!(dialogue.delay_resp(id, Some(rx_report)), Taken));
        assert!(matches!(dialogue.sync(id), Complete(..)));
    }
    assert!(dialogue.settle(60).iter().all(|word| *word == "back"));
}

#[test]
fn after_the_deadline_it_is_too_late() {
    let mut dialogue = Dialogue::of(2, 9);
    dialogue.request_arrives(0);
    let late = DEADLINE / US + 1;
    assert_eq!(dialogue.receive_response(0, late, SYNC), Late);
    dialogue.response(1);
    assert_eq!(dialogue.outcomes(5), "lost in, back");
    assert_eq!(dialogue.sync(0), Late);
    assert_eq!(dialogue.sync(700), Unsolicited);
}

#[test]
fn an_overloaded_responder_is_not_counted_as_loss() {
    let mut dialogue = Dialogue::of(4, 0);
    dialogue.response(0);
    dialogue.request_arrives(1);
    dialogue.unanswered = 1;
    dialogue.response(2);
    dialogue.request_arrives(3);
    dialogue.delay_resp(3, Some(dialogue.rx_report()));
    assert_eq!(dialogue.outcomes(5), "back, shed?, back, lost in");
}

#[test]
fn a_restarted_responder_is_detected_and_its_counts_start_again() {
    let mut dialogue = Dialogue::of(5, 9);
    dialogue.response(0);
    dialogue.response(1);
    assert!(!dialogue.exchanges.take_restarted());
    dialogue.responder = 10;
    dialogue.received.clear();
    dialogue.response(3);
    assert!(dialogue.exchanges.take_restarted());
    assert!(!dialogue.exchanges.take_restarted());
    dialogue.response(4);
    // The new process cannot have received 2.
    assert_eq!(dialogue.outcomes(12), "back, back, ?, back, back");
}

#[test]
fn what_anyone_can_send_changes_nothing_of_a_known_responder() {
    let mut dialogue = Dialogue::of(3, 9);
    dialogue.response(0);
    dialogue.response(1);
    let known = dialogue.exchanges.receipt();
    dialogue.responder = 66;
    assert_eq!(dialogue.receive_response(1, 200, SYNC), Duplicate);
    let follow_up = Body::FollowUp { origin_ns: 1 };
    assert_eq!(dialogue.receive_response(2, 200, follow_up), Unsolicited);
    assert_eq!(dialogue.exchanges.receipt(), known);
    // A Sync for an open request may be of a new process: it gets every other request until one of both names it.
    assert_eq!(dialogue.receive_response(2, 200, SYNC), Taken);
    let mut receipts = Vec::new();
    for _ in 0..2 {
        receipts.push(dialogue.exchanges.receipt());
        dialogue.send_request(9);
    }
    assert_eq!(receipts, [66, known]);
    assert!(!dialogue.exchanges.take_restarted());
    dialogue.response(3);
    assert!(dialogue.exchanges.take_restarted());
    assert_eq!(dialogue.exchanges.receipt(), 66);
}

#[test]
fn responses_to_another_client_are_unsolicited() {
    let mut dialogue = Dialogue::of(1, 0);
    let requester = PortIdentity { clock: 7, port: 2 };
    let body = delay_resp_to(requester, 0, None, None);
    assert_eq!(dialogue.receive_response(0, 100, body), Unsolicited);
    assert_eq!(
        dialogue.receive_response(0, 100, Body::DelayReq),
        Unsolicited
    );
}

#[test]
fn a_request_that_never_left_is_not_settled() {
    let mut dialogue = Dialogue::of(3, 0);
    dialogue.exchanges.withdraw(1);
    dialogue.response(0);
    dialogue.response(2);
    assert_eq!(dialogue.outcomes(5), "back, back");
    dialogue.send_request(0);
    dialogue.send_request(0);
    dialogue.exchanges.withdraw(3);
    dialogue.sync(4);
    dialogue.send_request(0);
    dialogue.send_request(0);
    let mut ended = Vec::new();
    dialogue.exchanges.end(
        RawTime(0),
        |tag| *tag < 6,
        |outcome| ended.push(outcome.map(|outcome| outcome.tag)),
    );
    assert_eq!(ended, [Ok(4), Err(5)]);
    assert_eq!(dialogue.outcomes(9), "?");
    assert_eq!(dialogue.send_request(0), 7);
}

#[test]
fn random_losses_are_attributed_exactly_over_many_rollovers() {
    losing_at_random(Body::DelayReq);
    losing_at_random(Body::CompactReq {
        soon: true,
        receipt: None,
        ecn: None,
    });
}

fn losing_at_random(request: Body) {
    let mut exchanges: ExchangeTable<u32> = ExchangeTable::new(REQUESTER);
    let mut responder = super::super::Responder::default();
    let client: std::net::SocketAddr = "10.0.0.1:319".parse().unwrap();
    responder.set_peers([(client, 320, 0)].into_iter(), RawTime(0));
    let mut state = 5u64;
    let mut lost = |percent: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % 100 < percent
    };
    let source = PortIdentity { clock: 9, port: 1 };
    let (mut truth, mut counted) = ([0u32; 2], [0u32; 3]);
    for n in 0..200_000u32 {
        let at = RawTime(i64::from(n) * INTERVAL);
        let pending = PendingRequest {
            hold_until: at.plus(5 * DEADLINE),
            ..pending(at, n)
        };
        let sequence_id = exchanges.open(pending).unwrap();
        let request = Message {
            source: REQUESTER,
            ..message(sequence_id, request)
        };
        // The last requests all return, so that nothing stays unknown.
        let losing = n < 199_000;
        if losing && lost(7) {
            truth[0] += 1;
        } else {
            let response = responder
                .handle_request(&request, client, Receipt::Proven, at)
                .unwrap();
            responder.count_sync(&response);
            let arrival = Arrival {
                stamp: None,
                ..arrival(at.plus(US))
            };
            let is_compact = request.body != Body::DelayReq;
            let sync = if is_compact {
                let message = responder.compact_resp(&response, source, (1, 1), None);
                message.unwrap()
            } else {
                message(sequence_id, SYNC)
            };
            if losing && lost(12) {
                truth[1] += 1;
            } else {
                exchanges.receive(&sync, arrival);
            }
            if !is_compact && (!losing || !lost(12)) {
                let message = responder
                    .delay_resp(&response, source, 1, None, None)
                    .unwrap();
                exchanges.receive(&message, arrival);
            }
        }
        exchanges.settle(at, |s| {
            counted[0] += u32::from(s.request_arrived == Some(false));
            counted[1] += u32::from(s.sync_sent == Some(true) && !s.sync_arrived);
            counted[2] += u32::from(s.request_arrived.is_none() || s.sync_sent.is_none());
        });
    }
    assert_eq!(counted, [truth[0], truth[1], 0]);
}

/// Open an exchange with a standard responder at 0 and set its departure.
fn standard(exchanges: &mut ExchangeTable<u16>) -> u16 {
    let id = exchanges
        .open_standard(pending(RawTime(0), 1), Some(0))
        .unwrap();
    exchanges.record_departure(id, RawTime(0), TimestampSource::Kernel);
    id
}

#[test]
fn the_sync_of_a_standard_responder_may_leave_before_the_request() {
    let mut exchanges = ExchangeTable::new(REQUESTER);
    let id = standard(&mut exchanges);
    let arrival = |us: i64| arrival(RawTime(us * US));
    let sync = Body::Sync {
        two_step: false,
        origin_ns: -60 * US,
    };
    assert_eq!(exchanges.receive(&message(id, sync), arrival(-10)), Taken);
    let verdict = exchanges.receive(&message(id, delay_resp(40 * US)), arrival(90));
    assert_eq!(remote_ns(verdict), (40 * US, -60 * US));
}

#[test]
fn what_switches_say_they_held_is_part_of_the_delay_and_counted_apart() {
    // Corrections of the Delay_Resp, the Sync and its Follow_Up, us; delays of 400 us each way.
    for (corrections_us, expected_us) in [
        ([0, 0, 0], (0, 0)),
        ([390, 300, 50], (390, 350)),
        ([0, 350, 0], (0, 350)),
        // Less than no time, and more than the round trip.
        ([-20, 0, 0], (0, 0)),
        ([0, 20_000, 0], (0, 0)),
        ([i64::MAX >> 26, i64::MAX >> 26, i64::MAX >> 26], (0, 0)),
    ] {
        let mut exchanges = ExchangeTable::new(REQUESTER);
        let id = standard(&mut exchanges);
        let origin_ns = 600 * US;
        let bodies = [delay_resp(1_400 * US), SYNC, Body::FollowUp { origin_ns }];
        exchanges.record_departure(id, RawTime(1_000 * US), TimestampSource::Kernel);
        for (body, correction_us) in bodies.into_iter().zip(corrections_us) {
            let message = Message {
                correction: Correction((correction_us * US) << 16),
                ..message(id, body)
            };
            exchanges.receive(&message, arrival(RawTime(1_000 * US)));
        }
        let outcome = settled(&mut exchanges, i64::MAX)[0];
        let (outbound, inbound) = (outcome.outbound.unwrap(), outcome.inbound.unwrap());
        assert_eq!(outbound.remote_ns - outbound.local.0, 400 * US);
        assert_eq!(inbound.local.0 - inbound.remote_ns, 400 * US);
        let held = outcome.residence;
        assert_eq!((held.outbound_ns / US, held.inbound_ns / US), expected_us);
    }
}

#[test]
fn an_unanswered_request_to_a_standard_responder_is_settled_at_its_deadline() {
    let mut exchanges = ExchangeTable::new(REQUESTER);
    let id = standard(&mut exchanges);
    exchanges.receive(&message(id, SYNC), arrival(RawTime(0)));
    let outcomes = settled(&mut exchanges, DEADLINE);
    let [s] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    assert_eq!((s.request_arrived, s.sync_sent), (None, Some(true)));
    assert!(!s.answered);
}

#[test]
fn a_delay_resp_with_t1_needs_no_follow_up() {
    let mut dialogue = Dialogue::of(1, 1);
    dialogue.request_arrives(0);
    assert_eq!(dialogue.receive_response(0, 100, SYNC), Taken);
    let rx_report = Some(dialogue.rx_report());
    let joint = delay_resp_to(REQUESTER, 40 * US, rx_report, Some(60 * US));
    let verdict = dialogue.receive_response(0, 110, joint);
    assert_eq!(remote_ns(verdict), (40 * US, 60 * US));
    let late = Body::FollowUp { origin_ns: 60 * US };
    assert_eq!(dialogue.receive_response(0, 120, late), Duplicate);
}

/// Return the body of a compact response, sent 60 us after its request was, which arrived after 40 us.
fn compact_resp(dialogue: &Dialogue, id: u16, requester: PortIdentity) -> Body {
    Body::CompactResp {
        origin_ns: 0,
        response_tlv: ResponseTlv::new(Dialogue::sent_at(id).0 + 40 * US, requester),
        rx_report: dialogue.rx_report(),
        hardware_clock: None,
        vm: None,
        ecn: None,
    }
}

#[test]
fn a_compact_response_is_complete_with_t1_of_a_later_one() {
    let mut dialogue = Dialogue::of(1, 1);
    dialogue.request_arrives(0);
    let body = compact_resp(&dialogue, 0, REQUESTER);
    assert_eq!(dialogue.receive_response(0, 100, body), Taken);
    assert_eq!(dialogue.receive_response(0, 100, body), Duplicate);
    let verdict = dialogue.exchanges.record_sync_departure(0, 60 * US);
    assert_eq!(remote_ns(verdict), (40 * US, 60 * US));
    assert_eq!(
        dialogue.exchanges.record_sync_departure(0, 60 * US),
        Duplicate
    );
    assert_eq!(dialogue.outcomes(2), "back");
    assert_eq!(dialogue.exchanges.record_sync_departure(0, 60 * US), Late);
}

#[test]
fn a_compact_response_waits_for_its_t1_beyond_the_deadline() {
    for t1_follows in [true, false] {
        let mut dialogue = Dialogue::of(1, 1);
        let t1_deadline = Dialogue::sent_at(0).plus(DEADLINE + 1_000 * US);
        dialogue
            .exchanges
            .open
            .back_mut()
            .unwrap()
            .pending
            .t1_deadline = t1_deadline;
        dialogue.request_arrives(0);
        let body = compact_resp(&dialogue, 0, REQUESTER);
        assert_eq!(dialogue.receive_response(0, 100, body), Taken);
        // The next response takes as long to arrive as this one did.
        let last = t1_deadline.plus(100 * US).0;
        assert_eq!(settled(&mut dialogue.exchanges, last - 1).len(), 0);
        let mut settled_at = last;
        if t1_follows {
            let verdict = dialogue.exchanges.record_sync_departure(0, 60 * US);
            assert!(matches!(verdict, Complete(..)), "{verdict:?}");
            settled_at -= 1;
        }
        let outcome = settled(&mut dialogue.exchanges, settled_at)[0];
        assert!(outcome.answered);
        assert_eq!(outcome.inbound.is_some(), t1_follows);
    }
}

/// Open two exchanges with a server of either kind and let it answer the second one twice, the first one not. Return
/// the outcomes.
fn second_answered_twice(
    open: fn(&mut ExchangeTable<u16>, PendingRequest<u16>) -> Option<u16>,
    answer: Body,
) -> Vec<Outcome<u16>> {
    let mut exchanges = ExchangeTable::new(REQUESTER);
    for tag in 0..2 {
        let id = open(&mut exchanges, pending(RawTime(0), tag)).unwrap();
        exchanges.record_departure(id, RawTime(0), TimestampSource::Kernel);
    }
    for us in [100, 130] {
        exchanges.receive(&message(1, answer), arrival(RawTime(us * US)));
    }
    settled(&mut exchanges, 2 * DEADLINE)
}

#[test]
fn a_repeated_answer_of_an_sptp_server_is_that_to_the_request_before() {
    let outcomes = second_answered_twice(ExchangeTable::open_sptp, SYNC);
    assert_eq!(outcomes.len(), 2);
    for outcome in &outcomes {
        let known = (outcome.request_arrived, outcome.sync_sent);
        assert_eq!(known, (Some(true), Some(true)), "{outcome:?}");
        assert!(outcome.sync_arrived && outcome.answered, "{outcome:?}");
    }
    assert_eq!((outcomes[0].outbound, outcomes[0].inbound), (None, None));
    // An agent answers each request by its own sequence id: a repeated Sync is a packet that the network doubled.
    let between_agents = second_answered_twice(ExchangeTable::open, SYNC);
    assert_eq!(between_agents[0].request_arrived, None);
    assert!(!between_agents[0].answered);
}
