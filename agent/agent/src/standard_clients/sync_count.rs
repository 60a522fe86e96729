//! Loss of a standard responder's Syncs, from their sequence ids and their arrival times.
//!
//! Some responders number Syncs by client (ptpd, linuxptp 4), others by port (linuxptp 3), so that a client sees the ids
//! of all clients as gaps. A gap is loss only if the time confirms it: each lost Sync delays all later ones by one interval
//! relative to their count.

use std::collections::VecDeque;
use std::ops::Range;

use crate::clock::RawTime;

/// Largest gap of sequence ids that counts as loss. A larger one shows that the responder has restarted its count.
const LARGEST_GAP: u16 = 1024;
/// Arrivals before and after a gap that are compared.
const COMPARED: usize = 8;
/// Arrivals at each end of those kept whose lateness is compared with the ids missing between them.
const ENDS: usize = 4;
/// Interval from which a gap is judged by the two arrivals around it, ns: no jitter is as long as half of it.
const SLOW_NS: i64 = 100_000_000;

/// Share of an interval, in percent, within which a repeated or overtaken Sync comes after the newest one. A later one is the
/// first of a new count.
const MOMENT_PERCENT: i64 = 75;

/// The latest Syncs that have arrived.
#[derive(Debug, Default)]
pub(super) struct SyncCount {
    newest: Option<u16>,
    /// Bit i: `newest - i` has arrived.
    come: u64,
    /// The newest arrivals, oldest first, each with the ids missing before it.
    arrivals: VecDeque<(RawTime, i32)>,
    /// Arrivals at the end of `arrivals` whose gaps are not judged yet.
    unjudged: usize,
    /// Syncs counted as lost.
    lost: i32,
}

/// The Syncs that a Sync shows to be lost, less those that were counted too early; `None` is unknown.
pub(super) type Missed = Option<i32>;

impl SyncCount {
    /// Count a Sync that arrived at `at`; the responder sends one every `interval_ns`. Return `None` for a duplicate.
    pub fn count(&mut self, sequence_id: u16, at: RawTime, interval_ns: i64) -> Option<Missed> {
        let newest = self.newest.unwrap_or(sequence_id.wrapping_sub(1));
        let ahead = sequence_id.wrapping_sub(newest);
        let back = newest.wrapping_sub(sequence_id);
        if ahead != 0 && ahead <= LARGEST_GAP {
            self.newest = Some(sequence_id);
            self.come = self.come.checked_shl(ahead.into()).unwrap_or(0) | 1;
            return Some(self.arrived(at, i32::from(ahead) - 1, interval_ns));
        }
        let newest_at = self.arrivals.back().map_or(at, |(newest_at, _)| *newest_at);
        let is_soon = at.since(newest_at) < interval_ns / 100 * MOMENT_PERCENT;
        if back < 64 && is_soon {
            let bit = 1 << back;
            let before = self.come & bit != 0;
            self.come |= bit;
            return (!before).then(|| Some(self.take_back()));
        }
        // The responder has restarted its count: it may do so at each grant.
        (self.newest, self.come) = (Some(sequence_id), 1);
        self.arrivals.clear();
        self.unjudged = 0;
        Some(self.arrived(at, 0, interval_ns))
    }

    /// Take back the loss of a Sync that arrives after a newer one.
    fn take_back(&mut self) -> i32 {
        let mut unjudged = self.arrivals.iter_mut().rev().take(self.unjudged);
        if let Some((_, missing)) = unjudged.find(|(_, n)| *n > 0) {
            *missing -= 1;
            return 0;
        }
        let counted = self.lost.min(1);
        self.lost -= counted;
        -counted
    }

    /// Add an arrival after `missing` ids, and judges the gap that has enough arrivals around it now.
    fn arrived(&mut self, at: RawTime, missing: i32, interval_ns: i64) -> Missed {
        let after = if interval_ns >= SLOW_NS { 1 } else { COMPARED };
        self.arrivals.push_back((at, missing));
        self.unjudged += 1;
        if self.arrivals.len() > 2 * COMPARED {
            self.arrivals.pop_front();
        }
        let Some(place) = self.arrivals.len().checked_sub(after) else {
            return Some(0);
        };
        self.unjudged = self.unjudged.min(after - 1);
        let missing = self.arrivals[place].1;
        if missing == 0 {
            return Some(0);
        }
        let before = place.min(after);
        let skipped = self.skipped(place - before, place, interval_ns)?;
        if skipped <= 0 {
            // The responder keeps its rate: the ids are those of other clients.
            return Some(0);
        }
        // Less time passed than the ids say, here or around: others share the ids, and the responder may have skipped some.
        let is_certain = skipped >= missing && !self.is_shared(interval_ns);
        is_certain.then(|| {
            self.lost += missing;
            missing
        })
    }

    /// Return true if more ids are missing among the arrivals kept than the time between them has room for.
    fn is_shared(&self, interval_ns: i64) -> bool {
        let Some(last) = self.arrivals.len().checked_sub(ENDS).filter(|n| *n >= ENDS) else {
            return false;
        };
        let missing: i32 = self
            .arrivals
            .range(ENDS / 2 + 1..last + ENDS / 2)
            .map(|(_, missing)| *missing)
            .sum();
        let skipped = self.late_intervals(0..ENDS, last..self.arrivals.len(), interval_ns);
        skipped.is_none_or(|skipped| missing > skipped + skipped / 4 + 1)
    }

