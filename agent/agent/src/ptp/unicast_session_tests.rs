//! Requests for services and their renewal.

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
fn granted() -> UnicastSession {
    let mut unicast = UnicastSession::new(-4, at(0));
    unicast.receive_announce(None);
    unicast.due_requests(at(0));
    for service in Service::ALL {
        unicast.receive(grant(service, -4, 60), at(0));
    }
    unicast
}

#[test]
fn announce_is_asked_for_before_the_rest() {
    let mut unicast = UnicastSession::new(-4, at(0));
    assert_eq!(services(&unicast.due_requests(at(0))), [Service::Announce]);
    unicast.receive(grant(Service::Announce, 1, 60), at(0));
    assert!(unicast.due_requests(at(5)).is_empty());
    unicast.receive_announce(Some(37));
    assert_eq!(unicast.ahead_ns(), 37 * S);
    let rest = unicast.due_requests(at(5));
    assert_eq!(services(&rest), [Service::Sync, Service::DelayResp]);
}

#[test]
fn unanswered_requests_are_repeated_with_backoff() {
    let mut unicast = UnicastSession::new(-4, at(0));
    let state: Vec<i64> = (0..60)
        .filter(|s| !unicast.due_requests(at(*s)).is_empty())
        .collect();
    assert_eq!(state, [0, 1, 3, 7, 15, 31, 47]);
}

#[test]
fn grants_are_renewed_at_half_time() {
    let mut unicast = granted();
    assert_eq!(unicast.next_due(), at(30));
    assert!(unicast.due_requests(at(29)).is_empty());
    assert_eq!(services(&unicast.due_requests(at(30))), Service::ALL);
}

#[test]
fn the_granted_interval_counts_and_not_the_one_asked_for() {
    let mut unicast = granted();
    assert_eq!(unicast.interval_ns(), S / 16);
    unicast.receive(grant(Service::Sync, 0, 60), at(1));
    assert_eq!(unicast.interval_ns(), S);
    unicast.receive(grant(Service::Sync, i8::MIN, 60), at(1));
    assert_eq!(unicast.interval_ns(), S / 128);
}

#[test]
fn a_cancellation_is_acknowledged_and_asked_about_again() {
    let mut unicast = granted();
    let service = Service::Sync;
    assert!(unicast.receive(Tlv::Cancel { service }, at(10)));
    assert!(unicast.due_requests(at(10)).is_empty());
    assert_eq!(services(&unicast.due_requests(at(11))), [service]);
}

#[test]
fn a_denial_is_reported_and_not_retried_at_once() {
    let mut unicast = granted();
    unicast.receive(grant(Service::Sync, -4, 0), at(1));
    assert_eq!(unicast.no_service(at(1)), Some(NoService::Refused));
    assert!(unicast.serves(), "Delay_Resp is still granted");
    assert!(unicast.due_requests(at(16)).is_empty());
    assert_eq!(services(&unicast.due_requests(at(17))), [Service::Sync]);
    unicast.receive(grant(Service::Sync, -4, 60), at(18));
    assert_eq!(unicast.no_service(at(18)), None);
}

#[test]
fn a_responder_that_grants_nothing_has_no_service_and_the_reason_is_known() {
    let mut unicast = UnicastSession::new(-4, at(0));
    assert!(!unicast.serves());
    assert_eq!(unicast.no_service(at(9)), None, "negotiation takes time");
    assert_eq!(unicast.no_service(at(10)), Some(NoService::Silent));
    unicast.receive(grant(Service::Announce, 1, 60), at(11));
    assert_eq!(unicast.no_service(at(12)), Some(NoService::NoAnnounce));
    unicast.receive_announce(None);
    unicast.receive(grant(Service::DelayResp, -4, 60), at(13));
    assert!(unicast.serves());
    assert_eq!(unicast.no_service(at(13)), None);
    // It vanishes: its requests are lost, whatever the grants were.
    assert!(unicast.serves());
    assert_eq!(unicast.no_service(at(500)), None);
    unicast.receive(grant(Service::DelayResp, -4, 0), at(501));
    assert!(!unicast.serves());
}

#[test]
fn another_rate_is_asked_for_at_once() {
    let mut unicast = granted();
    unicast.set_interval(-4, at(1));
    assert!(unicast.due_requests(at(1)).is_empty());
    unicast.set_interval(-7, at(1));
    let state = unicast.due_requests(at(1));
    let sync = state
        .iter()
        .find(|tlv| matches!(tlv, Tlv::Request { service, .. } if *service == Service::Sync));
    assert!(matches!(sync, Some(Tlv::Request { interval: -7, .. })));
}

#[test]
fn what_was_granted_is_cancelled_at_the_end() {
    let mut unicast = UnicastSession::new(-4, at(0));
    assert!(unicast.cancellations().is_empty());
    unicast.receive(grant(Service::Announce, 1, 60), at(0));
    assert_eq!(services(&unicast.cancellations()), [Service::Announce]);
}
