//! The agent with a backend that answers as each test requires.
#![allow(clippy::unwrap_used, clippy::panic)]

mod backend;
mod cloud;
mod documentation;
mod enrolment;
mod measures_only;
mod pair;
mod plans;
mod process;
mod reports;
mod tls;
