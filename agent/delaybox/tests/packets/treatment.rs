//! Packets that overtake the one in front of them, and changes of their ECN field, seen by ordinary sockets.

#![expect(
    unsafe_code,
    reason = "the standard library neither sets nor reads the type of service"
)]

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use crate::boxed::{Boxed, LEFT, RIGHT, drain, send, with_namespaces};

/// ECN-capable: ECT(0).
const ECT0: libc::c_int = 2;

fn set(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) {
    // SAFETY: setsockopt(2) reads one int of the size given, a local's.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    assert_eq!(done, 0);
}

/// Return the type of service of the next datagram; `None` if none comes for half a second.
fn service_of_next(socket: &UdpSocket) -> Option<u8> {
    let (mut data, mut room) = ([0u8; 64], [0u64; 8]);
    let mut vector = libc::iovec {
        iov_base: data.as_mut_ptr().cast(),
        iov_len: data.len(),
    };
    // SAFETY: msghdr is plain pointers and integers, for which zero is a value; recvmsg(2) fills the vector and the room,
    // both locals of the sizes given, and CMSG_FIRSTHDR and CMSG_DATA stay within what it wrote.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut vector;
        header.msg_iovlen = 1;
        header.msg_control = room.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&room) as _;
        if libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0) < 0 {
            return None;
        }
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        assert!(!first.is_null() && (*first).cmsg_type == libc::IP_TOS);
        Some(*libc::CMSG_DATA(first))
    }
}

#[test]
fn the_ecn_field_changes_as_asked_and_the_kernel_takes_the_packets() {
    with_namespaces(|| {
        for (words, service, least, most) in [
            ("mark=30%", ECT0, 90, 210),
            ("mark=100%", 0, 0, 0),
            ("clear=100%", ECT0, 500, 500),
            ("delay=1us", ECT0, 0, 0),
        ] {
            let boxed = Boxed::between_new(words, "");
            let (left, right) = (boxed.socket(0, LEFT), boxed.socket(1, RIGHT));
            set(&left, libc::IP_TOS, service);
            set(&right, libc::IP_RECVTOS, 1);
            let to = right.local_addr().unwrap();
            let mut services = Vec::new();
            for _ in 0..500 {
                left.send_to(&[7; 8], to).unwrap();
                services.extend(service_of_next(&right));
            }
            let counted = boxed.stop().outbound.counters;
            // A wrong checksum would lose packets.
            assert_eq!(services.len(), 500, "{words}");
            let services = services.into_iter().map(i32::from);
            let changed = services.clone().filter(|seen| *seen != service).count();
            assert!((least..=most).contains(&changed), "{words}: {changed}");
            assert_eq!(counted.ecn_changed_packets, changed as u64, "{words}");
            if words.starts_with("mark") {
                assert!(services.clone().all(|seen| seen == service || seen == 3));
            }
        }
    });
}

#[test]
fn packets_overtake_the_one_in_front_only_on_request() {
    with_namespaces(|| {
        for (words, least, most) in [("delay=20ms reorder=25%", 60, 190), ("delay=20ms", 0, 0)] {
            let boxed = Boxed::between_new(words, "");
            let (left, right) = (boxed.socket(0, LEFT), boxed.socket(1, RIGHT));
            for first in (0..1000).step_by(2) {
                send(&left, &right, first);
                send(&left, &right, first + 1);
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            let seen = drain(&right);
            let crowded = boxed.crowded_out(1);
            let counted = boxed.stop().outbound.counters;
            assert_eq!(counted.sent_packets, seen.len() as u64 + crowded);
            let descents = seen.windows(2).filter(|pair| pair[0] > pair[1]).count();
            assert!((least..=most).contains(&descents), "{words}: {descents}");
            assert_eq!(counted.reordered_packets == 0, descents == 0);
        }
    });
}
