//! Reading packets in batches.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::BATCH;
use super::address::RawAddress;
use super::clock::RealTime;
use super::control::{self, Room, Told};
use super::socket::Socket;

/// Longer than any message of ours; what is longer still is cut, and its message length gives it away.
const PACKET: usize = 256;

/// Headers tried at a time when few packets are expected, and when more are.
const FEW: usize = 4;
const SOME: usize = 16;

/// A received packet.
#[derive(Debug, PartialEq)]
pub struct Datagram<'a> {
    pub from: SocketAddr,
    /// Our address that it was sent to, where the socket is open on all of them.
    pub to: Option<IpAddr>,
    pub bytes: &'a [u8],
    /// When the kernel took it from the driver.
    pub stamp: Option<RealTime>,
    /// Packets the socket had dropped before this one, since it was opened and modulo 2^32, because they were not
    /// read in time.
    pub overflows: u32,
}

/// Room for a batch, used again and again.
pub struct Inbox {
    slots: Box<[Slot]>,
}

#[derive(Clone, Copy)]
struct Slot {
    bytes: [u8; PACKET],
    control: Room,
    from: RawAddress,
    len: usize,
    told: Told,
}

impl Inbox {
    pub fn new() -> Self {
        let slot = Slot {
            bytes: [0; PACKET],
            control: [0; 32],
            from: RawAddress::empty(),
            len: 0,
            told: Told::default(),
        };
        Self {
            slots: vec![slot; BATCH].into_boxed_slice(),
        }
    }

