//! The tail lab's second network: packets of many flows in a leaf-spine network, one transport after another.
//!
//! Transports are simplified. A host has no queue of data: when its NIC is idle it takes the next packet of a flow that
//! may send. Acknowledgements, grants and requests to resend are packets of headers alone, which go before data
//! and are never dropped. A flow ends when its receiver has every packet, and its sender knows that at once.
//!
//! Sources: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University,
//! 2021, chapter 2; M. Alizadeh et al., "Data center TCP (DCTCP)", 2010; M. Alizadeh et al., "pFabric", 2013;
//! B. Montazeri et al., "Homa", 2018.

mod flow;
mod homa;
mod host;
mod network;
mod packet;
mod queue;
mod run;
mod sender;
mod topology;
mod transport;

use super::link::{Stopped, TooLong};

pub use topology::Topology;
pub use transport::{FlowOrder, Settings, Transport};

/// Network, transport, and the order of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    pub topology: Topology,
    /// Data of a full packet, and the headers of each.
    pub packet_bytes: u32,
    pub header_bytes: u32,
    pub transport: Transport,
    pub settings: Settings,
    pub order: FlowOrder,
    /// Of the hash that spreads flows over spines.
    pub seed: u64,
}

impl Fabric {
    fn is_valid(&self) -> bool {
        let full = u64::from(self.packet_bytes) + u64::from(self.header_bytes);
        let settings = &self.settings;
        let alpha_is_number = match &self.order {
            FlowOrder::Age {
                alpha, boundaries, ..
            } => !alpha.is_nan() && *alpha >= 0.0 && boundaries.is_sorted(),
            _ => true,
        };
        self.topology.is_valid()
            && (1..=65_535).contains(&self.packet_bytes)
            && (0..=1_000).contains(&self.header_bytes)
            && settings.window_packets >= 1
            && settings.window_max >= settings.window_packets
            && settings.timeout_ps >= 1
            && settings.buffer_bytes / self.classes() as u64 >= full
            && settings.cutoffs.is_sorted()
            && self.classes() <= 64
            && alpha_is_number
    }

    /// Return the number of classes of priority in the network.
    fn classes(&self) -> usize {
        match (&self.transport, &self.order) {
            (Transport::Homa, _) => {
                self.settings.scheduled_classes + self.settings.cutoffs.len() + 1
            }
            (Transport::Dctcp | Transport::Tcp, FlowOrder::Age { boundaries, .. }) => {
                boundaries.len() + 1
            }
            _ => 1,
        }
    }
}

/// Flows in order of arrival, each from one host to another.
#[derive(Clone, Copy, Debug)]
pub struct Traffic<'a> {
    arrivals_ps: &'a [i64],
    sizes: &'a [i64],
    from: &'a [i64],
    to: &'a [i64],
}

impl<'a> Traffic<'a> {
    /// Return the flows. Arrivals ascend, sizes are 1 byte or more, hosts differ and are those of the fabric.
    pub fn new(
        fabric: &Fabric,
        arrivals_ps: &'a [i64],
        sizes: &'a [i64],
        from: &'a [i64],
        to: &'a [i64],
    ) -> Result<Self, TooLong> {
        let count = arrivals_ps.len();
        let hosts = i64::from(fabric.topology.hosts());
        let ordered =
            arrivals_ps.is_sorted() && arrivals_ps.first().is_none_or(|first| *first >= 0);
        let sized = sizes.iter().all(|size| (1..=1 << 40).contains(size));
        let routed = from
            .iter()
            .zip(to)
            .all(|(from, to)| (0..hosts).contains(from) && (0..hosts).contains(to) && from != to);
        let complete = sizes.len() == count && from.len() == count && to.len() == count;
        let numbered = u32::try_from(count).is_ok_and(|count| count < u32::MAX);
        let last = arrivals_ps.last().copied().unwrap_or_default();
        let packets = sizes
            .iter()
            .map(|size| size / i64::from(fabric.packet_bytes).max(1) + 1);
        let counted = packets.max().is_none_or(|most| most < i64::from(u32::MAX));
        if !fabric.is_valid() || !ordered || !sized || !routed || !complete || !numbered || !counted
        {
            return Err(TooLong);
        }
        let bytes: i128 = sizes.iter().map(|size| i128::from(*size)).sum();
        // Far from where the clock ends, whatever is sent again.
        if i128::from(last) + bytes * i128::from(fabric.topology.edge_byte_ps)
            > i128::from(i64::MAX) / 16
        {
            return Err(TooLong);
        }
        Ok(Self {
            arrivals_ps,
            sizes,
            from,
            to,
        })
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}

/// Result of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FabricOutcome {
    /// When the last packet of each flow arrived at its receiver, ps.
    pub finish_ps: Vec<i64>,
    /// Packets of data that hosts sent; each was delivered first, delivered again, or dropped.
    pub sent: u64,
    pub delivered: u64,
    pub duplicates: u64,
    pub dropped: u64,
    /// Delivered packets with a mark of congestion.
    pub marked: u64,
    /// Transmissions by all ports, of all kinds of packets.
    pub hops: u64,
    /// Transmissions of each port: NICs, leaves to hosts, leaves to spines, spines to leaves.
    pub port_packets: Vec<u64>,
    /// Bytes of data sent in each class, lowest first.
    pub class_bytes: Vec<i64>,
    /// log2 of the priority of packets that are not the first of their flow, and their bytes.
    pub recorded: Vec<f64>,
    pub recorded_bytes: Vec<i64>,
}

/// Send all flows and return when each was finished.
///
/// `watch` is called now and then with the number of finished flows; the simulation stops when it returns false. With
/// `record`, the outcome has the priorities of packets under [`FlowOrder::Age`].
pub fn simulate_fabric(
    fabric: &Fabric,
    traffic: &Traffic<'_>,
    record: bool,
    watch: impl FnMut(usize) -> bool,
) -> Result<FabricOutcome, Stopped> {
    run::Run::new(fabric, traffic, record).finish(watch)
}

#[cfg(test)]
mod tests;
