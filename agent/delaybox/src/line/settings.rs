//! Settings of a direction and their changes: one grammar for flags, files, schedules and the control input.
//!
//! `delay=normal:100us,10us loss=1% rate=100mbit burst=5kB queue=250kB`: words in any order, each optional.
//! `add=100us` is added to the delay; it may be negative.

use super::bucket::Rate;
use super::distribution::Distribution;
use crate::units;

const DEFAULT_BURST_BYTES: u64 = 5_000;
const DEFAULT_QUEUE_BYTES: u64 = 250_000;
const KEYS: &str = "delay=, add=, loss=, reorder=, mark=, clear=, rate=, burst= and queue=";

/// Settings of a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub delay: Distribution,
    /// Added to every draw.
    pub add_ns: i64,
    /// Share of packets to lose, independently.
    pub loss: f64,
    /// Share of packets that leave before the packet in front of them, if that still waits.
    pub reorder: f64,
    /// Share of ECN-capable packets to mark (CE), and of packets whose ECN field to clear.
    pub mark: f64,
    pub clear: f64,
    pub rate: Option<Rate>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            delay: Distribution::NONE,
            add_ns: 0,
            loss: 0.0,
            reorder: 0.0,
            mark: 0.0,
            clear: 0.0,
            rate: None,
        }
    }
}

/// Change of [`Settings`]; `None` is unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    pub delay: Option<Distribution>,
    pub add_ns: Option<i64>,
    pub loss: Option<f64>,
    pub reorder: Option<f64>,
    pub mark: Option<f64>,
    pub clear: Option<f64>,
    /// `Some(None)`: remove the limit.
    pub rate: Option<Option<Rate>>,
}

impl Change {
    /// Read words of the grammar; errors name the word.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut change = Self::default();
        let (mut burst, mut queue) = (None, None);
        let mut bits_per_s = None;
        for word in text.split_whitespace() {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| format!("{word:?} is no key=value; there are {KEYS}"))?;
            match key {
                "delay" => change.delay = Some(Distribution::parse(value)?),
                "add" => change.add_ns = Some(units::duration_ns(value)?),
                "loss" => change.loss = Some(units::share(value)?),
                "reorder" => change.reorder = Some(units::share(value)?),
                "mark" => change.mark = Some(units::share(value)?),
                "clear" => change.clear = Some(units::share(value)?),
                "rate" if value == "none" => change.rate = Some(None),
                "rate" => bits_per_s = Some(units::bits_per_s(value)?),
                "burst" => burst = Some(units::bytes(value)?),
                "queue" => queue = Some(units::bytes(value)?),
                _ => return Err(format!("{key:?} is not known; there are {KEYS}")),
            }
        }
        if let Some(bits_per_s) = bits_per_s {
            change.rate = Some(Some(Rate {
                bits_per_s,
                burst_bytes: burst.unwrap_or(DEFAULT_BURST_BYTES),
                queue_bytes: queue.unwrap_or(DEFAULT_QUEUE_BYTES),
            }));
        } else if burst.or(queue).is_some() {
            return Err("burst and queue belong to a rate; write rate=100mbit too".to_owned());
        }
        Ok(change)
    }

    /// Return `settings` with this change.
    pub fn applied_to(&self, settings: &Settings) -> Settings {
        Settings {
            delay: self.delay.clone().unwrap_or_else(|| settings.delay.clone()),
            add_ns: self.add_ns.unwrap_or(settings.add_ns),
            loss: self.loss.unwrap_or(settings.loss),
            reorder: self.reorder.unwrap_or(settings.reorder),
            mark: self.mark.unwrap_or(settings.mark),
            clear: self.clear.unwrap_or(settings.clear),
            rate: self.rate.unwrap_or(settings.rate),
        }
    }
}

/// Direction through the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Left to right.
    Outbound,
    /// Right to left.
    Inbound,
}

impl Direction {
    pub const BOTH: [Self; 2] = [Self::Outbound, Self::Inbound];

    pub fn name(self) -> &'static str {
        match self {
            Self::Outbound => "outbound",
            Self::Inbound => "inbound",
        }
    }

    pub fn index(self) -> usize {
        self as usize
    }

    /// Parse `outbound`, `inbound` or `both`.
    pub fn parse(text: &str) -> Result<&'static [Self], String> {
        match text {
            "outbound" => Ok(&Self::BOTH[..1]),
            "inbound" => Ok(&Self::BOTH[1..]),
            "both" => Ok(&Self::BOTH),
            _ => Err(format!(
                "{text:?} is no direction; write outbound, inbound or both"
            )),
        }
    }
}

/// Change and the numbers of its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub lines: Vec<usize>,
    pub change: Change,
}

impl Order {
    /// Create the change that sets all of `settings`.
    pub fn all_of(direction: Direction, settings: &Settings) -> Self {
        Self {
            lines: vec![direction.index()],
            change: Change {
                delay: Some(settings.delay.clone()),
                add_ns: Some(settings.add_ns),
                loss: Some(settings.loss),
                reorder: Some(settings.reorder),
                mark: Some(settings.mark),
                clear: Some(settings.clear),
                rate: Some(settings.rate),
            },
        }
    }

    /// Parse `outbound add=100us`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (direction, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(|| {
            format!("{text:?} has no direction and change; write: outbound add=100us")
        })?;
        Ok(Self {
            lines: Direction::parse(direction)?
                .iter()
                .map(|direction| direction.index())
                .collect(),
            change: Change::parse(rest)?,
        })
    }
}

/// Order for a time after the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduled {
    pub at_ns: i64,
    pub order: Order,
}

impl Scheduled {
    /// Parse `30s` and an order, which `parse` reads: `30s outbound add=100us`.
    pub fn parse(
        text: &str,
        parse: impl FnOnce(&str) -> Result<Order, String>,
    ) -> Result<Self, String> {
        let (at, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(|| {
            format!("{text:?} has no time and change; write for example: 30s … add=100us")
        })?;
        Ok(Self {
            at_ns: units::positive_ns(at)?,
            order: parse(rest)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_touches_what_it_names() {
        let first = Change::parse("delay=100us loss=1% rate=100mbit burst=10kB")
            .unwrap()
            .applied_to(&Settings::default());
        assert_eq!(first.rate.unwrap().burst_bytes, 10_000);
        let second = Change::parse("add=-20us").unwrap().applied_to(&first);
        assert_eq!((second.add_ns, second.loss), (-20_000, 0.01));
        assert_eq!(second.delay, first.delay);
        let third = Change::parse("rate=none loss=0")
            .unwrap()
            .applied_to(&second);
        assert_eq!((third.rate, third.loss), (None, 0.0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("delay", "key=value"),
            ("latency=1us", "not known"),
            ("burst=1kB", "belong to a rate"),
            ("loss=2", "no share"),
        ] {
            let why = Change::parse(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
        for (text, expected) in [
            ("soon outbound add=1us", "duration"),
            ("1s sideways add=1us", "direction"),
            ("1s", ""),
        ] {
            let why = Scheduled::parse(text, Order::parse).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
