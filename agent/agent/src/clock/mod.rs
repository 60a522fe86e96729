//! The virtual clock of a peer: offset and skew of its clock against ours, estimated from exchanges.
//!
//! Nothing is steered. Queues only ever lengthen delays, so the shortest ones of each direction bound the offset
//! from both sides; see [`envelope`].

mod envelope;
mod hull;
mod peer_clock;
mod raw_time;

pub use peer_clock::{Offset, PeerClock};
pub use raw_time::{Leg, RawTime};
