//! TCP connections of this VM by peer: counters of the kernel, as `ss` shows them. No packet is looked at, and no address
//! leaves the VM. Retransmission timeouts if `tcp_connections` is set; connections and bytes by listening port if the plan
//! asks for them, unless `service_traffic` is false.

mod services;
mod sock_diag;
mod tally;
mod tcp_info;
mod worker;

pub use worker::ConnectionWorker;
