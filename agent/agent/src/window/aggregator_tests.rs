use super::*;
use crate::clock::{Leg, RawTime, TimestampSource};
use crate::ptp::EcnSeen;
use crate::window::Flow;

const S: i64 = NANOS_PER_S;

fn outcome(outbound_ns: i64, inbound_ns: i64) -> Outcome<()> {
    Outcome {
        tag: (),
        request_arrived: Some(true),
        sync_sent: Some(true),
        sync_arrived: true,
        answered: true,
        syncs_missed: Some(0),
        outbound: Some(Leg {
            local: RawTime(0),
            remote_ns: outbound_ns,
        }),
        inbound: Some(Leg {
            local: RawTime(1_000_000),
            remote_ns: 1_000_000 - inbound_ns,
        }),
        source: Some(TimestampSource::Kernel),
        ecn: EcnSeen::default(),
        residence: crate::ptp::Residence::default(),
        responder: crate::ptp::ResponderNotes::default(),
    }
}

/// Return a clock after symmetric exchanges with a peer whose clock is ours.
fn clock() -> PeerClock {
    let mut clock = PeerClock::new();
    let Outcome {
        outbound, inbound, ..
    } = outcome(50_000, 50_000);
    clock.observe(outbound.unwrap(), inbound.unwrap());
    clock
}

/// Enter, file and report which windows close.
fn filed(aggregator: &mut WindowAggregator, backend_ns: i64) -> Option<i64> {
    let slot = aggregator.take_slot(backend_ns)?;
    aggregator.record(&slot, 3, Flow::ONLY, &outcome(50_000, 50_000));
    Some(slot.started_at_s)
}

/// Close the only window and return its summary, by a clock that is ours.
fn summary(aggregator: &mut WindowAggregator) -> MeshWindow {
    let window = aggregator.close(30 * S).pop().unwrap();
    let clock = clock();
    aggregator
        .summarise(window, |_| Some(&clock), 500_000)
        .unwrap()
}

fn closed(aggregator: &mut WindowAggregator, backend_ns: i64) -> Vec<i64> {
    aggregator
        .close(backend_ns)
        .iter()
        .map(|window| window.span_s.start)
        .collect()
}

#[test]
fn windows_are_half_open_and_aligned() {
    let mut aggregator = WindowAggregator::new(1, 10);
    assert_eq!(filed(&mut aggregator, 1_000_003 * S), Some(1_000_000));
    assert_eq!(filed(&mut aggregator, 1_000_010 * S - 1), Some(1_000_000));
    assert_eq!(filed(&mut aggregator, 1_000_010 * S), Some(1_000_010));
    let slot = aggregator.take_slot(1_000_017 * S + 5).unwrap();
    assert_eq!((slot.at_ns, slot.left_ns), (7_000_000_005, 3 * S - 5));
}

#[test]
fn a_window_waits_for_its_last_exchange() {
    let mut aggregator = WindowAggregator::new(1, 10);
    let slot = aggregator.take_slot(19 * S).unwrap();
    assert!(closed(&mut aggregator, 20 * S).is_empty());
    assert_eq!(filed(&mut aggregator, 20 * S), Some(20));
    aggregator.record(&slot, 3, Flow::ONLY, &outcome(1, 1));
    assert_eq!(closed(&mut aggregator, 20 * S + 1), [10]);
    let again = closed(&mut aggregator, 20 * S + 2);
    assert!(again.is_empty(), "never twice");
}

#[test]
fn an_exchange_that_never_took_place_leaves_no_trace() {
    let mut aggregator = WindowAggregator::new(1, 10);
    let slot = aggregator.take_slot(12 * S).unwrap();
    aggregator.release_slot(&slot);
    let window = aggregator.close(20 * S).pop().unwrap();
    assert_eq!(aggregator.summarise(window, |_| None, 1), None);
}

#[test]
fn after_a_step_of_time_no_moment_is_summarised_twice() {
    let mut aggregator = WindowAggregator::new(1, 10);
    let mut emitted = Vec::new();
    let mut visit = |aggregator: &mut WindowAggregator, range: Range<i64>| {
        let mut filed_in = 0;
        for now in range {
            filed_in += i32::from(filed(aggregator, now * S).is_some());
            emitted.extend(closed(aggregator, now * S));
        }
        filed_in
    };
    assert_eq!(visit(&mut aggregator, 100..125), 25);
    // Five seconds back: 120 is still open, what lies before it is over.
    assert_eq!(visit(&mut aggregator, 117..163), 43);
    // An hour ahead, by error, and back to where it was.
    assert_eq!(visit(&mut aggregator, 3760..3785), 25);
    // The rest of the window begun before the error is lost.
    assert_eq!(visit(&mut aggregator, 165..200), 30);
    let unique: std::collections::HashSet<_> = emitted.iter().collect();
    assert_eq!(unique.len(), emitted.len(), "{emitted:?}");
}

