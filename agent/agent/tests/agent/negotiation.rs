//! The responder with hand-made standard clients and real packets: the cases that standard daemons depend on.

use std::cell::Cell;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::support::{Agent, listen, peer, plan};
use sinemora_agent::counters::EventKind;
use sinemora_agent::network::Listen;
use sinemora_agent::plan::Role;
use sinemora_agent::ptp::{Body, Correction, MAX_LEN, Message, PortIdentity, Service, Tlv, Tlvs};

const CLIENT: PortIdentity = PortIdentity {
    clock: 0x0011_22ff_fe33_4455,
    port: 1,
};

/// A client with its two sockets.
struct Client {
    responder: Listen,
    /// Identity that the responder told this client.
    target: Cell<PortIdentity>,
    event: UdpSocket,
    general: UdpSocket,
}

/// Return a responder and a client that is in its plan.
fn pair(net: u8) -> (Agent, Client) {
    let responder = Agent::start(listen(&format!("127.78.{net}.1")));
    let client = Client::new(responder.listen, listen(&format!("127.78.{net}.2")));
    let at = client.at();
    responder.follow(plan(1, 8, vec![peer(2, at, Role::Responder)]));
    client.learn_target();
    (responder, client)
}

impl Client {
    fn new(responder: Listen, at: Listen) -> Self {
        let open = |port| {
            let socket = UdpSocket::bind((at.address, port)).unwrap();
            socket
                .set_read_timeout(Some(Duration::from_millis(20)))
                .unwrap();
            socket
        };
        Self {
            responder,
            target: Cell::new(PortIdentity::ANY),
            event: open(at.event_port),
            general: open(at.general_port),
        }
    }

    fn at(&self) -> Listen {
        let port = |socket: &UdpSocket| socket.local_addr().unwrap().port();
        Listen {
            address: self.event.local_addr().unwrap().ip(),
            event_port: port(&self.event),
            general_port: port(&self.general),
            flow_port: 0,
        }
    }

    /// Send bytes to the responder's general port.
    fn send(&self, bytes: &[u8]) {
        let to = (self.responder.address, self.responder.general_port);
        self.general.send_to(bytes, to).unwrap();
    }

    fn signal(&self, tlvs: impl IntoIterator<Item = Tlv>) {
        self.send(&signaling(self.target.get(), tlvs));
    }

    fn send_delay_req(&self, sequence_id: u16, correction: i64) {
        let message = Message {
            domain: 0,
            source: CLIENT,
            sequence_id,
            correction: Correction(correction),
            body: Body::DelayReq,
        };
        let to = (self.responder.address, self.responder.event_port);
        self.event.send_to(&bytes(&message), to).unwrap();
    }

    /// Receive for `ms`. Return event messages and general messages.
    fn receive_for(&self, ms: u64) -> (Vec<Message>, Vec<Message>) {
        let until = Instant::now() + Duration::from_millis(ms);
        let (mut events, mut generals) = (Vec::new(), Vec::new());
        while Instant::now() < until {
            for (socket, messages) in [(&self.event, &mut events), (&self.general, &mut generals)] {
                let mut buffer = [0; 256];
                if let Ok(length) = socket.recv(&mut buffer) {
                    assert_eq!(buffer[33], 0x7f, "unicast messages carry no interval");
                    assert_ne!(buffer[6] & 0x04, 0, "the unicast flag");
                    messages.push(Message::read(&buffer[..length]).unwrap());
                }
            }
        }
        (events, generals)
    }

    /// Learn the identity that the responder has for this client, and end the grant that told it.
    fn learn_target(&self) {
        let mut told = None;
        crate::support::eventually("a first grant", || {
            self.signal([request(Service::Announce, 4)]);
            let (_, generals) = self.receive_for(50);
            told = generals.iter().map(|message| message.source).next();
            told.is_some()
        });
        self.target.set(told.unwrap());
        let service = Service::Announce;
        self.signal([Tlv::Cancel { service }]);
        crate::support::eventually("its end", || {
            let (_, generals) = self.receive_for(50);
            let mut all = generals.iter().flat_map(tlvs_of);
            all.any(|tlv| tlv == Tlv::Acknowledge { service })
        });
    }

