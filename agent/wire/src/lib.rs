//! The report of an agent: `proto/agent.proto`, field by field.
//!
//! Written by hand so that a build needs no `protoc`. The tests of agent and backend read the files in `golden/`, which pin
//! every byte. Columns are packed, one entry per peer in the order of [`MeshWindow::peer_keys`].

use prost::Message;

/// An unknown count in `sent` or `lost`. Missing is not zero.
pub const NOT_KNOWN: i32 = -1;

/// One-way delays of a peer assume that the fastest round trip took equally long in both directions.
pub const ASYMMETRY_ASSUMED: u32 = 0;

/// One-way delays of a peer are based on hardware clocks at both ends.
pub const ASYMMETRY_HARDWARE: u32 = 2;

/// The `offset_error_ns` of a peer whose offset is unknown.
pub const OFFSET_NOT_KNOWN: u64 = u64::MAX;

/// Largest number of exchanges kept as [`Evidence`] per window and peer.
pub const EVIDENCE_LIMIT: usize = 64;

/// Body of `POST /v1/agents/self/reports`.
#[derive(Clone, PartialEq, Message)]
pub struct Report {
    /// Rises by one with every report of this agent; a resent report keeps its number.
    #[prost(uint64, tag = "1")]
    pub sequence: u64,
    /// Unix time in ns, in the backend's time as far as the agent knows it, when the report was made.
    #[prost(int64, tag = "2")]
    pub made_at_ns: i64,
    #[prost(string, tag = "3")]
    pub agent_version: String,
    #[prost(message, repeated, tag = "4")]
    pub windows: Vec<MeshWindow>,
    #[prost(message, optional, tag = "5")]
    pub health: Option<Health>,
    /// Traffic of this VM's network interface by window, oldest first; empty if the agent does not count it.
    #[prost(message, repeated, tag = "6")]
    pub traffic: Vec<TrafficWindow>,
    /// TCP connections of this VM by window, oldest first; empty unless the agent is set to read them.
    #[prost(message, repeated, tag = "7")]
    pub connections: Vec<ConnectionWindow>,
    /// TCP connections and bytes of this VM by window, peer and listening port, oldest first; empty unless the plan asks.
    #[prost(message, repeated, tag = "8")]
    pub services: Vec<ServiceWindow>,
    /// Waiting on this VM itself by window, oldest first.
    #[prost(message, repeated, tag = "60")]
    pub host: Vec<HostWindow>,
}

/// TCP connections of this VM in `[started_at_s, started_at_s + window_s)`, by peer and listening port.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ServiceWindow {
    /// Unix seconds, a multiple of `window_s`.
    #[prost(int64, tag = "1")]
    pub started_at_s: i64,
    #[prost(uint32, tag = "2")]
    pub window_s: u32,
    /// By ascending `vm_key`, `port` and `serves`.
    #[prost(message, repeated, tag = "3")]
    pub peers: Vec<ServicePeer>,
    /// Connections without a row, at least.
    #[prost(uint32, tag = "4")]
    pub connections_left_out: u32,
}

/// Connections with one peer and listening port.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct ServicePeer {
    /// 0: all remote addresses that are no VM of this VM's meshes, together; `port` is 0 then.
    #[prost(uint32, tag = "1")]
    pub vm_key: u32,
    /// Listening port: of this VM if `serves`, else of the peer.
    #[prost(uint32, tag = "2")]
    pub port: u32,
    #[prost(bool, tag = "3")]
    pub serves: bool,
    /// Connections that were first seen in this window.
    #[prost(uint32, tag = "4")]
    pub connections: u32,
    #[prost(uint64, tag = "5")]
    pub bytes_sent: u64,
    #[prost(uint64, tag = "6")]
    pub bytes_received: u64,
}

