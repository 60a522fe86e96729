//! The paths that this agent measures: which, when, and what was asked of each peer.

pub(crate) mod path_table;
pub(crate) mod peer_session;
pub(crate) mod schedule;