    /// Return the number of intervals by which the arrivals from `place` on are late relative to those from `first` to
    /// `place`, by their medians; `None` without any before.
    fn skipped(&self, first: usize, place: usize, interval_ns: i64) -> Option<i32> {
        self.late_intervals(first..place, place..self.arrivals.len(), interval_ns)
    }

    /// Return the number of intervals by which the later arrivals are late relative to the earlier ones and their count.
    fn late_intervals(
        &self,
        earlier: Range<usize>,
        later: Range<usize>,
        interval_ns: i64,
    ) -> Option<i32> {
        let origin = self.arrivals.get(earlier.start)?.0;
        let lateness =
            |index: usize| self.arrivals[index].0.since(origin) - index as i64 * interval_ns;
        let median = |range: Range<usize>| {
            let mut late: Vec<i64> = range.map(lateness).collect();
            late.sort_unstable();
            late.get(late.len() / 2).copied()
        };
        let late_ns = median(later)? - median(earlier)?;
        i32::try_from((late_ns + interval_ns / 2).div_euclid(interval_ns)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Feed Syncs given as id and arrival in intervals, with up to a third of an interval of jitter. Return the loss
    /// that was found, or `None` if some was unknown.
    fn lost(interval_ns: i64, syncs: impl Iterator<Item = (u16, i64)>) -> Option<i32> {
        let mut count = SyncCount::default();
        let mut sum = Some(0);
        for (nth, (id, slot)) in syncs.enumerate() {
            let jitter_ns = (nth as i64 * 7_919) % 100 * interval_ns / 300;
            let at = RawTime(slot * interval_ns + jitter_ns);
            let missed = count.count(id, at, interval_ns).unwrap_or(Some(0));
            sum = sum.zip(missed).map(|(sum, missed)| sum + missed);
        }
        sum
    }

    const RATES: [i64; 3] = [1_000 * MS, 62 * MS, 8 * MS];

    #[test]
    fn numbers_of_other_clients_are_no_loss() {
        for interval_ns in RATES {
            for stride in 1..=5 {
                let syncs = (0..500).map(|i| (i as u16 * stride, i));
                assert_eq!(lost(interval_ns, syncs), Some(0), "{interval_ns} {stride}");
            }
            // Another client at a quarter of the rate.
            let syncs = (0..500).map(|i| ((i + i / 4) as u16, i));
            assert_eq!(lost(interval_ns, syncs), Some(0), "{interval_ns}");
        }
    }

    #[test]
    fn lost_syncs_are_counted() {
        for interval_ns in RATES {
            for every in [37, 50, 100] {
                let syncs = (0..500).filter(|i| i % every != 20).map(|i| (i as u16, i));
                let expected = (0..490).filter(|i| i % every == 20).count() as i32;
                assert_eq!(lost(interval_ns, syncs), Some(expected), "{interval_ns}");
            }
            let burst = (0..500).filter(|i| !(100..130).contains(i));
            let syncs = burst.map(|i| (i as u16, i));
            assert_eq!(lost(interval_ns, syncs), Some(30), "{interval_ns}");
        }
    }

    #[test]
    fn loss_among_shared_numbers_is_unknown() {
        for interval_ns in RATES {
            let syncs = (0..500).filter(|i| i % 50 != 20).map(|i| (i as u16 * 3, i));
            assert_eq!(lost(interval_ns, syncs), None, "{interval_ns}");
        }
    }

    #[test]
    fn a_responder_that_stalls_while_others_share_its_numbers_loses_nothing() {
        for interval_ns in RATES {
            for stride in 2..=4 {
                // It skips one or three of its intervals now and then.
                let syncs = (0..500).map(|i| (i as u16 * stride, i + i / 60 + i / 150 * 2));
                let lost = lost(interval_ns, syncs).unwrap_or(0);
                assert_eq!(lost, 0, "{interval_ns} {stride}");
            }
        }
    }

    #[test]
    fn a_count_that_starts_again_loses_nothing_and_is_followed_within_two_syncs() {
        for interval_ns in RATES {
            // A responder that numbers its Syncs from 0 at each grant of 60 Syncs, sent at once or in its rhythm.
            for early in [0, 1, 2] {
                let mut count = SyncCount::default();
                let (mut taken, mut lost) = (0, 0);
                for i in 0..600 {
                    let is_first = i64::from(i % 60 == 0);
                    let at = RawTime(i * interval_ns - is_first * early * interval_ns / 3);
                    let missed = count.count((i % 60) as u16, at, interval_ns);
                    taken += i32::from(missed.is_some());
                    lost += missed.flatten().unwrap_or(0);
                }
                assert!(taken >= 600 - 20, "{interval_ns} {early}: {taken}");
                assert_eq!(lost, 0, "{interval_ns} {early}");
            }
        }
    }

    #[test]
    fn late_syncs_are_taken_back_and_duplicates_found() {
        let mut count = SyncCount::default();
        let interval_ns = 1_000 * MS;
        for (id, slot, missed) in [
            (65_534, 0, Some(0)),
            (65_535, 1, Some(0)),
            (2, 4, Some(2)),
            (1, 4, Some(-1)),
            (1, 4, None),
            (0, 4, Some(-1)),
            (2, 4, None),
            (3, 5, Some(0)),
            (40_000, 6, Some(0)),
            (40_001, 7, Some(0)),
        ] {
            let counted = count.count(id, RawTime(slot * interval_ns), interval_ns);
            assert_eq!(counted, missed.map(Some), "{id}");
        }
    }
}
