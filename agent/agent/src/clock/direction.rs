//! The two directions of a path, and values that are kept for each.

/// A direction as seen from this agent; the index of its value in an array of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the peer to this agent.
    Inbound = 0,
    /// From this agent to the peer.
    Outbound = 1,
}

impl Direction {
    pub const BOTH: [Self; 2] = [Self::Inbound, Self::Outbound];

    /// Return the opposite direction.
    pub fn other(self) -> Self {
        match self {
            Self::Inbound => Self::Outbound,
            Self::Outbound => Self::Inbound,
        }
    }
}
