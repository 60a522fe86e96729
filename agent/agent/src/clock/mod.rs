//! The virtual clock of a peer: offset and skew of the own clock from its clock, estimated from exchanges.
//!
//! No clock is steered. Queues only lengthen delays, so the shortest delay of each direction bounds the offset from one
//! side. Estimation starts with a line through the shortest delays ([`envelope`]) and continues with a filter that knows
//! the shortest delay of each direction ([`tracker`]).

mod changepoint;
mod direction;
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
mod standstill;
mod timestamp_source;
mod tracker;

pub use direction::Direction;
pub use peer_clock::{Change, Offset, PeerClock};
pub use phc_tracker::{PhcOffset, PhcReading, PhcTracker};
pub use raw_time::{Leg, RawTime, round_trip_ns};
pub use standstill::{Standstill, TOLERATED_NS};
pub use timestamp_source::TimestampSource;
pub use tracker::RouteChange;
