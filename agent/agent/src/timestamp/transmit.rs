//! Batched transmission of packets.

use std::borrow::Borrow;
use std::io;
use std::net::{IpAddr, SocketAddr};

use super::address::RawAddress;
use super::control::{self, SourceRoom};
use super::socket::Socket;
use super::{BATCH, unwritten};
use crate::ptp::EcnField;

/// Longest message of an exchange, bytes.
const MESSAGE: usize = crate::ptp::MAX_LEN;

/// Largest number of packets to one receiver in one call (udp(7), UDP_SEGMENT).
const MAX_SEGMENTS: usize = 8;

/// A packet to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<T> {
    pub to: SocketAddr,
    /// The address it comes from; `None` leaves it to the kernel.
    pub from: Option<IpAddr>,
    pub bytes: [u8; MESSAGE],
    pub len: usize,
    pub ecn: EcnField,
    /// Also ask when it passes the packet scheduler, before the queue of the interface.
    pub asks_schedule: bool,
    /// Identifies the packet to its sender.
    pub token: T,
}

impl Socket {
    /// Send packets in order. Call `each` with the result of every packet. A packet that the system refuses (no route, a
    /// firewall) does not hold up the others, and a full queue ends the batch.
    ///
    /// Return true if all packets left.
    pub fn send<T>(
        &self,
        packets: &[impl Borrow<Outgoing<T>>],
        mut each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> bool {
        let mut rest = packets;
        let mut all = true;
        while !rest.is_empty() {
            match self.send_batch(rest) {
                Ok(sent) => {
                    let (left, after) = rest.split_at(sent);
                    left.iter().for_each(|packet| each(packet.borrow(), Ok(())));
                    rest = after;
                }
                Err(error)
                    if self.segments()
                        && segment_count(rest) > 1
                        && is_segmentation_error(&error) =>
                {
                    self.disable_segmentation();
                }
                Err(error)
                    if self.stamps_schedule()
                        && rest[0].borrow().asks_schedule
                        && error.raw_os_error() == Some(libc::EINVAL) =>
                {
                    self.disable_schedule_stamps();
                }
                Err(error) => {
                    all = false;
                    let full = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS));
                    let (refused, after) = rest.split_at(if full { rest.len() } else { 1 });
                    refused
                        .iter()
                        .for_each(|packet| each(packet.borrow(), Err(&error)));
                    rest = after;
                }
            }
        }
        all
    }

    /// Call `sendmmsg(2)` once. Return how many packets left, at least one. Neighbouring packets to one receiver are sent as
    /// segments of one.
    fn send_batch<T>(&self, packets: &[impl Borrow<Outgoing<T>>]) -> io::Result<usize> {
        let (mut vectors, mut headers) = (unwritten::<libc::iovec>(), unwritten());
        let (mut names, mut rooms) = (unwritten(), unwritten::<SourceRoom>());
        let (wildcard, ipv6) = (self.local().ip().is_unspecified(), self.local().is_ipv6());
        let packets = &packets[..packets.len().min(BATCH)];
        for (packet, vector) in packets.iter().map(Borrow::borrow).zip(&mut vectors) {
            vector.write(libc::iovec {
                iov_base: packet.bytes.as_ptr().cast_mut().cast(),
                iov_len: packet.len.min(packet.bytes.len()),
            });
        }
        // Packets of each header that is filled in.
        let mut counts = [0; BATCH];
        let (mut rest, mut pieces, mut filled) = (packets, &mut vectors[..], 0);
        let places = names.iter_mut().zip(&mut rooms).zip(&mut headers);
        for (((name, room), header), count) in places.zip(&mut counts) {
            let Some(packet) = rest.first().map(Borrow::borrow) else {
                break;
            };
            *count = if self.segments() {
                segment_count(rest)
            } else {
                1
            };
            let (own, others) = pieces.split_at_mut(*count);
            let name = name.write(RawAddress::new(packet.to, ipv6));
            // SAFETY: mmsghdr is plain pointers and integers, for which zero is a value.
            let header: &mut libc::mmsghdr = header.write(unsafe { std::mem::zeroed() });
            let header = &mut header.msg_hdr;
            header.msg_name = (&raw mut name.storage).cast();
            header.msg_namelen = name.len;
            header.msg_iov = own.as_mut_ptr().cast();
            header.msg_iovlen = *count as _;
            // A socket bound to one address needs no source address for each packet.
            let source = packet.from.filter(|_| wildcard);
            let is_ect = packet.ecn != EcnField::NOT_ECT;
            let asks_schedule = packet.asks_schedule && self.stamps_schedule();
            if source.is_some() || is_ect || *count > 1 || asks_schedule {
                let room = room.write([0; 14]);
                let mut used = source.map_or(0, |source| control::write_source(source, room));
                if is_ect {
                    used = control::write_ecn(packet.ecn, packet.to.ip(), used, room);
                }
                if *count > 1 {
                    used = control::write_segment(packet.len as u16, used, room);
                }
                if asks_schedule {
                    used = control::write_stamps(self.schedule_flags(), used, room);
                }
                header.msg_controllen = used as _;
                header.msg_control = room.as_mut_ptr().cast();
            }
            (rest, pieces, filled) = (&rest[*count..], others, filled + 1);
        }
        // The system call itself: musl's function of the name makes one for each header. Headers were zeroed, so that the
        // kernel reads its longer lengths where musl has a short one and padding.
        // SAFETY: sendmmsg(2) reads as many headers as were filled in, and as many vectors as each header counts, which were
        // filled in for all packets; names, vectors, rooms and the packets they point to outlive the call, and it writes
        // nothing but msg_len.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_sendmmsg,
                self.fd(),
                headers.as_mut_ptr(),
                filled as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        let sent = usize::try_from(sent).map_err(|_| io::Error::last_os_error())?;
        Ok(counts[..sent].iter().sum())
    }
}

