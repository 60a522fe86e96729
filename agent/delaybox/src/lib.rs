//! Latency appliance in user space: packets leave the box after a chosen delay.
//!
//! The box connects two network namespaces (a TAP interface in each) or two existing interfaces (packet sockets).
//! Each direction has its own delay distribution, loss and rate; packets of a direction never overtake each other.
//! The box replaces NetEm where the kernel has none, and at tens of microseconds, where NetEm is not precise.
//!
//! Purity: [`units`], [`random`], [`distribution`], [`bucket`], [`line`], [`settings`] and [`summary`] use
//! neither clock nor socket; [`appliance`] moves the packets, [`sys`] contains the system calls.

pub mod appliance;
pub mod bucket;
pub mod cli;
pub mod config;
pub mod control;
pub mod distribution;
pub mod error;
pub mod line;
pub mod probe;
pub mod random;
pub mod settings;
pub mod sides;
pub mod statistics;
pub mod summary;
pub mod sys;
pub mod table;
pub mod units;
pub mod verify;
