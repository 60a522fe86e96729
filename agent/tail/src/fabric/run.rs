//! A simulation: arrivals of flows, packets at hosts, and timeouts, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow::{Flow, Receiver};
use super::homa;
use super::host::{Host, counted_bytes};
use super::network::{Happening, Network};
use super::packet::{Kind, Packet};
use super::queue::Discipline;
use super::sender::Sender;
use super::transport::{FlowOrder, Transport};
use super::{Fabric, FabricOutcome, Traffic};
use crate::link::Stopped;
use crate::priority::{Weight, log2_priority};
use crate::record::Record;

/// Events between two calls of the watcher: a few per second of work.
const WATCH_EVERY: u64 = 1 << 20;

pub(super) struct Run<'a> {
    fabric: &'a Fabric,
    traffic: &'a Traffic<'a>,
    network: Network,
    flows: Vec<Option<Box<Flow>>>,
    hosts: Vec<Host>,
    /// Time and flow.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    finished: usize,
    record: Option<Record>,
    outcome: FabricOutcome,
}

impl<'a> Run<'a> {
    pub(super) fn new(fabric: &'a Fabric, traffic: &'a Traffic<'a>, record: bool) -> Self {
        let settings = &fabric.settings;
        let discipline = match fabric.transport {
            Transport::Pfabric => Discipline::Ranked {
                buffer_bytes: settings.buffer_bytes,
            },
            _ => Discipline::Classes {
                classes: fabric.classes(),
                buffer_bytes: settings.buffer_bytes,
                mark_bytes: settings.mark_bytes,
            },
        };
        Self {
            fabric,
            traffic,
            network: Network::new(fabric.topology, discipline),
            flows: (0..traffic.len()).map(|_| None).collect(),
            hosts: (0..fabric.topology.hosts())
                .map(|_| Host::default())
                .collect(),
            timers: BinaryHeap::new(),
            finished: 0,
            record: record.then(Record::default),
            outcome: FabricOutcome {
                finish_ps: vec![0; traffic.len()],
                class_bytes: vec![0; fabric.classes()],
                ..FabricOutcome::default()
            },
        }
    }

    /// Let everything happen until no packet is left.
    pub(super) fn finish(
        mut self,
        mut watch: impl FnMut(usize) -> bool,
    ) -> Result<FabricOutcome, Stopped> {
        let mut arrived = 0;
        for events in 1_u64.. {
            let arrival = self
                .traffic
                .arrivals_ps
                .get(arrived)
                .map(|at_ps| *at_ps as u64);
            let timer = self.timers.peek().map(|Reverse((at_ps, _))| *at_ps);
            let packet = self.network.next_ps();
            let Some(now_ps) = [arrival, packet, timer].into_iter().flatten().min() else {
                break;
            };
            if arrival == Some(now_ps) {
                self.arrive(arrived as u32, now_ps);
                arrived += 1;
            } else if packet == Some(now_ps) {
                match self.network.step() {
                    Some(Happening::Idle(host)) => self.send_next(host, now_ps),
                    Some(Happening::Delivered(packet)) => self.deliver(&packet, now_ps),
                    None => {}
                }
            } else if let Some(Reverse((_, flow))) = self.timers.pop() {
                self.time_out(flow, now_ps);
            }
            if events % WATCH_EVERY == 0 && !watch(self.finished) {
                return Err(Stopped);
            }
        }
        let Record { log2, bytes, .. } = self.record.unwrap_or_default();
        Ok(FabricOutcome {
            dropped: self.network.counts.dropped,
            hops: self.network.counts.hops,
            port_packets: self.network.counts.by_port,
            recorded: log2,
            recorded_bytes: bytes,
            ..self.outcome
        })
    }

