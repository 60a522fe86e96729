//! Ports, links, and the packets on them: store-and-forward switches.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::packet::{Kind, Packet};
use super::queue::{Discipline, Queue};
use super::topology::Topology;

/// Parameters of the network that the hosts use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Happening {
    /// The NIC of a host has sent everything.
    Idle(u32),
    Delivered(Packet),
}

/// Counts of packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Transmissions of packets by any port.
    pub(super) hops: u64,
    pub(super) dropped: u64,
    /// Transmissions of each port.
    pub(super) by_port: Vec<u64>,
}

struct Port {
    byte_ps: u64,
    delay_ps: u64,
    is_busy: bool,
    /// Acknowledgements and grants go before data.
    control: VecDeque<Packet>,
    data: Queue,
    /// Packets that were sent and have not arrived, in order.
    wire: VecDeque<Packet>,
}

/// All ports and what happens at them next.
pub(super) struct Network {
    topology: Topology,
    ports: Vec<Port>,
    /// Time and, in the order in which they were scheduled, the event's code.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    scheduled: u64,
    pub(super) counts: Counts,
}

const CODE_BITS: u32 = 16;

impl Network {
    pub(super) fn new(topology: Topology, discipline: Discipline) -> Self {
        let port = |number| Port {
            byte_ps: topology.byte_ps(number),
            delay_ps: topology.delay_ps(number),
            is_busy: false,
            control: VecDeque::new(),
            data: Queue::new(discipline),
            wire: VecDeque::new(),
        };
        Self {
            topology,
            ports: (0..topology.ports()).map(port).collect(),
            events: BinaryHeap::new(),
            scheduled: 0,
            counts: Counts {
                by_port: vec![0; topology.ports() as usize],
                ..Counts::default()
            },
        }
    }

    /// Return when the next event is.
    pub(super) fn next_ps(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at_ps, _))| *at_ps)
    }

    /// Return whether the NIC of a host can send at once.
    pub(super) fn is_idle(&self, host: u32) -> bool {
        !self.ports[host as usize].is_busy
    }

    /// Hand a packet to the NIC of a host, which is idle, or the packet is no data.
    pub(super) fn send(&mut self, host: u32, packet: Packet, now_ps: u64) {
        self.offer(host, packet, now_ps);
    }

    /// Let the next event happen.
    pub(super) fn step(&mut self) -> Option<Happening> {
        let Reverse((now_ps, code)) = self.events.pop()?;
        let code = code & ((1 << CODE_BITS) - 1);
        let number = (code >> 1) as u32;
        let port = &mut self.ports[number as usize];
        if code & 1 == 0 {
            port.is_busy = false;
            if let Some(packet) = port.control.pop_front().or_else(|| port.data.pop()) {
                self.transmit(number, packet, now_ps);
            } else if number < self.topology.hosts() {
                return Some(Happening::Idle(number));
            }
            return None;
        }
        let packet = port.wire.pop_front()?;
        match self.topology.next_port(number, packet.to, packet.spine) {
            None => Some(Happening::Delivered(packet)),
            Some(next) => {
                self.offer(next, packet, now_ps);
                None
            }
        }
    }

    fn offer(&mut self, number: u32, packet: Packet, now_ps: u64) {
        let port = &mut self.ports[number as usize];
        if !port.is_busy {
            self.transmit(number, packet, now_ps);
        } else if packet.kind == Kind::Data {
            self.counts.dropped += port.data.push(packet);
        } else {
            port.control.push_back(packet);
        }
    }

    fn transmit(&mut self, number: u32, packet: Packet, now_ps: u64) {
        let port = &mut self.ports[number as usize];
        port.is_busy = true;
        port.wire.push_back(packet);
        let sent_ps = now_ps + u64::from(packet.wire_bytes) * port.byte_ps;
        let arrives_ps = sent_ps + port.delay_ps;
        self.schedule(sent_ps, number << 1);
        self.schedule(arrives_ps, (number << 1) | 1);
        self.counts.hops += 1;
        self.counts.by_port[number as usize] += 1;
    }

    fn schedule(&mut self, at_ps: u64, code: u32) {
        let event = (self.scheduled << CODE_BITS) | u64::from(code);
        self.scheduled += 1;
        self.events.push(Reverse((at_ps, event)));
    }
}
