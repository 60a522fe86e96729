//! What one exchange shows about our own clock: for how long it may have stood still since the line of the peer's clock.
//!
//! A machine that its hypervisor pauses has no clock that counts the pause. Its peers' clocks do: by theirs, requests arrive
//! later than ever by the length of the pause, and responses leave later by as much. Queues only lengthen delays. So the
//! pause was at least as long as the inbound delay seems shortened, and at most as long as the outbound one seems
//! lengthened. A step ahead of the peer's clock looks the same.

/// Longest standstill that windows tolerate, ns: half of the error that they should keep. The other half is that of the
/// backend's answers.
pub const TOLERATED_NS: i64 = 25_000_000;

/// Bounds of the time that our clock stood still, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standstill {
    pub least_ns: i64,
    pub most_ns: i64,
    /// A standstill that was known is subtracted, and the exchange is not as before it.
    pub is_accounted: bool,
}

impl Standstill {
    /// Return what an exchange shows whose delays exceed the shortest ones by (inbound, outbound), ns.
    pub fn of((inbound, outbound): (f64, f64), error_ns: f64) -> Self {
        // Floats saturate, and what is not a number becomes 0: an unknown error must widen.
        let error_ns = if error_ns.is_nan() {
            f64::INFINITY
        } else {
            error_ns
        };
        Self {
            least_ns: (-inbound - error_ns) as i64,
            most_ns: (outbound + error_ns) as i64,
            is_accounted: false,
        }
    }

    /// Return the bounds of what is not known yet.
    pub fn less(self, known_ns: i64) -> Self {
        Self {
            least_ns: self.least_ns.saturating_sub(known_ns),
            most_ns: self.most_ns.saturating_sub(known_ns),
            is_accounted: true,
        }
    }

    /// Return true if our clock ran, or stood still no longer than windows tolerate.
    pub fn is_refuted(self) -> bool {
        self.least_ns.max(self.most_ns) <= TOLERATED_NS
    }

    /// Return true if our clock stood still for longer, unless the peer's was stepped.
    pub fn is_shown(self) -> bool {
        // A route that has become shorter, or a queue at the start that has drained, shortens one direction only.
        self.least_ns.min(self.most_ns) > TOLERATED_NS
    }
}
