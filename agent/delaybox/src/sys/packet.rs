//! Packet sockets: frames of an existing interface.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::checked;
use super::interface::request;

const RECEIVE_BUFFER_BYTES: libc::c_int = 16 << 20;

/// Open interface `name` in the namespace of the calling thread for whole frames. Each read and write has a
/// `virtio_net_hdr` of 10 bytes in front, so that segments which the kernel has not cut yet go through as they are.
pub fn open_packet_socket(name: &str) -> io::Result<File> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Protocol 0: nothing is received until bind names the interface.
    // SAFETY: socket(2) takes numbers and returns a descriptor that nobody else has.
    let socket = unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?) };
    let fd = socket.as_raw_fd();
    let mut ask = request(name)?;
    // SAFETY: SIOCGIFINDEX (netdevice(7)) reads and writes one ifreq, a local's, and fills ifru_ifindex.
    let index = unsafe {
        checked(libc::ioctl(fd, libc::SIOCGIFINDEX, &raw mut ask))?;
        ask.ifr_ifru.ifru_ifindex
    };
    set(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    // Do not receive the frames that the box itself sends.
    set(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
    // More than net.core.rmem_max needs CAP_NET_ADMIN of the first namespace; without it the kernel's limit holds.
    if set(
        fd,
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        RECEIVE_BUFFER_BYTES,
    )
    .is_err()
    {
        set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER_BYTES)?;
    }
    let membership = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    // SAFETY: setsockopt(2) reads one packet_mreq of the size given.
    checked(unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const membership).cast(),
            size_of_val(&membership) as libc::socklen_t,
        )
    })?;
    let to = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: bind(2) reads one sockaddr_ll of the size given (packet(7)).
    checked(unsafe {
        libc::bind(
            fd,
            (&raw const to).cast(),
            size_of_val(&to) as libc::socklen_t,
        )
    })?;
    Ok(File::from(socket))
}

/// Return the frames that the kernel dropped since the last call because the box did not read in time (packet(7)).
pub fn packet_drops(socket: &File) -> io::Result<u64> {
    let mut counts = libc::tpacket_stats {
        tp_packets: 0,
        tp_drops: 0,
    };
    let mut size = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: PACKET_STATISTICS writes one tpacket_stats of the size given, a local's.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut counts).cast(),
            &raw mut size,
        )
    })?;
    Ok(u64::from(counts.tp_drops))
}

/// Set an option whose value is an int.
pub(super) fn set(
    fd: libc::c_int,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: setsockopt(2) reads one int of the size given.
    checked(unsafe {
        libc::setsockopt(
            fd,
            level,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    })?;
    Ok(())
}
