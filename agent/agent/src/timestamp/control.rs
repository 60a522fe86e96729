//! Control messages of received and sent packets (cmsg(3)).

use std::net::IpAddr;

use super::address::{in_addr, in6_addr, ipv4};
use super::kernel_clocks::RealTime;
use super::stamp::{CardTime, PacketStamps};
use crate::ptp::EcnField;

/// Buffer for the control messages of a received packet: timestamps 64, packet info 40, queue overflow 24, error 64, traffic
/// class 24, hop limit 24 bytes.
/// It consists of `u64` because `cmsghdr` must be aligned like one.
pub(super) type Room = [u64; 32];

/// Buffer for the control messages of a sent packet: its source address, at most 40 bytes, its traffic class, 24, the size of
/// segments, 24, and the timestamps asked for, 24.
pub(super) type SourceRoom = [u64; 14];

/// The control messages of a packet.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct ControlMessages {
    /// `SCM_TIMESTAMPING`.
    pub stamps: PacketStamps,
    /// `IP_PKTINFO`: the local address it was sent to.
    pub to: Option<IpAddr>,
    /// `SO_RXQ_OVFL`: packets this socket has dropped so far.
    pub overflows: Option<u32>,
    /// `IP_TOS` or `IPV6_TCLASS`: the ECN field it arrived with.
    pub ecn: Option<EcnField>,
    /// `IP_TTL` or `IPV6_HOPLIMIT`: the hop limit it arrived with.
    pub hop_limit: Option<u8>,
    /// From the error queue: the number of the sent packet that the timestamp is of.
    pub departure_id: Option<u32>,
    /// As above, but the timestamp was taken at the packet scheduler.
    pub scheduled_id: Option<u32>,
}

/// Read the control messages of a header that `recvmmsg` has filled in.
///
/// # Safety
/// `header.msg_control` must point to `header.msg_controllen` bytes written by the kernel.
pub(super) unsafe fn read(header: &libc::msghdr) -> ControlMessages {
    let mut messages = ControlMessages::default();
    // SAFETY: the CMSG macros stay within msg_controllen, which the caller vouches for (cmsg(3)).
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: not null, so it lies in the buffer, aligned as the kernel laid it out.
        let (kind, data) = unsafe { (*next, libc::CMSG_DATA(next)) };
        let len: usize = kind.cmsg_len as _;
        // SAFETY: CMSG_LEN only adds.
        let payload = len.saturating_sub(unsafe { libc::CMSG_LEN(0) } as usize);
        // SAFETY: `data` is followed by `payload` bytes of this message.
        unsafe { messages.take(kind.cmsg_level, kind.cmsg_type, data, payload) };
        // SAFETY: as for CMSG_FIRSTHDR.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    messages
}

impl ControlMessages {
    /// # Safety
    /// `data` must be readable for `len` bytes.
    unsafe fn take(&mut self, level: i32, kind: i32, data: *const u8, len: usize) {
        // SAFETY: the caller vouches for `len` bytes; `get` compares that with what it reads.
        unsafe {
            match (level, kind) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                    // struct scm_timestamping: software, deprecated, hardware.
                    let all: Option<[libc::timespec; 3]> = get(data, len);
                    if let Some([software, _, hardware]) = all {
                        self.stamps = PacketStamps {
                            kernel: nanos(software).map(RealTime),
                            card: nanos(hardware).map(CardTime),
                        };
                    }
                }
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => self.overflows = get(data, len),
                (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                    let info: Option<libc::in_pktinfo> = get(data, len);
                    self.to = info.map(|info| ipv4(info.ipi_addr).into());
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                    let info: Option<libc::in6_pktinfo> = get(data, len);
                    self.to =
                        info.map(|info| IpAddr::V6(info.ipi6_addr.s6_addr.into()).to_canonical());
                }
                (libc::IPPROTO_IP, libc::IP_TOS) => {
                    let octet: Option<u8> = get(data, len);
                    self.ecn = octet.map(EcnField::of);
                }
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    let class: Option<i32> = get(data, len);
                    self.ecn = class.map(|class| EcnField::of(class as u8));
                }
                (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                    let limit: Option<i32> = get(data, len);
                    self.hop_limit = limit.and_then(|limit| u8::try_from(limit).ok());
                }
                (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) => {
                    let error: Option<libc::sock_extended_err> = get(data, len);
                    // With OPT_ID, ee_data numbers the packets of the socket from 0; ee_info names where the
                    // stamp was taken, 0 being the driver (SCM_TSTAMP_SND) and 1 the scheduler (SCM_TSTAMP_SCHED).
                    let number_at = |place| {
                        let of_stamp = |e: &libc::sock_extended_err| {
                            e.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING && e.ee_info == place
                        };
                        error.filter(of_stamp).map(|e| e.ee_data)
                    };
                    (self.departure_id, self.scheduled_id) = (number_at(0), number_at(1));
                }
                _ => {}
            }
        }
    }
}

