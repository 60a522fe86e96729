//! Bulk sender: sends bytes between agents of a mesh, to compare transports.
//!
//! Off unless the setting `bulk_sender` is on. Its own limits hold, whatever the backend orders: bytes, rate, time, and
//! one order at a time. It sends to and accepts from agents of the order alone, which prove that they know its secret
//! (`access`). Its port is closed while there is no order.

mod access;
mod channel;
mod execution;
mod limits;
mod order;
mod poll;
mod progress;
mod receive;
mod send;
mod socket;
mod worker;

pub use limits::{Limits, Offer};
pub use poll::OrderPoller;
pub use worker::BulkWorker;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
