//! Relay: delays the UDP packets between hosts on addresses of one machine. It needs no privilege and no namespace.
//!
//! Each host has two addresses, as behind one-to-one NAT: programs of the host use its `inner` address, and all others
//! send to its `outer` one, where the relay listens. The relay passes a packet on after the delay of its line; there
//! is a line for each ordered pair of hosts. Source and destination port stay.

mod config;
mod ports;

pub use config::{Host, Hosts, RawRelay, Relay};
pub use ports::RelayPorts;

use serde::Serialize;

use crate::appliance::Snapshot;
use crate::statistics::DirectionReport;

/// Statistics of a relay, as JSON.
#[derive(Debug, Serialize)]
pub struct RelayReport {
    pub duration_s: f64,
    pub seed: u64,
    /// `fifo` (real time) or `normal`.
    pub scheduler: &'static str,
    /// Packets from addresses or ports that are no host's.
    pub foreign_packets: u64,
    pub lines: Vec<LineReport>,
}

/// Statistics of the packets from one host to another.
#[derive(Debug, Serialize)]
pub struct LineReport {
    pub from: String,
    pub to: String,
    #[serde(flatten)]
    pub direction: DirectionReport,
}

/// Return the figures of all lines between two hosts.
pub fn report(snapshot: &Snapshot, ports: &RelayPorts) -> RelayReport {
    let hosts = ports.hosts();
    let lines = snapshot.lines.iter().enumerate();
    RelayReport {
        duration_s: snapshot.duration_ns as f64 / 1e9,
        seed: snapshot.seed,
        scheduler: snapshot.scheduler.name(),
        foreign_packets: ports.foreign_packets(),
        lines: lines
            .filter_map(|(line, (counters, delays))| {
                let (from, to) = hosts.ends_of(line)?;
                Some(LineReport {
                    from: from.name.clone(),
                    to: to.name.clone(),
                    direction: DirectionReport::new(counters.clone(), delays),
                })
            })
            .collect(),
    }
}
