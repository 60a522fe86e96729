//! Policies whose order of waiting flows does not change with time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::link::{Order, Packet};

/// Sort key of flows: the smallest is served first; of equals, the older flow.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    Arrival,
    Sent,
    Remaining,
}

type Entry = (u64, u32);

/// A heap of waiting flows. The one that sent last is kept outside: most often it sends again.
pub(super) struct Ranked {
    key: Key,
    last: Option<Entry>,
    others: BinaryHeap<Reverse<Entry>>,
}

impl Ranked {
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            last: None,
            others: BinaryHeap::new(),
        }
    }

    fn rank(&self, sent: u64, size: u64) -> u64 {
        match self.key {
            Key::Arrival => 0,
            Key::Sent => sent,
            Key::Remaining => size - sent,
        }
    }
}

impl Order for Ranked {
    fn arrive(&mut self, flow: u32, size: u64, _now_ps: u64) {
        let entry = (self.rank(0, size), flow);
        self.others.push(Reverse(entry));
    }

    fn next(&mut self, _now_ps: u64) -> Option<u32> {
        let Some(mut best) = self.others.peek_mut() else {
            return self.last.map(|last| last.1);
        };
        match &mut self.last {
            Some(last) if *last < best.0 => {}
            Some(last) => std::mem::swap(last, &mut best.0),
            None => self.last = Some(std::collections::binary_heap::PeekMut::pop(best).0),
        }
        self.last.map(|last| last.1)
    }

    fn sent(&mut self, packet: &Packet, next_bytes: u64, _now_ps: u64) {
        self.last = (next_bytes > 0).then(|| {
            let rank = self.rank(packet.sent(), packet.size);
            (rank, packet.flow)
        });
    }
}