    /// Receive until a grant for each of `services` has arrived. Return the grants in their order.
    fn grants(&self, services: usize) -> Vec<Tlv> {
        let mut grants = Vec::new();
        crate::support::eventually("the grants", || {
            grants.extend(self.receive_for(50).1.iter().flat_map(tlvs_of));
            grants.len() >= services
        });
        grants
    }
}

fn bytes(message: &Message) -> Vec<u8> {
    let mut buffer = [0; MAX_LEN];
    let length = message.write(&mut buffer);
    buffer[..length].to_vec()
}

fn signaling(target: PortIdentity, tlvs: impl IntoIterator<Item = Tlv>) -> Vec<u8> {
    bytes(&Message {
        domain: 0,
        source: CLIENT,
        sequence_id: 7,
        correction: Correction(0),
        body: Body::Signaling {
            target,
            tlvs: tlvs.into_iter().collect::<Tlvs>(),
        },
    })
}

fn request(service: Service, interval: i8) -> Tlv {
    Tlv::Request {
        service,
        interval,
        duration_s: 60,
    }
}

fn grant(service: Service, interval: i8) -> Tlv {
    Tlv::Grant {
        service,
        interval,
        duration_s: 60,
    }
}

fn tlvs_of(message: &Message) -> Vec<Tlv> {
    match message.body {
        Body::Signaling { target, tlvs } => {
            assert_eq!(target, CLIENT);
            tlvs.iter().collect()
        }
        _ => Vec::new(),
    }
}

const ALL: [Tlv; 3] = [
    Tlv::Request {
        service: Service::Announce,
        interval: 0,
        duration_s: 60,
    },
    Tlv::Request {
        service: Service::Sync,
        interval: -5,
        duration_s: 60,
    },
    Tlv::Request {
        service: Service::DelayResp,
        interval: -5,
        duration_s: 60,
    },
];

#[test]
fn the_warning_about_grants_names_the_address_that_takes_them_and_the_share() {
    let (responder, client) = pair(11);
    // Another client of the same address has the whole share already, and renews it.
    for _ in 0..2 {
        client.signal(ALL.map(|tlv| match tlv {
            Tlv::Request { service, .. } => request(service, -7),
            other => other,
        }));
        client.grants(3);
    }
    let other = Message {
        source: PortIdentity { clock: 7, port: 1 },
        ..Message::read(&signaling(
            client.target.get(),
            [request(Service::Sync, -7)],
        ))
        .unwrap()
    };
    client.send(&bytes(&other));
    let mut events = Vec::new();
    crate::support::eventually("the warning", || {
        events.extend(responder.counters.events.take(10));
        events.iter().any(|event| event.kind == EventKind::RateShed)
    });
    let warned: Vec<_> = events.iter().map(|event| event.detail.as_str()).collect();
    assert_eq!(
        warned,
        [
            "standard clients at 127.78.11.2 ask for more than one address gets (4 clients, 264 messages/s), so some are \
             denied; if only one runs there, its address is forged"
        ]
    );
}

#[test]
fn delay_resp_echoes_requester_and_correction() {
    let (_responder, client) = pair(3);
    client.signal(ALL);
    client.grants(3);
    client.send_delay_req(4711, 0x1_2345);
    let mut messages = Vec::new();
    crate::support::eventually("the Delay_Resp", || {
        messages = client.receive_for(100).1;
        messages.retain(|m| matches!(m.body, Body::DelayResp { .. }));
        !messages.is_empty()
    });
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(
        (messages[0].sequence_id, messages[0].correction.0),
        (4711, 0x1_2345)
    );
    let Body::DelayResp {
        requester,
        rx_report,
        ..
    } = messages[0].body
    else {
        unreachable!()
    };
    assert_eq!((requester, rx_report), (CLIENT, None));
}

#[test]
fn an_unknown_client_is_granted_nothing() {
    let (responder, _client) = pair(6);
    let stranger = Client::new(responder.listen, listen("127.78.6.9"));
    stranger.signal(ALL);
    assert_eq!(stranger.receive_for(300), (Vec::new(), Vec::new()));
}