/// Waits of the agent and of its packets on this VM in `[started_at_s, started_at_s + window_s)`, and what the kernel
/// counted meanwhile. `None` is not available, which is not 0.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct HostWindow {
    /// Unix seconds, a multiple of `window_s`.
    #[prost(int64, tag = "1")]
    pub started_at_s: i64,
    #[prost(uint32, tag = "2")]
    pub window_s: u32,
    /// Time between the two readings of the counters, more than the window if the agent itself was held up.
    #[prost(uint64, tag = "3")]
    pub elapsed_ns: u64,
    /// Lateness of the agent's own wake-ups.
    #[prost(message, optional, tag = "4")]
    pub wake: Option<Waits>,
    /// From the kernel's receive stamp to the program, without the time that the agent chose to sleep.
    #[prost(message, optional, tag = "5")]
    pub receive: Option<Waits>,
    /// From the program to the driver.
    #[prost(message, optional, tag = "6")]
    pub send: Option<Waits>,
    /// Part of it in the queue of the VM's own interface, of some packets.
    #[prost(message, optional, tag = "7")]
    pub queue: Option<Waits>,
    /// Sum of all moments in which the agent waited 1 ms or more for a processor.
    #[prost(uint64, tag = "8")]
    pub stalled_us: u64,
    /// The longest of them, at most 32: start relative to the window, and length.
    #[prost(sint64, repeated, tag = "9")]
    pub stall_at_us: Vec<i64>,
    #[prost(uint32, repeated, tag = "10")]
    pub stall_us: Vec<u32>,
    #[prost(uint32, optional, tag = "11")]
    pub processors: Option<u32>,
    /// Time that the hypervisor ran others while this VM had work, added up over processors.
    #[prost(uint64, optional, tag = "12")]
    pub steal_ms: Option<u64>,
    /// Time in which some process of this VM waited for a processor.
    #[prost(uint64, optional, tag = "13")]
    pub pressure_us: Option<u64>,
    /// Time that the quota of a control group held the agent back.
    #[prost(uint64, optional, tag = "14")]
    pub throttled_us: Option<u64>,
    /// Early ends of the kernel's handling of received packets, and packets it dropped.
    #[prost(uint64, optional, tag = "15")]
    pub softirq_squeezed: Option<u64>,
    #[prost(uint64, optional, tag = "16")]
    pub receive_drops: Option<u64>,
}

/// Distribution of waits. Percentiles are at most an eighth too large.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Waits {
    #[prost(uint32, tag = "1")]
    pub count: u32,
    #[prost(uint32, tag = "2")]
    pub p50_us: u32,
    #[prost(uint32, tag = "3")]
    pub p99_us: u32,
    #[prost(uint32, tag = "4")]
    pub max_us: u32,
}

/// Retransmissions of this VM's TCP connections in `[started_at_s, started_at_s + window_s)`, by peer.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ConnectionWindow {
    /// Unix seconds, a multiple of `window_s`.
    #[prost(int64, tag = "1")]
    pub started_at_s: i64,
    #[prost(uint32, tag = "2")]
    pub window_s: u32,
    /// By ascending key.
    #[prost(message, repeated, tag = "3")]
    pub peers: Vec<ConnectionPeer>,
}

/// Connections to one peer. Nothing of a packet, no address and no port.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ConnectionPeer {
    /// 0: all remote addresses that are no peer, together.
    #[prost(uint32, tag = "1")]
    pub vm_key: u32,
    /// Connections seen in the window.
    #[prost(uint32, tag = "2")]
    pub connections: u32,
    #[prost(uint64, tag = "3")]
    pub segments_sent: u64,
    #[prost(uint64, tag = "4")]
    pub segments_retransmitted: u64,
    /// Recoveries by retransmission timeout. Before Linux 6.7 a lower bound.
    #[prost(uint32, tag = "5")]
    pub timeouts: u32,
    /// Those of connections whose timeout is 195 to 235 ms.
    #[prost(uint32, tag = "6")]
    pub timeouts_in_band: u32,
    /// Time that connections waited for timeouts.
    #[prost(uint64, tag = "7")]
    pub stalled_ms: u64,
    /// Smallest timeout of a connection that waited for one; 0 without.
    #[prost(uint32, tag = "8")]
    pub rto_us: u32,
}

/// Bytes and packets of one network interface in `[started_at_s, started_at_s + window_s)`, as the kernel counts them:
/// nothing about their content, ends or ports.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TrafficWindow {
    /// Unix seconds, a multiple of `window_s`.
    #[prost(int64, tag = "1")]
    pub started_at_s: i64,
    #[prost(uint32, tag = "2")]
    pub window_s: u32,
    /// Time between the two readings of the counters: `window_s` and the lateness of timers.
    #[prost(uint64, tag = "3")]
    pub elapsed_ns: u64,
    #[prost(string, tag = "4")]
    pub interface: String,
    #[prost(uint64, tag = "5")]
    pub bytes_sent: u64,
    #[prost(uint64, tag = "6")]
    pub packets_sent: u64,
    #[prost(uint64, tag = "7")]
    pub bytes_received: u64,
    #[prost(uint64, tag = "8")]
    pub packets_received: u64,
}

