//! Counters of the kernel for one network interface, from `/proc/net/dev`.

use std::io;

const FILE: &str = "/proc/net/dev";

/// Bytes and packets since the interface exists; 64 bits, which do not wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceCounters {
    pub bytes_received: u64,
    pub packets_received: u64,
    pub bytes_sent: u64,
    pub packets_sent: u64,
}

impl InterfaceCounters {
    /// Read the counters of an interface, all at one moment. `NotFound` without that interface.
    pub fn read(interface: &str) -> io::Result<Self> {
        let text = std::fs::read_to_string(FILE)?;
        Self::parse(&text, interface).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("{FILE} has no counters of {interface}"),
            )
        })
    }

    /// Return the counters after those of `before`; `None` if a counter fell, as happens when an interface is created again.
    pub fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            bytes_received: self.bytes_received.checked_sub(before.bytes_received)?,
            packets_received: self.packets_received.checked_sub(before.packets_received)?,
            bytes_sent: self.bytes_sent.checked_sub(before.bytes_sent)?,
            packets_sent: self.packets_sent.checked_sub(before.packets_sent)?,
        })
    }

    /// Lines are `name: ` and 16 numbers: bytes and packets received are the first two, those sent the 9th and 10th.
    fn parse(text: &str, interface: &str) -> Option<Self> {
        let numbers = text.lines().find_map(|line| {
            // A name may hold a colon, as that of an alias; the numbers hold none.
            let (name, numbers) = line.rsplit_once(':')?;
            (name.trim() == interface).then_some(numbers)
        })?;
        let numbers: Vec<u64> = numbers
            .split_ascii_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self {
            bytes_received: *numbers.first()?,
            packets_received: *numbers.get(1)?,
            bytes_sent: *numbers.get(8)?,
            packets_sent: *numbers.get(9)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1776770    1942    0    0    0     0          0         0  1776770    1942    0    0    0     0       0          0
  eth0:18446744073709551615 9 1 2 3 4 5 6 77 8 0 0 0 0 0 0
eth0:1: 5 4 0 0 0 0 0 0 3 2 0 0 0 0 0 0
";

    #[test]
    fn an_interface_is_found_by_its_whole_name() {
        let eth0 = InterfaceCounters::parse(TEXT, "eth0").unwrap();
        let expected = InterfaceCounters {
            bytes_received: u64::MAX,
            packets_received: 9,
            bytes_sent: 77,
            packets_sent: 8,
        };
        assert_eq!(eth0, expected);
        let alias = InterfaceCounters::parse(TEXT, "eth0:1").unwrap();
        assert_eq!((alias.bytes_received, alias.bytes_sent), (5, 3));
        assert_eq!(InterfaceCounters::parse(TEXT, "eth"), None);
        assert_eq!(InterfaceCounters::parse("eth0: 1 2 x", "eth0"), None);
    }

    #[test]
    fn a_counter_that_fell_gives_no_difference() {
        let at = |bytes_sent| InterfaceCounters {
            bytes_received: 100,
            packets_received: 10,
            bytes_sent,
            packets_sent: 1,
        };
        let difference = at(7_000_000_000).since(&at(5)).unwrap();
        assert_eq!(
            (difference.bytes_sent, difference.bytes_received),
            (6_999_999_995, 0)
        );
        assert_eq!(at(4).since(&at(5)), None);
    }

    #[test]
    fn this_machine_has_a_loopback_interface() {
        assert!(InterfaceCounters::read("lo").is_ok());
        let error = InterfaceCounters::read("no-such-if").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
