//! Agents that measure one another on loopback, and a relay that drops selected packets.

pub mod relay;

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sinemora_agent::counters::Counters;
use sinemora_agent::host::SharedWaits;
use sinemora_agent::network::{Listen, Network};
use sinemora_agent::packet_loop::{self, LoopError, Options};
use sinemora_agent::plan::{
    BackendClock, Caps, MeshPlan, PassedPlan, PathProbes, Peer, Plan, Protocol, Role,
};
use sinemora_agent::ptp::{Body, Correction, MAX_LEN, Message, PortIdentity};
use sinemora_agent::window::OnDemandWindow;
use sinemora_agent::wire::MeshWindow;

/// Longest time that a test waits; a loaded machine is slow, not wrong.
const PATIENCE: Duration = Duration::from_secs(60);

/// Key of the mesh of all tests.
pub const MESH: u32 = 5;

/// Return two free ports of an address. Another program may take them before the test does, which has not happened yet.
pub fn listen(address: &str) -> Listen {
    let address: IpAddr = address.parse().unwrap();
    let free = || UdpSocket::bind((address, 0)).unwrap();
    let (event, general) = (free(), free());
    let port = |socket: &UdpSocket| socket.local_addr().unwrap().port();
    Listen {
        address,
        event_port: port(&event),
        general_port: port(&general),
        flow_port: 0,
    }
}

/// Return a peer at `listen` towards which the agent has `role`.
pub fn peer(vm_key: u32, listen: Listen, role: Role) -> Peer {
    Peer {
        vm_key,
        name: format!("vm-{vm_key}"),
        address: listen.address,
        event_port: listen.event_port,
        general_port: listen.general_port,
        role,
        protocol: Protocol::Compact,
        domain: 0,
        flows: 1,
        vm_tag: 0,
        turns: None,
    }
}

/// Return a plan of one mesh with windows of a second and a deadline that no loaded machine misses.
pub fn plan(vm_key: u32, rate_hz: u32, peers: Vec<Peer>) -> Plan {
    Plan {
        revision: format!("{peers:?}"),
        agent_id: String::new(),
        vm_key,
        server_time_ns: 0,
        caps: Caps {
            packets_per_s: 20_000,
            peers: 2_000,
            ..Caps::default()
        },
        spike_threshold_ns: 500_000,
        on_demand: Vec::new(),
        service_traffic: None,
        meshes: vec![MeshPlan {
            id: "m".into(),
            key: MESH,
            name: "mesh".into(),
            window_s: 1,
            rate_hz,
            loss_deadline_ms: 2_000,
            period_windows: 1,
            span_ns: None,
            probes: PathProbes::default(),
            peers,
        }],
    }
}

/// Return the octets of a message.
pub fn bytes(message: &Message) -> Vec<u8> {
    let mut buffer = [0; MAX_LEN];
    let length = message.write(&mut buffer);
    buffer[..length].to_vec()
}

/// Return a message of domain 0.
pub fn message(source: PortIdentity, sequence_id: u16, body: Body) -> Message {
    Message {
        domain: 0,
        source,
        sequence_id,
        correction: Correction(0),
        body,
    }
}

/// Return the options of an agent without hardware and without standard clients.
pub fn options() -> Options {
    Options {
        waits: Arc::default(),
        standard_clients: Arc::new([]),
        ptp_minor_version: 1,
        hardware: None,
        card: None,
        on_demand: None,
    }
}

/// A packet loop in a separate thread.
pub struct Agent {
    pub listen: Listen,
    pub counters: Arc<Counters>,
    pub waits: Arc<SharedWaits>,
    plans: mpsc::Sender<PassedPlan>,
    windows: mpsc::Receiver<MeshWindow>,
    on_demand: mpsc::Receiver<OnDemandWindow>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), LoopError>>>,
}

impl Agent {
    pub fn start(listen: Listen) -> Self {
        Self::start_with(listen, &[])
    }

    /// Start an agent that serves the standard clients of some networks.
    pub fn start_with(listen: Listen, standard_clients: &[&str]) -> Self {
        let standard_clients: Arc<[Network]> = standard_clients
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let options = Options {
            standard_clients,
            ..options()
        };
        Self::start_by(listen, options)
    }

