//! Library of the agent, so that tests can run each part of it. `sinemora-transfer` and `sinemora-guard` use its settings,
//! identity and calls to the backend; it uses nothing of theirs.

pub mod backend;
pub mod backoff;
pub mod calendar;
pub mod check;
pub mod cli;
pub mod clock;
pub mod clocks_command;
pub mod cloud;
pub mod config;
pub mod connections;
pub mod counters;
pub mod enrol;
pub mod hardware_clock;
pub mod hardware_timestamps;
pub mod host;
pub mod identity;
pub mod interface;
pub mod log_throttle;
pub mod metrics;
pub mod network;
pub mod packet_loop;
mod paths;
pub mod plan;
pub mod program;
pub mod ptp;
pub mod report;
pub mod run;
mod standard_clients;
pub mod state_dir;
pub mod stop;
pub mod timestamp;
pub mod traffic;
pub mod window;

pub use sinemora_wire as wire;
