//! The virtual clock of a peer: offset and skew of its clock against ours, estimated from exchanges.
//!
//! Nothing is steered. Queues only ever lengthen delays, so the shortest ones of each direction bound the offset
//! from both sides. A line through all of them is the start, see [`envelope`]; a filter that knows the shortest
//! delay of each direction goes on from it, see [`tracker`].

mod anchor;
mod envelope;
mod era;
mod estimate;
mod filter;
mod hull;
mod peer_clock;
mod raw_time;
mod sample;
mod shift;
#[cfg(test)]
mod simulated;
mod streak;
mod stretch;
mod tracker;

pub use anchor::{Ahead, Anchoring, Reading};
pub use peer_clock::{Change, Offset, PeerClock};
pub use raw_time::{Leg, RawTime};
pub use tracker::RouteChange;
