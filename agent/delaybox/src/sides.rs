//! The two ends of the box: a TAP interface in a namespace, or an existing interface.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::appliance::{Arrival, Ports, Snapshot};
use crate::error::Error;
use crate::line::settings::Direction;
use crate::queue::BATCH;
use crate::statistics::{Counters, DirectionReport, Report};
use crate::sys::{self, Address, Mac, Namespace};

/// Name of the interface that the box creates.
pub const INTERFACE: &str = "delay0";
/// `struct virtio_net_hdr` (linux/virtio_net.h) in front of each frame: a segment that the kernel has not cut yet, or a
/// checksum it has not filled in, passes unchanged.
const OFFLOAD_HEADER: usize = 10;
/// Place of the IP header of a frame without a VLAN tag.
const IP_AT: usize = OFFLOAD_HEADER + 14;

/// Location of a side of the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A new namespace that lives as long as the box.
    New,
    /// An existing namespace, in which the box creates a TAP interface.
    Namespace(PathBuf),
    /// An existing interface, in this namespace or another.
    Interface {
        name: String,
        namespace: Option<PathBuf>,
    },
}

impl Place {
    /// Parse `new`, `netns:NAME`, `netns:/path`, `if:NAME` or `if:NAME@NAMESPACE`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let namespace = |name: &str| {
            if name.contains('/') {
                PathBuf::from(name)
            } else {
                Path::new("/run/netns").join(name)
            }
        };
        match text.split_once(':') {
            None if text == "new" => Ok(Self::New),
            Some(("netns", name)) if !name.is_empty() => Ok(Self::Namespace(namespace(name))),
            Some(("if", name)) if !name.is_empty() => Ok(match name.split_once('@') {
                None => Self::Interface {
                    name: name.to_owned(),
                    namespace: None,
                },
                Some((name, within)) => Self::Interface {
                    name: name.to_owned(),
                    namespace: Some(namespace(within)),
                },
            }),
            _ => Err(format!(
                "{text:?} is no place; write new, netns:NAME, if:INTERFACE or if:INTERFACE@NAMESPACE"
            )),
        }
    }
}

/// Addresses of the interfaces that the box creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addressing {
    pub left: Address,
    pub right: Address,
    pub mtu: u32,
}

/// Open end of the box.
#[derive(Debug)]
pub struct Side {
    port: File,
    is_tap: bool,
    namespace: Namespace,
    interface: String,
    address: Option<Ipv4Addr>,
    missed: AtomicU64,
}

/// Side as `run` prints it.
#[derive(Debug, Serialize)]
pub struct SideReport {
    /// For `nsenter --net=…` while the box runs.
    pub namespace: String,
    pub interface: String,
    /// `None` for an existing interface, whose addresses belong to its owner.
    pub address: Option<Ipv4Addr>,
}

/// Both ends, left first. A line for each direction takes the packets from one to the other.
pub type Sides = [Side; 2];

impl Ports for Sides {
    type Label = ();

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.iter().map(Side::descriptor).collect()
    }

    fn receive(
        &self,
        room: &mut [u8],
        accept: &mut dyn FnMut(Arrival<'_, ()>),
    ) -> Result<(), Error> {
        for (line, side) in self.iter().enumerate() {
            for _ in 0..BATCH {
                let read = side.read(room);
                let read = read.map_err(|error| Error::system("a frame cannot be read", &error))?;
                let Some(bytes) = read else { break };
                let packet = &room[..bytes];
                accept(Arrival {
                    line,
                    label: (),
                    packet,
                    ip: Some(IP_AT),
                    wire_bytes: Side::wire_bytes(packet),
                });
            }
        }
        Ok(())
    }

    fn send(&self, line: usize, (): (), packet: &[u8]) -> bool {
        self[1 - line].write(packet)
    }
}

/// Return the figures of both directions, with the kernel's own drop counts.
pub fn report(snapshot: &Snapshot, sides: &Sides) -> Report {
    let direction = |direction: Direction| {
        let (counters, delays) = &snapshot.lines[direction.index()];
        let counters = Counters {
            missed_packets: sides[direction.index()].missed(),
            ..counters.clone()
        };
        DirectionReport::new(counters, delays)
    };
    Report {
        duration_s: snapshot.duration_ns as f64 / 1e9,
        seed: snapshot.seed,
        scheduler: snapshot.scheduler.name(),
        outbound: direction(Direction::Outbound),
        inbound: direction(Direction::Inbound),
    }
}

