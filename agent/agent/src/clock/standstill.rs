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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Excess of the inbound and the outbound delay, ms, and what they show: `stood`, `ran`, or `?` for neither.
    #[test]
    fn only_a_shift_of_both_directions_shows_a_standstill() {
        for (inbound, outbound, shown) in [
            (0.0, 0.0, "ran"),
            (20.0, 0.0, "ran"),
            (-20.0, 20.0, "ran"),
            (-6_000.0, 6_000.0, "stood"),
            (-40.0, 40.0, "stood"),
            (-6_000.0, 9_000.0, "stood"),
            (-1_000.0, 6_000.0, "stood"),
            (6_000.0, -6_000.0, "ran"),
            (0.0, 60.0, "?"),
            (80.0, 60.0, "?"),
            (-60.0, 0.0, "?"),
        ] {
            let standstill = Standstill::of((inbound * MS, outbound * MS), MS);
            let is = (standstill.is_shown(), standstill.is_refuted());
            let expected = (shown == "stood", shown == "ran");
            assert_eq!(is, expected, "{inbound} {outbound}");
        }
    }

    #[test]
    fn what_is_known_is_not_shown_again_and_an_unknown_error_shows_nothing() {
        let standstill = Standstill::of((-6e9, 6e9), 0.0);
        assert!(standstill.less(6_000_000_000).is_refuted());
        for error_ns in [f64::NAN, f64::INFINITY] {
            let standstill = Standstill::of((-6e9, 6e9), error_ns);
            assert!(!standstill.is_shown() && !standstill.is_refuted());
        }
    }
}
