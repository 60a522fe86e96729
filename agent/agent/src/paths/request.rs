//! Requests that are about to leave, and the identity of those that have left.

use std::net::SocketAddr;

use crate::ptp::{Message, PortIdentity};

/// A request that is about to leave.
pub(crate) struct Request {
    pub to: SocketAddr,
    /// The source port that it leaves by.
    pub flow: u8,
    pub message: Message,
}

impl Request {
    /// Return the identity under which its departure is reported.
    pub fn id(&self) -> RequestId {
        RequestId {
            to: self.to,
            source: self.message.source,
            sequence_id: self.message.sequence_id,
        }
    }
}

/// The identity of a request that has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub to: SocketAddr,
    pub source: PortIdentity,
    pub sequence_id: u16,
}
