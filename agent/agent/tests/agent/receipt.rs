//! The proof that clients receive, with hand-made clients and real packets: who proves nothing gets no more than it sent.

use std::net::UdpSocket;
use std::time::Duration;

use crate::negotiation::request;
use crate::support::{Agent, Loss, bytes, listen, message, peer, plan};
use sinemora_agent::network::Listen;
use sinemora_agent::plan::Role;
use sinemora_agent::ptp::{Body, Message, PortIdentity, ResponseTlv, RxReportTlv, Service};

/// Of the client's requests; its responses have port 1.
const REQUESTER: PortIdentity = PortIdentity {
    clock: 0x0234_5678_9abc_def0,
    port: 2,
};

/// A client that sends requests by hand.
struct Client {
    responder: Listen,
    event: UdpSocket,
}

fn pair(net: u8) -> (Agent, Client) {
    let responder = Agent::start(listen(&format!("127.79.{net}.1")));
    let at = listen(&format!("127.79.{net}.2"));
    let event = UdpSocket::bind((at.address, at.event_port)).unwrap();
    event
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    responder.follow(plan(1, 8, vec![peer(2, at, Role::Responder)]));
    let client = Client {
        responder: responder.listen,
        event,
    };
    (responder, client)
}

impl Client {
    fn send(&self, source: PortIdentity, sequence_id: u16, body: Body) -> usize {
        let message = message(source, sequence_id, body);
        let to = (self.responder.address, self.responder.event_port);
        self.event.send_to(&bytes(&message), to).unwrap()
    }

    fn request(&self, sequence_id: u16, receipt: Option<u64>) -> usize {
        let body = Body::CompactReq {
            soon: true,
            receipt,
            ecn: None,
        };
        self.send(REQUESTER, sequence_id, body)
    }

    /// Receive the next event message, which is a whole response, and return its reception report.
    fn receive_rx_report(&self) -> RxReportTlv {
        match self.receive().unwrap().0.body {
            Body::CompactResp { rx_report, .. } => rx_report,
            other => panic!("{other:?}"),
        }
    }

    /// Receive the next event message, if one comes. Return it and its length.
    fn receive(&self) -> Option<(Message, usize)> {
        let mut buffer = [0; 512];
        let length = self.event.recv(&mut buffer).ok()?;
        Some((Message::read(&buffer[..length]).unwrap(), length))
    }
}

#[test]
fn a_client_gets_whole_responses_once_it_names_the_identity_of_the_first() {
    let (_responder, client) = pair(1);
    let sent = client.request(1, Some(0));
    let (first, length) = client.receive().unwrap();
    assert!(matches!(first.body, Body::Sync { .. }), "{first:?}");
    assert!(length <= sent, "{length} octets for {sent}");
    let identity = Some(first.source.clock & 0xffff_ffff_ffff);
    client.request(2, identity);
    let rx_report = client.receive_rx_report();
    assert_eq!((rx_report.requests, rx_report.syncs), (2, 2));
    // A forged request in the name of the same process cannot name the identity, and changes no count.
    client.request(30_000, Some(5));
    assert_eq!(client.receive(), None);
    client.request(3, identity);
    let rx_report = client.receive_rx_report();
    assert_eq!((rx_report.requests, rx_report.newest), (3, 3));
}

#[test]
fn an_agent_of_an_earlier_version_gets_whole_responses_once_it_has_answered_a_challenge() {
    let (_responder, client) = pair(2);
    let mut sent = client.request(1, None);
    let (challenge, mut received) = client.receive().unwrap();
    assert!(matches!(challenge.body, Body::CompactReq { .. }));
    for sequence_id in 2..20 {
        sent += client.request(sequence_id, None);
        let (answer, length) = client.receive().unwrap();
        received += length;
        assert!(matches!(answer.body, Body::Sync { .. }), "{answer:?}");
    }
    assert!(received <= sent, "{received} octets for {sent}");
    // The answer of another process at that address proves nothing for this one.
    let confirm = |clock: u64, sequence_id: u16| {
        let source = PortIdentity { clock, port: 1 };
        let body = Body::CompactResp {
            origin_ns: 1,
            response_tlv: ResponseTlv::new(1, challenge.source),
            rx_report: RxReportTlv {
                requests: 1,
                syncs: 1,
                newest: challenge.sequence_id,
                watched: 1,
                arrived: 1,
            },
            hardware_clock: None,
            vm: None,
            ecn: None,
        };
        client.send(source, challenge.sequence_id, body);
        client.request(sequence_id, None);
        client.receive().unwrap().0.body
    };
    let other = confirm(REQUESTER.clock ^ 1, 20);
    assert!(matches!(other, Body::Sync { .. }), "{other:?}");
    let own = confirm(REQUESTER.clock, 21);
    assert!(matches!(own, Body::CompactResp { .. }), "{own:?}");
}

#[test]
fn a_flood_without_a_proof_leaves_the_measurement_its_packets() {
    let (mut a, b) = (
        Agent::start_with(listen("127.79.3.1"), &["127.79.3.0/24"]),
        Agent::start(listen("127.79.3.2")),
    );
    b.follow(plan(2, 8, vec![peer(1, a.listen, Role::Responder)]));
    let mut own = plan(1, 8, vec![peer(2, b.listen, Role::Client)]);
    own.caps.packets_per_s = 100;
    a.follow(own);
    a.windows(2);
    // 2,000 requests of a standard client in two seconds, whose port identities change and name nobody's.
    let guest = UdpSocket::bind("127.79.3.9:0").unwrap();
    for clock in 0..2_000_u64 {
        let source = PortIdentity { clock, port: 1 };
        let body = Body::Signaling {
            target: PortIdentity::ANY,
            tlvs: [request(Service::Sync, 0)].into_iter().collect(),
        };
        let to = (a.listen.address, a.listen.general_port);
        let message = message(source, clock as u16, body);
        guest.send_to(&bytes(&message), to).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let windows = a.windows(2);
    a.finish();
    let loss = Loss::of(&windows);
    assert!(loss.round_trip.0 >= 2 * 7, "{loss:?}");
    assert_eq!(loss.round_trip.1, 0, "{loss:?}");
}
