//! Limits on the packets that leave: the caps of the plan, and load shedding.

use std::sync::atomic::Ordering::Relaxed;

use super::exchanger::{ANSWER_PACKETS, Exchanger, set};
use super::load_shedding::Usage;
use crate::clock::RawTime;

impl Exchanger {
    /// Measure the resources of this process periodically, and lower the packet rate if they exceed a cap.
    pub(super) fn shed_load(&mut self, now: RawTime) {
        if !self.load_shedder.due(now) {
            return;
        }
        let usage = Usage::of_this_process(now, self.counters.packets_sent.load(Relaxed));
        set(&self.counters.memory_bytes, usage.memory_bytes);
        if let Some(percent) = self.load_shedder.update(usage, &self.caps) {
            let millis = (1_000.0 * percent).round() as u64;
            set(&self.counters.cpu_millipercent, millis);
        }
        self.apply_limits();
    }

    /// Apply the packet rate that is allowed now.
    pub(super) fn apply_limits(&mut self) {
        let (packets_per_s, _) = self.load_shedder.packets_per_s(&self.caps);
        let burst = (packets_per_s / 10).max(ANSWER_PACKETS);
        self.budget.set_limit(packets_per_s, burst);
        // Half, so that a flood of forged packets leaves the measurement the other half.
        let half = (burst / 2).max(ANSWER_PACKETS);
        self.unproven_budget.set_limit(packets_per_s / 2, half);
        set(&self.counters.packets_per_s_allowed, packets_per_s.into());
    }
}
