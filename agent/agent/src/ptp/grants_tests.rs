//! Grants: services, clients and durations.

use super::*;
use crate::ptp::PortIdentity;

const S: i64 = 1_000_000_000;

fn id(last: u8, clock: u64) -> ClientId {
    (
        IpAddr::from([10, 0, 0, last]),
        PortIdentity { clock, port: 1 },
    )
}

fn address(last: u8) -> ClientAddress {
    ClientAddress {
        client: IpAddr::from([10, 0, 0, last]),
        event_port: 319,
        general_port: 320,
        domain: 0,
        local: None,
    }
}

fn ask(grants: &mut Grants, last: u8, service: Service, interval: i8, s: u32, at: i64) -> Tlv {
    let request = (service, interval, s);
    grants.request((id(last, 1), true), address(last), request, RawTime(at))
}

/// Return the grants after a first request at 0.
fn granted(service: Service, interval: i8, duration_s: u32) -> Grants {
    let mut grants = Grants::default();
    ask(&mut grants, 1, service, interval, duration_s, 0);
    grants
}

/// Return the duration of a grant, 0 if it is denied.
fn seconds(tlv: &Tlv) -> u32 {
    match tlv {
        Tlv::Grant { duration_s, .. } => *duration_s,
        _ => 0,
    }
}

/// Messages served in `[from, until)`, in turns of 5 ms.
fn served(grants: &mut Grants, from: i64, until: i64) -> Vec<DueMessage> {
    let mut all = Vec::new();
    let mut now = from;
    while now < until {
        while let Some(due) = grants.next_due(RawTime(now)) {
            all.push(due);
        }
        now += 5_000_000;
    }
    all
}

#[test]
fn serves_at_the_granted_rate_until_the_grant_ends() {
    let mut grants = Grants::default();
    let granted = ask(&mut grants, 1, Service::Sync, -4, 10, 0);
    let expected = Tlv::Grant {
        service: Service::Sync,
        interval: -4,
        duration_s: 10,
    };
    assert_eq!(granted, expected);
    let all = served(&mut grants, 0, 20 * S);
    assert!((159..=160).contains(&all.len()), "{}", all.len());
    let mut pairs = all.windows(2);
    assert!(pairs.all(|w| w[1].sequence_id == w[0].sequence_id + 1));
    assert!(grants.next_due(RawTime(21 * S)).is_none());
}

#[test]
fn a_renewal_keeps_the_phase() {
    let mut grants = granted(Service::Sync, 0, 10);
    let before = served(&mut grants, 0, 5 * S);
    ask(&mut grants, 1, Service::Sync, 0, 10, 5 * S);
    let after = served(&mut grants, 5 * S, 16 * S);
    assert_eq!((before.len(), after.len()), (5, 10));
    assert_eq!(after[0].sequence_id, 5);
}

#[test]
fn another_rate_holds_from_the_next_message() {
    let mut grants = granted(Service::Sync, -7, 10);
    served(&mut grants, 0, S);
    ask(&mut grants, 1, Service::Sync, 0, 10, S);
    let after = served(&mut grants, S, 6 * S);
    assert_eq!(after.len(), 5, "the old rate is gone");
}

#[test]
fn limits_what_is_asked_for() {
    let cases = [
        (Service::Sync, -9, 300, -7, LONGEST_S),
        (Service::Announce, -7, 300, -3, LONGEST_S),
        // Nothing could pay its loans back.
        (Service::DelayResp, 9, 5000, 4, UNPROVEN_S),
        (Service::Sync, i8::MIN, 0, -7, 0),
    ];
    for (service, interval, duration_s, given, given_s) in cases {
        let mut grants = Grants::default();
        let expected = Tlv::Grant {
            service,
            interval: given,
            duration_s: given_s,
        };
        let granted = ask(&mut grants, 1, service, interval, duration_s, 0);
        assert_eq!(granted, expected);
        assert_eq!(grants.is_empty(), given_s == 0);
    }
}

