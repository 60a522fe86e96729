//! What to probe: the plan the backend hands out, validated before anything acts on it.

mod backend_clock;
mod model;

pub use backend_clock::BackendClock;
pub use model::{Caps, MeshPlan, Peer, Plan, PlanError, Role};
