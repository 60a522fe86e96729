//! Bytes and packets that pass this VM's network interface, by window: counters of the kernel, no packet is looked at.

mod counters;
mod interface;
mod meter;
mod queue;
mod worker;

pub use counters::InterfaceCounters;
pub use interface::interface_of;
pub use queue::TrafficQueue;
pub use worker::TrafficWorker;
