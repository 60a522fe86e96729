//! The schedule of requests of each flow of each path.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::RawTime;

/// A path measured by this agent: mesh key and the peer's VM key.
pub(crate) type PathKey = (u32, u32);

/// One source port of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlowKey {
    pub path: PathKey,
    pub flow: u8,
}

/// Slots that a late turn catches up on, or those within this time, ns. More are left out, so that a pause ends without a
/// burst.
const CATCH_UP: i64 = 2;
const CATCH_UP_NS: i64 = 50_000_000;

/// Slots that a path starts with, and their interval, ns, if its own is longer: the clock of a peer is then known within a
/// second. The path then continues at its phase.
const FIRST: u32 = 32;
const FIRST_INTERVAL_NS: i64 = 31_250_000;

/// Time between the starts of new paths, ns; until its start each has its own rate.
const FIRST_APART_NS: i64 = 125_000_000;

/// Rate above which requests of a path leave in pairs, half as often: a wakeup costs more than a packet. Responses leave in
/// pairs too, and in both directions the second packet is the faster one, because its path is warm.
const MOST_TURNS_HZ: u32 = 64;

/// The time between slots of a flow, ns, and the number of requests in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rhythm {
    pub interval_ns: i64,
    pub together: u32,
}

impl Rhythm {
    /// Return the rhythm of a rate, in pairs if it is high or they are asked for.
    pub fn of(rate_hz: u32, in_pairs: bool) -> Self {
        let together = if in_pairs || rate_hz > MOST_TURNS_HZ {
            2
        } else {
            1
        };
        Self {
            interval_ns: 1_000_000_000 * i64::from(together) / i64::from(rate_hz.max(1)),
            together,
        }
    }
}

/// Slots of all flows by time.
#[derive(Debug)]
pub(crate) struct Schedule {
    slots: BinaryHeap<Reverse<(RawTime, FlowKey)>>,
    /// Number of slots that a path starts with.
    pub first: u32,
    /// Time at which the next new path may start.
    first_at: RawTime,
}

/// The slots of one flow: one each interval, at the flow's phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    rhythm: Rhythm,
    /// Requests of the next slot that have left.
    used: u32,
    next: RawTime,
    /// A slot of its regular phase.
    phase_at: RawTime,
    /// Remaining slots of its start, and the time of its start.
    first_left: u32,
    first_at: RawTime,
}

impl Slots {
    /// Return when the next slot is due.
    pub fn next(&self) -> RawTime {
        self.next
    }

    /// Postpone the next slot to the first one of its phase that is at least `wait_ns` later.
    pub fn postpone(&mut self, wait_ns: i64) {
        let intervals = (wait_ns + self.rhythm.interval_ns - 1) / self.rhythm.interval_ns;
        self.next = self.next.plus(intervals * self.rhythm.interval_ns);
        self.used = 0;
    }

    /// Return true if the slots are those of a rhythm.
    pub fn are_of(&self, rhythm: Rhythm) -> bool {
        self.rhythm == rhythm
    }

    /// Return the time from this request to the next one, ns.
    fn step_ns(&mut self) -> i64 {
        self.used = (self.used + 1) % self.rhythm.together;
        if self.used > 0 {
            return 0;
        }
        if self.first_left == 0 || self.next < self.first_at {
            return self.rhythm.interval_ns;
        }
        self.first_left -= 1;
        if self.first_left > 0 {
            return FIRST_INTERVAL_NS;
        }
        let to_phase_ns = self
            .phase_at
            .since(self.next)
            .rem_euclid(self.rhythm.interval_ns);
        if to_phase_ns == 0 {
            self.rhythm.interval_ns
        } else {
            to_phase_ns
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            slots: BinaryHeap::new(),
            first: FIRST,
            first_at: RawTime(0),
        }
    }
}

impl Schedule {
    /// Add one of the `flows` of a path that has its own rate from the first request on, which its plan times.
    pub fn add_steady(
        &mut self,
        key: FlowKey,
        flows: u8,
        own_vm_key: u32,
        rhythm: Rhythm,
        now: RawTime,
    ) -> Slots {
        let first = std::mem::take(&mut self.first);
        let slots = self.add(key, flows, own_vm_key, rhythm, now);
        self.first = first;
        slots
    }

    /// Add one of the `flows` of a path. The phase of its slots depends on the pair of VMs, which spreads the requests of one
    /// agent and those to one responder. The flows of a path share the interval evenly.
    pub fn add(
        &mut self,
        key: FlowKey,
        flows: u8,
        own_vm_key: u32,
        rhythm: Rhythm,
        now: RawTime,
    ) -> Slots {
        let interval_ns = rhythm.interval_ns;
        let (mesh_key, vm_key) = key.path;
        let spread = mix(u64::from(own_vm_key) << 32 | u64::from(vm_key)) ^ mix(mesh_key.into());
        let turn = u64::MAX / u64::from(flows.max(1)) * u64::from(key.flow);
        let phase = (u128::from(spread.wrapping_add(turn)) * interval_ns as u128) >> 64;
        let first_left = if interval_ns > FIRST_INTERVAL_NS && key.flow == 0 {
            self.first
        } else {
            0
        };
        let first_at = self.first_at.max(now);
        if first_left > 0 {
            self.first_at = first_at.plus(FIRST_APART_NS);
        }
        let phase_at = now.plus(phase as i64);
        // A path that may start does not wait for its phase.
        let at_once = first_at.plus(phase as i64 % FIRST_INTERVAL_NS);
        let slots = Slots {
            rhythm,
            used: 0,
            next: if first_left > 0 {
                phase_at.min(at_once)
            } else {
                phase_at
            },
            phase_at,
            first_left,
            first_at,
        };
        self.slots.push(Reverse((slots.next, key)));
        slots
    }

