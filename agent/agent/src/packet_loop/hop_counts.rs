//! Hop limits of received packets: a change shows another number of routers on the way, and so dates a reroute.

use std::collections::HashMap;
use std::net::IpAddr;

/// Consecutive packets with one new hop limit after which the way has changed. Packets of several source ports may take ways
/// of their own: those of the old way between them show that it is still there.
const IN_A_ROW: u8 = 5;

/// A change of the number of routers from a peer to this VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reroute {
    pub before: u8,
    pub after: u8,
    /// Arrival of the first packet by the new way.
    pub at_ns: i64,
}

/// The hop limits that packets of the plan's peers arrive with.
#[derive(Debug, Default)]
pub(super) struct HopCounts(HashMap<IpAddr, Arrivals>);

#[derive(Debug, Default)]
struct Arrivals {
    known: Option<u8>,
    /// Another hop limit, arrival of its first packet, and how many of it came in a row.
    other: (u8, i64, u8),
}

impl HopCounts {
    /// Follow the peers of a plan. Those that remain keep what is known of them.
    pub fn follow(&mut self, peers: impl Iterator<Item = IpAddr>) {
        let mut before = std::mem::take(&mut self.0);
        self.0 = peers
            .map(|peer| (peer, before.remove(&peer).unwrap_or_default()))
            .collect();
    }

    /// Take the hop limit of a packet that arrived at `at_ns`. Return the reroute that it proves.
    pub fn arrived(&mut self, peer: IpAddr, hop_limit: u8, at_ns: i64) -> Option<Reroute> {
        let arrivals = self.0.get_mut(&peer)?;
        let before = *arrivals.known.get_or_insert(hop_limit);
        let (other, _, count) = &mut arrivals.other;
        if hop_limit == before {
            *count = 0;
            return None;
        }
        if *count == 0 || *other != hop_limit {
            arrivals.other = (hop_limit, at_ns, 1);
            return None;
        }
        *count += 1;
        if *count < IN_A_ROW {
            return None;
        }
        let since_ns = arrivals.other.1;
        *arrivals = Arrivals {
            known: Some(hop_limit),
            ..Arrivals::default()
        };
        Some(Reroute {
            before,
            after: hop_limit,
            at_ns: since_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    /// Return the reroutes that packets with these hop limits show, one a nanosecond.
    fn reroutes(hops: &mut HopCounts, hop_limits: &[u8]) -> Vec<(u8, u8, i64)> {
        let arrived = |(at, limit): (usize, &u8)| hops.arrived(PEER, *limit, at as i64);
        let found = hop_limits.iter().enumerate().filter_map(arrived);
        found.map(|r| (r.before, r.after, r.at_ns)).collect()
    }

    #[test]
    fn five_packets_in_a_row_by_another_way_are_a_reroute_dated_at_the_first() {
        type Case = (&'static [u8], &'static [(u8, u8, i64)]);
        let cases: [Case; 5] = [
            (&[64, 64, 62, 62, 62, 62, 62, 62], &[(64, 62, 2)]),
            // One packet late on the old way, and one on a third one.
            (&[64, 62, 62, 64, 62, 62, 61, 62, 62], &[]),
            // Source ports with ways of their own, in turns.
            (&[64, 62, 64, 62, 64, 62, 64, 62, 64, 62, 64, 62], &[]),
            (
                &[64, 62, 62, 62, 62, 62, 64, 64, 64, 64, 64],
                &[(64, 62, 1), (62, 64, 6)],
            ),
            (&[64], &[]),
        ];
        for (hop_limits, expected) in cases {
            let mut hops = HopCounts::default();
            hops.follow([PEER].into_iter());
            assert_eq!(reroutes(&mut hops, hop_limits), expected, "{hop_limits:?}");
        }
    }

    #[test]
    fn only_peers_of_the_plan_count_and_keep_what_is_known() {
        let mut hops = HopCounts::default();
        assert!(reroutes(&mut hops, &[64, 62, 62, 62, 62, 62]).is_empty());
        hops.follow([PEER].into_iter());
        assert!(reroutes(&mut hops, &[64]).is_empty());
        hops.follow([PEER, "::1".parse().unwrap()].into_iter());
        assert_eq!(reroutes(&mut hops, &[60; 5]), [(64, 60, 0)]);
        hops.follow(std::iter::empty());
        hops.follow([PEER].into_iter());
        assert!(reroutes(&mut hops, &[64; 5]).is_empty());
    }
}
