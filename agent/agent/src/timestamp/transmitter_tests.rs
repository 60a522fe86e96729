use super::super::RealTime;
use super::super::{ClockMap, StampClocks, Stamps, cross_timestamp, wait};
use super::*;
use std::net::SocketAddr;
use std::time::Duration;

fn bind(address: &str, stamps: Stamps) -> Socket {
    Socket::bind(address.parse().unwrap(), stamps).unwrap()
}

fn outgoing(to: SocketAddr, token: u32) -> Outgoing<u32> {
    let mut bytes = [0; crate::ptp::MAX_LEN];
    bytes[..4].copy_from_slice(&token.to_be_bytes());
    Outgoing {
        to,
        from: None,
        bytes,
        len: 44,
        ecn: crate::ptp::EcnField::NOT_ECT,
        asks_schedule: false,
        token,
    }
}

/// A socket that sends with timestamps, and the one that it sends to.
struct Way {
    sender: Socket,
    receiver: Socket,
    transmitter: Transmitter<u32>,
    map: ClockMap,
}

impl Way {
    fn new(from: &str, stamps: Stamps, to: &str) -> Self {
        let sender = bind(from, stamps);
        Self {
            receiver: bind(to, Stamps::Received),
            transmitter: Transmitter::new(&sender),
            map: ClockMap::new(cross_timestamp()),
            sender,
        }
    }

    /// Return a way on loopback whose departures the kernel stamps.
    fn stamped() -> Self {
        Self::new("127.0.0.1:0", Stamps::SentAndReceived, "127.0.0.1:0")
    }

    fn packets(&self, tokens: impl IntoIterator<Item = u32>) -> Vec<Outgoing<u32>> {
        let to = self.receiver.local();
        tokens
            .into_iter()
            .map(|token| outgoing(to, token))
            .collect()
    }

    fn send(&mut self, packets: &[Outgoing<u32>]) {
        self.transmitter
            .send(&self.sender, packets, &self.map, |_, left| left.unwrap())
            .unwrap();
    }

    fn collect(&mut self) {
        self.transmitter.collect(&self.sender, &self.map).unwrap();
    }

    /// Send packets and return their departures.
    fn departures(&mut self, packets: &[Outgoing<u32>]) -> Vec<DepartureTimestamp<u32>> {
        self.send(packets);
        self.collect();
        self.transmitter.take_departures().collect()
    }

    fn received(&mut self, count: usize) -> Vec<(u32, SocketAddr, Option<RealTime>)> {
        received(&mut self.receiver, &self.sender, count)
    }
}

/// Return the packets that have reached `socket`; waits up to a few seconds for `count` of them.
fn received(
    socket: &mut Socket,
    other: &Socket,
    count: usize,
) -> Vec<(u32, SocketAddr, Option<RealTime>)> {
    let (mut inbox, mut all) = (Inbox::new(), Vec::new());
    for _ in 0..100 {
        let n = socket.receive(&mut inbox).unwrap();
        all.extend(inbox.datagrams(n).map(|d| {
            assert_eq!(d.bytes.len(), 44);
            (
                u32::from_be_bytes(d.bytes[..4].try_into().unwrap()),
                d.from,
                d.stamps.kernel,
            )
        }));
        if all.len() >= count {
            break;
        }
        wait([socket, other].into_iter(), Duration::from_millis(50)).unwrap();
    }
    all
}

