//! The identity and the address of a standard client.

use std::net::{IpAddr, SocketAddr};

use super::messages::PortIdentity;

/// The identity of a client's process; a machine may run several.
pub type ClientId = (IpAddr, PortIdentity);

/// The address and ports of a client. Small, because each message that awaits its departure timestamp keeps one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress {
    pub client: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// PTP domain of its requests.
    pub domain: u8,
    /// The local address that the client uses.
    pub local: Option<IpAddr>,
}

impl ClientAddress {
    /// Return the address for event messages.
    pub fn event(&self) -> SocketAddr {
        SocketAddr::new(self.client, self.event_port)
    }

    /// Return the address for general messages.
    pub fn general(&self) -> SocketAddr {
        SocketAddr::new(self.client, self.general_port)
    }
}