/// Return a time in ns; zero is "none".
fn nanos(time: libc::timespec) -> Option<i64> {
    let ns = time.tv_sec.checked_mul(1_000_000_000)?;
    ns.checked_add(time.tv_nsec).filter(|ns| *ns != 0)
}

/// # Safety
/// `data` must be readable for `len` bytes, and every bit pattern a valid `T`.
unsafe fn get<T: Copy>(data: *const u8, len: usize) -> Option<T> {
    // SAFETY: enough bytes, no alignment asked for; the caller vouches for the rest.
    (len >= size_of::<T>()).then(|| unsafe { data.cast::<T>().read_unaligned() })
}

/// Write the size of segments, `bytes` each (udp(7), UDP_SEGMENT), after the `used` bytes of `room`. Return how many bytes
/// are used then.
pub(super) fn write_segment(bytes: u16, used: usize, room: &mut SourceRoom) -> usize {
    used + write(
        libc::SOL_UDP,
        libc::UDP_SEGMENT,
        bytes,
        &mut room[used / 8..],
    )
}

/// Write the timestamps that a packet asks for instead of those of its socket, after the `used` bytes of `room`. Return how
/// many bytes are used then.
pub(super) fn write_stamps(flags: u32, used: usize, room: &mut SourceRoom) -> usize {
    used + write(
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPING,
        flags,
        &mut room[used / 8..],
    )
}

/// Write the ECN field of a packet to `to` after the `used` bytes of `room`. Return how many bytes are used then.
pub(super) fn write_ecn(ecn: EcnField, to: IpAddr, used: usize, room: &mut SourceRoom) -> usize {
    // An IPv4 address is reached by IPv4 from a socket of both families, too.
    let (level, kind) = match to.to_canonical() {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TOS),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    used + write(level, kind, i32::from(ecn.code()), &mut room[used / 8..])
}

/// Write the source address of a packet to `room`. Return how many bytes of it are used.
pub(super) fn write_source(source: IpAddr, room: &mut SourceRoom) -> usize {
    match source {
        IpAddr::V4(v4) => {
            let info = libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: in_addr(v4),
                ipi_addr: in_addr(v4),
            };
            write(libc::IPPROTO_IP, libc::IP_PKTINFO, info, room)
        }
        IpAddr::V6(v6) => {
            let info = libc::in6_pktinfo {
                ipi6_addr: in6_addr(v6),
                ipi6_ifindex: 0,
            };
            write(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info, room)
        }
    }
}

fn write<T>(level: i32, kind: i32, payload: T, room: &mut [u64]) -> usize {
    // SAFETY: CMSG_SPACE only adds.
    let space = unsafe { libc::CMSG_SPACE(size_of::<T>() as u32) as usize };
    assert!(space <= size_of_val(room));
    let header = room.as_mut_ptr().cast::<libc::cmsghdr>();
    // SAFETY: the room is aligned for a cmsghdr and has space for one and the payload, as was looked at above; CMSG_DATA is
    // within it, and CMSG_LEN only adds.
    unsafe {
        // Zeroed first: the kernel's length has eight octets, that of some C libraries four and padding (musl).
        header.write(std::mem::zeroed());
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<T>() as u32) as _;
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        libc::CMSG_DATA(header).cast::<T>().write_unaligned(payload);
    }
    space
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(tv_sec: i64, tv_nsec: i64) -> libc::timespec {
        libc::timespec { tv_sec, tv_nsec }
    }

    /// Read a control message of timestamps as the kernel writes it.
    fn stamps(all: [libc::timespec; 3]) -> PacketStamps {
        let mut room: Room = [0; 32];
        let used = write(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, all, &mut room);
        // SAFETY: msghdr is plain pointers and integers, for which zero is a value.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_control = room.as_mut_ptr().cast();
        header.msg_controllen = used as _;
        // SAFETY: `used` bytes of `room` were written above.
        unsafe { read(&header) }.stamps
    }

    #[test]
    fn timestamps_of_the_kernel_and_of_the_card_are_told_apart() {
        let none = time(0, 0);
        let cases = [
            ([none; 3], None, None),
            ([time(7, 5), none, none], Some(7_000_000_005), None),
            ([none, none, time(9, 1)], None, Some(9_000_000_001)),
            (
                [time(7, 5), time(1, 1), time(0, 3)],
                Some(7_000_000_005),
                Some(3),
            ),
        ];
        for (all, kernel, card) in cases {
            let expected = PacketStamps {
                kernel: kernel.map(RealTime),
                card: card.map(CardTime),
            };
            assert_eq!(stamps(all), expected);
        }
    }
}
