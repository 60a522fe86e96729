//! Summaries of exchanges per window. Windows are half-open intervals of the backend's time, one series per mesh.

mod aggregator;
mod clocks;
mod evidence;
mod exchanges;
mod pair_order;
mod peer_window;
mod statistics;

pub use aggregator::{Window, WindowAggregator, WindowSlot};
pub use clocks::{WindowEnd, append_clocks};
pub use exchanges::{Exchanges, OnDemandWindow};
pub use peer_window::{Flow, PeerWindow};
