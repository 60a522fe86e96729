//! Slot, flow and time of an exchange when it starts.

use super::schedule::FlowKey;
use crate::clock::RawTime;
use crate::window::WindowSlot;

/// The flow and the window of an exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExchangeTag {
    pub key: FlowKey,
    /// Source ports of its path when it started.
    pub flows: u8,
    /// When it started.
    pub at: RawTime,
    pub slot: WindowSlot,
}
