//! Waiting on this VM itself, by window: is a delay the network's or the host's?
//!
//! R-Pingmesh (SIGCOMM 2024) separates the processing at both ends from the network by six timestamps of the network card.
//! Here the timestamps are the kernel's and need no special card: a packet is given to the kernel, to the queue of the
//! interface and to the driver, it is received by the kernel, and read by this process. Counters of the kernel explain the waits.

mod counters;
mod distribution;
mod meter;
mod waits;

pub use meter::HostMeter;
pub use waits::{SharedWaits, Waits};
