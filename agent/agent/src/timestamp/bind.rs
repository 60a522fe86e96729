//! Errors of opening a port, with advice.

use std::io;
use std::net::SocketAddr;

/// A port that could not be opened.
#[derive(Debug)]
pub struct BindError {
    pub at: SocketAddr,
    pub source: io::Error,
}

impl std::fmt::Display for BindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (at, port) = (self.at, self.at.port());
        match self.source.kind() {
            io::ErrorKind::AddrInUse => write!(
                f,
                "{at} is in use by another program: stop it (`ss -ulpn 'sport = :{port}'` shows which), or give \
                 this agent other ports (event_port, general_port)"
            ),
            io::ErrorKind::PermissionDenied => write!(
                f,
                "no permission to open {at}: ports below 1024 need the capability CAP_NET_BIND_SERVICE \
                 (AmbientCapabilities= in the systemd unit, or `setcap cap_net_bind_service+ep` on the binary); \
                 or choose ports from 1024 up (event_port, general_port)"
            ),
            io::ErrorKind::AddrNotAvailable => write!(
                f,
                "no network interface of this machine has the address {}: correct it, or leave it out to listen \
                 on all",
                at.ip()
            ),
            _ => write!(f, "cannot open {at}: {}", self.source),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
