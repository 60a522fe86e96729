//! Retransmission timeouts of the TCP connections of this VM, by peer: counters of the kernel, as `ss` shows them. No
//! packet is looked at, and no address leaves the VM. Off unless `tcp_connections` is set.

mod sock_diag;
mod tally;
mod tcp_info;
mod worker;

pub use worker::ConnectionWorker;
