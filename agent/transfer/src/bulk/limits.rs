//! Limits of this agent's bulk sender, and what its kernel offers.

use serde::Serialize;

use super::order::{BulkOrder, BulkRole};
use super::socket;

/// Threads that an order may take, each of one connection.
const CONNECTIONS_MAX: u32 = 256;

/// Limits of each order, from the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub port: u16,
    /// Sent, and received, by this agent in one order.
    pub bytes: u64,
    pub bytes_per_s: u64,
    pub seconds: u64,
}

/// Description of the bulk sender for the backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub port: u16,
    pub bytes_max: u64,
    pub rate_max_bytes_per_s: u64,
    pub seconds_max: u64,
    /// Congestion controls that this agent may set, the kernel's default first.
    pub congestion_controls: Vec<String>,
    pub mptcp: bool,
    pub tls: bool,
}

impl Limits {
    /// Describe the limits and the kernel.
    pub fn offer(&self) -> Offer {
        Offer {
            port: self.port,
            bytes_max: self.bytes,
            rate_max_bytes_per_s: self.bytes_per_s,
            seconds_max: self.seconds,
            congestion_controls: socket::congestion_controls(),
            mptcp: socket::has_mptcp(),
            tls: true,
        }
    }

    /// Return why an order is refused.
    pub fn refuse(&self, order: &BulkOrder) -> Result<(), String> {
        let seconds = order.ends_at_ns.saturating_sub(order.starts_at_ns) / 1_000_000_000;
        if seconds < 0 || seconds.unsigned_abs() > self.seconds {
            return Err(format!(
                "it takes up to {seconds} s, bulk_max_s allows {}",
                self.seconds
            ));
        }
        for role in [BulkRole::Sender, BulkRole::Receiver] {
            let steps = || order.steps.iter().filter(move |step| step.role == role);
            let bytes: u64 = steps().fold(0, |sum, step| sum.saturating_add(step.bytes));
            if bytes > self.bytes {
                return Err(format!(
                    "it moves {bytes} bytes, bulk_max_size allows {}",
                    self.bytes
                ));
            }
            let connections: u32 = steps().map(|step| u32::from(step.connections)).sum();
            if connections > CONNECTIONS_MAX {
                return Err(format!(
                    "it opens {connections} connections, at most {CONNECTIONS_MAX} are allowed"
                ));
            }
        }
        if order
            .steps
            .iter()
            .any(|step| step.connections == 0 || step.bytes == 0)
        {
            return Err("a transfer without bytes or connections".to_owned());
        }
        Ok(())
    }
}
