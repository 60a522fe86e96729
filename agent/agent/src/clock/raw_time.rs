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
    /// Arrival or departure there, ns of the peer's clock, corrections applied.
    pub remote_ns: i64,
}

impl Leg {
    /// Return the local minus the remote timestamp, ns: the clock offset plus the delay of a received packet, or minus
    /// the delay of a sent one. Saturates, because a peer may send any time.
    pub fn difference_ns(self) -> i64 {
        self.local.0.saturating_sub(self.remote_ns)
    }
}
