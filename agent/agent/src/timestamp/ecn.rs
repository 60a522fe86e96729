//! The ECN field of received packets.

use std::io;

use super::socket::{Socket, set};

impl Socket {
    /// Ask for the ECN field of received packets, or no longer. A socket of both families asks for both.
    pub fn ask_ecn(&self, asks: bool) -> io::Result<()> {
        let value = i32::from(asks);
        if self.local().is_ipv6() {
            set(self.fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, value)?;
        }
        set(self.fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Inbox, Outgoing, Stamps, wait};
    use super::*;
    use crate::ptp::EcnField;
    use std::net::SocketAddr;
    use std::time::Duration;

    /// Both families, and a socket of both of them by IPv4.
    const ADDRESSES: [&str; 3] = ["127.0.0.1:0", "[::1]:0", "[::]:0"];
    const SENT: [EcnField; 3] = [EcnField::ECT0, EcnField::NOT_ECT, EcnField::ECT0];

    /// Return two sockets at an address, and where the second one is reached.
    fn two_at(address: &str, stamps: Stamps) -> (Socket, Socket, SocketAddr) {
        let bind = || Socket::bind(address.parse().unwrap(), stamps).unwrap();
        let (sender, receiver) = (bind(), bind());
        let mut at = receiver.local();
        if at.ip().is_unspecified() {
            at.set_ip([127, 0, 0, 1].into());
        }
        (sender, receiver, at)
    }

    fn packet(to: SocketAddr, ecn: EcnField) -> Outgoing<()> {
        Outgoing {
            to,
            from: None,
            bytes: [7; crate::ptp::MAX_LEN],
            len: 44,
            ecn,
            asks_schedule: false,
            token: (),
        }
    }

    /// Send packets with and without ECT(0) at an address. Return the fields they arrive with.
    fn fields(address: &str, asks: bool) -> Vec<Option<EcnField>> {
        let (sender, receiver, at) = two_at(address, Stamps::Received);
        receiver.ask_ecn(asks).unwrap();
        let packets = SENT.map(|ecn| packet(at, ecn));
        assert!(sender.send(&packets, |_, left| left.unwrap()));
        let (mut inbox, mut seen) = (Inbox::new(), Vec::new());
        while seen.len() < packets.len() {
            let ready = wait([&receiver].into_iter(), Duration::from_secs(60)).unwrap();
            assert!(ready[0].packets, "a packet is missing");
            let count = receiver.receive(&mut inbox).unwrap();
            seen.extend(inbox.datagrams(count).map(|datagram| datagram.ecn));
        }
        seen
    }

    #[test]
    fn packets_leave_and_arrive_with_their_field_in_both_families() {
        for address in ADDRESSES {
            assert_eq!(fields(address, true), SENT.map(Some), "{address}");
        }
    }

    #[test]
    fn event_sockets_get_the_hop_limit_in_both_families() {
        for address in ADDRESSES {
            let (sender, receiver, at) = two_at(address, Stamps::SentAndReceived);
            assert!(sender.send(&[packet(at, EcnField::NOT_ECT)], |_, left| left.unwrap()));
            assert!(wait([&receiver].into_iter(), Duration::from_secs(60)).unwrap()[0].packets);
            let mut inbox = Inbox::new();
            let count = receiver.receive(&mut inbox).unwrap();
            let limits: Vec<_> = inbox.datagrams(count).map(|one| one.hop_limit).collect();
            assert_eq!(limits, [Some(64)], "{address}");
        }
    }

    #[test]
    fn the_field_is_not_read_unless_asked() {
        assert_eq!(fields(ADDRESSES[0], false), [None; 3]);
    }
}