#[test]
fn a_full_table_denies_until_a_grant_runs_out() {
    let mut grants = Grants::default();
    let mut granted = |last: u8, clock: u64, at: i64| {
        let request = (Service::Sync, 0, 10);
        seconds(&grants.request((id(last, clock), true), address(last), request, RawTime(at)))
    };
    for clock in 0..MOST_CLIENTS as u64 {
        granted(3 + (clock / MOST_PER_ADDRESS as u64) as u8, clock, 0);
    }
    assert_eq!((granted(2, 9, 9 * S), granted(2, 9, 10 * S)), (0, 10));
}

#[test]
fn forged_addresses_that_fill_the_table_keep_no_client_out() {
    let mut grants = Grants::default();
    let request = (Service::Sync, 0, 10);
    let granted = |grants: &mut Grants, (last, clock): (u8, u64), proven| {
        let id = (id(last, clock), proven);
        seconds(&grants.request(id, address(last), request, RawTime(1))) > 0
    };
    let forge = |grants: &mut Grants, nth| granted(grants, (3 + (nth % 250) as u8, nth), false);
    assert!((0..2_000).all(|nth| forge(&mut grants, nth)));
    assert_eq!(grants.len(), MOST_CLIENTS);
    // A client that comes now is told its identity, and proves that it receives before the flood drives it out or after.
    assert!(granted(&mut grants, (2, 9), false));
    assert!((2_000..4_000).all(|nth| forge(&mut grants, nth)));
    assert!(granted(&mut grants, (2, 9), true));
    assert!((4_000..6_000).all(|nth| forge(&mut grants, nth)));
    assert!(grants.of(id(2, 9)).is_some_and(|client| client.proven));
    assert_eq!(grants.len(), MOST_CLIENTS);
}

#[test]
fn forged_identities_get_what_one_client_may_have_and_take_nothing_from_others() {
    let mut grants = Grants::default();
    // Blind packets of an attacker with the source address of a peer: all services, as often and long as possible.
    for clock in 0..600 {
        for service in Service::ALL {
            let request = (service, -128, u32::MAX);
            grants.request((id(1, clock), true), address(1), request, RawTime(0));
        }
    }
    assert!(grants.len() <= MOST_PER_ADDRESS, "{}", grants.len());
    assert!(grants.messages_hz() <= MOST_HZ_PER_ADDRESS);
    assert_eq!(grants.take_over_share(), Some(id(1, 0).0));
    assert_eq!(grants.take_over_share(), None);
    assert_eq!(grants.largest().unwrap().0, id(1, 0).0);
    for service in Service::ALL {
        let granted_s = seconds(&ask(&mut grants, 2, service, -7, 60, 0));
        assert!(granted_s >= 56, "another address is served in full");
    }
    grants.expire(RawTime(300 * S));
    assert!(grants.is_empty(), "no grant lasts longer");
}

#[test]
fn identities_of_an_address_that_renew_keep_their_grants() {
    let mut grants = Grants::default();
    let mut ask = |clock: u64, interval: i8, at: i64| {
        let request = (Service::Sync, interval, 60);
        seconds(&grants.request((id(1, clock), true), address(1), request, RawTime(at)))
    };
    // Two daemons of one machine, one of which renews.
    assert_eq!([ask(1, -6, 0), ask(2, -6, 0), ask(1, -6, S)], [60; 3]);
    // A restarted daemon has another identity: the one that never renewed gives way.
    for clock in 3..20 {
        assert_eq!(ask(clock, -7, 2 * S), 60, "{clock}");
    }
    assert_eq!(ask(1, -6, 3 * S), 60, "still there");
    assert_eq!(ask(30, 0, 4 * S), 60);
    assert_eq!(ask(30, 0, 5 * S), 60);
    assert_eq!(ask(31, -7, 6 * S), 60);
    assert_eq!(ask(31, -7, 7 * S), 60);
    assert_eq!(ask(32, -7, 8 * S), 0, "all of the share is renewed");
}

