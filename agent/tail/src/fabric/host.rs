//! A host: the flows that it sends and receives, and which of them sends next.

use super::flow::Flow;
use super::transport::{FlowOrder, Transport};
use crate::Knowledge;
use crate::priority::{Waiting, compare};

pub(super) type Flows = [Option<Box<Flow>>];

#[derive(Default)]
pub(super) struct Host {
    /// Flows that it sends, by their numbers.
    pub(super) sending: Vec<u32>,
    /// Flows that it receives and does not have completely; Homa's alone.
    pub(super) receiving: Vec<u32>,
    /// The flow that sent last.
    last: Option<u32>,
}

impl Host {
    /// Return the flow whose packet is sent now; none if no flow may send.
    pub(super) fn choose(
        &mut self,
        flows: &Flows,
        transport: Transport,
        order: &FlowOrder,
        now_ps: u64,
    ) -> Option<u32> {
        let ready = self.sending.iter().filter_map(|number| {
            let flow = flows[*number as usize].as_deref()?;
            flow.sender.can_send(transport).then_some((*number, flow))
        });
        let remaining = |flow: &Flow| flow.size - flow.sent_bytes();
        // Homa's senders go by what remains; its receivers by the order.
        let chosen = if transport == Transport::Homa {
            least(ready, remaining)
        } else {
            match order {
                FlowOrder::Turn => next_in_turn(ready, self.last),
                FlowOrder::Sent => least(ready, Flow::sent_bytes),
                FlowOrder::Remaining => least(ready, remaining),
                FlowOrder::Age { .. } => oldest(ready, now_ps),
            }
        };
        self.last = chosen.or(self.last);
        chosen
    }

    pub(super) fn forget_sent(&mut self, number: u32) {
        self.sending.retain(|other| *other != number);
    }

    pub(super) fn forget_received(&mut self, number: u32) {
        self.receiving.retain(|other| *other != number);
    }
}

fn least<'a>(
    ready: impl Iterator<Item = (u32, &'a Flow)>,
    key: impl Fn(&Flow) -> u64,
) -> Option<u32> {
    ready
        .min_by_key(|(number, flow)| (key(flow), *number))
        .map(|(number, _)| number)
}

fn next_in_turn<'a>(
    ready: impl Iterator<Item = (u32, &'a Flow)>,
    last: Option<u32>,
) -> Option<u32> {
    let mut first = None;
    for (number, _) in ready {
        if last.is_none_or(|last| number > last) {
            return Some(number);
        }
        first = first.or(Some(number));
    }
    first
}

/// Return the flow of the highest age / bytes^α; flows that have sent nothing go first, in their order.
fn oldest<'a>(ready: impl Iterator<Item = (u32, &'a Flow)>, now_ps: u64) -> Option<u32> {
    let mut best: Option<Waiting> = None;
    for (number, flow) in ready {
        let Some(born_ps) = flow.born_ps else {
            return Some(number);
        };
        let waiting = Waiting {
            flow: number,
            born_ps,
            weight: flow.weight,
        };
        if best.is_none_or(|best| compare(&waiting, &best, now_ps).first_wins) {
            best = Some(waiting);
        }
    }
    best.map(|best| best.flow)
}

/// Return the bytes that count for the priority of the next packet.
pub(super) fn counted_bytes(flow: &Flow, knows: Knowledge) -> f64 {
    knows.bytes(flow.sent_bytes(), flow.size)
}