/// Send `tokens` from one socket to another, and return when each left and arrived.
fn travel(from: &str, to: &str, tokens: std::ops::Range<u32>) -> Vec<(u32, RawTime, RawTime)> {
    let mut way = Way::new(from, Stamps::SentAndReceived, to);
    // The kernel switches receive stamps on for the whole machine, a moment after the first socket asks for them.
    let stamped = (0..1000).any(|_| {
        way.send(&way.packets([0]));
        let stamped = way.received(1)[0].2.is_some();
        // A worker of the kernel does so, which on a busy machine has to wait.
        std::thread::sleep(Duration::from_millis(if stamped { 0 } else { 5 }));
        stamped
    });
    assert!(stamped);
    way.collect();
    way.transmitter.take_departures();
    let packets = way.packets(tokens);
    way.send(&packets);
    for _ in 0..20 {
        wait(std::iter::once(&way.sender), Duration::from_millis(10)).unwrap();
        way.collect();
    }
    let departed: Vec<_> = way.transmitter.take_departures().collect();
    let arrived = way.received(packets.len());
    assert_eq!(arrived.len(), packets.len());
    arrived
        .into_iter()
        .map(|(token, origin, stamp)| {
            assert_eq!(origin, way.sender.local());
            let departure = departed.iter().find(|d| d.token == token).unwrap();
            let left = departure.stamp.unwrap().at;
            (token, left, way.map.raw(stamp.unwrap()).unwrap())
        })
        .collect()
}

#[test]
fn every_departure_and_arrival_is_stamped_by_the_kernel() {
    let before = raw_now();
    let travelled = travel("127.0.0.1:0", "127.0.0.1:0", 0..200);
    let after = raw_now();
    assert_eq!(travelled.len(), 200);
    for (i, (token, left, arrived)) in travelled.into_iter().enumerate() {
        assert_eq!(token, i as u32);
        assert!(before.plus(-SLACK_NS) < left && left <= arrived && arrived < after.plus(SLACK_NS));
    }
}

#[test]
fn a_socket_that_asks_a_card_gets_the_kernels_timestamps_where_there_is_none() {
    let mut way = Way::stamped();
    let clocks = StampClocks::new(cross_timestamp(), None);
    for asks in [true, false, true] {
        way.sender.ask_card(asks);
        way.transmitter.renumber(&way.sender).unwrap();
        way.send(&way.packets([1, 2]));
        way.transmitter.collect(&way.sender, &clocks).unwrap();
        let departed: Vec<_> = (way.transmitter.take_departures())
            .map(|departure| (departure.token, departure.stamp.unwrap().source))
            .collect();
        let expected = [1, 2].map(|token| (token, TimestampSource::Kernel));
        assert_eq!(departed, expected, "{asks}");
    }
}

#[test]
fn works_over_ipv6() {
    if std::net::UdpSocket::bind("[::1]:0").is_ok() {
        assert_eq!(travel("[::1]:0", "[::1]:0", 0..3).len(), 3);
    }
}

#[test]
fn the_reply_comes_from_the_address_that_was_asked() {
    let everywhere = bind("0.0.0.0:0", Stamps::SentAndReceived);
    let mut asker = bind("127.9.8.7:0", Stamps::SentAndReceived);
    let port = everywhere.local().port();
    let to = SocketAddr::new("127.4.5.6".parse().unwrap(), port);
    asker.send(&[outgoing(to, 1)], |_, left| left.unwrap());
    wait([&everywhere, &asker].into_iter(), Duration::from_secs(5)).unwrap();
    let mut inbox = Inbox::new();
    assert_eq!(everywhere.receive(&mut inbox).unwrap(), 1);
    let asked = inbox.datagrams(1).next().unwrap();
    assert_eq!((asked.from, asked.to), (asker.local(), Some(to.ip())));
    let reply = Outgoing {
        from: asked.to,
        ..outgoing(asked.from, 2)
    };
    everywhere.send(&[reply], |_, left| left.unwrap());
    let replies = received(&mut asker, &everywhere, 1);
    assert_eq!((replies[0].0, replies[0].1), (2, to));
}

#[test]
fn a_refused_packet_neither_stops_the_others_nor_shifts_their_stamps() {
    let mut way = Way::stamped();
    // A loopback address has no route to other machines.
    let nowhere: SocketAddr = "192.0.2.1:319".parse().unwrap();
    let good = way.receiver.local();
    let six = [good, nowhere, good, good, nowhere, good];
    let packets: Vec<_> = (0..).zip(six).map(|(n, to)| outgoing(to, n)).collect();
    let batch = [good, nowhere, good].map(|to| outgoing(to, 9));
    let mut left = Vec::new();
    for packets in packets.chunks(1).chain([&batch[..]]) {
        way.transmitter
            .send(&way.sender, packets, &way.map, |_, l| left.push(l.is_ok()))
            .unwrap();
    }
    let expected = [true, false, true, true, false, true, true, false, true];
    assert_eq!(left, expected);
    let late = raw_now().plus(2 * PATIENCE_NS);
    way.transmitter.expire(late);
    let stamped: Vec<_> = (way.transmitter.take_departures())
        .filter(|d| d.stamp.is_some())
        .map(|d| d.token)
        .collect();
    assert_eq!(stamped, [0, 2, 3, 5, 9, 9]);
    assert_eq!(way.received(6).len(), 6);
    assert!(way.transmitter.kernel_stamps());
}