#[test]
fn what_is_cancelled_ends_at_once() {
    let mut grants = granted(Service::Sync, -4, 10);
    ask(&mut grants, 1, Service::DelayResp, -4, 10, 0);
    let (of_client, forged) = ((id(1, 1), true), (id(1, 1), false));
    assert!(!grants.cancel(forged, Service::Sync), "by nobody else");
    assert_eq!(served(&mut grants, 0, S).len(), 16);
    assert!(grants.cancel(of_client, Service::Sync));
    assert!(served(&mut grants, S, 2 * S).is_empty());
    let request = grants.delay_resp(id(1, 1), 0, RawTime(0));
    assert_eq!(request, Ok((address(1), true)));
    assert!(grants.cancel(of_client, Service::DelayResp));
    let after = grants.delay_resp(id(1, 1), 1, RawTime(0));
    assert_eq!(after, Err(NoDelayResp::NotGranted));
    assert!(grants.is_empty());
}

#[test]
fn delay_resp_is_given_to_its_client_at_about_its_rate() {
    let mut grants = granted(Service::DelayResp, 0, 10);
    for other in [id(2, 1), id(1, 2)] {
        let refused = grants.delay_resp(other, 0, RawTime(0));
        assert_eq!(refused, Err(NoDelayResp::NotGranted));
    }
    let mut ask = |nth: i64| grants.delay_resp(id(1, 1), nth as u16, RawTime(nth * 1_000_000));
    let answered = (0..1000).filter(|nth| ask(*nth).is_ok()).count();
    assert!(answered <= 18, "{answered} in a second");
    let after = grants.delay_resp(id(1, 1), 1000, RawTime(11 * S));
    assert_eq!(after, Err(NoDelayResp::TooOften));
}

#[test]
fn clients_of_a_rate_are_spread_over_its_interval() {
    let mut grants = Grants::default();
    for last in 1..=100 {
        ask(&mut grants, last, Service::Sync, 0, 100, 0);
    }
    served(&mut grants, 0, S);
    for tick in 100..200 {
        let now = RawTime(tick * 10_000_000);
        let together = std::iter::from_fn(|| grants.next_due(now)).count();
        assert!(together <= 6, "{together} of 100 in a hundredth");
    }
}

#[test]
fn messages_of_many_clients_are_due_together() {
    let mut grants = Grants::default();
    for last in 1..=20 {
        ask(&mut grants, last, Service::Sync, -7, 100, 1_234_567);
    }
    let mut dues = std::collections::BTreeMap::new();
    while let Some(at) = grants.next().filter(|at| at.0 < S) {
        while grants.next_due(at).is_some() {
            *dues.entry(at).or_insert(0) += 1;
        }
    }
    let messages: i32 = dues.values().sum();
    assert!((20 * 126..=20 * 128).contains(&messages), "{messages}");
    assert!(dues.len() <= 256, "{} turns with messages", dues.len());
    let most = dues.values().max();
    assert!(most <= Some(&14), "{most:?} of 20 at once");
}

#[test]
fn messages_of_a_pause_are_left_out() {
    let mut grants = granted(Service::Sync, -7, 100);
    served(&mut grants, 0, S);
    let burst = std::iter::from_fn(|| grants.next_due(RawTime(5 * S))).count();
    assert!(burst <= 1, "{burst}");
}

#[test]
fn a_client_that_leaves_the_plan_is_no_longer_served() {
    let mut grants = granted(Service::Sync, -7, 100);
    ask(&mut grants, 2, Service::Sync, -7, 100, 0);
    grants.retain(|ip| ip == id(2, 1).0);
    let all = served(&mut grants, 0, S);
    assert!(all.iter().all(|due| due.address == address(2)));
}

#[test]
fn a_reused_slot_gets_no_messages_of_its_former_client() {
    let mut grants = granted(Service::Sync, 0, 100);
    ask(&mut grants, 2, Service::Sync, -4, 100, 0);
    assert!(grants.cancel((id(1, 1), true), Service::Sync));
    ask(&mut grants, 3, Service::Sync, -2, 100, 0);
    assert_eq!(grants.len(), 2);
    let all = served(&mut grants, 0, 10 * S);
    for (last, count) in [(1, 0), (2, 160), (3, 40)] {
        let of_it = all.iter().filter(|due| due.address == address(last));
        assert_eq!(of_it.count(), count, "{last}");
    }
}

