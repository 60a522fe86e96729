//! Transfers between VMs: artifacts, and the bulk sender. Opt-in: nothing runs unless a setting switches it on.
//!
//! A separate program next to the agent, which opens no TCP port. It acts for the agent of its VM: it reads that
//! agent's identity and settings, and talks to the same backend.

pub mod artifacts;
pub mod bulk;
pub mod cli;
pub mod config;
pub mod run;