#[test]
fn a_client_outside_the_plan_is_served_at_the_ports_of_the_standard() {
    let responder = Agent::start_with(listen("127.78.7.1"), &["127.78.7.0/24"]);
    responder.follow(plan(
        1,
        8,
        vec![peer(2, listen("127.78.7.2"), Role::Responder)],
    ));
    let client = Client::new(responder.listen, listen("127.78.7.9"));
    client.learn_target();
    client.signal([request(Service::Announce, -2)]);
    assert_eq!(client.grants(1), [grant(Service::Announce, -2)]);
    let announced = client.receive_for(1500).1;
    assert!(!announced.is_empty());
}

#[test]
fn a_standard_client_and_our_own_on_one_machine_each_get_their_response() {
    // Both have one address and port. The port identity distinguishes them: no Delay_Resp was granted to the second.
    let (_responder, client) = pair(9);
    client.signal([
        request(Service::Announce, 0),
        request(Service::DelayResp, 0),
    ]);
    client.grants(2);
    client.send_delay_req(1, 0);
    // Its address has no proof: it gets no more octets than it sent, so one of five requests is answered.
    for sequence_id in 2..7 {
        let other = Message {
            domain: 0,
            source: PortIdentity { clock: 5, port: 1 },
            sequence_id,
            correction: Correction(0),
            body: Body::DelayReq,
        };
        let to = (client.responder.address, client.responder.event_port);
        client.event.send_to(&bytes(&other), to).unwrap();
    }
    let (syncs, generals) = client.receive_for(500);
    let [answered] = syncs.iter().map(|m| m.sequence_id).collect::<Vec<_>>()[..] else {
        panic!("{syncs:?}");
    };
    let with_report: Vec<_> = generals
        .iter()
        .filter_map(|m| match m.body {
            Body::DelayResp { rx_report, .. } => Some((m.sequence_id, rx_report.is_some())),
            _ => None,
        })
        .collect();
    assert!(with_report.contains(&(1, false)) && with_report.contains(&(answered, true)));
}

#[test]
fn sptp_requests_get_sync_and_announce_and_no_more_octets_than_they_had() {
    for (net, domain) in [(10, 0), (20, 44)] {
        answers_sptp(net, domain);
    }
}

/// Check the answers to ten requests of SPTP in a domain.
fn answers_sptp(net: u8, domain: u8) {
    let (_responder, client) = pair(net);
    // Its identity has a high port number: it awaits the Announce where it sends from.
    let source = PortIdentity {
        port: 4711,
        ..CLIENT
    };
    for sequence_id in 0..10 {
        let request = Message {
            domain,
            source,
            sequence_id,
            correction: Correction(0x1_0000),
            body: Body::SptpReq,
        };
        let to = (client.responder.address, client.responder.event_port);
        client.event.send_to(&bytes(&request), to).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let (messages, generals) = client.receive_for(500);
    assert_eq!(generals, []);
    // Of 10 requests of 72 octets with their headers, 4 are answered by 72 and 92.
    assert_eq!(messages.len(), 8, "{messages:?}");
    // An Announce waits for the departure of its Sync, and the next Sync may overtake it.
    let (syncs, announces): (Vec<_>, Vec<_>) = messages
        .into_iter()
        .partition(|message| matches!(message.body, Body::Sync { .. }));
    for (sync, announce) in syncs.iter().zip(&announces) {
        let Body::Sync {
            two_step: true,
            origin_ns: t4,
        } = sync.body
        else {
            panic!("{sync:?}");
        };
        let Body::Announce { origin_ns: t1, .. } = announce.body else {
            panic!("{announce:?}");
        };
        assert_eq!((sync.domain, announce.domain), (domain, domain));
        assert_eq!(sync.sequence_id, announce.sequence_id);
        assert_eq!(announce.correction, Correction(0x1_0000));
        assert_eq!(sync.source, announce.source);
        assert!((0..1_000_000_000).contains(&(t1 - t4)), "{t1} {t4}");
    }
}