    fn arrive(&mut self, number: u32, now_ps: u64) {
        let at = number as usize;
        let Fabric {
            topology,
            packet_bytes,
            settings,
            transport,
            seed,
            ..
        } = self.fabric;
        let size = self.traffic.sizes[at] as u64;
        let packets = size.div_ceil(u64::from(*packet_bytes)) as u32;
        let limit = match transport {
            Transport::Homa => settings.unscheduled_packets.min(packets),
            _ => packets,
        };
        let from = self.traffic.from[at] as u32;
        self.flows[at] = Some(Box::new(Flow {
            from,
            to: self.traffic.to[at] as u32,
            size,
            packets,
            packet_bytes: *packet_bytes,
            spine: topology.spine_of(number, false, *seed),
            back_spine: topology.spine_of(number, true, *seed),
            born_ps: None,
            weight: Weight::new(1.0, 0.0),
            sender: Sender::new(settings, limit),
            receiver: Receiver::new(packets, limit),
            has_timer: false,
        }));
        self.hosts[from as usize].sending.push(number);
        self.send_next(from, now_ps);
    }

    /// Let a host send a packet of data if its NIC is idle and a flow may send.
    fn send_next(&mut self, host: u32, now_ps: u64) {
        if !self.network.is_idle(host) {
            return;
        }
        let Fabric {
            transport,
            order,
            settings,
            header_bytes,
            ..
        } = self.fabric;
        let chosen = self.hosts[host as usize].choose(&self.flows, *transport, order, now_ps);
        let Some(number) = chosen else { return };
        let Some(flow) = self.flows[number as usize].as_deref_mut() else {
            return;
        };
        let is_first = flow.born_ps.is_none();
        let born_ps = *flow.born_ps.get_or_insert(now_ps);
        let (mut class, mut rank) = (0, 0.0);
        let mut log2 = None;
        match order {
            FlowOrder::Turn => {}
            FlowOrder::Sent => rank = -(flow.sent_bytes() as f64),
            FlowOrder::Remaining => rank = -((flow.size - flow.sent_bytes()) as f64),
            FlowOrder::Age { boundaries, .. } if is_first => {
                (class, rank) = (boundaries.len() as u8, f64::INFINITY);
            }
            FlowOrder::Age {
                alpha,
                knows,
                boundaries,
            } => {
                let age_ns = (now_ps - born_ps) as f64 / 1_000.0;
                rank = log2_priority(age_ns, counted_bytes(flow, *knows), *alpha);
                class = boundaries.partition_point(|start| *start <= rank) as u8;
                log2 = Some(rank);
            }
        }
        let index = flow.sender.take();
        if *transport == Transport::Homa {
            log2 = None;
            let top = settings.scheduled_classes + settings.cutoffs.len();
            class = if is_first && matches!(order, FlowOrder::Age { .. }) {
                top as u8
            } else if index < settings.unscheduled_packets {
                homa::unscheduled_class(settings, flow.size)
            } else {
                flow.receiver.granted_class
            };
        } else {
            flow.sender.on_send(index, settings, now_ps);
        }
        if let FlowOrder::Age { alpha, knows, .. } = order {
            flow.weight = Weight::new(counted_bytes(flow, *knows), *alpha);
        }
        let bytes = flow.bytes_of(index);
        let packet = Packet {
            kind: Kind::Data,
            flow: number,
            index,
            to: flow.to,
            spine: flow.spine,
            wire_bytes: bytes + header_bytes,
            class,
            marked: false,
            rank,
        };
        if !flow.has_timer {
            flow.has_timer = true;
            flow.sender.deadline_ps = now_ps + settings.timeout_ps;
            self.timers.push(Reverse((flow.sender.deadline_ps, number)));
        }
        if let (Some(record), Some(log2)) = (&mut self.record, log2) {
            record.add(log2, bytes.into());
        }
        self.outcome.sent += 1;
        self.outcome.class_bytes[usize::from(class)] += i64::from(bytes);
        self.network.send(host, packet, now_ps);
    }

    fn deliver(&mut self, packet: &Packet, now_ps: u64) {
        if packet.kind == Kind::Data {
            self.receive(packet, now_ps);
            return;
        }
        let Fabric {
            transport,
            settings,
            ..
        } = self.fabric;
        let Some(flow) = self.flows[packet.flow as usize].as_deref_mut() else {
            return;
        };
        match packet.kind {
            Kind::Ack => {
                let marked = packet.marked;
                flow.sender
                    .on_ack(*transport, settings, packet.index, marked, now_ps);
            }
            Kind::Grant => flow.sender.limit = flow.sender.limit.max(packet.index),
            Kind::Resend => {
                let missing = (0..flow.sender.next).filter(|index| !flow.receiver.has(*index));
                flow.sender.resend.extend(missing);
            }
            Kind::Data => {}
        }
        let from = flow.from;
        self.send_next(from, now_ps);
    }

