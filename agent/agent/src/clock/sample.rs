//! Exchanges relative to the start of their epoch.

use super::raw_time::{Leg, RawTime};

/// Reference of the times and offsets of an epoch; values relative to it are small enough to be exact.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    at: RawTime,
    offset_ns: i64,
}

/// One exchange: local times of its packets, s, and the differences between the stamps of both ends, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub inbound_at_s: f64,
    pub outbound_at_s: f64,
    /// Delay from the peer plus the offset.
    pub inbound_ns: f64,
    /// Delay to the peer minus the offset.
    pub outbound_ns: f64,
}

impl Origin {
    /// Return the reference of an epoch that starts with an exchange.
    pub fn of(outbound: Leg, inbound: Leg) -> Self {
        Self {
            at: outbound.local,
            offset_ns: inbound.difference_ns(),
        }
    }

    pub fn sample(&self, outbound: Leg, inbound: Leg) -> Sample {
        let from_peer = inbound.difference_ns().saturating_sub(self.offset_ns);
        let to_peer = self.offset_ns.saturating_sub(outbound.difference_ns());
        Sample {
            inbound_at_s: self.seconds(inbound.local),
            outbound_at_s: self.seconds(outbound.local),
            inbound_ns: from_peer as f64,
            outbound_ns: to_peer as f64,
        }
    }

    pub fn seconds(&self, at: RawTime) -> f64 {
        at.since(self.at) as f64 / 1e9
    }

    /// Return the absolute offset of one relative to this reference.
    pub fn offset_ns(&self, from_here_ns: f64) -> i64 {
        self.offset_ns.saturating_add(from_here_ns.round() as i64)
    }
}

impl Sample {
    /// Return one time for both directions: the effect of the skew between the two legs then cancels in the offset.
    pub fn at_s(&self) -> f64 {
        f64::midpoint(self.inbound_at_s, self.outbound_at_s)
    }

    pub fn round_trip_ns(&self) -> f64 {
        self.inbound_ns + self.outbound_ns
    }
}
