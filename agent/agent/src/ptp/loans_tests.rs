//! Tests of what served clients owe: attackers who know the sequence of a client, and clients of any habits of renewal.

use super::super::*;
use super::address;
use super::{S, id};

/// Octets of the packets of a Delay_Req, a Delay_Resp, a Sync with its Follow_Up, and an Announce.
const ASKED: usize = 72;
const ANSWERED: usize = 82;
const SYNCS: usize = 144;
const ANNOUNCED: usize = 92;

/// Intervals (log2 s) of Announce, Sync and Delay_Resp that clients ask for: usual ones, and the largest ratios of the rates.
const INTERVALS: [[i8; 3]; 7] = [
    [1, -4, -4],
    [0, 0, 0],
    [1, -7, -7],
    [-3, -7, -7],
    [1, -7, 0],
    [1, -2, -7],
    [0, -1, -7],
];

/// Ask for one service. Return the duration of the grant, s.
fn ask(grants: &mut Grants, service: Service, intervals: [i8; 3], at: i64) -> i64 {
    let request = (service, intervals[service.place()], 300);
    match grants.request((id(1, 1), true), address(1), request, RawTime(at)) {
        Tlv::Grant { duration_s, .. } => i64::from(duration_s),
        other => panic!("{other:?}"),
    }
}

/// Return the octets of the messages that are due at `now`.
fn sent(grants: &mut Grants, now: RawTime) -> usize {
    std::iter::from_fn(|| grants.next_due(now))
        .map(|due| match due.service {
            Service::Announce => ANNOUNCED,
            Service::Sync => SYNCS,
            Service::DelayResp => panic!("{due:?}"),
        })
        .sum()
}

/// Return true if a request in the sequence is answered.
fn answered(grants: &mut Grants, sequence_id: u16, now: RawTime) -> bool {
    let may = grants.delay_resp(id(1, 1), sequence_id, now);
    may == Ok((address(1), true)) && grants.lend(id(1, 1), ANSWERED - ASKED, now)
}

/// Count octets sent to a client that vanished after a request at 0, octets of that and of later requests in its name, and
/// answer to the later ones. They go on from its sequence id, every `every_ns` within a time, ns. An empty time has none.
fn vanished(intervals: [i8; 3], every_ns: i64, within: std::ops::Range<i64>) -> [usize; 3] {
    let mut grants = Grants::default();
    for service in Service::ALL {
        ask(&mut grants, service, intervals, 0);
    }
    let (mut octets, mut forged, mut answers, mut sequence_id) = (0, 0, 0, 100_u16);
    if !within.is_empty() {
        assert!(answered(&mut grants, sequence_id, RawTime(0)));
        (octets, forged) = (ANSWERED, ASKED);
    }
    let mut next = within.start;
    for ms in 0..70_000 {
        let now = RawTime(ms * 1_000_000);
        octets += sent(&mut grants, now);
        while next <= now.0 && within.contains(&next) {
            next += every_ns;
            forged += ASKED;
            sequence_id = sequence_id.wrapping_add(1);
            let is_answered = answered(&mut grants, sequence_id, now);
            octets += if is_answered { ANSWERED } else { 0 };
            answers += usize::from(is_answered);
        }
    }
    [octets, forged, answers]
}

#[test]
fn requests_in_the_sequence_of_a_vanished_client_bring_it_no_more_octets_than_they_have() {
    for intervals in INTERVALS {
        let [alone, ..] = vanished(intervals, S, 0..0);
        let granted_ns = interval_ns(intervals[2]);
        // As often as granted and twice as often; at once, for long, and just before the end of the grants.
        for every_ns in [granted_ns, granted_ns / 2] {
            for within in [0..10 * S, S..70 * S, 40 * S..43 * S, 50 * S..60 * S] {
                let [octets, forged, answers] = vanished(intervals, every_ns, within.clone());
                assert!(
                    octets <= alone + forged,
                    "{intervals:?} {every_ns} {within:?}: {octets} > {alone} + {forged}"
                );
                if within.start < 3 * S {
                    assert!(answers > 0, "{intervals:?} {within:?}");
                }
            }
        }
    }
}

/// Count octets granted to a client within 600 s, requests, and answers to them. `ask_again` asks for the services at a time
/// and for the ends of the grants, s; the client asks every second if it has to, as daemons do.
fn living(intervals: [i8; 3], ask_again: impl Fn(i64, [i64; 3]) -> [bool; 3]) -> [usize; 3] {
    let mut grants = Grants::default();
    let mut until = [0; 3];
    let (mut octets, mut requests, mut answers) = (0, 0, 0);
    let mut next = S;
    for ms in 0..600_000 {
        let now = RawTime(ms * 1_000_000);
        if ms % 1000 == 0 {
            let again = ask_again(ms / 1000, until);
            for service in Service::ALL {
                if again[service.place()] {
                    until[service.place()] =
                        ms / 1000 + ask(&mut grants, service, intervals, now.0);
                }
            }
        }
        octets += sent(&mut grants, now);
        while next <= now.0 {
            next += interval_ns(intervals[2]);
            requests += 1;
            answers += usize::from(answered(&mut grants, requests as u16, now));
        }
    }
    [octets, requests, answers]
}

#[test]
fn a_client_that_renews_in_time_gets_every_message_and_every_answer() {
    for intervals in INTERVALS {
        // What is granted without any request.
        let mut grants = Grants::default();
        let alone: usize = (0..600_000)
            .map(|ms| {
                if ms % 10_000 == 0 {
                    for service in [Service::Announce, Service::Sync] {
                        ask(&mut grants, service, intervals, ms * 1_000_000);
                    }
                }
                sent(&mut grants, RawTime(ms * 1_000_000))
            })
            .sum();
        // All services at 3/4 of the shortest grant, as ptp4l does, since it counts whole seconds.
        let at = std::cell::Cell::new(0);
        let as_ptp4l = living(intervals, |now_s, until| {
            let renews = now_s >= at.get();
            if !renews {
                let shortest = until.iter().min().map_or(0, |until| until - now_s);
                at.set(at.get().min(now_s + shortest * 3 / 4));
            } else {
                at.set(i64::MAX);
            }
            [renews; 3]
        });
        // Each service 5 s before its end, as ptpd does.
        let as_ptpd = living(intervals, |now_s, until| {
            until.map(|until| now_s >= until - 5)
        });
        for [octets, requests, answers] in [as_ptp4l, as_ptpd] {
            assert_eq!(answers, requests, "{intervals:?}");
            assert_eq!(octets, alone, "{intervals:?}");
        }
    }
}
