//! Strict priority between a few classes, as switches and queueing disciplines have them.

use std::collections::VecDeque;

use super::Knowledge;
use super::link::{Order, Outcome, Packet};
use super::priority::log2_priority;

/// A queue for each class. Every flow has one packet in a queue: its next.
pub(super) struct Classes<'a> {
    alpha: f64,
    knows: Knowledge,
    boundaries: &'a [f64],
    /// Lowest class first.
    queues: Vec<VecDeque<u32>>,
    bytes: Vec<i64>,
    /// When the first packet of each flow began, ps.
    born_ps: Vec<u64>,
    /// Class of the packet that is being sent.
    sending: usize,
}

impl<'a> Classes<'a> {
    pub(super) fn new(alpha: f64, knows: Knowledge, boundaries: &'a [f64], flows: usize) -> Self {
        let classes = boundaries.len() + 1;
        Self {
            alpha,
            knows,
            boundaries,
            queues: vec![VecDeque::new(); classes],
            bytes: vec![0; classes],
            born_ps: vec![0; flows],
            sending: 0,
        }
    }

    /// Return the outcome with the bytes of each class.
    pub(super) fn counted(self, outcome: Outcome) -> Outcome {
        Outcome {
            class_bytes: self.bytes,
            ..outcome
        }
    }
}

impl Order for Classes<'_> {
    fn arrive(&mut self, flow: u32, _size: u64, _now_ps: u64) {
        self.queues[self.boundaries.len()].push_back(flow);
    }

    fn next(&mut self, _now_ps: u64) -> Option<u32> {
        self.sending = self.queues.iter().rposition(|queue| !queue.is_empty())?;
        self.queues[self.sending].pop_front()
    }

    fn sent(&mut self, packet: &Packet, next_bytes: u64, now_ps: u64) {
        self.bytes[self.sending] += packet.bytes as i64;
        let born_ps = &mut self.born_ps[packet.flow as usize];
        if packet.sent_before == 0 {
            *born_ps = packet.started_ps;
        }
        if next_bytes > 0 {
            let age_ns = (now_ps - *born_ps) as f64 / 1000.0;
            let bytes = self.knows.bytes(packet.sent(), packet.size);
            let log2 = log2_priority(age_ns, bytes, self.alpha);
            let class = self.boundaries.partition_point(|start| *start <= log2);
            self.queues[class].push_back(packet.flow);
        }
    }
}
