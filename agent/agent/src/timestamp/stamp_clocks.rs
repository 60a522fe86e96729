//! The clocks of packet timestamps: that of the kernel, and that of the network card where it timestamps packets.

use std::cell::Cell;
use std::io;

use super::clock_map::ClockMap;
use super::kernel_clocks::CrossTimestamp;
use super::stamp::{CardTime, PacketStamps, Stamp, StampClock};
use crate::clock::{PhcReading, PhcTracker, RawTime, TimestampSource};

/// Time between readings of a card's clock, ns.
const READ_NS: i64 = 1_000_000_000;

/// Longest time from the card's timestamp of a packet to the kernel's: interrupt moderation, and a busy processor.
const LONGEST_WAY_NS: i64 = 50_000_000;

/// Tolerance, ns, of a card's timestamp after the kernel's, in addition to the error of the card's clock.
const SLACK_NS: i64 = 2_000;

/// Packets in a row whose two timestamps contradict each other after which the card is not used.
const CONTRADICTIONS: u32 = 16;

/// The clock of a network card.
pub trait CardClock: Send {
    /// Read the clock against the raw clock. The error is that of the reading.
    fn read(&mut self) -> io::Result<PhcReading>;
}

/// A clock of a card, and its latest readings.
struct CardStamps {
    clock: Box<dyn CardClock>,
    tracker: PhcTracker,
    next: Option<RawTime>,
    /// Packets in a row whose timestamps contradict each other.
    contradictions: Cell<u32>,
    failure: Option<String>,
}

/// Both clocks.
pub struct StampClocks {
    kernel: ClockMap,
    card: Option<CardStamps>,
}

impl StampClocks {
    pub fn new(now: CrossTimestamp, card: Option<Box<dyn CardClock>>) -> Self {
        let stamps = |clock| CardStamps {
            clock,
            tracker: PhcTracker::default(),
            next: None,
            contradictions: Cell::new(0),
            failure: None,
        };
        let mut clocks = Self {
            kernel: ClockMap::new(now),
            card: card.map(stamps),
        };
        clocks.read_card(now.raw);
        clocks
    }

    pub fn latest(&self) -> CrossTimestamp {
        self.kernel.latest()
    }

    /// Add a cross-timestamp, and read the card's clock if that is due. Return the step of the real-time clock since the
    /// last one, ns, if there was one.
    pub fn update(&mut self, cross_timestamp: CrossTimestamp) -> Option<i64> {
        self.read_card(cross_timestamp.raw);
        self.kernel.update(cross_timestamp)
    }

    fn read_card(&mut self, now: RawTime) {
        let Some(card) = &mut self.card else { return };
        if card.next.is_some_and(|next| now < next) {
            return;
        }
        card.next = Some(now.plus(READ_NS));
        match card.clock.read() {
            Ok(reading) => {
                card.failure = None;
                card.tracker.add(reading);
            }
            Err(error) => card.failure = Some(error.to_string()),
        }
    }

    /// Return the error bound of converted timestamps of the card at `now`, ns; `None` without a card.
    pub fn card_error_ns(&self, now: RawTime) -> Option<u64> {
        let ahead = self.card.as_ref()?.tracker.at(now)?;
        Some(ahead.error_ns)
    }

    /// Discard the readings of the card's clock, because this machine was disrupted.
    pub fn reset_card(&mut self) {
        if let Some(card) = &mut self.card {
            card.tracker.reset();
            card.next = None;
        }
    }

    /// Return why the card must not be used any more, if so.
    pub fn card_fault(&self, now: RawTime) -> Option<String> {
        let card = self.card.as_ref()?;
        if card.contradictions.get() >= CONTRADICTIONS {
            return Some("its timestamps contradict the kernel's: they are of another clock, or of another time".into());
        }
        let failure = card.failure.as_ref()?;
        let is_stale = card.tracker.at(now).is_none();
        is_stale.then(|| format!("its clock cannot be read: {failure}"))
    }

    /// Use the kernel's timestamps alone from now on.
    pub fn leave_card(&mut self) {
        self.card = None;
    }
}

impl CardStamps {
    /// Convert a timestamp of the card. Return its error, ns, too.
    fn raw(&self, shows: CardTime) -> Option<(RawTime, u64)> {
        self.tracker.moment_of(shows.0)
    }
}

impl StampClock for StampClocks {
    fn stamp(&self, stamps: PacketStamps) -> Option<Stamp> {
        let kernel = self.kernel.stamp(stamps);
        let Some((card, shows)) = self.card.as_ref().zip(stamps.card) else {
            return kernel;
        };
        let Some((at, error_ns)) = card.raw(shows) else {
            return kernel;
        };
        // A packet passes the wire before the driver: of a received one both are known.
        if let Some(kernel) = kernel {
            let way_ns = kernel.at.since(at);
            let earliest_ns = -SLACK_NS - i64::try_from(error_ns).unwrap_or(i64::MAX);
            if !(earliest_ns..=LONGEST_WAY_NS).contains(&way_ns) {
                card.contradictions
                    .set(card.contradictions.get().saturating_add(1));
                return Some(kernel);
            }
            card.contradictions.set(0);
        }
        Some(Stamp {
            at,
            source: TimestampSource::Hardware,
        })
    }
}

#[cfg(test)]
#[path = "stamp_clocks_tests.rs"]
mod tests;
