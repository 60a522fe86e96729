//! Homa's receivers: which flows may send more, and in which class.

use super::host::Flows;
use super::transport::{FlowOrder, Settings};
use crate::priority::{Waiting, Weight, compare, log2_priority};

/// A flow that may send more, and the class of what it sends.
pub(super) struct Granted {
    pub(super) flow: u32,
    pub(super) class: u8,
    /// log2 of its priority, where the order has α.
    pub(super) log2: Option<f64>,
}

/// Return the class of the packets that a flow sends without a grant.
pub(super) fn unscheduled_class(settings: &Settings, size: u64) -> u8 {
    let above = settings.cutoffs.partition_point(|most| *most < size);
    (settings.scheduled_classes + settings.cutoffs.len() - above) as u8
}

/// Return the flows that a receiver lets send, as many as there are classes of granted packets.
///
/// Homa takes those with the fewest bytes left. Of n flows the first is in class n - 1, the last in the lowest. With α it
/// takes those of the highest age / remaining^α, and their classes are those of their priorities.
pub(super) fn grants(
    receiving: &[u32],
    flows: &Flows,
    order: &FlowOrder,
    settings: &Settings,
    now_ps: u64,
) -> Vec<Granted> {
    let mut left: Vec<Candidate> = receiving
        .iter()
        .filter_map(|number| {
            let flow = flows[*number as usize].as_deref()?;
            let remaining = flow.size - flow.receiver.bytes;
            let alpha = match order {
                FlowOrder::Age { alpha, .. } => *alpha,
                _ => 0.0,
            };
            (flow.receiver.granted < flow.packets).then(|| Candidate {
                remaining,
                waiting: Waiting {
                    flow: *number,
                    born_ps: flow.born_ps.unwrap_or(now_ps),
                    weight: Weight::new(remaining as f64, alpha),
                },
            })
        })
        .collect();
    let count = left.len().min(settings.scheduled_classes);
    (0..count)
        .map(|place| {
            let mut best = 0;
            for at in 1..left.len() {
                if left[at].goes_before(&left[best], order, now_ps) {
                    best = at;
                }
            }
            let chosen = left.swap_remove(best);
            let mut granted = Granted {
                flow: chosen.waiting.flow,
                class: (count - 1 - place) as u8,
                log2: None,
            };
            if let FlowOrder::Age {
                alpha, boundaries, ..
            } = order
            {
                let age_ns = (now_ps - chosen.waiting.born_ps) as f64 / 1_000.0;
                let log2 = log2_priority(age_ns, chosen.remaining as f64, *alpha);
                granted.log2 = Some(log2);
                if !boundaries.is_empty() {
                    granted.class = boundaries.partition_point(|start| *start <= log2) as u8;
                }
            }
            granted
        })
        .collect()
}

struct Candidate {
    remaining: u64,
    waiting: Waiting,
}

impl Candidate {
    fn goes_before(&self, other: &Self, order: &FlowOrder, now_ps: u64) -> bool {
        if matches!(order, FlowOrder::Age { .. }) {
            compare(&self.waiting, &other.waiting, now_ps).first_wins
        } else {
            (self.remaining, self.waiting.flow) < (other.remaining, other.waiting.flow)
        }
    }
}
