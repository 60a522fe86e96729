//! The agent's dealings with the backend, against one that answers as each test wants.
#![allow(clippy::unwrap_used, clippy::panic)]

mod backend;
mod cloud;
mod documentation;
mod enrolment;
mod pair;
mod plans;
mod process;
mod reports;
mod tls;
