//! Bytes from anywhere are a message or they are not; what is one is understood by both ends of an exchange.

#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use sinemora_agent::clock::RawTime;
use sinemora_agent::ptp::{
    Arrival, Body, Grants, Ledger, MAX_LEN, Message, Opening, PortIdentity, Responder,
    Subscription, Tlv, Way,
};

fuzz_target!(|datagram: &[u8]| {
    let Ok(message) = Message::read(datagram) else {
        return;
    };
    let mut bytes = [0; MAX_LEN];
    let length = message.write(&mut bytes);
    assert_eq!(Message::read(&bytes[..length]), Ok(message), "is read back");
    answered(&message);
    granted(&message);
    taken(&message);
});

/// As a responder takes it.
fn answered(message: &Message) {
    let (client, now) = ("10.0.0.1:319".parse().unwrap(), RawTime(1));
    let mut responder = Responder::default();
    responder.admit([(client, 320)].into_iter(), now);
    if let Ok(answer) = responder.request(message, client, now) {
        responder.synced(&answer);
        let _ = responder.delay_resp(&answer, message.source, 1, Some(1), None);
        responder.left(&answer, 2);
        let _ = responder.answer(&answer, message.source, (1, 1), None);
        responder.withdraw(&answer);
    }
}

/// As both ends of a negotiation take it.
fn granted(message: &Message) {
    let Body::Signaling { tlvs, .. } = message.body else {
        return;
    };
    let (mut grants, now) = (Grants::default(), RawTime(1));
    let mut subscription = Subscription::new(0, now);
    let way = Way {
        client: IpAddr::from([10, 0, 0, 1]),
        event_port: 319,
        general_port: 320,
        local: None,
    };
    for tlv in tlvs.iter() {
        if let Tlv::Request {
            service,
            interval,
            duration_s,
        } = tlv
        {
            let id = (way.client, message.source);
            subscription.hear(
                grants.request(id, way, (service, interval, duration_s), now),
                now,
            );
        }
        subscription.hear(tlv, now);
    }
    for s in 0..20 {
        let now = RawTime(s * 1_000_000_000);
        while grants.next_due(now).is_some() {}
        let _ = subscription.due(now);
    }
    assert!(subscription.interval_ns() > 0);
}

/// As a client takes it that has asked, our own responder and a stock one.
fn taken(message: &Message) {
    for stock in [false, true] {
        let mut ledger = Ledger::new(PortIdentity { clock: 0, port: 0 });
        let opening = Opening {
            at: RawTime(1),
            deadline: RawTime(1_000_000),
            hold_until: RawTime(1_000_000),
            told_until: RawTime(1_000_000),
            tag: (),
        };
        for _ in 0..3 {
            let id = if stock {
                ledger.open_standard(opening, 0)
            } else {
                ledger.open(opening)
            };
            ledger.departed(id.unwrap_or(0), RawTime(2));
        }
        let arrival = Arrival {
            at: RawTime(9),
            stamp: Some(RawTime(9)),
        };
        ledger.receive(message, arrival);
        ledger.receive(message, arrival);
        if let Body::Answer { reply, .. } = message.body {
            for (sequence_id, t1_ns) in reply.earlier() {
                ledger.synced(sequence_id, t1_ns);
            }
        }
        ledger.settle(RawTime(i64::MAX), |_| {});
    }
}
