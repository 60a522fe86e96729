//! The plan of the backend: the peers to measure, validated before use.

mod backend_clock;
mod backend_lead;
mod cache;
mod limits;
mod model;
mod on_demand;
mod passed_plan;
mod peer;
mod peer_addresses;
mod plan_tag;
mod poll;
mod time_keeper;

pub use backend_clock::{BackendClock, BackendTime};
#[cfg(test)]
pub(crate) use backend_lead::BackendLead;
pub use backend_lead::{Correction, LARGEST_ERROR_NS, TimedAnswer};
pub use cache::PlanCache;
pub use model::{Caps, MeshPlan, Plan};
pub(crate) use on_demand::on_demand_key;
pub use on_demand::{OnDemand, PathProbes};
pub use passed_plan::PassedPlan;
pub use peer::{Peer, PlanError, Protocol, Role};
pub use peer_addresses::PeerAddresses;
pub use plan_tag::PlanTag;
pub use poll::{PollPace, Poller, follow_clock};
pub use time_keeper::TimeKeeper;
