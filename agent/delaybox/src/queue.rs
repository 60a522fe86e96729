//! Packets of one direction in the box: each waits for the time that its line decided at its arrival.

use std::collections::VecDeque;

use crate::ecn;
use crate::line::{Fate, Line};
use crate::statistics::{Counters, Delays};
use crate::sys::monotonic_ns;

/// Packets to send before other directions get their turn.
pub const BATCH: usize = 32;
/// Buffers kept for reuse, so that no packet waits for an allocation.
const SPARE_BUFFERS: usize = 4096;

/// Packet buffers for reuse.
#[derive(Debug, Default)]
pub struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    fn filled(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(packet);
        buffer
    }

    fn take_back(&mut self, buffer: Vec<u8>) {
        if self.0.len() < SPARE_BUFFERS {
            self.0.push(buffer);
        }
    }
}

/// Packet in the box. `label` is defined by the ports that move the packets.
#[derive(Debug)]
struct Held<L> {
    at_ns: i64,
    arrived_ns: i64,
    drawn_ns: i64,
    wire_bytes: u64,
    label: L,
    packet: Vec<u8>,
}

/// Line of one direction, the packets that it delays, and their statistics.
#[derive(Debug)]
pub struct DelayQueue<L> {
    pub line: Line,
    held: VecDeque<Held<L>>,
    counters: Counters,
    pub delays: Delays,
}

impl<L: Copy> DelayQueue<L> {
    /// Create an empty queue.
    pub fn new(line: Line) -> Self {
        Self {
            line,
            held: VecDeque::new(),
            counters: Counters::default(),
            delays: Delays::default(),
        }
    }

    /// Take a packet that arrives now and has `wire_bytes`; drop it if `capacity` packets wait already. Its IP header is at
    /// `ip`, if it has one.
    pub fn accept(
        &mut self,
        (packet, ip): (&[u8], Option<usize>),
        wire_bytes: u64,
        label: L,
        capacity: usize,
        spare: &mut Buffers,
    ) {
        let arrived_ns = monotonic_ns();
        self.counters.received_packets += 1;
        self.counters.received_bytes += wire_bytes;
        if self.held.len() >= capacity {
            self.counters.overflowed_packets += 1;
            return;
        }
        match self.line.arrival(arrived_ns, wire_bytes) {
            Fate::Lost => self.counters.lost_packets += 1,
            Fate::Dropped => self.counters.dropped_packets += 1,
            Fate::Leaves { at_ns, drawn_ns } => {
                let treatment = self.line.treatment();
                let mut packet = spare.filled(packet);
                let header = ip.and_then(|at| packet.get_mut(at..));
                if let (Some(header), Some(change)) = (header, treatment.ecn) {
                    self.counters.ecn_changed_packets += u64::from(ecn::change(header, change));
                }
                self.held.push_back(Held {
                    at_ns,
                    arrived_ns,
                    drawn_ns,
                    wire_bytes,
                    label,
                    packet,
                });
                if treatment.overtakes {
                    self.overtake();
                }
            }
        }
    }

    /// Let the last packet leave at the time of the one before it, and that one at its time.
    fn overtake(&mut self) {
        let Some(before) = self.held.len().checked_sub(2) else {
            return;
        };
        let last = before + 1;
        let (earlier_ns, later_ns) = (self.held[before].at_ns, self.held[last].at_ns);
        self.held.swap(before, last);
        self.held[before].at_ns = earlier_ns;
        self.held[last].at_ns = later_ns;
        self.counters.reordered_packets += 1;
    }

    /// Return when the next packet leaves.
    pub fn next_ns(&self) -> Option<i64> {
        self.held.front().map(|next| next.at_ns)
    }

    /// Send packets that are due; `send` returns false if the kernel refuses one. `record`: keep their durations.
    pub fn release(
        &mut self,
        record: bool,
        spare: &mut Buffers,
        mut send: impl FnMut(&[u8], L) -> bool,
    ) {
        for _ in 0..BATCH {
            let now = monotonic_ns();
            if self.next_ns().is_none_or(|at_ns| at_ns > now) {
                break;
            }
            let Some(due) = self.held.pop_front() else {
                break;
            };
            if send(&due.packet, due.label) {
                self.counters.sent_packets += 1;
                self.counters.sent_bytes += due.wire_bytes;
            } else {
                self.counters.refused_packets += 1;
            }
            if record {
                self.delays.drawn.add(due.drawn_ns);
                self.delays.planned.add(due.at_ns - due.arrived_ns);
                self.delays.achieved.add(now - due.arrived_ns);
                self.delays.late.add(now - due.at_ns);
            }
            spare.take_back(due.packet);
        }
    }

    /// Return the counters at this moment.
    pub fn counters(&self) -> Counters {
        Counters {
            in_box_packets: self.held.len() as u64,
            clamped_draws: self.line.clamped(),
            ..self.counters.clone()
        }
    }
}
