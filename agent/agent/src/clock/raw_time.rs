//! Times on this machine's undisciplined clock.

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`: no time daemon slews or steps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawTime(pub i64);

impl RawTime {
    /// Return the nanoseconds since `earlier`; negative if that is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Return the time `nanos` later.
    pub fn plus(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }
}

/// The two timestamps of a packet, one of each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// Departure or arrival here.
    pub local: RawTime,
    /// Arrival or departure there, ns of the peer's clock. Corrections are not applied: a packet that waits in a switch is late.
    pub remote_ns: i64,
}

impl Leg {
    /// Return the local minus the remote timestamp, ns: the clock offset plus the delay of a received packet, or minus
    /// the delay of a sent one. Saturates, because a peer may send any time.
    pub fn difference_ns(self) -> i64 {
        self.local.0.saturating_sub(self.remote_ns)
    }
}

/// Return the sum of both delays, (t4 - t3) + (t2 - t1), ns: it needs no common clock.
pub fn round_trip_ns(outbound: Leg, inbound: Leg) -> i64 {
    let passed_ns = inbound.local.since(outbound.local);
    passed_ns.saturating_sub(inbound.remote_ns.saturating_sub(outbound.remote_ns))
}