/// Open both ends.
pub fn open(left: &Place, right: &Place, addressing: &Addressing) -> Result<Sides, Error> {
    let (a, b) = (addressing.left, addressing.right);
    let mac = |last| -> Mac { [0x02, 0, 0x73, 0x6d, 0, last] };
    if a.ip == b.ip || !a.reaches(b.ip) || !b.reaches(a.ip) {
        let why = format!("{} and {} must be two addresses of one network", a.ip, b.ip);
        return Err(Error::setting("--left-address and --right-address", why));
    }
    Ok([
        Side::open("left", left, (a, mac(1)), (b.ip, mac(2)), addressing.mtu)?,
        Side::open("right", right, (b, mac(2)), (a.ip, mac(1)), addressing.mtu)?,
    ])
}

impl Side {
    fn open(
        side: &str,
        place: &Place,
        own: (Address, Mac),
        neighbour: (Ipv4Addr, Mac),
        mtu: u32,
    ) -> Result<Self, Error> {
        let refused = |what: String| move |error: std::io::Error| Error::system(what, &error);
        let existing = |path: &Path| {
            Namespace::open(path).map_err(refused(format!(
                "the namespace {} of the {side} side cannot be opened",
                path.display()
            )))
        };
        let namespace = match place {
            Place::New => Namespace::fresh()
                .map_err(refused("a network namespace cannot be made".to_owned()))?,
            Place::Namespace(path)
            | Place::Interface {
                namespace: Some(path),
                ..
            } => existing(path)?,
            Place::Interface {
                namespace: None, ..
            } => Namespace::current().map_err(refused("/proc cannot be read".to_owned()))?,
        };
        if let Place::Interface { name, .. } = place {
            let port = namespace
                .within(|| sys::open_packet_socket(name))
                .map_err(refused(format!(
                    "the interface {name} of the {side} side cannot be opened"
                )))?;
            return Ok(Self {
                port,
                is_tap: false,
                namespace,
                interface: name.clone(),
                address: None,
                missed: AtomicU64::new(0),
            });
        }
        let port = namespace
            .within(|| {
                let port = sys::open_tap(INTERFACE)?;
                sys::configure(INTERFACE, own.1, own.0, neighbour, mtu)?;
                Ok(port)
            })
            .map_err(refused(format!(
                "the TAP interface {INTERFACE} of the {side} side cannot be made"
            )))?;
        Ok(Self {
            port,
            is_tap: true,
            namespace,
            interface: INTERFACE.to_owned(),
            address: Some(own.0.ip),
            missed: AtomicU64::new(0),
        })
    }

    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub fn address(&self) -> Option<Ipv4Addr> {
        self.address
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }

    /// Return the bytes of `frame` on the wire.
    pub fn wire_bytes(frame: &[u8]) -> u64 {
        frame.len().saturating_sub(OFFLOAD_HEADER) as u64
    }

    /// Return the next frame; `None` if there is none now.
    pub fn read(&self, into: &mut [u8]) -> std::io::Result<Option<usize>> {
        match (&self.port).read(into) {
            Ok(0) => Ok(None),
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
                // The interface is down: no frame arrives until it is up again.
                _ if matches!(error.raw_os_error(), Some(libc::ENETDOWN)) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Send `frame` as the other side read it; return false if the kernel refuses it.
    pub fn write(&self, frame: &[u8]) -> bool {
        (&self.port).write(frame).is_ok()
    }

    /// Return the frames that the kernel dropped because the box did not read in time.
    pub fn missed(&self) -> u64 {
        let seen = if self.is_tap {
            let drops = self.namespace.within(|| sys::kernel_drops(&self.interface));
            return drops.unwrap_or(0);
        } else {
            sys::packet_drops(&self.port).unwrap_or(0)
        };
        self.missed.fetch_add(seen, Ordering::Relaxed) + seen
    }

    pub fn report(&self) -> SideReport {
        SideReport {
            namespace: self.namespace.path(),
            interface: self.interface.clone(),
            address: self.address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let named = |name: &str| Some(PathBuf::from(format!("/run/netns/{name}")));
        assert_eq!(Place::parse("new"), Ok(Place::New));
        assert_eq!(
            Place::parse("netns:a"),
            Ok(Place::Namespace(named("a").unwrap()))
        );
        assert_eq!(
            Place::parse("netns:/proc/1/ns/net"),
            Ok(Place::Namespace("/proc/1/ns/net".into()))
        );
        let interface = |namespace| Place::Interface {
            name: "veth0".to_owned(),
            namespace,
        };
        assert_eq!(Place::parse("if:veth0"), Ok(interface(None)));
        assert_eq!(Place::parse("if:veth0@b"), Ok(interface(named("b"))));
        for text in ["", "veth0", "netns:", "if:", "tap:x"] {
            assert!(
                Place::parse(text).unwrap_err().contains("no place"),
                "{text}"
            );
        }
    }
}
