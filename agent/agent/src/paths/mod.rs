//! The paths that this agent measures: which ones, when, and a session with each peer.

pub(crate) mod dating;
pub(crate) mod exchange_tag;
pub(crate) mod path_table;
pub(crate) mod peer_session;
pub(crate) mod request;
pub(crate) mod schedule;
pub(crate) mod turns;