#[test]
fn a_client_gets_nothing_until_it_has_proven_that_it_receives() {
    let mut grants = Grants::default();
    let ask = |grants: &mut Grants, service, is_proven, at: i64| {
        let request = (service, -7, 300);
        seconds(&grants.request((id(1, 1), is_proven), address(1), request, RawTime(at)))
    };
    for service in Service::ALL {
        assert_eq!(ask(&mut grants, service, false, 0), UNPROVEN_S);
    }
    assert!(served(&mut grants, 0, 3 * S).is_empty());
    let refused = grants.delay_resp(id(1, 1), 0, RawTime(S));
    assert_eq!(refused, Err(NoDelayResp::TooOften));
    // One proof is enough for all grants of the client.
    assert_eq!(ask(&mut grants, Service::Sync, true, 3 * S), LONGEST_S);
    let all = served(&mut grants, 3 * S, 4 * S);
    let syncs = all.iter().filter(|due| due.service == Service::Sync);
    assert!((126..=130).contains(&syncs.count()));
    // Its unproven grant of Delay_Resp has 4 s, and no more requests than others of that time.
    let answered = grants.delay_resp(id(1, 1), 0, RawTime(4 * S - 1));
    assert_eq!(answered, Ok((address(1), true)));
}

#[test]
fn a_forged_request_changes_nothing_of_a_served_client() {
    let mut grants = granted(Service::Sync, 0, 100);
    let elsewhere = ClientAddress {
        general_port: 99,
        domain: 7,
        ..address(1)
    };
    for service in Service::ALL {
        let request = (service, -7, 300);
        let tlv = grants.request((id(1, 1), false), elsewhere, request, RawTime(0));
        // A restarted client learns the identity from it, and proves itself by it.
        assert_eq!(seconds(&tlv), UNPROVEN_S);
    }
    let all = served(&mut grants, 0, 10 * S);
    assert!(all.iter().all(|due| due.address == address(1)));
    assert_eq!(all.len(), 10);
    let refused = grants.delay_resp(id(1, 1), 0, RawTime(0));
    assert_eq!(refused, Err(NoDelayResp::NotGranted));
}

/// Requests of a client by their sequence ids and times in intervals of 1/16 s, and those that are in sequence.
fn in_sequence(grants: &mut Grants, requests: &[(u16, i64)]) -> Vec<bool> {
    let mut request = |(id, slot): &(u16, i64)| {
        let now = RawTime(slot * S / 16);
        grants.delay_resp(self::id(1, 1), *id, now).unwrap().1
    };
    requests.iter().map(&mut request).collect()
}

/// Requests, and those of them that are in sequence.
type Case = (&'static [(u16, i64)], &'static [bool]);

#[test]
fn requests_of_guessed_sequence_ids_are_doubted_until_the_next_proof() {
    let cases: [Case; 6] = [
        // Also the first of all, lost ones, and the end of the numbers.
        (&[(65_533, 0), (65_534, 1), (1, 3)], &[true; 3]),
        // An outage of 20 s.
        (&[(100, 0), (420, 320)], &[true; 2]),
        // Repeated and overtaken requests are not answered for nothing, and raise no doubt.
        (
            &[(7, 0), (7, 0), (10, 1), (9, 1), (11, 2)],
            &[true, false, true, false, true],
        ),
        // A guess, and those after it.
        (&[(7, 0), (30_000, 0), (8, 1)], &[true, false, false]),
        // As many steps ahead only after as much time.
        (&[(7, 0), (7 + 17, 0)], &[true, false]),
        // A vanished client, long ago: few of the numbers are near.
        (&[(7, 0), (7 + 1025, 16 * 40)], &[true, false]),
    ];
    for (requests, expected) in cases {
        let mut grants = granted(Service::Sync, -4, 300);
        ask(&mut grants, 1, Service::DelayResp, -4, 300, 0);
        assert_eq!(in_sequence(&mut grants, requests), expected, "{requests:?}");
        // A proof ends the doubt.
        ask(&mut grants, 1, Service::DelayResp, -4, 300, 50 * S);
        let after = in_sequence(&mut grants, &[(50, 801), (51, 802)]);
        assert_eq!(after, [true; 2]);
    }
}

#[path = "loans_tests.rs"]
mod loans;
