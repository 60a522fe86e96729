//! One-way delays from the four timestamps of an exchange (IEEE 1588-2019, 11.3).
//!
//! ```text
//! this VM                              peer
//!   t3 ──── request (Delay_Req) ────►  t4
//!   t2 ◄─── response (Sync) ─────────  t1
//! ```
//!
//! t2 and t3 are times of the own clock, t1 and t4 of the peer's. Delays have RFC 7679 as their definition.

use crate::clock::{Leg, RawTime, round_trip_ns};
use crate::ptp::Outcome;

/// The timestamps of an exchange, by packet; `None` if the packet lacks one of its two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timestamps {
    /// t3: the request leaves this VM. t4: it arrives at the peer.
    outbound: Option<Leg>,
    /// t1: the response leaves the peer. t2: it arrives at this VM.
    inbound: Option<Leg>,
}

/// The delay of each packet of an exchange, ns; `None` is not measured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delays {
    pub outbound_ns: Option<i64>,
    pub inbound_ns: Option<i64>,
    /// The sum of both, which needs no common clock.
    pub round_trip_ns: Option<i64>,
}

impl Timestamps {
    pub fn of<T>(outcome: &Outcome<T>) -> Self {
        Self {
            outbound: outcome.outbound,
            inbound: outcome.inbound,
        }
    }

    /// Return both legs; `None` if a packet lacks one.
    pub fn legs(&self) -> Option<(Leg, Leg)> {
        self.outbound.zip(self.inbound)
    }

    /// Return the delays by the offset at their times: the own clock minus the peer's, ns (IEEE 1588: the offset from the
    /// master). Delays without an offset are `None`.
    pub fn delays(&self, mut offset_at: impl FnMut(RawTime) -> Option<i64>) -> Delays {
        let mut delay = |leg: Option<Leg>, formula: fn(Leg, i64) -> i64| {
            let leg = leg?;
            Some(formula(leg, offset_at(leg.local)?))
        };
        let outbound_ns = delay(self.outbound, outbound_ns);
        let inbound_ns = delay(self.inbound, inbound_ns);
        let is_measured = outbound_ns.is_some() && inbound_ns.is_some();
        let legs = self.legs().filter(|_| is_measured);
        Delays {
            outbound_ns,
            inbound_ns,
            round_trip_ns: legs.map(|(outbound, inbound)| round_trip_ns(outbound, inbound)),
        }
    }
}

// With o for the own clock minus the peer's:
//
//     outbound = t4 − t3 + o
//     inbound  = t2 − t1 − o
//
// Both saturate, because a peer may send any time.

fn outbound_ns(leg: Leg, o: i64) -> i64 {
    let (t3, t4) = (leg.local.0, leg.remote_ns);
    t4.saturating_sub(t3).saturating_add(o)
}

fn inbound_ns(leg: Leg, o: i64) -> i64 {
    let (t1, t2) = (leg.remote_ns, leg.local.0);
    t2.saturating_sub(t1).saturating_sub(o)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers up to `most`, the same in every run (Numerical Recipes, LCG).
    fn numbers(mut state: u32, most: i64) -> impl FnMut() -> i64 {
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (i64::from(state >> 2) * most) >> 30
        }
    }

    /// The delays are the true ones whatever the two clocks show, if o is the own clock minus the peer's.
    #[test]
    fn delays_are_those_of_the_packets_whatever_the_offset_is() {
        let mut random = numbers(7, 1_000_000_000);
        for _ in 0..1_000 {
            let (outbound_ns, turnaround_ns, inbound_ns) = (random(), random(), random());
            let o = random() - random();
            let (own, peer) = (RawTime, |own_ns: i64| own_ns - o);
            let t3 = random();
            let t4 = t3 + outbound_ns;
            let t1 = t4 + turnaround_ns;
            let t2 = t1 + inbound_ns;
            let timestamps = Timestamps {
                outbound: Some(Leg {
                    local: own(t3),
                    remote_ns: peer(t4),
                }),
                inbound: Some(Leg {
                    local: own(t2),
                    remote_ns: peer(t1),
                }),
            };
            let delays = timestamps.delays(|_| Some(o));
            assert_eq!(delays.outbound_ns, Some(outbound_ns));
            assert_eq!(delays.inbound_ns, Some(inbound_ns));
        }
    }
}