    /// The first `count` packets of the last batch; those of unknown senders are left out.
    pub fn datagrams(&self, count: usize) -> impl Iterator<Item = Datagram<'_>> {
        self.slots[..count.min(BATCH)].iter().filter_map(|slot| {
            Some(Datagram {
                from: slot.from.get()?,
                to: slot.told.to,
                bytes: &slot.bytes[..slot.len],
                stamp: slot.told.stamp,
                overflows: slot.told.overflows.unwrap_or(0),
            })
        })
    }

    /// Stamps of departures in the first `count` slots, by number.
    pub(super) fn departures(&self, count: usize) -> impl Iterator<Item = (u32, RealTime)> {
        self.slots[..count.min(BATCH)]
            .iter()
            .filter_map(|slot| Some((slot.told.departure_id?, slot.told.stamp?)))
    }

    /// Fills slots; how many, 0 when nothing waits. `expected` is about how many do: preparing many headers for few packets
    /// costs more than a system call, and so does a second call.
    fn fill(&mut self, socket: &Socket, expected: usize, flags: i32) -> io::Result<usize> {
        let mut filled = 0;
        if expected < FEW {
            filled = self.fill_from::<FEW>(0, socket, flags)?;
            if filled < FEW {
                return Ok(filled);
            }
        }
        let first = filled;
        filled += self.fill_from::<SOME>(first, socket, flags)?;
        if filled == first + SOME {
            filled += self.fill_from::<{ BATCH - FEW - SOME }>(filled, socket, flags)?;
        }
        // More wait if those were all of it and no room was left for the few.
        if first == 0 && filled == BATCH - FEW {
            filled += self.fill_from::<FEW>(filled, socket, flags)?;
        }
        Ok(filled)
    }

    /// One `recvmmsg(2)` into the slots from `first` on.
    fn fill_from<const N: usize>(
        &mut self,
        first: usize,
        socket: &Socket,
        flags: i32,
    ) -> io::Result<usize> {
        let slots = &mut self.slots[first..first + N];
        // SAFETY: iovec and mmsghdr are plain pointers and integers, for which zero is a value.
        let (mut vectors, mut headers): ([libc::iovec; N], [libc::mmsghdr; N]) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        for ((slot, vector), header) in slots.iter_mut().zip(&mut vectors).zip(&mut headers) {
            *vector = libc::iovec {
                iov_base: slot.bytes.as_mut_ptr().cast(),
                iov_len: PACKET,
            };
            slot.from.storage.sin6_family = 0;
            let header = &mut header.msg_hdr;
            header.msg_name = (&raw mut slot.from.storage).cast();
            header.msg_namelen = size_of_val(&slot.from.storage) as libc::socklen_t;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            header.msg_control = slot.control.as_mut_ptr().cast();
            header.msg_controllen = size_of::<Room>() as _;
        }
        // SAFETY: recvmmsg(2) fills at most N headers; each points to a name, one vector and control room of
        // the sizes it states, all of which outlive the call. No timeout is given: it does not work (its page,
        // BUGS), and the socket does not block.
        let filled = unsafe {
            libc::recvmmsg(
                socket.fd(),
                headers.as_mut_ptr(),
                N as u32,
                flags | libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let Ok(filled) = usize::try_from(filled) else {
            return nothing_yet(io::Error::last_os_error());
        };
        for (slot, header) in slots.iter_mut().zip(&headers).take(filled) {
            slot.len = (header.msg_len as usize).min(PACKET);
            slot.from.len = header.msg_hdr.msg_namelen;
            // SAFETY: the kernel has set msg_controllen to what it wrote to the slot's room.
            slot.told = unsafe { control::read(&header.msg_hdr) };
        }
        Ok(filled)
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Socket {
    /// Reads the next packets into `inbox`; how many. Fewer than [`BATCH`] means that no more wait.
    pub fn receive(&self, inbox: &mut Inbox) -> io::Result<usize> {
        let count = inbox.fill(self, self.gathered(), 0)?;
        self.remember_gathered(count);
        Ok(count)
    }

    /// Reads the next stamps of departures, of which about so many are `expected`, as [`Self::receive`].
    pub(super) fn receive_departures(
        &self,
        inbox: &mut Inbox,
        expected: usize,
    ) -> io::Result<usize> {
        inbox.fill(self, expected, libc::MSG_ERRQUEUE)
    }
}

/// What passes by itself counts as "nothing": an empty queue, a signal, an earlier packet that met no receiver, an
/// interface or memory that is away for a moment.
fn nothing_yet(error: io::Error) -> io::Result<usize> {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable,
        OutOfMemory, WouldBlock,
    };
    match error.kind() {
        WouldBlock | Interrupted | ConnectionRefused | HostUnreachable | NetworkUnreachable
        | NetworkDown | OutOfMemory => Ok(0),
        _ if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(0),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Outgoing, Stamps};
    use super::*;

    #[test]
    fn all_that_waits_is_read_however_much_was_expected() {
        let bind = || Socket::bind("127.0.0.1:0".parse().unwrap(), Stamps::Received).unwrap();
        let (sender, receiver) = (bind(), bind());
        let packet = Outgoing {
            to: receiver.local(),
            from: None,
            bytes: [7; crate::ptp::MAX_LEN],
            len: 44,
            token: (),
        };
        let mut inbox = Inbox::new();
        for expected in [0, FEW, BATCH] {
            for waiting in [0, 1, FEW, FEW + 1, SOME, FEW + SOME, BATCH - FEW, BATCH] {
                assert!(sender.send(&vec![packet; waiting], |_, left| left.unwrap()));
                let read = inbox.fill(&receiver, expected, 0).unwrap();
                assert_eq!(read, waiting, "{expected} expected");
                assert!(inbox.datagrams(read).all(|one| one.bytes == [7; 44]));
                assert_eq!(inbox.fill(&receiver, expected, 0).unwrap(), 0);
            }
        }
    }

    #[test]
    fn what_a_socket_gathers_is_remembered_and_forgotten_slowly() {
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap(), Stamps::Received).unwrap();
        let after = |counts: &[usize]| {
            counts
                .iter()
                .for_each(|count| socket.remember_gathered(*count));
            socket.gathered()
        };
        assert_eq!(after(&[7]), 7);
        assert_eq!(after(&[2]), 6);
        assert_eq!(after(&[9, 9]), 9);
        assert_eq!(after(&[0; 20]), 0);
    }
}