    /// Start an agent with these options.
    pub fn start_by(listen: Listen, mut options: Options) -> Self {
        let (on_demand_sender, on_demand) = mpsc::channel();
        options.on_demand = Some(on_demand_sender);
        let (plans, plan_receiver) = mpsc::channel();
        let (window_sender, windows) = mpsc::channel();
        let counters = Arc::<Counters>::default();
        let stop = Arc::<AtomicBool>::default();
        let waits = Arc::clone(&options.waits);
        let (loop_counters, loop_stop) = (counters.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let clock = Arc::new(BackendClock::new());
            packet_loop::run(
                listen,
                options,
                plan_receiver,
                window_sender,
                clock,
                loop_counters,
                loop_stop,
            )
        });
        let agent = Self {
            listen,
            counters,
            waits,
            plans,
            windows,
            on_demand,
            stop,
            thread: Some(thread),
        };
        eventually("open ports", || {
            !agent.counters.timestamp_source().is_empty()
        });
        agent
    }

    /// Send the loop a plan and wait until it follows it.
    pub fn follow(&self, plan: Plan) {
        let in_meshes: usize = plan.meshes.iter().map(|mesh| mesh.peers.len()).sum();
        let peers = in_meshes + plan.on_demand.len();
        self.plans.send(PassedPlan::new(plan).0).unwrap();
        eventually("the plan in force", || {
            self.counters.peers.load(Relaxed) == peers as u64
        });
    }

    /// Return the next `count` windows, in the order they were reported.
    pub fn windows(&self, count: usize) -> Vec<MeshWindow> {
        let until = Instant::now() + PATIENCE;
        let next = || {
            let left = until.saturating_duration_since(Instant::now());
            self.windows
                .recv_timeout(left)
                .expect("a window within the patience of the test")
        };
        (0..count).map(|_| next()).collect()
    }

    /// Return the next window of a measurement on demand.
    pub fn next_on_demand(&self) -> OnDemandWindow {
        self.on_demand.recv_timeout(PATIENCE).expect("a window")
    }

    /// Stop the loop and return the windows it reports at the end.
    pub fn finish(&mut self) -> Vec<MeshWindow> {
        self.stop.store(true, Relaxed);
        let ended = self.thread.take().map(|thread| thread.join().unwrap());
        assert!(matches!(ended, Some(Ok(()))), "{ended:?}");
        self.windows.try_iter().collect()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Wait until `holds` returns true; panics after the patience of a test.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Check a window of one peer in a mesh of windows of 1 s.
pub fn check_shape(window: &MeshWindow, peer_key: u32) {
    assert_eq!((window.mesh_key, window.window_s), (MESH, 1));
    assert_eq!(window.peer_keys, [peer_key]);
    assert_eq!(window.flows, [1]);
    for columns in [&window.outbound, &window.inbound, &window.round_trip] {
        let columns = columns.as_ref().unwrap();
        assert!(columns.min_ns <= columns.mean_ns, "{columns:?}");
        assert!(columns.mean_ns <= columns.max_ns, "{columns:?}");
        assert_eq!(columns.sketch.len(), 2 * columns.sketch_words[0] as usize);
    }
}

/// Sums of `sent` and `lost` over windows, per direction; panics on unknown counts.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Loss {
    pub outbound: (i32, i32),
    pub inbound: (i32, i32),
    pub round_trip: (i32, i32),
}

impl Loss {
    pub fn of(windows: &[MeshWindow]) -> Self {
        let mut loss = Self::default();
        for window in windows {
            let columns = [
                (&window.outbound, &mut loss.outbound),
                (&window.inbound, &mut loss.inbound),
                (&window.round_trip, &mut loss.round_trip),
            ];
            for (columns, (sent, lost)) in columns {
                let columns = columns.as_ref().unwrap();
                let mut counts = columns.lost.iter().chain(&columns.sent);
                assert!(counts.all(|n| *n >= 0), "{columns:?}");
                *sent += columns.sent.iter().sum::<i32>();
                *lost += columns.lost.iter().sum::<i32>();
            }
        }
        loss
    }
}
