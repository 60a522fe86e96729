//! Datagrams with the kernel's arrival timestamp, for measurements outside the box.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::{checked, packet};

const CONTROL_BYTES: usize = 64;

/// Size of a datagram and its arrival in the kernel (`CLOCK_REALTIME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    pub bytes: usize,
    pub at_ns: i64,
}

/// Enable arrival timestamps at `socket` (socket(7), SO_TIMESTAMPNS), with room for a burst.
pub fn stamp_arrivals(socket: &UdpSocket) -> io::Result<()> {
    packet::set(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPNS,
        1,
    )?;
    packet::set(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_RCVBUF,
        4 << 20,
    )
}

/// Receive the next datagram, if there is one.
pub fn receive_stamped(socket: &UdpSocket, into: &mut [u8]) -> io::Result<Option<Received>> {
    #[repr(align(8))]
    struct Control([u8; CONTROL_BYTES]);
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // SAFETY: msghdr is plain numbers and pointers, for which zero bytes are valid (null, nothing).
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: recvmsg(2) writes within the buffers described, all of which live past the call.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    if got < 0 {
        let error = super::last_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        };
    }
    // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR (cmsg(3)) walk the control buffer that the kernel has filled, and yield
    // headers inside it or null; SCM_TIMESTAMPNS carries one timespec, read without regard to alignment.
    let at_ns = unsafe {
        let mut at_ns = None;
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET
                && (*header).cmsg_type == libc::SCM_TIMESTAMPNS
            {
                let time: libc::timespec = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                at_ns = Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        at_ns
    };
    let bytes = checked(got as libc::c_int)? as usize;
    let at_ns = at_ns.ok_or_else(|| io::Error::other("the kernel stamped no arrival"))?;
    Ok(Some(Received { bytes, at_ns }))
}
