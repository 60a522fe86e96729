//! Fuzzes the reader of PTP messages: a datagram is read back as it was written, and both ends of an exchange accept any.

#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use sinemora_agent::clock::{RawTime, TimestampSource};
use sinemora_agent::ptp::{
    Arrival, Body, ClientAddress, ExchangeTable, Grants, MAX_LEN, Message, PendingRequest,
    PortIdentity, Receipt, Responder, Tlv, UnicastSession,
};

fuzz_target!(|datagram: &[u8]| {
    let Ok(message) = Message::read(datagram) else {
        return;
    };
    let mut bytes = [0; MAX_LEN];
    let length = message.write(&mut bytes);
    assert_eq!(Message::read(&bytes[..length]), Ok(message), "is read back");
    respond(&message);
    negotiate(&message);
    exchange(&message);
});

/// Give the message to a responder.
fn respond(message: &Message) {
    let (client, now) = ("10.0.0.1:319".parse().unwrap(), RawTime(1));
    let mut responder = Responder::default();
    responder.set_peers([(client, 320, 0)].into_iter(), now);
    if let Ok(response) = responder.handle_request(message, client, Receipt::Proven, now) {
        responder.count_sync(&response);
        let _ = responder.delay_resp(&response, message.source, 1, Some(1), None);
        responder.record_departure(&response, 2);
        let _ = responder.compact_resp(&response, message.source, (1, 1), None);
        responder.uncount_sync(&response);
    }
}

/// Give the TLVs of the message to both ends of a unicast negotiation (16.1).
fn negotiate(message: &Message) {
    let Body::Signaling { tlvs, .. } = message.body else {
        return;
    };
    let (mut grants, now) = (Grants::default(), RawTime(1));
    let mut unicast = UnicastSession::new(0, now);
    let address = ClientAddress {
        client: IpAddr::from([10, 0, 0, 1]),
        event_port: 319,
        general_port: 320,
        domain: 0,
        local: None,
    };
    for tlv in tlvs.iter() {
        if let Tlv::Request {
            service,
            interval,
            duration_s,
        } = tlv
        {
            let id = (address.client, message.source);
            unicast.receive(
                grants.request(
                    (id, duration_s % 2 == 1),
                    address,
                    (service, interval, duration_s),
                    now,
                ),
                now,
            );
        }
        unicast.receive(tlv, now);
    }
    for s in 0..20 {
        let now = RawTime(s * 1_000_000_000);
        while grants.next_due(now).is_some() {}
        let _ = unicast.due_requests(now);
    }
    assert!(unicast.interval_ns() > 0);
}

/// Give the message to a client with open exchanges, with our own responder and with a standard one.
fn exchange(message: &Message) {
    for standard in [false, true] {
        let mut exchanges = ExchangeTable::new(PortIdentity { clock: 0, port: 0 });
        let pending = PendingRequest {
            at: RawTime(1),
            deadline: RawTime(1_000_000),
            hold_until: RawTime(1_000_000),
            t1_deadline: RawTime(1_000_000),
            tag: (),
        };
        for number in 0..3 {
            let id = if standard {
                exchanges.open_standard(pending, (number > 0).then_some(number))
            } else {
                exchanges.open(pending)
            };
            exchanges.record_departure(id.unwrap_or(0), RawTime(2), TimestampSource::Kernel);
        }
        let arrival = Arrival {
            at: RawTime(9),
            stamp: Some(RawTime(9)),
            source: TimestampSource::Kernel,
            ecn: None,
        };
        exchanges.receive(message, arrival);
        exchanges.receive(message, arrival);
        if let Body::CompactResp { response_tlv, .. } = message.body {
            for (sequence_id, t1_ns) in response_tlv.earlier() {
                exchanges.record_sync_departure(sequence_id, t1_ns);
            }
        }
        exchanges.settle(RawTime(i64::MAX), |_| {});
    }
}
