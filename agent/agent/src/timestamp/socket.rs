//! A UDP socket with kernel timestamps.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use super::bind::BindError;

/// Receive buffer, bytes, for several thousand packets; without CAP_NET_ADMIN the kernel grants less.
const RECEIVE_BUFFER: i32 = 4 << 20;

/// The packets of a socket that are timestamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    Received,
    SentAndReceived,
}

/// One of the agent's ports.
#[derive(Debug)]
pub struct Socket {
    socket: UdpSocket,
    local: SocketAddr,
    stamps_departures: bool,
    /// True if it asks for timestamps of the network card in addition to the kernel's.
    card_stamps: AtomicBool,
    segments: AtomicBool,
    /// True if a packet may ask for its time at the packet scheduler.
    stamps_schedule: AtomicBool,
    /// Number of packets at its recent reads.
    expected_packets: AtomicUsize,
}

impl Socket {
    /// Open `at`. The socket also works without timestamps of the kernel.
    pub fn bind(at: SocketAddr, stamps: Stamps) -> Result<Self, BindError> {
        let error = |source| BindError { at, source };
        let socket = UdpSocket::bind(at).map_err(error)?;
        socket.set_nonblocking(true).map_err(error)?;
        let local = socket.local_addr().map_err(error)?;
        let fd = socket.as_raw_fd();
        // An old kernel or a sandbox may refuse each of these. The agent measures without, and reports it.
        let _ = set(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER)
            .or_else(|_| set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER));
        let _ = set(fd, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1);
        if local.ip().is_unspecified() {
            // Receive the destination address of packets, so that responses leave from it.
            let _ = match local {
                SocketAddr::V4(_) => set(fd, libc::IPPROTO_IP, libc::IP_PKTINFO, 1),
                SocketAddr::V6(_) => set(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1),
            };
        }
        if stamps == Stamps::SentAndReceived {
            // A socket of both families asks for both.
            let _ = set(fd, libc::IPPROTO_IP, libc::IP_RECVTTL, 1);
            if local.is_ipv6() {
                let _ = set(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT, 1);
            }
        }
        if local.is_ipv4() {
            // Packets are far below any link's MTU. Without fragmentation the kernel need not number them (RFC 6864, 4.1).
            let _ = set(
                fd,
                libc::IPPROTO_IP,
                libc::IP_MTU_DISCOVER,
                libc::IP_PMTUDISC_DO,
            );
        }
        let flags = flags(stamps, false);
        let stamped = set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags).is_ok();
        // Only packets that are sent separately get departure timestamps.
        let segments =
            stamps == Stamps::Received && set(fd, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        Ok(Self {
            socket,
            local,
            card_stamps: AtomicBool::new(false),
            segments: AtomicBool::new(segments),
            expected_packets: AtomicUsize::new(0),
            stamps_schedule: AtomicBool::new(stamped && stamps == Stamps::SentAndReceived),
            stamps_departures: stamped && stamps == Stamps::SentAndReceived,
        })
    }

    /// Return the address and port in use.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Return true if the kernel timestamps what this socket sends.
    pub fn stamps_departures(&self) -> bool {
        self.stamps_departures
    }

    /// Return true if packets to one receiver are sent in one call, which the kernel segments (udp(7), UDP_SEGMENT).
    pub(super) fn segments(&self) -> bool {
        self.segments.load(Relaxed)
    }

    /// Disable segmentation, which the kernel or the network card does not support.
    pub(super) fn disable_segmentation(&self) {
        self.segments.store(false, Relaxed);
    }

    /// Return true if a packet may ask for its time at the packet scheduler.
    pub(super) fn stamps_schedule(&self) -> bool {
        self.stamps_schedule.load(Relaxed)
    }

    /// Ask no more for times at the packet scheduler, which the kernel or a sandbox refuses.
    pub(super) fn disable_schedule_stamps(&self) {
        self.stamps_schedule.store(false, Relaxed);
    }

    /// Return the timestamps of a packet that asks for its time at the packet scheduler, too: they replace the socket's.
    pub(super) fn schedule_flags(&self) -> u32 {
        let of_card = libc::SOF_TIMESTAMPING_TX_HARDWARE;
        libc::SOF_TIMESTAMPING_TX_SCHED
            | libc::SOF_TIMESTAMPING_TX_SOFTWARE
            | if self.card_stamps.load(Relaxed) {
                of_card
            } else {
                0
            }
    }

    /// Return the expected number of packets at a read.
    pub(super) fn expected_packets(&self) -> usize {
        self.expected_packets.load(Relaxed)
    }

    /// Record the number of packets at a read.
    pub(super) fn record_read(&self, count: usize) {
        // Decreases slowly, so that one quiet read does not cause a second call at the next one.
        let known = self.expected_packets();
        self.expected_packets
            .store(count.max(known - known.div_ceil(8)), Relaxed);
    }

    /// Ask for timestamps of the network card, or no longer. It takes effect when departures are renumbered.
    pub fn ask_card(&self, asks: bool) {
        self.card_stamps.store(asks, Relaxed);
    }

    /// Restart the kernel's numbering of departures at 0: the counter starts when OPT_ID is switched on.
    pub(super) fn renumber_departures(&self) -> io::Result<()> {
        let flags = flags(Stamps::SentAndReceived, self.card_stamps.load(Relaxed));
        let without = flags & !libc::SOF_TIMESTAMPING_OPT_ID;
        set(self.fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, without)?;
        set(self.fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Return the flags for software timestamps, and for those of the card. Of sent packets only the timestamp is returned
/// (TSONLY), numbered (ID): that of the card, or the software's of a packet that the card leaves out.
fn flags(stamps: Stamps, card: bool) -> u32 {
    let received = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    let of_card = libc::SOF_TIMESTAMPING_RX_HARDWARE
        | libc::SOF_TIMESTAMPING_TX_HARDWARE
        | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
    let received = received | if card { of_card } else { 0 };
    match stamps {
        Stamps::Received => received,
        Stamps::SentAndReceived => {
            received
                | libc::SOF_TIMESTAMPING_TX_SOFTWARE
                | libc::SOF_TIMESTAMPING_OPT_ID
                | libc::SOF_TIMESTAMPING_OPT_TSONLY
                | libc::SOF_TIMESTAMPING_OPT_CMSG
        }
    }
}

/// Make calls on an ordinary socket return all ICMP errors about what it has sent, also that no host was reached (ip(7),
/// IP_RECVERR).
pub fn return_icmp_errors(socket: &UdpSocket) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    match socket.local_addr()? {
        SocketAddr::V4(_) => set(fd, libc::IPPROTO_IP, libc::IP_RECVERR, 1),
        SocketAddr::V6(_) => set(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1),
    }
}

/// Spread what a connection sends: the kernel spaces its packets to at most this rate (socket(7), SO_MAX_PACING_RATE),
/// so that no burst queues in front of probe packets.
pub fn pace(connection: &TcpStream, bytes_per_s: u64) -> io::Result<()> {
    let fd = connection.as_raw_fd();
    set(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_s)
}

pub(super) fn set<T: Copy>(fd: RawFd, level: i32, name: i32, value: T) -> io::Result<()> {
    // SAFETY: setsockopt(2) reads as many bytes as its last argument, the size of the local `value`.
    let result = unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The queues of a socket that can be read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    pub packets: bool,
    /// Departure timestamps on the error queue.
    pub departures: bool,
}

/// Wait until one of the sockets can be read, at most `timeout`. Return what can be read of each.
pub fn wait<'a>(
    sockets: impl Iterator<Item = &'a Socket>,
    timeout: Duration,
) -> io::Result<Vec<Ready>> {
    let poll = |socket: &Socket| libc::pollfd {
        fd: socket.fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polls: Vec<_> = sockets.map(poll).collect();
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    let count = polls.len() as libc::nfds_t;
    // SAFETY: ppoll(2) writes the revents of `count` entries, as many as there are, and reads one timespec; a null
    // mask changes no signals.
    let ready = unsafe {
        libc::ppoll(
            polls.as_mut_ptr(),
            count,
            &raw const timeout,
            std::ptr::null(),
        )
    };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(vec![Ready::default(); polls.len()]),
            _ => Err(error),
        };
    }
    let ready = |poll: &libc::pollfd| Ready {
        packets: poll.revents & libc::POLLIN != 0,
        departures: poll.revents & libc::POLLERR != 0,
    };
    Ok(polls.iter().map(ready).collect())
}
