//! The egress guard: short flows first at this machine's own egress. Opt-in, started and removed by commands.
//!
//! The link beyond the interface is a bottleneck that others own: a hypervisor's limit, a gateway, a tunnel. The guard
//! sends a little below its rate, so that packets wait here, in queues of this machine, and chooses which goes next.

mod arguments;
mod assembler;
mod description;
mod error;
mod guard;
mod iproute;
mod kernel;
mod policy;
mod program;
#[cfg(test)]
mod program_tests;
mod shaping;

pub use arguments::{Action, Settings, action, command};
pub use error::GuardError;
pub use guard::execute;
pub use policy::{Order, Policy};
