//! Sockets of a relay: one for each host's outer address and port.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::config::Hosts;
use crate::appliance::{Arrival, Ports};
use crate::error::Error;
use crate::queue::BATCH;

/// Headers of IPv4 and UDP.
const HEADER_BYTES: u64 = 28;

/// Open sockets of a relay.
#[derive(Debug)]
pub struct RelayPorts {
    hosts: Hosts,
    ports: Vec<u16>,
    /// By host, then by port.
    sockets: Vec<UdpSocket>,
    place_of: HashMap<Ipv4Addr, usize>,
    foreign: AtomicU64,
}

/// Places of a packet's ports among those of the relay.
#[derive(Debug, Clone, Copy)]
pub struct PortPair {
    from: usize,
    to: usize,
}

impl RelayPorts {
    /// Open all sockets.
    pub fn open(hosts: Hosts, ports: Vec<u16>) -> Result<Self, Error> {
        let mut sockets = Vec::with_capacity(hosts.all().len() * ports.len());
        for host in hosts.all() {
            for port in &ports {
                let address = SocketAddr::from((host.outer, *port));
                let refused = |error: std::io::Error| {
                    Error::system(
                        format!("{address} of {} cannot be opened", host.name),
                        &error,
                    )
                };
                let socket = UdpSocket::bind(address).map_err(refused)?;
                socket.set_nonblocking(true).map_err(refused)?;
                sockets.push(socket);
            }
        }
        let places = hosts.all().iter().zip(0..);
        Ok(Self {
            place_of: places.map(|(host, place)| (host.inner, place)).collect(),
            hosts,
            ports,
            sockets,
            foreign: AtomicU64::new(0),
        })
    }

    /// Return the hosts.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Return the number of packets that came from no host, or from a port that is not relayed.
    pub fn foreign_packets(&self) -> u64 {
        self.foreign.load(Ordering::Relaxed)
    }

    /// Return the places of the host and the port that sent a packet.
    fn sender(&self, from: SocketAddr) -> Option<(usize, usize)> {
        let IpAddr::V4(address) = from.ip() else {
            return None;
        };
        let port = self.ports.iter().position(|port| *port == from.port())?;
        Some((*self.place_of.get(&address)?, port))
    }
}

impl Ports for RelayPorts {
    type Label = PortPair;

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.sockets.iter().map(AsFd::as_fd).collect()
    }

    fn receive(
        &self,
        room: &mut [u8],
        accept: &mut dyn FnMut(Arrival<'_, PortPair>),
    ) -> Result<(), Error> {
        for (number, socket) in self.sockets.iter().enumerate() {
            let (host, to) = (number / self.ports.len(), number % self.ports.len());
            for _ in 0..BATCH {
                let (bytes, from) = match socket.recv_from(room) {
                    Ok(received) => received,
                    Err(error) => match error.kind() {
                        ErrorKind::WouldBlock | ErrorKind::Interrupted => break,
                        // A host's program is not there: the kernel reports that nobody took an earlier packet.
                        ErrorKind::ConnectionRefused => continue,
                        _ => return Err(Error::system("a packet cannot be read", &error)),
                    },
                };
                let Some((sender, from)) = self.sender(from).filter(|(sender, _)| *sender != host)
                else {
                    self.foreign.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                accept(Arrival {
                    line: self.hosts.line(sender, host),
                    label: PortPair { from, to },
                    packet: &room[..bytes],
                    ip: None,
                    wire_bytes: bytes as u64 + HEADER_BYTES,
                });
            }
        }
        Ok(())
    }

    fn send(&self, line: usize, ports: PortPair, packet: &[u8]) -> bool {
        let (from, to) = self.hosts.places_of(line);
        let target = (self.hosts.all()[to].inner, self.ports[ports.to]);
        let socket = &self.sockets[from * self.ports.len() + ports.from];
        socket.send_to(packet, SocketAddr::from(target)).is_ok()
    }
}
