//! The TCP connections of this network namespace, from the kernel's socket diagnostics (`NETLINK_SOCK_DIAG`), as `ss`
//! lists them. Addresses, ports, counters and the kernel's number of each: nothing of their contents, and no privilege is needed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, sendto,
    socket_with,
};

use rustc_hash::FxHashSet;
use rustix::time::{ClockId, clock_gettime};

use super::tcp_info::TcpInfo;

// linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const INET_DIAG_INFO: u16 = 2;
const IPPROTO_TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// States with data under way: established, FIN-WAIT-1, CLOSE-WAIT, LAST-ACK, closing.
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 11;
const FIN_WAIT2: u8 = 5;
const TIME_WAIT: u8 = 6;
const LISTEN: u8 = 10;
/// In addition those that listen and those that ended lately, which short connections are found by.
const ALL_STATES: u32 = STATES | 1 << FIN_WAIT2 | 1 << TIME_WAIT | 1 << LISTEN;

const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
const MESSAGE_BYTES: usize = 72;
/// The kernel fills at most 32 KiB at once.
const BUFFER_BYTES: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections kept of one reading; the rest is left out.
const CONNECTIONS_MAX: usize = 10_000;
/// Processor time of one reading, after which it ends without the rest.
const COST_MAX: Duration = Duration::from_millis(250);

/// One TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The kernel's number of the socket, which no other gets while the system runs.
    pub cookie: u64,
    pub local: IpAddr,
    pub local_port: u16,
    pub remote: IpAddr,
    pub remote_port: u16,
    pub info: TcpInfo,
}

/// Sockets of one moment.
#[derive(Debug, Default)]
pub struct Reading {
    pub connections: Vec<Connection>,
    /// Connections whose end this VM began within the last minute; most without counters.
    pub ended: Vec<Connection>,
    /// Ports at which this VM listens.
    pub listening: FxHashSet<u16>,
    /// Connections that are not listed, at least.
    pub left_out: u32,
    /// Processor time that the reading took.
    pub cost: Duration,
    /// True if it ended without the rest: the socket must be opened again.
    pub is_cut: bool,
}

/// A netlink socket that lists connections.
#[derive(Debug)]
pub struct SockDiag {
    socket: OwnedFd,
    sequence: u32,
}

impl SockDiag {
    /// Open the socket.
    pub fn open() -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// List the connections to other machines, IPv4 and IPv6; if `all`, with those that ended and the listening ports.
    pub fn read(&mut self, all: bool) -> io::Result<Reading> {
        let mut found = Reading::default();
        let began = thread_time();
        for family in [AF_INET, AF_INET6] {
            if !found.is_cut {
                let states = if all { ALL_STATES } else { STATES };
                self.dump(family, states, began, &mut found)?;
            }
        }
        found.cost = thread_time().saturating_sub(began);
        Ok(found)
    }

    fn dump(
        &mut self,
        family: u8,
        states: u32,
        began: Duration,
        found: &mut Reading,
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let kernel = netlink::SocketAddrNetlink::new(0, 0);
        sendto(
            &self.socket,
            &request(family, states, self.sequence),
            SendFlags::empty(),
            &kernel,
        )?;
        let mut buffer = vec![0_u8; BUFFER_BYTES];
        loop {
            let (_, size) = recv(&self.socket, &mut buffer[..], RecvFlags::empty())?;
            let bytes = buffer.get(..size).unwrap_or_default();
            if read_messages(bytes, self.sequence, found)? {
                return Ok(());
            }
            if thread_time().saturating_sub(began) > COST_MAX {
                found.is_cut = true;
                found.left_out = found.left_out.max(1);
                return Ok(());
            }
        }
    }
}

/// Return the processor time of this thread; the kernel lists sockets in it.
fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .unwrap_or_default()
}

/// Build a request for the connections of a family:
///
/// ```text
///  0  4  length    4  2  type    6  2  flags    8  4  sequence    12  4  port (0)
/// 16  1  family   17  1  protocol   18  1  extensions wanted    20  4  states wanted
/// ```
fn request(family: u8, states: u32, sequence: u32) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
    bytes[16] = family;
    bytes[17] = IPPROTO_TCP;
    bytes[18] = 1 << (INET_DIAG_INFO - 1);
    bytes[20..24].copy_from_slice(&states.to_ne_bytes());
    bytes
}

