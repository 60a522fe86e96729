//! The agent: with a backend that answers as each test requires, and with real packets on loopback.
#![allow(clippy::unwrap_used, clippy::panic)]

mod backend;
mod cloud;
mod documentation;
mod enrolment;
mod loopback;
mod measures_only;
mod negotiation;
mod pair;
mod plans;
mod process;
mod receipt;
mod reports;
mod support;
mod tls;
