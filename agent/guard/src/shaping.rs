//! The queues: an HTB discipline with a class of its own for each class of flows, and the commands of `tc` that make it.
//!
//! HTB lends what the link has left to the class of the lowest `prio` first, and each class has a rate of its own that no
//! other takes: strict priority with a floor, so that no class starves.

/// Handle of our root discipline: the letters SM. Everything else of the guard is below it.
pub(super) const ROOT: u32 = 0x534d_0000;
/// Minor number of the queue of the highest class; the others follow.
pub(super) const FIRST_QUEUE: u32 = 0x10;
/// Share of the bottleneck's rate that is used: the queue must be here, not before the bottleneck.
const USED_PERCENT: u64 = 95;
/// Longest wait in a queue that packets are accepted to.
const QUEUE_MS: u64 = 100;
/// A queue holds a few segments of the largest size at any rate.
const QUEUE_BYTES_MIN: u64 = 262_144;
/// Bytes that leave at once after a pause: half a millisecond of the link, or two packets.
const BURST_BYTES_MIN: u64 = 3_200;
const RATE_MIN_BIT: u64 = 1_000_000;
const RATE_MAX_BIT: u64 = 400_000_000_000;

/// Rates of the classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shaping {
    /// Of the bottleneck, bit/s.
    pub rate_bit: u64,
    pub classes: usize,
    /// Share of the link, percent, that each class but the highest has for itself.
    pub floor_percent: u64,
}

impl Shaping {
    /// Return the rate at which the guard sends, bit/s.
    pub fn used_bit(&self) -> u64 {
        self.rate_bit / 100 * USED_PERCENT
    }

    /// Return the rate that each class has for itself, bit/s, highest class first.
    pub fn own_bit(&self) -> Vec<u64> {
        let floor = self.used_bit() / 100 * self.floor_percent;
        let lower = self.classes as u64 - 1;
        let mut all = vec![floor; self.classes];
        all[0] = self.used_bit() - lower * floor;
        all
    }

    /// Return the handles of the queues, highest class first.
    pub fn queues(&self) -> Vec<u32> {
        (0..self.classes as u32)
            .map(|class| ROOT | (FIRST_QUEUE + class))
            .collect()
    }

    /// Return the commands of `tc` that make the queues.
    pub fn commands(&self, interface: &str) -> Vec<String> {
        let used = self.used_bit();
        let burst = (used / 8 / 2_000).max(BURST_BYTES_MIN);
        let burst = format!("burst {burst} cburst {burst}");
        let root = name(ROOT);
        let mut commands = vec![
            format!("qdisc add dev {interface} root handle {root} htb default {FIRST_QUEUE:x}"),
            format!(
                "class add dev {interface} parent {root} classid {root}1 htb rate {used}bit ceil {used}bit {burst}"
            ),
        ];
        let limit = (used / 8 * QUEUE_MS / 1_000).max(QUEUE_BYTES_MIN);
        for (class, (queue, own)) in self.queues().iter().zip(self.own_bit()).enumerate() {
            let queue = name(*queue);
            commands.push(format!(
                "class add dev {interface} parent {root}1 classid {queue} htb prio {class} rate {own}bit ceil {used}bit \
                 {burst} quantum 1514"
            ));
            commands.push(format!(
                "qdisc add dev {interface} parent {queue} bfifo limit {limit}"
            ));
        }
        commands
    }

    /// Return the command of `tc` that removes everything.
    pub fn removal(interface: &str) -> String {
        format!("qdisc del dev {interface} root")
    }
}

/// Return a handle in the notation of `tc`.
pub(super) fn name(handle: u32) -> String {
    match handle & 0xffff {
        0 => format!("{:x}:", handle >> 16),
        minor => format!("{:x}:{minor:x}", handle >> 16),
    }
}

/// Parse a rate as `tc` writes it: `950mbit`, `2.5gbit`.
pub(super) fn parse_rate(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "--rate {text:?} must be a rate from 1mbit to 400gbit, for example 950mbit or 2.5gbit"
        )
    };
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)]
        .iter()
        .find_map(|(suffix, unit)| Some((lower.strip_suffix(suffix)?, *unit)))
        .ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let rate_bit = (number * unit).round();
    if rate_bit >= RATE_MIN_BIT as f64 && rate_bit <= RATE_MAX_BIT as f64 {
        Ok(rate_bit as u64)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaping() -> Shaping {
        Shaping {
            rate_bit: 100_000_000,
            classes: 4,
            floor_percent: 2,
        }
    }

    #[test]
    fn the_rates_that_classes_have_for_themselves_fill_the_link_and_no_more() {
        let own = [89_300_000, 1_900_000, 1_900_000, 1_900_000];
        assert_eq!(shaping().own_bit(), own);
        for classes in 2..=8 {
            let shaping = Shaping {
                classes,
                rate_bit: 1_234_567_891,
                ..shaping()
            };
            assert_eq!(shaping.own_bit().iter().sum::<u64>(), shaping.used_bit());
        }
    }

    #[test]
    fn everything_is_below_one_root() {
        let commands = shaping().commands("eth0");
        assert_eq!(commands.len(), 2 + 2 * 4);
        let root = "qdisc add dev eth0 root handle 534d: htb default 10";
        assert_eq!(commands[0], root);
        assert!(commands[1].contains("classid 534d:1 htb rate 95000000bit ceil 95000000bit"));
        assert!(commands[1..].iter().all(|one| one.contains("parent 534d:")));
        assert!(commands[8].contains("classid 534d:13 htb prio 3 rate 1900000bit"));
        let last = "qdisc add dev eth0 parent 534d:13 bfifo limit 1187500";
        assert_eq!(commands[9], last);
    }

    #[test]
    fn rates() {
        for (text, bit) in [
            ("1mbit", 1_000_000),
            ("2.5gbit", 2_500_000_000),
            ("40 Mbit", 40_000_000),
            ("5000kbit", 5_000_000),
        ] {
            assert_eq!(parse_rate(text), Ok(bit));
        }
        for wrong in [
            "", "10", "10mb", "0mbit", "-5mbit", "1tbit", "401gbit", "nanmbit",
        ] {
            let error = parse_rate(wrong).unwrap_err();
            assert!(error.contains("950mbit"), "{wrong}");
        }
    }
}