/// Read the messages of one answer into `found`. Return true after the last one.
fn read_messages(mut bytes: &[u8], sequence: u32, found: &mut Reading) -> io::Result<bool> {
    while let (Some(length), Some(kind), Some(number)) =
        (u32_at(bytes, 0), u16_at(bytes, 4), u32_at(bytes, 8))
    {
        let length = length as usize;
        let Some(message) = bytes.get(HEADER_BYTES..length) else {
            return Err(io::Error::other("a message of sock_diag is cut off"));
        };
        // An answer to a request that timed out may still arrive.
        if number == sequence {
            match kind {
                NLMSG_DONE => return Ok(true),
                NLMSG_ERROR => {
                    let bytes = message.get(..4).unwrap_or_default().try_into();
                    let code = bytes.map_or(0, i32::from_ne_bytes);
                    return Err(io::Error::from_raw_os_error(code.saturating_neg()));
                }
                SOCK_DIAG_BY_FAMILY => note(message, found),
                _ => {}
            }
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Add a socket to what was found.
fn note(message: &[u8], found: &mut Reading) {
    let Some((state, connection)) = connection(message) else {
        return;
    };
    if state == LISTEN {
        found.listening.insert(connection.local_port);
    } else if found.connections.len() + found.ended.len() >= CONNECTIONS_MAX {
        found.left_out = found.left_out.saturating_add(1);
    } else if matches!(state, FIN_WAIT2 | TIME_WAIT) {
        found.ended.push(connection);
    } else {
        found.connections.push(connection);
    }
}

/// Read a socket and its state; `None` for one of this machine to itself, or a lasting one without counters.
///
/// ```text
///  0  1  family     1  1  state    4  2  source port    6  2  destination port    8  16  source    24  16  destination
/// 44  8  cookie   72  attributes: length (2), type (2), value, padded to 4
/// ```
fn connection(message: &[u8]) -> Option<(u8, Connection)> {
    let (family, state) = (*message.first()?, *message.get(1)?);
    let address = |at: usize| -> Option<IpAddr> {
        Some(match family {
            AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(message.get(at..at + 4)?).ok()?).into(),
            AF_INET6 => {
                Ipv6Addr::from(<[u8; 16]>::try_from(message.get(at..at + 16)?).ok()?).to_canonical()
            }
            _ => return None,
        })
    };
    let port = |at: usize| -> Option<u16> {
        Some(u16::from_be_bytes(
            message.get(at..at + 2)?.try_into().ok()?,
        ))
    };
    let mut connection = Connection {
        cookie: u64::from_ne_bytes(message.get(44..52)?.try_into().ok()?),
        local: address(8)?,
        local_port: port(4)?,
        remote: address(24)?,
        remote_port: port(6)?,
        info: TcpInfo::default(),
    };
    if connection.remote.is_loopback() {
        return None;
    }
    let mut attributes = message.get(MESSAGE_BYTES..)?;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        if kind == INET_DIAG_INFO {
            connection.info = TcpInfo::read(attributes.get(4..length)?)?;
            return Some((state, connection));
        }
        if length < 4 {
            return None;
        }
        attributes = attributes
            .get(length.next_multiple_of(4)..)
            .unwrap_or_default();
    }
    matches!(state, FIN_WAIT2 | TIME_WAIT | LISTEN).then_some((state, connection))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    /// Return an address of this machine that is not loopback; `None` without a network.
    fn own_address() -> Option<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        // Nothing is sent: an address for documentation, towards which the kernel chooses the source address.
        socket.connect("192.0.2.1:9").ok()?;
        Some(socket.local_addr().ok()?.ip())
    }

    #[test]
    fn a_connection_is_listed_with_the_segments_that_it_sent() {
        let Some(address) = own_address() else { return };
        let listener = TcpListener::bind((address, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut socket = SockDiag::open().unwrap();
        let cookies = |connections: &[Connection]| -> Vec<u64> {
            let ours = connections.iter().filter(|one| one.remote == address);
            ours.map(|one| one.cookie).collect()
        };
        let before = socket.read(false).unwrap().connections;
        assert!(cookies(&before).len() >= 2, "both ends are of this machine");
        for _ in 0..5 {
            client.write_all(b"request").unwrap();
            server.read_exact(&mut [0; 7]).unwrap();
        }
        let after = socket.read(false).unwrap().connections;
        let sent = |list: &[Connection]| -> u64 {
            let known = cookies(&before);
            let kept = list.iter().filter(|one| known.contains(&one.cookie));
            kept.map(|one| u64::from(one.info.segments_sent)).sum()
        };
        assert!(sent(&after) >= sent(&before) + 5);
        assert!(after.iter().all(|one| one.info.rto_us >= 1_000));
        let port = client.peer_addr().unwrap().port();
        assert!(socket.read(true).unwrap().listening.contains(&port));
        drop(client);
        drop(server);
        let ended = socket.read(true).unwrap().ended;
        let known = cookies(&before);
        let is_known = |one: &Connection| one.remote_port == port && known.contains(&one.cookie);
        assert!(ended.iter().any(is_known), "its number stays: {ended:?}");
    }

    #[test]
    fn an_error_of_the_kernel_and_a_message_cut_off_are_errors() {
        let mut error = [0_u8; 20];
        error[0..4].copy_from_slice(&20_u32.to_ne_bytes());
        error[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        error[8..12].copy_from_slice(&1_u32.to_ne_bytes());
        error[16..20].copy_from_slice(&(-2_i32).to_ne_bytes());
        let found = &mut Reading::default();
        let refused = read_messages(&error, 1, found).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(2));
        assert!(
            !read_messages(&error, 2, found).unwrap(),
            "of another request"
        );
        assert!(read_messages(&error[..18], 1, found).is_err());
    }

    #[test]
    fn a_connection_of_this_machine_to_itself_is_left_out() {
        let mut message = [0_u8; MESSAGE_BYTES];
        message[0] = AF_INET;
        message[24..28].copy_from_slice(&[127, 0, 0, 1]);
        assert_eq!(connection(&message), None);
    }
}
