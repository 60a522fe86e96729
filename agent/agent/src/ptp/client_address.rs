//! The way to a stock client.

use std::net::{IpAddr, SocketAddr};

/// How messages reach a client. Small, as one is kept for each message whose departure is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress {
    pub client: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// The address the client knows us by.
    pub local: Option<IpAddr>,
}

impl ClientAddress {
    /// Where its event messages go to.
    pub fn event(&self) -> SocketAddr {
        SocketAddr::new(self.client, self.event_port)
    }

    /// Where its general messages go to.
    pub fn general(&self) -> SocketAddr {
        SocketAddr::new(self.client, self.general_port)
    }
}
