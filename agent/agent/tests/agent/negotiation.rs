//! The responder with hand-made standard clients and real packets: the cases that standard daemons depend on.

use std::cell::Cell;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::support::{Agent, bytes, eventually, listen, message, peer, plan};
use sinemora_agent::counters::EventKind;
use sinemora_agent::network::Listen;
use sinemora_agent::plan::Role;
use sinemora_agent::ptp::{Body, Correction, Message, PortIdentity, Service, Tlv, Tlvs};

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
    let at = listen(&format!("127.78.{net}.2"));
    let client = Client::new(responder.listen, at);
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

    /// Send bytes to the responder's general port.
    fn send(&self, bytes: &[u8]) {
        let to = (self.responder.address, self.responder.general_port);
        self.general.send_to(bytes, to).unwrap();
    }

    fn signal(&self, tlvs: impl IntoIterator<Item = Tlv>) {
        self.send(&signaling(self.target.get(), tlvs));
    }

    fn send_delay_req(&self, sequence_id: u16, correction: i64) {
        self.ask(&Message {
            correction: Correction(correction),
            ..message(CLIENT, sequence_id, Body::DelayReq)
        });
    }

    /// Send a message to the responder's event port.
    fn ask(&self, message: &Message) {
        let to = (self.responder.address, self.responder.event_port);
        self.event.send_to(&bytes(message), to).unwrap();
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
        eventually("a first grant", || {
            self.signal([request(Service::Announce, 4)]);
            let (_, generals) = self.receive_for(50);
            told = generals.iter().map(|message| message.source).next();
            told.is_some()
        });
        self.target.set(told.unwrap());
        let service = Service::Announce;
        self.signal([Tlv::Cancel { service }]);
        eventually("its end", || {
            let (_, generals) = self.receive_for(50);
            let mut all = generals.iter().flat_map(tlvs_of);
            all.any(|tlv| tlv == Tlv::Acknowledge { service })
        });
    }

    /// Receive until a grant for each of `services` has arrived. Return the grants in their order.
    fn grants(&self, services: usize) -> Vec<Tlv> {
        let mut grants = Vec::new();
        eventually("the grants", || {
            grants.extend(self.receive_for(50).1.iter().flat_map(tlvs_of));
            grants.len() >= services
        });
        grants
    }
}

fn signaling(target: PortIdentity, tlvs: impl IntoIterator<Item = Tlv>) -> Vec<u8> {
    let tlvs = tlvs.into_iter().collect::<Tlvs>();
    bytes(&message(CLIENT, 7, Body::Signaling { target, tlvs }))
}

pub fn request(service: Service, interval: i8) -> Tlv {
    Tlv::Request {
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

/// Return the requests of all services with these intervals.
fn all(intervals: [i8; 3]) -> [Tlv; 3] {
    let services = [Service::Announce, Service::Sync, Service::DelayResp];
    std::array::from_fn(|nth| request(services[nth], intervals[nth]))
}

#[test]
fn the_warning_about_grants_names_the_address_that_takes_them_and_the_share() {
    let (responder, client) = pair(11);
    // Another client of the same address has the whole share already, and renews it.
    for _ in 0..2 {
        client.signal(all([-7; 3]));
        client.grants(3);
    }
    let asked = signaling(client.target.get(), [request(Service::Sync, -7)]);
    let other = Message {
        source: PortIdentity { clock: 7, port: 1 },
        ..Message::read(&asked).unwrap()
    };
    client.send(&bytes(&other));
    let mut events = Vec::new();
    eventually("the warning", || {
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
    client.signal(all([0, -5, -5]));
    client.grants(3);
    client.send_delay_req(4711, 0x1_2345);
    let mut messages = Vec::new();
    eventually("the Delay_Resp", || {
        messages = client.receive_for(100).1;
        messages.retain(|m| matches!(m.body, Body::DelayResp { .. }));
        !messages.is_empty()
    });
    let [message] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert_eq!(message.sequence_id, 4711);
    assert_eq!(message.correction.0, 0x1_2345);
    assert!(matches!(
        message.body,
        Body::DelayResp {
            requester: CLIENT,
            rx_report: None,
            ..
        }
    ));
}

#[test]
fn an_unknown_client_is_granted_nothing() {
    let (responder, _client) = pair(6);
    let stranger = Client::new(responder.listen, listen("127.78.6.9"));
    stranger.signal(all([0, -5, -5]));
    assert_eq!(stranger.receive_for(300), (Vec::new(), Vec::new()));
}

#[test]
fn sptp_requests_get_sync_and_announce_and_no_more_octets_than_they_had() {
    let (domain, (_responder, client)) = (44, pair(10));
    // Its identity has a high port number: it awaits the Announce where it sends from.
    let clock = CLIENT.clock;
    let source = PortIdentity { clock, port: 4711 };
    for sequence_id in 0..10 {
        client.ask(&Message {
            domain,
            correction: Correction(0x1_0000),
            ..message(source, sequence_id, Body::SptpReq)
        });
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
