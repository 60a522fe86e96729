//! Transports with the constants of their publications.

use crate::Knowledge;

const FULL_WIRE_BYTES: u64 = 1_500;
const MICROSECOND_PS: u64 = 1_000_000;
const MILLISECOND_PS: u64 = 1_000_000_000;

/// Mechanism by which senders learn how much they may send. All are simplified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A window that grows until packets are dropped.
    Tcp,
    /// A window that shrinks by the share of marked packets.
    Dctcp,
    /// A window of fixed size; switches send and drop packets by rank.
    Pfabric,
    /// The first packets at once, the others as the receiver grants them.
    Homa,
}

/// Constants of a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Window at the start of a flow and the largest one, packets.
    pub window_packets: u32,
    pub window_max: u32,
    /// Time without any answer after which packets count as lost.
    pub timeout_ps: u64,
    /// Buffer of a port; queued bytes above which a packet is marked.
    pub buffer_bytes: u64,
    pub mark_bytes: Option<u64>,
    /// Homa: packets that are sent without a grant, and that may be granted beyond those received.
    pub unscheduled_packets: u32,
    /// Homa: classes of granted packets; the largest sizes of flows whose first packets are in each class above, the
    /// highest class first. Flows larger than all are in the lowest of these.
    pub scheduled_classes: usize,
    pub cutoffs: Vec<u64>,
}

impl Transport {
    /// Return the constants of the publications.
    pub fn settings(self) -> Settings {
        // DCTCP: K is 65 packets at 10 Gbit/s, a port gets about 700 kB of the shared buffer, the least timeout is
        // 10 ms. TCP has the same without marks. Initial window: RFC 6928.
        let tcp = Settings {
            window_packets: 10,
            window_max: u32::MAX,
            timeout_ps: 10 * MILLISECOND_PS,
            buffer_bytes: 700_000,
            mark_bytes: None,
            unscheduled_packets: 0,
            scheduled_classes: 0,
            cutoffs: Vec::new(),
        };
        match self {
            Self::Tcp => tcp,
            Self::Dctcp => Settings {
                mark_bytes: Some(65 * FULL_WIRE_BYTES),
                ..tcp
            },
            // pFabric, section 5: window 12 packets, buffer 36 kB, timeout 45 µs.
            Self::Pfabric => Settings {
                window_packets: 12,
                window_max: 12,
                timeout_ps: 45 * MICROSECOND_PS,
                buffer_bytes: 24 * FULL_WIRE_BYTES,
                ..tcp
            },
            // Homa: 9.7 kB are sent without a grant; ports never overflow in its paper, so each class has 700 kB.
            Self::Homa => Settings {
                buffer_bytes: 8 * tcp.buffer_bytes,
                unscheduled_packets: 7,
                scheduled_classes: 7,
                ..tcp
            },
        }
    }
}

/// Order in which the flows of a host send, and the priority of their packets in the network.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowOrder {
    /// A packet of each flow in turn; all packets have one priority.
    Turn,
    /// The flow that sent the fewest bytes.
    Sent,
    /// The flow with the fewest bytes left.
    Remaining,
    /// The largest age / bytes^α, first packets before all others. `boundaries` ascend: log2 of the priority at which
    /// the next higher class begins; without any there is one class.
    Age {
        alpha: f64,
        knows: Knowledge,
        boundaries: Vec<f64>,
    },
}
