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

    /// Send packets with and without ECT(0) from one address to the other. Return the fields they arrive with.
    fn fields(from: &str, to: &str, asks: bool) -> Vec<Option<EcnField>> {
        let bind = |at: &str| Socket::bind(at.parse().unwrap(), Stamps::Received).unwrap();
        let (sender, receiver) = (bind(from), bind(to));
        receiver.ask_ecn(asks).unwrap();
        let port = receiver.local().port();
        // To a socket of both families by IPv4.
        let at = match receiver.local().ip() {
            ip if ip.is_unspecified() => SocketAddr::new("127.0.0.1".parse().unwrap(), port),
            ip => SocketAddr::new(ip, port),
        };
        let packets =
            [EcnField::ECT0, EcnField::NOT_ECT, EcnField::ECT0].map(|ecn| packet(at, ecn));
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
        let expected = [EcnField::ECT0, EcnField::NOT_ECT, EcnField::ECT0].map(Some);
        for (from, to) in [
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:0", "[::1]:0"),
            ("[::]:0", "[::]:0"),
        ] {
            assert_eq!(fields(from, to, true), expected, "{from} to {to}");
        }
    }

    #[test]
    fn event_sockets_get_the_hop_limit_in_both_families() {
        for (from, to) in [
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:0", "[::1]:0"),
            ("[::]:0", "[::]:0"),
        ] {
            let bind =
                |at: &str| Socket::bind(at.parse().unwrap(), Stamps::SentAndReceived).unwrap();
            let (sender, receiver) = (bind(from), bind(to));
            let ip = match receiver.local().ip() {
                // By IPv4 to a socket of both families.
                ip if ip.is_unspecified() => "127.0.0.1".parse().unwrap(),
                ip => ip,
            };
            let at = SocketAddr::new(ip, receiver.local().port());
            assert!(sender.send(&[packet(at, EcnField::NOT_ECT)], |_, left| left.unwrap()));
            assert!(wait([&receiver].into_iter(), Duration::from_secs(60)).unwrap()[0].packets);
            let mut inbox = Inbox::new();
            let count = receiver.receive(&mut inbox).unwrap();
            let limits: Vec<_> = inbox.datagrams(count).map(|one| one.hop_limit).collect();
            assert_eq!(limits, [Some(64)], "{from} to {to}");
        }
    }

    #[test]
    fn the_field_is_not_read_unless_asked() {
        assert_eq!(fields("127.0.0.1:0", "127.0.0.1:0", false), [None; 3]);
    }
}