/// One window of one mesh: everything this agent measured as client, all peers.
#[derive(Clone, PartialEq, Message)]
pub struct MeshWindow {
    #[prost(uint32, tag = "1")]
    pub mesh_key: u32,
    /// Unix seconds, a multiple of `window_s`: the window is `[started_at_s, started_at_s + window_s)`.
    #[prost(int64, tag = "2")]
    pub started_at_s: i64,
    #[prost(uint32, tag = "3")]
    pub window_s: u32,
    /// VM keys of the peers, strictly ascending.
    #[prost(uint32, repeated, tag = "4")]
    pub peer_keys: Vec<u32>,
    /// Source ports used towards each peer.
    #[prost(uint32, repeated, tag = "5")]
    pub flows: Vec<u32>,
    /// From this VM to the peer, client to responder: `t4 - t3 + o`, with `o` the own clock minus the peer's.
    #[prost(message, optional, tag = "6")]
    pub outbound: Option<Columns>,
    /// From the peer to this VM, responder to client: `t2 - t1 - o`.
    #[prost(message, optional, tag = "7")]
    pub inbound: Option<Columns>,
    /// Both, free of clocks: `(t4 - t3) + (t2 - t1)`. Its `clock_error_ns` is 0.
    #[prost(message, optional, tag = "8")]
    pub round_trip: Option<Columns>,
    #[prost(message, repeated, tag = "9")]
    pub evidence: Vec<Evidence>,
    /// Basis of the one-way delays of each peer: [`ASYMMETRY_ASSUMED`] or [`ASYMMETRY_HARDWARE`]; empty: the first.
    #[prost(uint32, repeated, tag = "10")]
    pub asymmetry_source: Vec<u32>,
    /// Set by older agents only, with the opposite sign of [`Self::offset_from_peer_ns`].
    #[prost(sint64, repeated, tag = "11")]
    pub clock_offset_ns: Vec<i64>,
    /// As above, of [`Self::offset_error_ns`].
    #[prost(uint64, repeated, tag = "12")]
    pub clock_offset_error_ns: Vec<u64>,
    /// As above, with the opposite sign of [`Self::skew_from_peer_ppb`].
    #[prost(sint32, repeated, tag = "13")]
    pub clock_skew_ppb: Vec<i32>,
    /// Least precise origin of this VM's timestamps: 1 user, 2 kernel, 3 hardware; 0 is not reported.
    #[prost(uint32, tag = "16")]
    pub timestamp_source: u32,
    /// Delays of each flow; only if some peer has more than one.
    #[prost(message, optional, tag = "14")]
    pub outbound_flows: Option<FlowColumns>,
    #[prost(message, optional, tag = "15")]
    pub inbound_flows: Option<FlowColumns>,
    /// The own clock minus the peer's at the end of the window, in the time scale of messages; empty: unknown.
    #[prost(sint64, repeated, tag = "17")]
    pub offset_from_peer_ns: Vec<i64>,
    /// Random error of each offset (one standard deviation, asymmetry not included), or [`OFFSET_NOT_KNOWN`].
    #[prost(uint64, repeated, tag = "18")]
    pub offset_error_ns: Vec<u64>,
    /// The own rate minus the peer's, parts in 10^9.
    #[prost(sint32, repeated, tag = "19")]
    pub skew_from_peer_ppb: Vec<i32>,
    /// What the peers report about themselves, bits: 1 an agent that does not name its VM, 2 timestamps of its process; empty: 0.
    #[prost(uint32, repeated, tag = "40")]
    pub peer_marks: Vec<u32>,
    /// Mean time that switches on the way say they held a packet of each direction; empty: 0.
    #[prost(uint32, repeated, tag = "41")]
    pub outbound_residence_ns: Vec<u32>,
    #[prost(uint32, repeated, tag = "42")]
    pub inbound_residence_ns: Vec<u32>,
}