#[test]
fn without_stamps_from_the_kernel_it_takes_its_own() {
    // A socket that was not asked for stamps of departures never gives one.
    let mut way = Way::new("127.0.0.1:0", Stamps::Received, "127.0.0.1:0");
    assert!(!way.transmitter.kernel_stamps());
    let packets = way.packets([7]);
    way.send(&packets);
    let own = way.transmitter.take_departures().next().unwrap();
    let own = own.stamp.unwrap();
    assert!(raw_now().since(own.at) >= 0);
    assert_eq!(own.source, TimestampSource::User);

    // And a kernel that accepts the request but never delivers is found out.
    way.transmitter.kernel_stamps = true;
    for round in 0..GIVE_UP {
        assert!(way.transmitter.kernel_stamps(), "{round}");
        way.send(&packets);
        way.transmitter.expire(raw_now().plus(2 * PATIENCE_NS));
        let lost = way.transmitter.take_departures().next().unwrap();
        assert_eq!(lost.stamp, None);
    }
    assert!(!way.transmitter.kernel_stamps());
    assert_eq!(way.transmitter.missing(), GIVE_UP);
}

#[test]
fn a_packet_that_asks_gets_the_time_at_the_packet_scheduler_and_others_do_not() {
    let mut way = Way::stamped();
    let mut packets = way.packets(1..=3);
    packets[1].asks_schedule = true;
    for stamps in [true, false] {
        if !stamps {
            way.sender.disable_schedule_stamps();
        }
        let departed = way.departures(&packets);
        assert_eq!(departed.len(), 3);
        for departure in departed {
            let asked = stamps && departure.token == 2;
            assert_eq!(departure.scheduled_at.is_some(), asked);
            let left = departure.stamp.unwrap().at;
            let scheduled = departure.scheduled_at.unwrap_or(left);
            assert!(left >= scheduled && scheduled.since(departure.sent_at) > -SLACK_NS);
        }
    }
}

#[test]
fn the_kernels_timestamps_are_used_again_once_they_come() {
    let mut way = Way::stamped();
    let sources = |way: &mut Way| {
        let departed = way.departures(&way.packets([7, 8]));
        [0, 1].map(|nth| departed[nth].stamp.unwrap().source)
    };
    use TimestampSource::{Kernel, User};
    way.transmitter.kernel_stamps = false;
    for _ in 0..RECOVERED {
        // The timestamps of others wait before the one that is looked for.
        way.transmitter.watched.0 = raw_now();
        way.send(&way.packets(0..12));
        drop(way.transmitter.take_departures());
        // Each look is as late after the one before as in a second's time.
        way.transmitter.watched.0 = RawTime(i64::MIN);
        assert_eq!(sources(&mut way), [User, User]);
    }
    assert!(way.transmitter.kernel_stamps());
    assert_eq!(sources(&mut way), [Kernel, Kernel]);
}

#[test]
fn a_port_that_cannot_be_bound_is_named_with_what_to_do() {
    let error = Socket::bind("192.0.2.1:5".parse().unwrap(), Stamps::Received)
        .unwrap_err()
        .to_string();
    assert!(error.contains("192.0.2.1"), "{error}");
    let refused = super::super::BindError {
        at: "0.0.0.0:319".parse().unwrap(),
        source: io::Error::from_raw_os_error(libc::EACCES),
    };
    assert!(
        refused.to_string().contains("CAP_NET_BIND_SERVICE"),
        "{refused}"
    );
}
