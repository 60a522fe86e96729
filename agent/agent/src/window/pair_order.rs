//! The order of the two packets of a pair, sent back to back, at their arrival.
//!
//! The share of pairs whose second packet arrives first estimates reordering of packets of no distance (J. Bellardo and S.
//! Savage, "Measuring packet reordering", IMW 2002); RFC 4737, 3.3 counts the same packets.

use crate::clock::Leg;
use crate::ptp::Outcome;

/// True if the packets of a pair arrived in another order than they left, by direction; `None` is unknown, also for the
/// first packet of a pair.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reversed {
    pub outbound: Option<bool>,
    pub inbound: Option<bool>,
}

/// The latest exchange of one flow.
#[derive(Debug)]
struct Latest {
    flow: u8,
    at_ns: u64,
    outbound: Option<Leg>,
    inbound: Option<Leg>,
}

/// The latest exchanges of one peer in one window, by flow.
#[derive(Debug, Default)]
pub(super) struct PairOrder(Vec<Latest>);

impl PairOrder {
    /// Compare an exchange with the one of the same flow and slot, `at_ns` after the window started, if there is one.
    pub fn compare<T>(&mut self, at_ns: u64, flow: u8, outcome: &Outcome<T>) -> Reversed {
        let next = Latest {
            flow,
            at_ns,
            outbound: outcome.outbound,
            inbound: outcome.inbound,
        };
        let Some(latest) = self.0.iter_mut().find(|latest| latest.flow == flow) else {
            self.0.push(next);
            return Reversed::default();
        };
        let first = std::mem::replace(latest, next);
        if first.at_ns != at_ns {
            return Reversed::default();
        }
        let sent_here = |leg: Leg| (leg.local.0, leg.remote_ns);
        let sent_there = |leg: Leg| (leg.remote_ns, leg.local.0);
        Reversed {
            outbound: is_reversed(
                first.outbound.map(sent_here),
                outcome.outbound.map(sent_here),
            ),
            inbound: is_reversed(
                first.inbound.map(sent_there),
                outcome.inbound.map(sent_there),
            ),
        }
    }
}

/// Return true if two packets, each with its times of departure and arrival, arrived in another order than they left.
fn is_reversed(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<bool> {
    let ((one_left, one_came), (other_left, other_came)) = (one?, other?);
    if one_left == other_left {
        return None;
    }
    Some((one_left < other_left) == (one_came > other_came))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::RawTime;
    use crate::ptp::EcnSeen;

    /// Return the outcome of an exchange with t3, t4, t1 and t2; a packet that arrives at 0 was lost.
    fn outcome([t3, t4, t1, t2]: [i64; 4]) -> Outcome<()> {
        let leg = |local, remote_ns| Leg {
            local: RawTime(local),
            remote_ns,
        };
        Outcome {
            tag: (),
            request_arrived: Some(t4 != 0),
            sync_sent: Some(t4 != 0),
            sync_arrived: t2 != 0,
            answered: t2 != 0,
            syncs_missed: Some(0),
            outbound: (t4 != 0).then(|| leg(t3, t4)),
            inbound: (t2 != 0).then(|| leg(t2, t1)),
            source: None,
            ecn: EcnSeen::default(),
            residence: crate::ptp::Residence::default(),
            responder: crate::ptp::ResponderNotes::default(),
        }
    }

    fn compared(first: [i64; 4], second: [i64; 4]) -> (Option<bool>, Option<bool>) {
        let mut order = PairOrder::default();
        let none = order.compare(5, 0, &outcome(first));
        assert_eq!(none, Reversed::default());
        let reversed = order.compare(5, 0, &outcome(second));
        (reversed.outbound, reversed.inbound)
    }

    #[test]
    fn each_direction_is_compared_by_its_own_times() {
        let first = [10, 1_000, 2_000, 90];
        for (second, outbound, inbound) in [
            ([11, 1_001, 2_001, 91], false, false),
            // The second request overtook the first, so its Sync left and came first, in order.
            ([11, 999, 1_999, 89], true, false),
            // The second Sync overtook the first.
            ([11, 1_001, 2_001, 89], false, true),
            // Both directions.
            ([11, 999, 1_999, 91], true, true),
        ] {
            assert_eq!(compared(first, second), (Some(outbound), Some(inbound)));
        }
    }

    #[test]
    fn what_was_lost_or_left_at_another_time_has_no_order() {
        let first = [10, 1_000, 2_000, 90];
        assert_eq!(compared(first, [11, 0, 0, 0]), (None, None));
        assert_eq!(compared(first, [11, 999, 1_999, 0]), (Some(true), None));
        let mut order = PairOrder::default();
        order.compare(5, 0, &outcome(first));
        for (at_ns, flow) in [(5, 1), (6, 0)] {
            let reversed = order.compare(at_ns, flow, &outcome([11, 999, 1_999, 91]));
            assert_eq!(reversed, Reversed::default());
        }
    }
}
