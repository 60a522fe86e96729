//! Sending packets in batches.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::BATCH;
use super::address::RawAddress;
use super::control::{self, SourceRoom};
use super::socket::Socket;

/// Longest message of an exchange, bytes.
const MESSAGE: usize = crate::ptp::MAX_LEN;

/// Sizes of smaller batches: preparing headers that are not used would cost more than the system call.
const FEW: usize = 4;
const SOME: usize = 16;

/// A packet on its way out.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<T> {
    pub to: SocketAddr,
    /// The address it comes from; `None` leaves it to the kernel.
    pub from: Option<IpAddr>,
    pub bytes: [u8; MESSAGE],
    pub len: usize,
    /// What its sender knows it by.
    pub token: T,
}

impl Socket {
    /// Sends packets in order. `each` hears of every packet whether it left, or why not; one that the system refuses
    /// (no route, a firewall) does not hold up the others, and a full queue ends the batch.
    ///
    /// Whether all left.
    pub fn send<T>(
        &self,
        packets: &[Outgoing<T>],
        mut each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> bool {
        let mut rest = packets;
        let mut all = true;
        while !rest.is_empty() {
            let sent = match rest.len() {
                n if n <= FEW => self.send_batch::<_, FEW>(rest),
                n if n <= SOME => self.send_batch::<_, SOME>(rest),
                _ => self.send_batch::<_, BATCH>(rest),
            };
            match sent {
                Ok(sent) => {
                    let (left, after) = rest.split_at(sent);
                    left.iter().for_each(|packet| each(packet, Ok(())));
                    rest = after;
                }
                Err(error) => {
                    all = false;
                    let full = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS));
                    let (refused, after) = rest.split_at(if full { rest.len() } else { 1 });
                    refused.iter().for_each(|packet| each(packet, Err(&error)));
                    rest = after;
                }
            }
        }
        all
    }

    /// One `sendmmsg(2)` of at most `N` packets; how many left, at least one.
    fn send_batch<T, const N: usize>(&self, packets: &[Outgoing<T>]) -> io::Result<usize> {
        // SAFETY: all of these are plain integers and pointers, for which zero is a value.
        let (mut vectors, mut headers): ([libc::iovec; N], [libc::mmsghdr; N]) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        let mut names = [RawAddress::empty(); N];
        let mut rooms: [SourceRoom; N] = [[0; 8]; N];
        let wildcard = self.local().ip().is_unspecified();
        let places = names
            .iter_mut()
            .zip(&mut vectors)
            .zip(&mut rooms)
            .zip(&mut headers);
        for (packet, (((name, vector), room), header)) in packets.iter().zip(places) {
            *name = RawAddress::new(packet.to);
            *vector = libc::iovec {
                iov_base: packet.bytes.as_ptr().cast_mut().cast(),
                iov_len: packet.len.min(packet.bytes.len()),
            };
            let header = &mut header.msg_hdr;
            header.msg_name = (&raw mut name.storage).cast();
            header.msg_namelen = name.len;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            // A socket bound to one address needs no telling where its packets come from.
            if let Some(source) = packet.from.filter(|_| wildcard) {
                header.msg_controllen = control::write_source(source, room) as _;
                header.msg_control = room.as_mut_ptr().cast();
            }
        }
        // SAFETY: sendmmsg(2) reads as many headers as there are packets; names, vectors, rooms and the packets
        // they point to outlive the call, and it writes nothing but msg_len.
        let sent = unsafe {
            libc::sendmmsg(
                self.fd(),
                headers.as_mut_ptr(),
                packets.len().min(N) as u32,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}
