//! A relay between addresses of this machine: real packets, no privilege.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use delaybox::appliance::{Appliance, Command, Snapshot};
use delaybox::control::Remote;
use delaybox::error::Error;
use delaybox::relay::{Hosts, RawRelay, RelayPorts, RelayReport, report};

/// A network of its own for each test, since they run at the same time.
struct Relayed {
    net: u8,
    port: u16,
    hosts: Hosts,
    ports: Arc<RelayPorts>,
    remote: Remote,
    running: JoinHandle<Result<Snapshot, Error>>,
}

impl Relayed {
    fn start(net: u8, links: &str) -> Self {
        // A port that was free on one address is free on the others, which nothing else uses.
        let free = UdpSocket::bind((Ipv4Addr::new(127, 21, net, 1), 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let text = format!(
            r#"
            ports = [{port}]
            realtime = false
            hosts = [
                {{ name = "a", inner = "127.21.{net}.1", outer = "127.21.{net}.101" }},
                {{ name = "b", inner = "127.21.{net}.2", outer = "127.21.{net}.102" }},
            ]
            links = [{links}]
            "#
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.toml");
        std::fs::write(&path, text).unwrap();
        let relay = RawRelay::read(&path).unwrap().resolve().unwrap();
        let ports = Arc::new(RelayPorts::open(relay.hosts.clone(), relay.ports).unwrap());
        let (remote, commands, wake) = Remote::new().unwrap();
        let inner = Arc::clone(&ports);
        let options = relay.options;
        let running =
            std::thread::spawn(move || Appliance::new(inner, options).run(&commands, &wake));
        Self {
            net,
            port,
            hosts: relay.hosts,
            ports,
            remote,
            running,
        }
    }

    /// The socket of host 1 or 2.
    fn socket(&self, host: u8) -> UdpSocket {
        let socket = UdpSocket::bind(self.address(host)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        socket
    }

    /// The address of a host: its inner one (1, 2) or its outer one (101, 102).
    fn address(&self, host: u8) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::new(127, 21, self.net, host), self.port))
    }

    fn order(&self, text: &str) {
        let order = self.hosts.order(text).unwrap();
        assert!(self.remote.send(Command::Apply(order)));
        let (to, from) = channel();
        self.remote.send(Command::Tell(to));
        from.recv().unwrap();
    }

    fn stop(self) -> RelayReport {
        self.remote.send(Command::Stop);
        report(&self.running.join().unwrap().unwrap(), &self.ports)
    }
}

/// Return the median time that a packet takes.
fn median_delay(from: &UdpSocket, to: &UdpSocket, address: SocketAddr) -> Duration {
    let mut delays: Vec<Duration> = (0..15u8)
        .map(|number| {
            let began = Instant::now();
            from.send_to(&[number], address).unwrap();
            let mut packet = [0; 8];
            to.recv_from(&mut packet).unwrap();
            assert_eq!(packet[0], number);
            began.elapsed()
        })
        .collect();
    delays.sort();
    delays[7]
}

const APART: &str = r#"{ from = "a", to = "b", words = "delay=20ms" }, { from = "b", to = "a", words = "delay=5ms" }"#;

#[test]
fn each_direction_has_its_delay_and_packets_come_from_the_outer_address() {
    let relayed = Relayed::start(1, APART);
    let (a, b) = (relayed.socket(1), relayed.socket(2));
    let there = median_delay(&a, &b, relayed.address(102));
    let back = median_delay(&b, &a, relayed.address(101));
    assert!(there >= Duration::from_millis(20), "{there:?}");
    assert!(back >= Duration::from_millis(5), "{back:?}");
    assert!(there > back);
    a.send_to(b"hello", relayed.address(102)).unwrap();
    let (_, sender) = b.recv_from(&mut [0; 8]).unwrap();
    assert_eq!(sender, relayed.address(101));
    let counted = relayed.stop();
    let of = |from: &str| counted.lines.iter().find(|line| line.from == from).unwrap();
    assert_eq!(of("a").direction.counters.sent_packets, 16);
    assert_eq!(of("b").direction.counters.sent_packets, 15);
    assert_eq!(counted.foreign_packets, 0);
}

#[test]
fn a_change_applies_to_the_next_packet() {
    let relayed = Relayed::start(2, "");
    let (a, b) = (relayed.socket(1), relayed.socket(2));
    relayed.order("a b add=30ms");
    assert!(median_delay(&a, &b, relayed.address(102)) >= Duration::from_millis(30));
    relayed.order("* * add=0 loss=100%");
    a.send_to(b"lost", relayed.address(102)).unwrap();
    assert!(b.recv_from(&mut [0; 8]).is_err());
    let counted = relayed.stop();
    assert_eq!(counted.lines[0].direction.counters.lost_packets, 1);
}

#[test]
fn packets_of_strangers_are_counted_and_go_nowhere() {
    let relayed = Relayed::start(3, "");
    let b = relayed.socket(2);
    let stranger = UdpSocket::bind((Ipv4Addr::new(127, 21, 3, 50), 0)).unwrap();
    stranger.send_to(b"in?", relayed.address(102)).unwrap();
    assert!(b.recv_from(&mut [0; 8]).is_err());
    assert_eq!(relayed.stop().foreign_packets, 1);
}
