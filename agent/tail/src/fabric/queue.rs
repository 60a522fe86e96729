//! Queues of an output port: strict priority between classes with marks, or ranked packets as in pFabric.

use std::collections::VecDeque;

use super::packet::Packet;

/// Order of data in the queue of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Discipline {
    /// First in, first out inside a class; a packet that does not fit into its class is dropped. Each class has an
    /// equal share of the buffer and of the threshold above which packets are marked.
    Classes {
        classes: usize,
        buffer_bytes: u64,
        mark_bytes: Option<u64>,
    },
    /// The flow of the highest rank sends its earliest packet; packets of the lowest rank are dropped.
    Ranked { buffer_bytes: u64 },
}

/// Data that waits at a port.
pub(super) enum Queue {
    Classes(Classes),
    Ranked(Ranked),
}

impl Queue {
    pub(super) fn new(discipline: Discipline) -> Self {
        match discipline {
            Discipline::Classes {
                classes,
                buffer_bytes,
                mark_bytes,
            } => Self::Classes(Classes {
                fifos: (0..classes).map(|_| Fifo::default()).collect(),
                buffer_bytes: buffer_bytes / classes as u64,
                mark_bytes: mark_bytes.map(|bytes| bytes / classes as u64),
            }),
            Discipline::Ranked { buffer_bytes } => Self::Ranked(Ranked {
                packets: Vec::new(),
                bytes: 0,
                buffer_bytes,
            }),
        }
    }

    /// Add a packet and return how many were dropped.
    pub(super) fn push(&mut self, packet: Packet) -> u64 {
        match self {
            Self::Classes(classes) => classes.push(packet),
            Self::Ranked(ranked) => ranked.push(packet),
        }
    }

    /// Take out the next packet.
    pub(super) fn pop(&mut self) -> Option<Packet> {
        match self {
            Self::Classes(classes) => classes.pop(),
            Self::Ranked(ranked) => ranked.pop(),
        }
    }
}

#[derive(Default)]
struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

/// A queue for each class, lowest first.
pub(super) struct Classes {
    fifos: Vec<Fifo>,
    buffer_bytes: u64,
    mark_bytes: Option<u64>,
}

impl Classes {
    fn push(&mut self, mut packet: Packet) -> u64 {
        let highest = self.fifos.len() - 1;
        let fifo = &mut self.fifos[highest.min(packet.class.into())];
        let bytes = fifo.bytes + u64::from(packet.wire_bytes);
        if bytes > self.buffer_bytes {
            return 1;
        }
        fifo.bytes = bytes;
        packet.marked |= self.mark_bytes.is_some_and(|threshold| bytes > threshold);
        fifo.packets.push_back(packet);
        0
    }

    fn pop(&mut self) -> Option<Packet> {
        let waiting = |fifo: &&mut Fifo| !fifo.packets.is_empty();
        let fifo = self.fifos.iter_mut().rev().find(waiting)?;
        let packet = fifo.packets.pop_front()?;
        fifo.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }
}

/// Packets in the order in which they came: a buffer of a few dozen, which is searched.
pub(super) struct Ranked {
    packets: Vec<Packet>,
    bytes: u64,
    buffer_bytes: u64,
}

impl Ranked {
    fn push(&mut self, packet: Packet) -> u64 {
        self.packets.push(packet);
        self.bytes += u64::from(packet.wire_bytes);
        let mut dropped = 0;
        while self.bytes > self.buffer_bytes {
            // Of equals the one that came last.
            let mut lowest = 0;
            for (at, other) in self.packets.iter().enumerate() {
                if other.rank <= self.packets[lowest].rank {
                    lowest = at;
                }
            }
            self.take(lowest);
            dropped += 1;
        }
        dropped
    }

    fn pop(&mut self) -> Option<Packet> {
        let mut best = self.packets.first()?;
        for other in &self.packets {
            if other.rank > best.rank {
                best = other;
            }
        }
        let flow = best.flow;
        let earliest = self.packets.iter().position(|packet| packet.flow == flow)?;
        Some(self.take(earliest))
    }

    fn take(&mut self, at: usize) -> Packet {
        let packet = self.packets.remove(at);
        self.bytes -= u64::from(packet.wire_bytes);
        packet
    }
}