/// Delays by source port: peers in order, [`MeshWindow::flows`] entries each, flow 0 first.
#[derive(Clone, PartialEq, Message)]
pub struct FlowColumns {
    /// Delays measured; a flow with count 0 has 0 in the other columns.
    #[prost(uint32, repeated, tag = "1")]
    pub count: Vec<u32>,
    #[prost(sint64, repeated, tag = "2")]
    pub min_ns: Vec<i64>,
    /// The median: the value of its LLQ16 bin, not outside the smallest and largest delay.
    #[prost(sint64, repeated, tag = "3")]
    pub p50_ns: Vec<i64>,
}

/// One direction of every peer of a window.
#[derive(Clone, PartialEq, Message)]
pub struct Columns {
    /// Delays measured; a peer with count 0 has 0 in every delay column and no sketch.
    #[prost(uint32, repeated, tag = "1")]
    pub count: Vec<u32>,
    /// Packets sent in this direction, or [`NOT_KNOWN`].
    #[prost(sint32, repeated, tag = "2")]
    pub sent: Vec<i32>,
    /// Packets that did not arrive, or [`NOT_KNOWN`].
    #[prost(sint32, repeated, tag = "3")]
    pub lost: Vec<i32>,
    #[prost(sint64, repeated, tag = "4")]
    pub min_ns: Vec<i64>,
    #[prost(sint64, repeated, tag = "5")]
    pub mean_ns: Vec<i64>,
    #[prost(sint64, repeated, tag = "6")]
    pub max_ns: Vec<i64>,
    /// Sum of squared deviations from the mean, ns² (variance = m2 / count).
    #[prost(double, repeated, tag = "7")]
    pub m2: Vec<f64>,
    /// Bound on the error of the delays by the clocks.
    #[prost(uint64, repeated, tag = "8")]
    pub clock_error_ns: Vec<u64>,
    /// Number of 16-bit words in each peer's LLQ16 sketch.
    #[prost(uint32, repeated, tag = "9")]
    pub sketch_words: Vec<u32>,
    /// All the words, little-endian, one peer after the other.
    #[prost(bytes = "vec", tag = "10")]
    pub sketch: Vec<u8>,
}

/// The exchanges around a spike, at most [`EVIDENCE_LIMIT`] per window and peer.
#[derive(Clone, PartialEq, Message)]
pub struct Evidence {
    #[prost(uint32, tag = "1")]
    pub peer_key: u32,
    /// Start of each exchange relative to the window.
    #[prost(uint64, repeated, tag = "2")]
    pub at_ns: Vec<u64>,
    #[prost(sint64, repeated, tag = "3")]
    pub outbound_ns: Vec<i64>,
    #[prost(sint64, repeated, tag = "4")]
    pub inbound_ns: Vec<i64>,
}

/// State of the agent itself; counters rise from the start of the process.
#[derive(Clone, PartialEq, Message)]
pub struct Health {
    #[prost(int64, tag = "1")]
    pub started_at_ns: i64,
    #[prost(uint64, tag = "2")]
    pub spool_bytes: u64,
    #[prost(uint64, tag = "3")]
    pub spool_reports: u64,
    /// Reports dropped because the spool was full.
    #[prost(uint64, tag = "4")]
    pub reports_dropped: u64,
    /// Reports that the backend refused.
    #[prost(uint64, tag = "5")]
    pub reports_refused: u64,
    #[prost(uint64, tag = "6")]
    pub packets_sent: u64,
    #[prost(uint64, tag = "7")]
    pub packets_received: u64,
    #[prost(uint64, tag = "8")]
    pub transmit_stamps_missing: u64,
    #[prost(uint64, tag = "9")]
    pub receive_queue_overflows: u64,
    #[prost(uint64, tag = "10")]
    pub packets_rejected: u64,
    /// `kernel` or `user`: the origin of the timestamps.
    #[prost(string, tag = "11")]
    pub timestamp_source: String,
    #[prost(string, tag = "12")]
    pub clock_source: String,
    /// Largest bound, since the last report, on the difference between the time of windows and the backend's clock;
    /// 0 is not known.
    #[prost(uint64, tag = "13")]
    pub window_time_error_ns: u64,
}
