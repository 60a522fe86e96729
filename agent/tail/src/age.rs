//! Age over bytes^α, exactly, packet by packet.

use std::collections::VecDeque;

use super::Knowledge;
use super::link::{Order, Outcome, Packet};
use super::priority::{Waiting, Weight, compare, log2_priority};
use super::record::Record;
use super::tournament::Tournament;

/// The flow of the largest age / bytes^α.
pub(super) struct AgeOrder {
    alpha: f64,
    knows: Knowledge,
    first_packet_rule: bool,
    /// Flows whose first packet goes before all others.
    fresh: VecDeque<u32>,
    /// The flow that sent last, outside the tournament: most often it sends again.
    last: Option<Waiting>,
    others: Tournament,
    record: Option<Record>,
}

impl AgeOrder {
    pub(super) fn new(alpha: f64, knows: Knowledge, first_packet_rule: bool, record: bool) -> Self {
        Self {
            alpha,
            knows,
            first_packet_rule,
            fresh: VecDeque::new(),
            last: None,
            others: Tournament::new(),
            record: record.then(Record::default),
        }
    }

    /// Return the outcome with what was recorded.
    pub(super) fn recorded(self, outcome: Outcome) -> Outcome {
        let Record { log2, bytes, .. } = self.record.unwrap_or_default();
        Outcome {
            recorded: log2,
            recorded_bytes: bytes,
            ..outcome
        }
    }

    fn weight(&self, sent: u64, size: u64) -> Weight {
        Weight::new(self.knows.bytes(sent, size), self.alpha)
    }
}

impl Order for AgeOrder {
    fn arrive(&mut self, flow: u32, size: u64, now_ps: u64) {
        if self.first_packet_rule {
            self.fresh.push_back(flow);
            return;
        }
        let waiting = Waiting {
            flow,
            born_ps: now_ps,
            weight: self.weight(0, size),
        };
        self.others.insert(waiting, now_ps);
    }

    fn next(&mut self, now_ps: u64) -> Option<u32> {
        if let Some(flow) = self.fresh.pop_front() {
            return Some(flow);
        }
        let Some((leaf, best)) = self.others.best(now_ps) else {
            return self.last.map(|last| last.flow);
        };
        match &mut self.last {
            Some(last) if compare(last, &best, now_ps).first_wins => return Some(last.flow),
            Some(last) => {
                let before = std::mem::replace(last, best);
                self.others.replace(leaf, before, now_ps);
            }
            None => {
                self.last = Some(best);
                self.others.remove(leaf, now_ps);
            }
        }
        Some(best.flow)
    }

    fn sent(&mut self, packet: &Packet, next_bytes: u64, now_ps: u64) {
        let first = self.first_packet_rule && packet.sent_before == 0;
        let born_ps = match &self.last {
            Some(last) if !first => last.born_ps,
            _ => packet.started_ps,
        };
        if next_bytes == 0 {
            if !first {
                self.last = None;
            }
            return;
        }
        let waiting = Waiting {
            flow: packet.flow,
            born_ps,
            weight: self.weight(packet.sent(), packet.size),
        };
        if first {
            self.others.insert(waiting, now_ps);
        } else {
            self.last = Some(waiting);
        }
        if let Some(record) = &mut self.record {
            let age_ns = (now_ps - born_ps) as f64 / 1000.0;
            let bytes = self.knows.bytes(packet.sent(), packet.size);
            record.add(log2_priority(age_ns, bytes, self.alpha), next_bytes);
        }
    }
}