#[test]
fn jitter_at_an_edge_neither_loses_nor_splits_a_window() {
    let mut aggregator = WindowAggregator::new(1, 10);
    assert_eq!(filed(&mut aggregator, 20 * S + 1_000_000), Some(20));
    assert!(closed(&mut aggregator, 20 * S - 1_000_000).is_empty());
    assert_eq!(filed(&mut aggregator, 21 * S), Some(20));
}

#[test]
fn a_new_length_starts_where_no_window_was() {
    let mut aggregator = WindowAggregator::new(1, 10);
    assert_eq!(filed(&mut aggregator, 103 * S), Some(100));
    aggregator.follow(4, false);
    assert_eq!(filed(&mut aggregator, 109 * S), Some(100));
    // 108..112 would share two seconds with the window before.
    assert_eq!(filed(&mut aggregator, 111 * S), None);
    assert_eq!(filed(&mut aggregator, 112 * S), Some(112));
    let windows = aggregator.close(120 * S);
    let lengths: Vec<_> = windows
        .into_iter()
        .map(|window| aggregator.summarise(window, |_| None, 1).unwrap())
        .map(|summary| (summary.started_at_s, summary.window_s))
        .collect();
    assert_eq!(lengths, [(100, 10), (112, 4)]);
}

#[test]
fn a_window_has_the_least_precise_origin_of_its_timestamps() {
    use TimestampSource::{Hardware, Kernel, User};
    let cases: [(&[Option<TimestampSource>], u32); 5] = [
        (&[Some(Hardware), Some(Hardware)], 3),
        (&[Some(Hardware), Some(Kernel)], 2),
        (&[Some(User), None, Some(Hardware)], 1),
        (&[None, Some(Hardware)], 3),
        (&[None], 0),
    ];
    for (sources, expected) in cases {
        let mut aggregator = WindowAggregator::new(1, 10);
        for (peer_key, source) in (1..).zip(sources) {
            let slot = aggregator.take_slot(S).unwrap();
            let outcome = Outcome {
                source: *source,
                ..outcome(50_000, 50_000)
            };
            aggregator.record(&slot, peer_key, Flow::ONLY, &outcome);
        }
        let source = summary(&mut aggregator).timestamp_source;
        assert_eq!(source, expected, "{sources:?}");
    }
}

#[test]
fn the_summary_holds_every_peer_in_order_and_each_direction() {
    let mut aggregator = WindowAggregator::new(7, 10);
    let slot = aggregator.take_slot(11 * S).unwrap();
    let lost_out = Outcome {
        request_arrived: Some(false),
        sync_sent: Some(false),
        sync_arrived: false,
        answered: false,
        outbound: None,
        inbound: None,
        ..outcome(0, 0)
    };
    let lost_in = Outcome {
        sync_arrived: false,
        answered: false,
        inbound: None,
        ..outcome(40_000, 0)
    };
    let silent = Outcome {
        request_arrived: None,
        sync_sent: None,
        ..lost_out
    };
    let filings: [(u32, Outcome<()>); 6] = [
        (9, outcome(50_000, 52_000)),
        (9, lost_out),
        (9, lost_in),
        (9, outcome(50_000, 900_000)),
        (3, outcome(50_000, 50_000)),
        (3, silent),
    ];
    for (peer_key, outcome) in &filings {
        aggregator.take_slot(12 * S).unwrap();
        aggregator.record(&slot, *peer_key, Flow::ONLY, outcome);
    }
    aggregator.release_slot(&slot);
    let summary = summary(&mut aggregator);
    assert_eq!(
        (summary.mesh_key, summary.started_at_s, summary.window_s),
        (7, 10, 10)
    );
    assert_eq!((summary.peer_keys, summary.flows), (vec![3, 9], vec![1, 1]));
    let [outbound, inbound, round_trip] =
        [summary.outbound, summary.inbound, summary.round_trip].map(Option::unwrap);
    assert_eq!(outbound.count, [1, 3]);
    assert_eq!(inbound.count, [1, 2]);
    assert_eq!(round_trip.count, [1, 2]);
    assert_eq!((outbound.sent, outbound.lost), (vec![2, 4], vec![-1, 1]));
    assert_eq!((inbound.sent, inbound.lost), (vec![-1, 3], vec![-1, 1]));
    assert_eq!((round_trip.sent, round_trip.lost), (vec![2, 4], vec![1, 2]));
    assert_eq!(outbound.min_ns, [50_000, 40_000]);
    assert_eq!(outbound.max_ns, [50_000, 50_000]);
    assert_eq!(inbound.min_ns, [50_000, 52_000]);
    assert_eq!(inbound.max_ns, [50_000, 900_000]);
    assert_eq!(round_trip.max_ns, [100_000, 950_000]);
    assert_eq!(round_trip.clock_error_ns, [0, 0]);
    assert!(outbound.clock_error_ns[1] >= 50_000 && outbound.clock_error_ns[1] < 60_000);
    let [evidence] = &summary.evidence[..] else {
        panic!("{:?}", summary.evidence)
    };
    assert_eq!((evidence.peer_key, evidence.inbound_ns.len()), (9, 2));
}