    /// Return the flow of the next slot due at `now`, its slots, and the number of requests left out. `slots` returns the
    /// slots of a flow, or `None` if the flow is gone.
    pub fn pop(
        &mut self,
        now: RawTime,
        mut slots: impl FnMut(FlowKey) -> Option<Slots>,
    ) -> Option<(FlowKey, Slots, u64)> {
        while let Some(&Reverse((due, key))) = self.slots.peek().filter(|slot| slot.0.0 <= now) {
            self.slots.pop();
            // Removed flows and those with a new rate leave their old slot behind.
            let Some(mut slots) = slots(key).filter(|slots| slots.next == due) else {
                continue;
            };
            let is_starting = slots.first_left > 0 && due >= slots.first_at;
            // Slots of a start are not a part of its rate: they move.
            if is_starting && now.since(due) > CATCH_UP_NS {
                slots.next = now;
            }
            let step_ns = slots.step_ns();
            let behind = now.since(slots.next).checked_div(step_ns).unwrap_or(0);
            let late = behind > CATCH_UP.max(CATCH_UP_NS / step_ns.max(1));
            let left_out = if late { behind } else { 0 };
            slots.next = slots.next.plus((left_out + 1) * step_ns);
            self.slots.push(Reverse((slots.next, key)));
            let requests = left_out.unsigned_abs() * u64::from(slots.rhythm.together);
            return Some((key, slots, requests));
        }
        None
    }

    /// Add the next slot of a flow that was postponed.
    pub fn push(&mut self, key: FlowKey, slots: &Slots) {
        self.slots.push(Reverse((slots.next, key)));
    }

    /// Return when the next slot is due.
    pub fn next(&self) -> Option<RawTime> {
        self.slots.peek().map(|Reverse((due, _))| *due)
    }
}

/// Mixe bits with the finaliser of SplitMix64: every bit of the result depends on every bit of `z`.
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const MS: i64 = 1_000_000;

    struct Paths {
        schedule: Schedule,
        slots: HashMap<FlowKey, Slots>,
    }

    impl Paths {
        fn new(peers: u32, rate_hz: u32) -> Self {
            let mut paths = Self {
                schedule: Schedule::default(),
                slots: HashMap::new(),
            };
            (0..peers).for_each(|peer| paths.add(peer, rate_hz, RawTime(0)));
            paths
        }

        fn add(&mut self, peer: u32, rate_hz: u32, now: RawTime) {
            self.add_flow(peer, 0, 1, rate_hz, now);
        }

        fn add_flow(&mut self, peer: u32, flow: u8, flows: u8, rate_hz: u32, now: RawTime) {
            let (path, rhythm) = ((1, peer), Rhythm::of(rate_hz, false));
            let key = FlowKey { path, flow };
            let slots = self.schedule.add(key, flows, 77, rhythm, now);
            self.slots.insert(key, slots);
        }

        /// Return the number of slots used up to and at `now`, and of those left out.
        fn used(&mut self, now_ms: i64) -> (usize, u64) {
            let (mut used, mut left_out) = (0, 0);
            while let Some((key, slots, n)) = self
                .schedule
                .pop(RawTime(now_ms * MS), |key| self.slots.get(&key).copied())
            {
                self.slots.insert(key, slots);
                used += 1;
                left_out += n;
            }
            (used, left_out)
        }
    }

    #[test]
    fn a_slow_path_starts_with_a_second_of_many_and_new_paths_take_turns() {
        let mut paths = Paths::new(1, 1);
        let mut seconds = [0; 6];
        for tick in 1..=600 {
            seconds[(tick - 1) / 100] += paths.used(tick as i64 * 10).0;
        }
        let first = seconds[0] + seconds[1];
        assert!((32..=34).contains(&first), "{seconds:?}");
        assert_eq!(seconds[3..], [1, 1, 1]);

        let mut paths = Paths::new(80, 1);
        let most = (1..1500).map(|tick| paths.used(tick * 10).0).max();
        assert!(most <= Some(16), "{most:?} in one hundredth of a second");

        // Of a loop that wakes too seldom the start takes longer.
        let mut paths = Paths::new(1, 1);
        let left_out: u64 = (1..40).map(|wake| paths.used(wake * 300).1).sum();
        assert_eq!(left_out, 0);
    }

    #[test]
    fn the_flows_of_a_path_take_turns() {
        let mut paths = Paths::new(0, 1);
        paths.schedule.first = 0;
        (0..8).for_each(|flow| paths.add_flow(5, flow, 8, 1, RawTime(0)));
        paths.used(999);
        // 125 ms apart, wherever the first one lies.
        let mut used = |eighth: i64| paths.used(eighth * 125 + 124).0;
        let used: Vec<usize> = (8..24).map(&mut used).collect();
        assert!(used.iter().all(|used| (0..=2).contains(used)), "{used:?}");
        assert_eq!(used.iter().sum::<usize>(), 16);
        let slots = paths.slots.values();
        let mut at: Vec<i64> = slots.map(|slots| slots.next.0 / MS).collect();
        at.sort_unstable();
        for pair in at.windows(2) {
            assert!((124..=126).contains(&(pair[1] - pair[0])), "{at:?}");
        }
    }

    #[test]
    fn a_late_wake_up_is_made_up_for_and_a_pause_is_not() {
        let mut paths = Paths::new(1, 128);
        paths.used(1000);
        assert_eq!(paths.used(1040).1, 0);
        let (used, left_out) = paths.used(6040);
        assert!(used <= 2, "{used}");
        assert!((635..=641).contains(&left_out), "{left_out}");
    }
}