/// Return how many of the first packets may be sent as segments of one: to one receiver and of equal length, except that
/// the last one may be shorter (udp(7)).
fn segment_count<T>(packets: &[impl Borrow<Outgoing<T>>]) -> usize {
    let Some(first) = packets.first().map(Borrow::borrow) else {
        return 0;
    };
    let way = |packet: &Outgoing<T>| (packet.to, packet.from, packet.ecn);
    let alike = |packet: &&Outgoing<T>| way(packet) == way(first);
    let mut count = 1;
    for packet in packets[1..]
        .iter()
        .map(Borrow::borrow)
        .take_while(alike)
        .take(MAX_SEGMENTS - 1)
    {
        if packet.len > first.len {
            break;
        }
        count += 1;
        if packet.len < first.len {
            break;
        }
    }
    count
}

/// Return true if the system refused a packet because of its segmentation.
fn is_segmentation_error(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINVAL | libc::EIO | libc::EMSGSIZE | libc::EOPNOTSUPP)
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Inbox, Stamps, wait};
    use super::*;
    use std::time::Duration;

    fn packet(to: SocketAddr, len: usize, token: u8) -> Outgoing<u8> {
        Outgoing {
            to,
            from: Some(to.ip()),
            bytes: [token; MESSAGE],
            len,
            ecn: EcnField::NOT_ECT,
            asks_schedule: false,
            token,
        }
    }

    /// Token and length of each packet that reaches a socket, `count` of them within a minute.
    fn received(socket: &Socket, count: usize) -> Vec<(u8, usize)> {
        let (mut inbox, mut all) = (Inbox::new(), Vec::new());
        for _ in 0..600 {
            let n = socket.receive(&mut inbox).unwrap();
            all.extend(
                inbox
                    .datagrams(n)
                    .map(|datagram| (datagram.bytes[0], datagram.bytes.len())),
            );
            if all.len() >= count {
                break;
            }
            wait([socket].into_iter(), Duration::from_millis(100)).unwrap();
        }
        all
    }

    #[test]
    fn packets_that_pass_the_system_together_arrive_one_by_one() {
        let bind = |at: &str| Socket::bind(at.parse().unwrap(), Stamps::Received).unwrap();
        for (wildcard, local) in [("0.0.0.0:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")] {
            if std::net::UdpSocket::bind(local).is_err() {
                continue;
            }
            let (one, other) = (bind(local), bind(local));
            let lengths = [54, 54, 44, 44, 30, 54];
            for sender in [bind(local), bind(wildcard)] {
                for segments in [sender.segments(), false] {
                    if !segments {
                        sender.disable_segmentation();
                    }
                    let (one_at, other_at) = (one.local(), other.local());
                    let mut packets: Vec<_> = (1..)
                        .zip(lengths)
                        .map(|(token, len)| packet(one_at, len, token))
                        .collect();
                    packets.insert(4, packet(other_at, 54, 9));
                    let mut left = 0;
                    assert!(sender.send(&packets, |_, how| left += u32::from(how.is_ok())));
                    assert_eq!(left, 7);
                    let expected: Vec<_> = (1..).zip(lengths).collect();
                    assert_eq!(received(&one, 6), expected, "{segments}");
                    assert_eq!(received(&other, 1), [(9, 54)]);
                }
            }
        }
    }

    #[test]
    fn only_the_last_of_those_that_go_together_is_shorter() {
        let to = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let counts = |lengths: &[(u16, usize)]| {
            let packets: Vec<_> = lengths
                .iter()
                .map(|&(port, len)| packet(to(port), len, 0))
                .collect();
            segment_count(&packets)
        };
        assert_eq!(counts(&[]), 0);
        assert_eq!(counts(&[(1, 54), (1, 54), (1, 44), (1, 44)]), 3);
        assert_eq!(counts(&[(1, 44), (1, 54)]), 1);
        assert_eq!(counts(&[(1, 54), (2, 54)]), 1);
        assert_eq!(counts(&[(1, 54); 20]), MAX_SEGMENTS);
    }
}
