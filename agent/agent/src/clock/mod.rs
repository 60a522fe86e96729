//! The virtual clock of a peer: offset and skew of its clock against ours, estimated from exchanges.
//!
//! Nothing is steered. Queues only ever lengthen delays, so the shortest ones of each direction bound the offset
//! from both sides. A line through all of them is the start, see [`envelope`]; a filter that knows the shortest
//! delay of each direction goes on from it, see [`tracker`].

mod changepoint;
mod envelope;
mod epoch;
mod estimate;
mod filter;
mod hardware_offset;
mod hull;
mod peer_clock;
mod phc_tracker;
mod raw_time;
mod route_shift;
mod sample;
#[cfg(test)]
mod simulated;
mod tracker;

pub use peer_clock::{Change, Offset, PeerClock};
pub use phc_tracker::{PhcOffset, PhcReading, PhcTracker};
pub use raw_time::{Leg, RawTime};
pub use tracker::RouteChange;
