//! Summaries of exchanges per window. Windows are half-open intervals of the backend's time, one series per mesh.

mod aggregator;
mod delay;
mod evidence;
mod exchanges;
mod loss;
mod offset;
mod pair_order;
mod peer_window;
mod statistics;

pub use aggregator::{Window, WindowAggregator, WindowSlot};
pub use exchanges::{Exchanges, OnDemandWindow};
pub use loss::Loss;
pub use offset::{WindowEnd, append_offsets};
pub use peer_window::{Flow, PeerWindow};
pub use statistics::Row;
