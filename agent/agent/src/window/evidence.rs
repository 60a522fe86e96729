//! Evidence of a spike: the exchanges around it.

use sinemora_wire::{EVIDENCE_LIMIT, Evidence};

/// A complete exchange of a window: its start, ns after the start of the window, and its delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measured {
    pub at_ns: u64,
    pub outbound_ns: i64,
    pub inbound_ns: i64,
}

/// Return the exchanges, in order of time, around the one that exceeds the median of either direction or of the round trip
/// most; `None` if none does by more than `threshold_ns`.
pub(super) fn around_spike(
    peer_key: u32,
    measured: &[Measured],
    threshold_ns: u64,
) -> Option<Evidence> {
    let looks: [fn(&Measured) -> i64; 3] = [
        |m| m.outbound_ns,
        |m| m.inbound_ns,
        |m| m.outbound_ns.saturating_add(m.inbound_ns),
    ];
    let (rise, peak) = looks
        .iter()
        .filter_map(|look| highest(measured, look))
        .max()?;
    if rise <= i64::try_from(threshold_ns).unwrap_or(i64::MAX) {
        return None;
    }
    let kept = measured.len().min(EVIDENCE_LIMIT);
    let start = peak.saturating_sub(kept / 2).min(measured.len() - kept);
    let kept = &measured[start..start + kept];
    Some(Evidence {
        peer_key,
        at_ns: kept.iter().map(|m| m.at_ns).collect(),
        outbound_ns: kept.iter().map(|m| m.outbound_ns).collect(),
        inbound_ns: kept.iter().map(|m| m.inbound_ns).collect(),
    })
}

/// Return the excess of the highest value over the median, and its index.
fn highest(measured: &[Measured], look: impl Fn(&Measured) -> i64) -> Option<(i64, usize)> {
    let mut sorted: Vec<i64> = measured.iter().map(&look).collect();
    sorted.sort_unstable();
    let median = *sorted.get(sorted.len().checked_sub(1)? / 2)?;
    let (place, value) = measured
        .iter()
        .map(look)
        .enumerate()
        .max_by_key(|&(_, value)| value)?;
    Some((value.saturating_sub(median), place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm(n: u64) -> Vec<Measured> {
        (0..n)
            .map(|i| Measured {
                at_ns: i * 1000,
                outbound_ns: 50_000,
                inbound_ns: 60_000,
            })
            .collect()
    }

    #[test]
    fn a_calm_window_keeps_nothing() {
        assert_eq!(around_spike(3, &calm(80), 500_000), None);
        assert_eq!(around_spike(3, &[], 0), None);
        let mut rise = calm(80);
        rise[7].inbound_ns += 500_000;
        assert_eq!(around_spike(3, &rise, 500_000), None);
    }

    #[test]
    fn a_spike_in_either_direction_keeps_what_is_around_it() {
        for (peak, first) in [(0, 0), (40, 8), (79, 16)] {
            let mut measured = calm(80);
            measured[peak].inbound_ns += 600_000;
            let evidence = around_spike(3, &measured, 500_000).unwrap();
            assert_eq!((evidence.peer_key, evidence.at_ns.len()), (3, 64));
            assert_eq!(evidence.at_ns[0], first * 1000);
            assert!(evidence.inbound_ns.contains(&660_000));
        }
        let mut few = calm(3);
        few[1].outbound_ns += 2_000_000;
        assert_eq!(
            around_spike(3, &few, 500_000).unwrap().outbound_ns,
            [50_000, 2_050_000, 50_000]
        );
    }

    #[test]
    fn half_a_spike_each_way_is_one_of_the_round_trip() {
        let mut measured = calm(10);
        measured[4].outbound_ns += 300_000;
        measured[4].inbound_ns += 300_000;
        assert!(around_spike(3, &measured, 500_000).is_some());
    }
}
