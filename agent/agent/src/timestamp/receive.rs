//! Batched packet reception.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::address::RawAddress;
use super::control::{self, ControlMessages, Room};
use super::socket::Socket;
use super::stamp::PacketStamps;
use super::{BATCH, unwritten};
use crate::ptp::EcnField;

/// Longest packet read, bytes; longer than any message of this agent. A longer packet is truncated and rejected.
const PACKET: usize = 256;

/// Number of slots in addition to those for expected packets: preparing many slots costs more than a second call.
const FEW: usize = 4;

/// A received packet.
#[derive(Debug, PartialEq)]
pub struct Datagram<'a> {
    pub from: SocketAddr,
    /// The local address that it was sent to, if the socket listens on all of them.
    pub to: Option<IpAddr>,
    pub bytes: &'a [u8],
    /// Its ECN field, if the socket asks for it.
    pub ecn: Option<EcnField>,
    /// Its hop limit, if the socket asks for it.
    pub hop_limit: Option<u8>,
    /// Timestamps of its arrival.
    pub stamps: PacketStamps,
    /// Packets that the socket had dropped before this one because they were not read in time, since it was opened and
    /// modulo 2^32.
    pub overflows: u32,
}

/// Reusable buffers for a batch.
pub struct Inbox {
    slots: Box<[Slot]>,
}

#[derive(Clone, Copy)]
struct Slot {
    bytes: [u8; PACKET],
    control: Room,
    from: RawAddress,
    len: usize,
    messages: ControlMessages,
}

impl Inbox {
    pub fn new() -> Self {
        let slot = Slot {
            bytes: [0; PACKET],
            control: [0; 32],
            from: RawAddress::empty(),
            len: 0,
            messages: ControlMessages::default(),
        };
        Self {
            slots: vec![slot; BATCH].into_boxed_slice(),
        }
    }

    /// Return the first `count` packets of the last batch without those of unknown address families.
    pub fn datagrams(&self, count: usize) -> impl Iterator<Item = Datagram<'_>> {
        self.slots[..count.min(BATCH)].iter().filter_map(|slot| {
            Some(Datagram {
                from: slot.from.get()?,
                to: slot.messages.to,
                bytes: &slot.bytes[..slot.len],
                ecn: slot.messages.ecn,
                hop_limit: slot.messages.hop_limit,
                stamps: slot.messages.stamps,
                overflows: slot.messages.overflows.unwrap_or(0),
            })
        })
    }

    /// Return the departure timestamps in the first `count` slots, by packet number.
    pub(super) fn departures(&self, count: usize) -> impl Iterator<Item = (u32, PacketStamps)> {
        let numbered = |slot: &Slot| Some((slot.messages.departure_id?, slot.messages.stamps));
        self.slots[..count.min(BATCH)]
            .iter()
            .filter_map(numbered)
            .filter(|(_, stamps)| !stamps.is_empty())
    }

    /// Return the times at the packet scheduler in the first `count` slots, by packet number.
    pub(super) fn scheduled(&self, count: usize) -> impl Iterator<Item = (u32, PacketStamps)> {
        let numbered = |slot: &Slot| Some((slot.messages.scheduled_id?, slot.messages.stamps));
        self.slots[..count.min(BATCH)].iter().filter_map(numbered)
    }

    /// Fill slots with packets, of which about `expected` wait. Return how many.
    fn fill(&mut self, socket: &Socket, expected: usize) -> io::Result<usize> {
        let (first, more) = self.slots.split_at_mut((expected + FEW).min(BATCH));
        let filled = read_into(first, socket, Queue::Packets)?;
        if filled < first.len() || more.is_empty() {
            return Ok(filled);
        }
        Ok(filled + read_into(more, socket, Queue::Packets)?)
    }
}

/// The queue of a socket to read.
#[derive(Clone, Copy, PartialEq)]
enum Queue {
    Packets,
    /// The error queue, which returns control messages of departures only.
    Departures,
}

