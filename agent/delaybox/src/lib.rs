//! Latency appliance in user space: packets leave the box after a chosen delay.
//!
//! The box connects two network namespaces (a TAP interface in each) or two existing interfaces (packet sockets).
//! Each direction has its own delay distribution, loss and rate; packets of a direction overtake each other only on request.
//! A [`relay`] does the same for the UDP packets between many addresses of one machine, without any privilege.
//! The box replaces NetEm where the kernel has none, and at tens of microseconds, where NetEm is not precise.
//!
//! Purity: [`line`] (with its settings, delay distributions and rate limit), [`ecn`], [`random`], [`units`] and [`summary`] use
//! neither clock nor socket; [`appliance`] moves the packets, [`sys`] contains the system calls.

pub mod appliance;
pub mod cli;
pub mod config;
pub mod control;
pub mod ecn;
pub mod error;
pub mod line;
pub mod probe;
pub mod queue;
pub mod random;
pub mod relay;
pub mod sides;
pub mod statistics;
pub mod summary;
pub mod sys;
pub mod units;
pub mod verify;
