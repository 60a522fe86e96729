//! A box running in this process, and a rerun of the test where it may create namespaces.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command as Program;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use delaybox::appliance::{Appliance, Command, Snapshot};
use delaybox::config::RawConfig;
use delaybox::control::Remote;
use delaybox::error::Error;
use delaybox::sides::{self, Sides};
use delaybox::statistics::Report;
use delaybox::sys::Namespace;

/// Run `test`, a closure of a test, here as root, else that test alone in a separate user namespace.
pub fn with_namespaces<T: FnOnce()>(test: T) {
    // Such as `packets::counts::a_full_box_drops_and_counts_packets::{{closure}}`.
    let closure = std::any::type_name::<T>();
    let name = closure
        .trim_start_matches("packets::")
        .trim_end_matches("::{{closure}}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    if status.contains("\nUid:\t0\t0") {
        return test();
    }
    let done = Program::new("unshare")
        .args(["-Urn", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .output()
        .expect("unshare of util-linux");
    let printed = [done.stdout, done.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(
        done.status.success(),
        "{name} needs root, or a kernel that lets users create namespaces:\n{printed}"
    );
    // A name that is no test's runs nothing, successfully.
    assert!(printed.contains("1 passed"), "{name}:\n{printed}");
}

pub struct Boxed {
    pub sides: Arc<Sides>,
    remote: Remote,
    running: JoinHandle<Result<Snapshot, Error>>,
}

impl Boxed {
    pub fn start(raw: &RawConfig) -> Self {
        let config = raw.resolve().unwrap();
        let sides = Arc::new(sides::open(&config.left, &config.right, &config.addressing).unwrap());
        let (remote, commands, wake) = Remote::new().unwrap();
        let inner = Arc::clone(&sides);
        let running =
            std::thread::spawn(move || Appliance::new(inner, config.options).run(&commands, &wake));
        Self {
            sides,
            remote,
            running,
        }
    }

    pub fn between_new(outbound: &str, inbound: &str) -> Self {
        Self::start(&RawConfig {
            outbound: Some(outbound.to_owned()),
            inbound: Some(inbound.to_owned()),
            ..RawConfig::default()
        })
    }

    pub fn stop(self) -> Report {
        self.remote.send(Command::Stop);
        sides::report(&self.running.join().unwrap().unwrap(), &self.sides)
    }

    /// Count the datagrams that arrived at a side (0 left, 1 right) but found no room in their socket: on a busy
    /// machine its reader may sleep for longer than the room lasts.
    pub fn crowded_out(&self, side: usize) -> u64 {
        let namespace = self.sides[side].namespace();
        let counters = namespace
            .within(|| std::fs::read_to_string("/proc/thread-self/net/snmp"))
            .unwrap();
        let mut udp = counters.lines().filter(|line| line.starts_with("Udp:"));
        let (names, values) = (udp.next().unwrap(), udp.next().unwrap());
        let mut columns = names.split(' ').zip(values.split(' '));
        let (_, count) = columns.find(|(name, _)| *name == "RcvbufErrors").unwrap();
        count.parse().unwrap()
    }

    /// Open a socket in the namespace of a side: 0 left, 1 right.
    pub fn socket(&self, side: usize, ip: Ipv4Addr) -> UdpSocket {
        socket_in(self.sides[side].namespace(), ip)
    }
}

/// Open a socket in a namespace, whose reads end after half a second.
pub fn socket_in(namespace: &Namespace, ip: Ipv4Addr) -> UdpSocket {
    let bound = namespace.within(|| UdpSocket::bind(SocketAddr::from((ip, 0))));
    let socket = bound.unwrap();
    let half_a_second = Some(Duration::from_millis(500));
    socket.set_read_timeout(half_a_second).unwrap();
    socket
}

/// Send a number to the address of another socket.
pub fn send(from: &UdpSocket, to: &UdpSocket, number: u32) {
    let address = to.local_addr().unwrap();
    from.send_to(&number.to_le_bytes(), address).unwrap();
}

pub const LEFT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
pub const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Datagrams that arrive at `socket` until none comes for half a second.
pub fn drain(socket: &UdpSocket) -> Vec<u32> {
    let mut buffer = [0; 2048];
    let mut seen = Vec::new();
    while let Ok(bytes) = socket.recv(&mut buffer) {
        assert!(bytes >= 4);
        seen.push(u32::from_le_bytes(buffer[..4].try_into().unwrap()));
    }
    seen
}
