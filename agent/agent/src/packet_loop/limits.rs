//! What may be sent at all: the caps of the plan and what the agent takes of its machine.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use super::exchanger::{ANSWER_PACKETS, Exchanger, set};
use super::load_shedding::Usage;
use crate::clock::RawTime;
use crate::plan::Plan;

impl Exchanger {
    /// Looks now and again at what this process takes of the machine, and sends less if that is too much.
    pub(super) fn restrain(&mut self, now: RawTime) {
        if !self.restraint.due(now) {
            return;
        }
        let usage = Usage::of_this_process(now, self.counters.packets_sent.load(Relaxed));
        set(&self.counters.memory_bytes, usage.memory_bytes);
        if let Some(percent) = self.restraint.judge(usage, &self.caps) {
            let millis = (1_000.0 * percent).round() as u64;
            set(&self.counters.cpu_millipercent, millis);
        }
        self.limit();
    }

    /// Puts in force how many packets may leave.
    pub(super) fn limit(&mut self) {
        let (packets_per_s, _) = self.restraint.packets_per_s(&self.caps);
        let burst = (packets_per_s / 10).max(ANSWER_PACKETS);
        self.budget.limit(packets_per_s, burst);
        set(&self.counters.packets_per_s_allowed, packets_per_s.into());
    }
}

/// The plan without the peers beyond its cap.
pub(super) fn within_caps(plan: &Plan) -> Cow<'_, Plan> {
    let count: usize = plan.meshes.iter().map(|mesh| mesh.peers.len()).sum();
    let mut left = plan.caps.peers as usize;
    if count <= left {
        return Cow::Borrowed(plan);
    }
    tracing::warn!(
        peers = count,
        cap = left,
        "the plan has more peers than it allows; the rest is left out"
    );
    let mut plan = plan.clone();
    for mesh in &mut plan.meshes {
        mesh.peers.truncate(left);
        left -= mesh.peers.len();
    }
    Cow::Owned(plan)
}
