//! Peers that run another implementation of IEEE 1588: clients that this agent serves, and responders that it measures.

mod search;
mod sptp_session;
pub(crate) mod standard_client;
pub(crate) mod standard_peer;
mod sync_count;
pub(crate) mod unicast_service;
