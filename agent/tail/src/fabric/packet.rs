//! Packets of the network.

/// Kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    /// The receiver has got the packet `index`.
    Ack,
    /// The sender may send the first `index` packets of the flow.
    Grant,
    /// The receiver lacks packets that it was to get.
    Resend,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Packet {
    pub(super) kind: Kind,
    pub(super) flow: u32,
    pub(super) index: u32,
    /// Host that it goes to, and the spine that it takes if that host is on another leaf.
    pub(super) to: u32,
    pub(super) spine: u32,
    pub(super) wire_bytes: u32,
    /// Class of priority: of data its own, of a grant that of the granted packets. Higher classes go first.
    pub(super) class: u8,
    /// Congestion was experienced; an acknowledgement repeats the mark.
    pub(super) marked: bool,
    /// Priority in ranked queues: larger goes first.
    pub(super) rank: f64,
}
