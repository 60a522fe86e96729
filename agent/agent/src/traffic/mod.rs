//! Bytes and packets that pass this VM's network interface, by window: counters of the kernel, no packet is looked at.

mod counters;
mod meter;
mod worker;

pub use counters::InterfaceCounters;
pub use worker::TrafficWorker;
