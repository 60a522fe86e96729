//! The timestamps of one packet, and the clocks that they are converted by.

use super::clock_map::ClockMap;
use super::kernel_clocks::RealTime;
use crate::clock::{RawTime, TimestampSource};

/// Nanoseconds of the clock of a network card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardTime(pub i64);

/// The timestamps that the kernel returned for one packet, each of its own clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PacketStamps {
    pub kernel: Option<RealTime>,
    pub card: Option<CardTime>,
}

/// The time at which a packet passed, and where it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub at: RawTime,
    pub source: TimestampSource,
}

impl PacketStamps {
    /// Return true if the kernel returned none.
    pub fn is_empty(&self) -> bool {
        self.kernel.is_none() && self.card.is_none()
    }
}

/// Converts the timestamps of packets to the raw clock. Everything that measures knows only this.
pub trait StampClock {
    /// Return when a packet passed, by its most precise timestamp; `None` if it has none that can be converted.
    fn stamp(&self, stamps: PacketStamps) -> Option<Stamp>;
}

impl StampClock for ClockMap {
    fn stamp(&self, stamps: PacketStamps) -> Option<Stamp> {
        Some(Stamp {
            at: self.raw(stamps.kernel?)?,
            source: TimestampSource::Kernel,
        })
    }
}
