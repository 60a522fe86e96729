//! What is asked for, and when again.

use super::*;

const S: i64 = NANOS_PER_S;

fn at(s: i64) -> RawTime {
    RawTime(s * S)
}

fn services(tlvs: &Tlvs) -> Vec<Service> {
    let of = |tlv| match tlv {
        Tlv::Request { service, .. } | Tlv::Cancel { service } => service,
        other => panic!("{other:?}"),
    };
    tlvs.iter().map(of).collect()
}

fn grant(service: Service, interval: i8, duration_s: u32) -> Tlv {
    Tlv::Grant {
        service,
        interval,
        duration_s,
    }
}

/// Everything granted at 0 s for 60 s.
fn granted() -> Subscription {
    let mut subscription = Subscription::new(-4, at(0));
    subscription.announced(None);
    subscription.due(at(0));
    for service in Service::ALL {
        subscription.hear(grant(service, -4, 60), at(0));
    }
    subscription
}

#[test]
fn announce_is_asked_for_before_the_rest() {
    let mut subscription = Subscription::new(-4, at(0));
    assert_eq!(services(&subscription.due(at(0))), [Service::Announce]);
    subscription.hear(grant(Service::Announce, 1, 60), at(0));
    assert!(subscription.due(at(5)).is_empty());
    subscription.announced(Some(37));
    assert_eq!(subscription.ahead_ns(), 37 * S);
    let rest = subscription.due(at(5));
    assert_eq!(services(&rest), [Service::Sync, Service::DelayResp]);
}

#[test]
fn silence_is_asked_again_ever_more_seldom() {
    let mut subscription = Subscription::new(-4, at(0));
    let asked: Vec<i64> = (0..60)
        .filter(|s| !subscription.due(at(*s)).is_empty())
        .collect();
    assert_eq!(asked, [0, 1, 3, 7, 15, 31, 47]);
}

#[test]
fn grants_are_renewed_at_half_time() {
    let mut subscription = granted();
    assert_eq!(subscription.next(), at(30));
    assert!(subscription.due(at(29)).is_empty());
    assert_eq!(services(&subscription.due(at(30))), Service::ALL);
}

#[test]
fn the_granted_interval_counts_and_not_the_one_asked_for() {
    let mut subscription = granted();
    assert_eq!(subscription.interval_ns(), S / 16);
    subscription.hear(grant(Service::Sync, 0, 60), at(1));
    assert_eq!(subscription.interval_ns(), S);
    subscription.hear(grant(Service::Sync, i8::MIN, 60), at(1));
    assert_eq!(subscription.interval_ns(), S / 128);
}

#[test]
fn a_cancellation_is_acknowledged_and_asked_about_again() {
    let mut subscription = granted();
    let service = Service::Sync;
    assert!(subscription.hear(Tlv::Cancel { service }, at(10)));
    assert!(subscription.due(at(10)).is_empty());
    assert_eq!(services(&subscription.due(at(11))), [service]);
}

#[test]
fn a_refusal_is_told_and_not_pressed() {
    let mut subscription = granted();
    subscription.hear(grant(Service::Sync, -4, 0), at(1));
    assert!(subscription.refused());
    assert!(subscription.due(at(16)).is_empty());
    assert_eq!(services(&subscription.due(at(17))), [Service::Sync]);
    subscription.hear(grant(Service::Sync, -4, 60), at(18));
    assert!(!subscription.refused());
}

#[test]
fn another_rate_is_asked_for_at_once() {
    let mut subscription = granted();
    subscription.want(-4, at(1));
    assert!(subscription.due(at(1)).is_empty());
    subscription.want(-7, at(1));
    let asked = subscription.due(at(1));
    let sync = asked
        .iter()
        .find(|tlv| matches!(tlv, Tlv::Request { service, .. } if *service == Service::Sync));
    assert!(matches!(sync, Some(Tlv::Request { interval: -7, .. })));
}

#[test]
fn what_was_granted_is_cancelled_at_the_end() {
    let mut subscription = Subscription::new(-4, at(0));
    assert!(subscription.farewell().is_empty());
    subscription.hear(grant(Service::Announce, 1, 60), at(0));
    assert_eq!(services(&subscription.farewell()), [Service::Announce]);
}