/// Call `recvmmsg(2)` once. Return how many slots were filled.
fn read_into(slots: &mut [Slot], socket: &Socket, queue: Queue) -> io::Result<usize> {
    let (mut vectors, mut headers) = (unwritten(), unwritten::<libc::mmsghdr>());
    for ((slot, vector), header) in slots.iter_mut().zip(&mut vectors).zip(&mut headers) {
        // SAFETY: mmsghdr is plain pointers and integers, for which zero is a value.
        let header = &mut header.write(unsafe { std::mem::zeroed() }).msg_hdr;
        if queue == Queue::Packets {
            slot.from.storage.sin6_family = 0;
            header.msg_name = (&raw mut slot.from.storage).cast();
            header.msg_namelen = size_of_val(&slot.from.storage) as libc::socklen_t;
            header.msg_iov = vector.write(libc::iovec {
                iov_base: slot.bytes.as_mut_ptr().cast(),
                iov_len: PACKET,
            });
            header.msg_iovlen = 1;
        }
        header.msg_control = slot.control.as_mut_ptr().cast();
        header.msg_controllen = size_of::<Room>() as _;
    }
    let flags = match queue {
        Queue::Packets => libc::MSG_DONTWAIT,
        Queue::Departures => libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE,
    };
    let count = slots.len().min(BATCH);
    // SAFETY: recvmmsg(2) fills at most `count` headers, all of which are filled in; each points to a name and one vector,
    // or none, and to control room of the sizes it states, all of which outlive the call. No timeout is given: it does not
    // work (its page, BUGS), and the socket does not block.
    let filled = unsafe {
        libc::recvmmsg(
            socket.fd(),
            headers.as_mut_ptr().cast(),
            count as u32,
            flags as _,
            std::ptr::null_mut(),
        )
    };
    let Ok(filled) = usize::try_from(filled) else {
        return nothing_yet(io::Error::last_os_error());
    };
    for (slot, header) in slots.iter_mut().zip(&headers).take(filled) {
        // SAFETY: filled in above.
        let header = unsafe { header.assume_init_ref() };
        slot.len = (header.msg_len as usize).min(PACKET);
        slot.from.len = header.msg_hdr.msg_namelen;
        // SAFETY: the kernel has set msg_controllen to what it wrote to the slot's room.
        slot.messages = unsafe { control::read(&header.msg_hdr) };
    }
    Ok(filled)
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Socket {
    /// Read the next packets into `inbox`. Return how many; fewer than [`BATCH`] means that no more wait.
    pub fn receive(&self, inbox: &mut Inbox) -> io::Result<usize> {
        let count = inbox.fill(self, self.expected_packets())?;
        self.record_read(count);
        Ok(count)
    }

    /// Read the next departure timestamps. Return how many. The `expected` ones are read without polling an empty queue.
    pub(super) fn receive_departures(
        &self,
        inbox: &mut Inbox,
        expected: usize,
    ) -> io::Result<usize> {
        let count = if expected == 0 { FEW } else { expected };
        let slots = &mut inbox.slots[..count.min(BATCH)];
        read_into(slots, self, Queue::Departures)
    }
}

/// Return 0 for transient errors: an empty queue, a signal, an earlier packet without a receiver, an interface or memory
/// that is temporarily unavailable.
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
            ecn: EcnField::NOT_ECT,
            asks_schedule: false,
            token: (),
        };
        let mut inbox = Inbox::new();
        for expected in [0, FEW, 20, BATCH] {
            for waiting in [0, 1, FEW, FEW + 1, 20, BATCH - FEW, BATCH] {
                assert!(sender.send(&vec![packet; waiting], |_, left| left.unwrap()));
                let read = inbox.fill(&receiver, expected).unwrap();
                assert_eq!(read, waiting, "{expected} expected");
                assert!(
                    inbox
                        .datagrams(read)
                        .all(|datagram| datagram.bytes == [7; 44])
                );
                assert_eq!(inbox.fill(&receiver, expected).unwrap(), 0);
            }
        }
    }

    #[test]
    fn what_a_socket_gathers_is_remembered_and_forgotten_slowly() {
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap(), Stamps::Received).unwrap();
        let after = |counts: &[usize]| {
            counts.iter().for_each(|count| socket.record_read(*count));
            socket.expected_packets()
        };
        assert_eq!(after(&[7]), 7);
        assert_eq!(after(&[2]), 6);
        assert_eq!(after(&[9, 9]), 9);
        assert_eq!(after(&[0; 20]), 0);
    }
}
