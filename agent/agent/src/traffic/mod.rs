//! Bytes and packets that pass this VM's network interface, by window: counters of the kernel, no packet is looked at.

mod counters;
mod meter;
mod queue;
mod worker;

pub use counters::InterfaceCounters;
pub use queue::TrafficQueue;
pub use worker::TrafficWorker;
