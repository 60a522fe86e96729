//! What to probe: the plan the backend hands out, validated before anything acts on it.

mod backend_clock;
mod cache;
mod model;
mod poll;

pub use backend_clock::BackendClock;
pub use cache::PlanCache;
pub use model::{Caps, MeshPlan, Peer, Plan, PlanError, Protocol, Role};
pub use poll::{PollPace, Poller};