#[test]
fn what_a_peer_was_measured_with_outlives_its_clock() {
    let mut aggregator = WindowAggregator::new(7, 10);
    filed(&mut aggregator, 11 * S);
    aggregator.resolve_delays(3, &clock());
    filed(&mut aggregator, 12 * S);
    let window = aggregator.close_all().pop().unwrap();
    let summary = aggregator.summarise(window, |_| None, 1).unwrap();
    let outbound = summary.outbound.unwrap();
    assert_eq!((outbound.count, outbound.sent), (vec![1], vec![2]));
}

#[test]
fn flows_are_reported_if_there_is_more_than_one() {
    let mut aggregator = WindowAggregator::new(7, 10);
    let flow = |number| Flow { number, of: 3 };
    // Flow 2 has the longer outbound route; flow 1 gets no response.
    let filings = [
        (3, Flow::ONLY, outcome(50_000, 50_000)),
        (9, flow(0), outcome(50_000, 52_000)),
        (9, flow(2), outcome(350_000, 52_000)),
        (9, flow(0), outcome(60_000, 90_000)),
        (9, flow(2), outcome(370_000, 54_000)),
        (9, flow(2), outcome(360_000, 53_000)),
    ];
    for (peer_key, flow, outcome) in &filings {
        let slot = aggregator.take_slot(12 * S).unwrap();
        aggregator.record(&slot, *peer_key, *flow, outcome);
    }
    let summary = summary(&mut aggregator);
    assert_eq!(summary.flows, [1, 3]);
    let [outbound, inbound] = [summary.outbound_flows, summary.inbound_flows].map(Option::unwrap);
    assert_eq!(outbound.count, [1, 2, 0, 3]);
    assert_eq!(outbound.min_ns, [50_000, 50_000, 0, 350_000]);
    let near = |p50_ns: i64, delay_ns: i64| (p50_ns - delay_ns).abs() <= delay_ns / 128;
    assert!(near(outbound.p50_ns[3], 360_000), "{outbound:?}");
    assert_eq!((outbound.p50_ns[1], outbound.p50_ns[2]), (50_000, 0));
    assert_eq!(inbound.min_ns, [50_000, 52_000, 0, 52_000]);
}

/// Syncs of a standard responder do not respond to requests: their own sequence ids show which were lost.
#[test]
fn syncs_of_a_standard_responder_are_counted_apart_from_round_trips() {
    let mut aggregator = WindowAggregator::new(7, 10);
    let whole = outcome(50_000, 52_000);
    let alone = Outcome {
        sync_sent: Some(false),
        sync_arrived: false,
        inbound: None,
        ..whole
    };
    let after_two_lost = Outcome {
        syncs_missed: Some(2),
        ..whole
    };
    let late = Outcome {
        syncs_missed: Some(-1),
        ..whole
    };
    let unanswered = Outcome {
        request_arrived: None,
        answered: false,
        outbound: None,
        ..whole
    };
    for outcome in [whole, alone, after_two_lost, late, unanswered] {
        let slot = aggregator.take_slot(12 * S).unwrap();
        aggregator.record(&slot, 3, Flow::ONLY, &outcome);
    }
    let summary = summary(&mut aggregator);
    let [outbound, inbound, round_trip] =
        [summary.outbound, summary.inbound, summary.round_trip].map(Option::unwrap);
    assert_eq!((outbound.sent[0], outbound.lost[0]), (5, -1));
    assert_eq!((inbound.sent[0], inbound.lost[0]), (6, 1));
    assert_eq!((round_trip.sent[0], round_trip.lost[0]), (5, 1));
    assert_eq!((outbound.count[0], inbound.count[0]), (4, 4));
}