    fn receive(&mut self, packet: &Packet, now_ps: u64) {
        let number = packet.flow;
        self.outcome.marked += u64::from(packet.marked);
        let Some(flow) = self.flows[number as usize].as_deref_mut() else {
            self.outcome.duplicates += 1;
            return;
        };
        let is_new = flow.receiver.add(packet.index, flow.bytes_of(packet.index));
        if is_new {
            self.outcome.delivered += 1;
        } else {
            self.outcome.duplicates += 1;
        }
        let (from, to) = (flow.from, flow.to);
        if flow.receiver.packets == flow.packets {
            self.outcome.finish_ps[number as usize] = now_ps as i64;
            self.finished += 1;
            self.hosts[from as usize].forget_sent(number);
            self.hosts[to as usize].forget_received(number);
            self.flows[number as usize] = None;
        } else if self.fabric.transport == Transport::Homa {
            flow.sender.deadline_ps = now_ps + self.fabric.settings.timeout_ps;
            if !flow.receiver.is_known {
                flow.receiver.is_known = true;
                self.hosts[to as usize].receiving.push(number);
            }
        } else {
            self.answer(number, Kind::Ack, packet.index, packet.marked, now_ps);
        }
        if self.fabric.transport == Transport::Homa {
            self.grant(to, now_ps);
        }
    }

    /// Send a packet without data from the receiver of a flow to its sender.
    fn answer(&mut self, number: u32, kind: Kind, index: u32, marked: bool, now_ps: u64) {
        let Some(flow) = self.flows[number as usize].as_deref() else {
            return;
        };
        let packet = Packet {
            kind,
            flow: number,
            index,
            to: flow.from,
            spine: flow.back_spine,
            wire_bytes: self.fabric.header_bytes,
            class: 0,
            marked,
            rank: 0.0,
        };
        self.network.send(flow.to, packet, now_ps);
    }

    /// Let the flows that a host receives send more: as many packets beyond those received as they sent at first.
    fn grant(&mut self, host: u32, now_ps: u64) {
        let Fabric {
            settings, order, ..
        } = self.fabric;
        let receiving = &self.hosts[host as usize].receiving;
        for granted in homa::grants(receiving, &self.flows, order, settings, now_ps) {
            let Some(flow) = self.flows[granted.flow as usize].as_deref_mut() else {
                continue;
            };
            let ahead = flow.receiver.packets + settings.unscheduled_packets;
            let upto = ahead.min(flow.packets);
            if upto <= flow.receiver.granted {
                continue;
            }
            let bytes: u64 = (flow.receiver.granted..upto)
                .map(|index| u64::from(flow.bytes_of(index)))
                .sum();
            flow.receiver.granted = upto;
            flow.receiver.granted_class = granted.class;
            if let (Some(record), Some(log2)) = (&mut self.record, granted.log2) {
                record.add(log2, bytes);
            }
            self.answer(granted.flow, Kind::Grant, upto, false, now_ps);
        }
    }

    fn time_out(&mut self, number: u32, now_ps: u64) {
        let Fabric {
            transport,
            settings,
            ..
        } = self.fabric;
        let Some(flow) = self.flows[number as usize].as_deref_mut() else {
            return;
        };
        let is_homa = *transport == Transport::Homa;
        if !is_homa && !flow.sender.has_in_flight() {
            flow.has_timer = false;
            return;
        }
        let is_due = now_ps >= flow.sender.deadline_ps;
        if is_due && !is_homa {
            flow.sender.on_timeout(*transport, settings, now_ps);
        } else if is_due {
            flow.sender.deadline_ps = now_ps + settings.timeout_ps;
        }
        self.timers.push(Reverse((flow.sender.deadline_ps, number)));
        let (from, lacks) = (flow.from, flow.receiver.granted > flow.receiver.packets);
        if is_due && is_homa && lacks {
            self.answer(number, Kind::Resend, 0, false, now_ps);
        } else if is_due && !is_homa {
            self.send_next(from, now_ps);
        }
    }
}
