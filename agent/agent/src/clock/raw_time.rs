//! Times on this machine's undisciplined clock.

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`: no time daemon slews or steps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawTime(pub i64);

impl RawTime {
    /// Nanoseconds from `earlier` to here; negative when it is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time `nanos` later.
    pub fn plus(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }
}

/// A packet on its way in one direction, as the two ends stamped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// Departure or arrival here.
    pub local: RawTime,
    /// Arrival or departure there, ns of the peer's clock, corrections applied.
    pub remote_ns: i64,
}

impl Leg {
    /// Local minus remote stamp, ns: the clock offset, plus the delay if the packet came in, minus it if it left.
    /// Saturates: a peer may claim any time.
    pub fn difference_ns(self) -> i64 {
        self.local.0.saturating_sub(self.remote_ns)
    }
}
