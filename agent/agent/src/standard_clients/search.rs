//! The search for the reason why a standard responder is silent: another domain, a closed port, or no host.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::clock::RawTime;
use crate::ptp::NoService;
use crate::timestamp::return_icmp_errors;

/// Time until the result of a search: a host that does not answer to its link address is reported after 3 s.
const SEARCH_NS: i64 = 4_000_000_000;

/// Largest PTP domain (7.1).
pub(super) const LAST_DOMAIN: u8 = 127;

/// A search that goes on. ICMP errors about what an ordinary connected socket has sent are errors of that socket.
#[derive(Debug)]
pub(super) struct Search {
    began: RawTime,
    socket: Option<UdpSocket>,
}

impl Search {
    /// Send `bytes`, a request of the protocol, to a general port.
    pub fn begin(to: SocketAddr, bytes: &[u8], now: RawTime) -> Self {
        let any: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let open = || {
            let socket = UdpSocket::bind((any, 0))?;
            socket.set_nonblocking(true)?;
            return_icmp_errors(&socket)?;
            socket.connect(to)?;
            socket.send(bytes)?;
            Ok::<_, std::io::Error>(socket)
        };
        Self {
            began: now,
            socket: open().ok(),
        }
    }

    /// Return the reason found so far; `None` while the search goes on.
    pub fn reason(&self, now: RawTime) -> Option<NoService> {
        let error = self.socket.as_ref().and_then(|socket| {
            let received = socket.recv(&mut [0; 64]);
            received.err().map(|error| error.kind())
        });
        match error {
            Some(ErrorKind::ConnectionRefused) => Some(NoService::Closed),
            Some(ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
                Some(NoService::Unreachable)
            }
            _ => (now.since(self.began) >= SEARCH_NS).then_some(NoService::Silent),
        }
    }
}
