//! Processor sharing, as far as whole packets allow it.

use std::collections::VecDeque;

use super::link::{Order, Packet};

/// A packet of each flow in turn; a new flow waits for one turn of the others.
#[derive(Default)]
pub(super) struct Sharing {
    turn: VecDeque<u32>,
}

impl Order for Sharing {
    fn arrive(&mut self, flow: u32, _size: u64, _now_ps: u64) {
        self.turn.push_back(flow);
    }

    fn next(&mut self, _now_ps: u64) -> Option<u32> {
        self.turn.pop_front()
    }

    fn sent(&mut self, packet: &Packet, next_bytes: u64, _now_ps: u64) {
        if next_bytes > 0 {
            self.turn.push_back(packet.flow);
        }
    }
}
