//! Ports and links against a search through everything that may happen next, with paths spelled out node by node.

use std::collections::BTreeMap;

use super::network::{Happening, Network};
use super::packet::{Kind, Packet};
use super::queue::Discipline;
use super::topology::Topology;
use crate::tests::Draws;

/// 10 and 40 Gbit/s, as in the source.
pub(super) const fn topology(leaves: u32, hosts_per_leaf: u32, spines: u32) -> Topology {
    Topology {
        leaves,
        hosts_per_leaf,
        spines,
        edge_byte_ps: 800,
        core_byte_ps: 200,
        edge_delay_ps: 10_000,
        core_delay_ps: 100_000,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Host(u32),
    Leaf(u32),
    Spine(u32),
}

type Link = (Node, Node);

fn path(topology: &Topology, from: u32, packet: &Packet) -> Vec<Link> {
    let leaf = |host| Node::Leaf(host / topology.hosts_per_leaf);
    let mut nodes = vec![Node::Host(from), leaf(from)];
    if leaf(from) != leaf(packet.to) {
        nodes.extend([Node::Spine(packet.spine), leaf(packet.to)]);
    }
    nodes.push(Node::Host(packet.to));
    nodes.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[derive(Clone, Debug)]
struct Travelling {
    packet: Packet,
    /// Links that it still has to take.
    path: Vec<Link>,
}

#[derive(Clone, Debug)]
enum What {
    Injected(Travelling),
    Sent(Link),
    Arrived(Travelling),
}

#[derive(Debug, PartialEq)]
struct Results {
    /// Time, flow, index, mark, in the order of delivery.
    delivered: Vec<(u64, u32, u32, bool)>,
    dropped: u64,
}

/// The slow implementation: every list is searched every time.
struct Naive<'a> {
    topology: &'a Topology,
    discipline: Discipline,
    next: Vec<(u64, What)>,
    waiting: BTreeMap<Link, Vec<Travelling>>,
    busy: BTreeMap<Link, bool>,
    results: Results,
}

impl Naive<'_> {
    fn run(mut self) -> Results {
        while !self.next.is_empty() {
            // The first of the earliest: `next` is in the order of scheduling, injections first.
            let earliest = self
                .next
                .iter()
                .map(|(at_ps, _)| *at_ps)
                .min()
                .expect("not empty");
            let at = self
                .next
                .iter()
                .position(|(at_ps, _)| *at_ps == earliest)
                .expect("just found");
            match self.next.remove(at) {
                (now_ps, What::Injected(travelling) | What::Arrived(travelling)) => {
                    self.arrive(travelling, now_ps);
                }
                (now_ps, What::Sent(link)) => {
                    self.busy.insert(link, false);
                    self.send_waiting(link, now_ps);
                }
            }
        }
        self.results
    }

    fn arrive(&mut self, travelling: Travelling, now_ps: u64) {
        let Some(link) = travelling.path.first().copied() else {
            let Packet {
                flow,
                index,
                marked,
                ..
            } = travelling.packet;
            self.results.delivered.push((now_ps, flow, index, marked));
            return;
        };
        if self.busy.get(&link).copied().unwrap_or_default() {
            self.wait(link, travelling);
        } else {
            self.send(link, travelling, now_ps);
        }
    }

    fn wait(&mut self, link: Link, mut travelling: Travelling) {
        let waiting = self.waiting.entry(link).or_default();
        let is_data = |other: &Travelling| other.packet.kind == Kind::Data;
        if !is_data(&travelling) || matches!(link.0, Node::Host(_)) {
            waiting.push(travelling);
            return;
        }
        let size = |other: &Travelling| u64::from(other.packet.wire_bytes);
        match self.discipline {
            Discipline::Classes {
                classes,
                buffer_bytes,
                mark_bytes,
            } => {
                let alike = |other: &&Travelling| {
                    is_data(other) && other.packet.class == travelling.packet.class
                };
                let bytes = waiting.iter().filter(alike).map(size).sum::<u64>() + size(&travelling);
                if bytes > buffer_bytes / classes as u64 {
                    self.results.dropped += 1;
                    return;
                }
                travelling.packet.marked |=
                    mark_bytes.is_some_and(|most| bytes > most / classes as u64);
                waiting.push(travelling);
            }
            Discipline::Ranked { buffer_bytes } => {
                waiting.push(travelling);
                while waiting
                    .iter()
                    .filter(|other| is_data(other))
                    .map(size)
                    .sum::<u64>()
                    > buffer_bytes
                {
                    let data: Vec<usize> = (0..waiting.len())
                        .filter(|at| is_data(&waiting[*at]))
                        .collect();
                    let by_rank = |a: &usize, b: &usize| {
                        waiting[*a]
                            .packet
                            .rank
                            .total_cmp(&waiting[*b].packet.rank)
                            .then(b.cmp(a))
                    };
                    let worst = data
                        .into_iter()
                        .min_by(by_rank)
                        .expect("more than the buffer holds");
                    waiting.remove(worst);
                    self.results.dropped += 1;
                }
            }
        }
    }

    fn send_waiting(&mut self, link: Link, now_ps: u64) {
        let waiting = self.waiting.entry(link).or_default();
        let control = waiting
            .iter()
            .position(|other| other.packet.kind != Kind::Data);
        let of = |at: usize| &waiting[at].packet;
        let places = 0..waiting.len();
        let first = match (control, self.discipline) {
            (Some(control), _) => Some(control),
            (None, _) if matches!(link.0, Node::Host(_)) => places.into_iter().next(),
            (None, Discipline::Classes { .. }) => {
                places.max_by(|a, b| of(*a).class.cmp(&of(*b).class).then(b.cmp(a)))
            }
            (None, Discipline::Ranked { .. }) => {
                let best = places.max_by(|a, b| of(*a).rank.total_cmp(&of(*b).rank).then(b.cmp(a)));
                best.and_then(|best| (0..waiting.len()).find(|at| of(*at).flow == of(best).flow))
            }
        };
        if let Some(first) = first {
            let travelling = waiting.remove(first);
            self.send(link, travelling, now_ps);
        }
    }

    fn send(&mut self, link: Link, mut travelling: Travelling, now_ps: u64) {
        let is_edge = matches!(link, (Node::Host(_), _) | (_, Node::Host(_)));
        let Topology {
            edge_byte_ps,
            core_byte_ps,
            edge_delay_ps,
            core_delay_ps,
            ..
        } = *self.topology;
        let (byte_ps, delay_ps) = if is_edge {
            (edge_byte_ps, edge_delay_ps)
        } else {
            (core_byte_ps, core_delay_ps)
        };
        let sent_ps = now_ps + byte_ps * u64::from(travelling.packet.wire_bytes);
        self.busy.insert(link, true);
        travelling.path.remove(0);
        self.next.push((sent_ps, What::Sent(link)));
        self.next
            .push((sent_ps + delay_ps, What::Arrived(travelling)));
    }
}

/// Packets by time of injection, each at its host.
type Injected = Vec<(u64, u32, Packet)>;

fn naively(topology: &Topology, discipline: Discipline, injected: &Injected) -> Results {
    let travelling = |(at_ps, from, packet): &(u64, u32, Packet)| {
        let path = path(topology, *from, packet);
        (
            *at_ps,
            What::Injected(Travelling {
                packet: *packet,
                path,
            }),
        )
    };
    Naive {
        topology,
        discipline,
        next: injected.iter().map(travelling).collect(),
        waiting: BTreeMap::new(),
        busy: BTreeMap::new(),
        results: Results {
            delivered: Vec::new(),
            dropped: 0,
        },
    }
    .run()
}

fn quickly(topology: &Topology, discipline: Discipline, injected: &Injected) -> Results {
    let mut network = Network::new(*topology, discipline);
    let mut pending: BTreeMap<u32, Vec<Packet>> = BTreeMap::new();
    let mut delivered = Vec::new();
    let mut injected = injected.iter().peekable();
    loop {
        let next_ps = network.next_ps();
        if let Some((at_ps, host, packet)) =
            injected.next_if(|next| next_ps.is_none_or(|at_ps| next.0 <= at_ps))
        {
            if network.is_idle(*host) || packet.kind != Kind::Data {
                network.send(*host, *packet, *at_ps);
            } else {
                pending.entry(*host).or_default().push(*packet);
            }
            continue;
        }
        let Some(now_ps) = next_ps else { break };
        match network.step() {
            Some(Happening::Delivered(packet)) => {
                delivered.push((now_ps, packet.flow, packet.index, packet.marked));
            }
            Some(Happening::Idle(host)) => {
                let waiting = pending.entry(host).or_default();
                if !waiting.is_empty() {
                    network.send(host, waiting.remove(0), now_ps);
                }
            }
            None => {}
        }
    }
    let dropped = network.counts.dropped;
    Results { delivered, dropped }
}

/// Packets of a few flows each, many of them at once, so that times tie and buffers overflow.
fn draw(topology: &Topology, seed: u64, count: usize) -> Injected {
    let mut draws = Draws::new(seed);
    let hosts = u64::from(topology.hosts());
    let mut injected: Injected = Vec::new();
    let mut sent: BTreeMap<u32, u32> = BTreeMap::new();
    let mut at_ps = 0;
    for _ in 0..count {
        at_ps += 100_000 * draws.below(3);
        let flow = draws.below(20) as u32;
        let from = u64::from(flow) % hosts;
        let to = (from + 1 + u64::from(flow) / hosts) % hosts;
        let index = sent.entry(flow).or_default();
        let is_data = draws.below(8) > 0;
        injected.push((
            at_ps,
            from as u32,
            Packet {
                kind: if is_data { Kind::Data } else { Kind::Ack },
                flow,
                index: *index,
                to: to as u32,
                spine: topology.spine_of(flow, false, seed),
                wire_bytes: if is_data {
                    500 * (1 + draws.below(3) as u32)
                } else {
                    40
                },
                class: draws.below(3) as u8,
                marked: false,
                rank: draws.below(5) as f64,
            },
        ));
        *index += 1;
    }
    injected
}

fn disciplines() -> [Discipline; 4] {
    let classes = |classes, buffer_bytes, mark_bytes| Discipline::Classes {
        classes,
        buffer_bytes,
        mark_bytes,
    };
    [
        classes(3, 9_000, Some(4_500)),
        classes(3, 1_000_000, None),
        Discipline::Ranked {
            buffer_bytes: 3_000,
        },
        Discipline::Ranked {
            buffer_bytes: 1_000_000,
        },
    ]
}

#[test]
fn it_does_what_a_search_through_everything_does() {
    let (mut dropped, mut marked) = (0, 0);
    for topology in [
        topology(2, 1, 1),
        topology(2, 3, 2),
        topology(3, 2, 4),
        topology(1, 5, 1),
    ] {
        for discipline in disciplines() {
            for seed in 0..12 {
                let injected = draw(&topology, seed, 400);
                let expected = naively(&topology, discipline, &injected);
                let found = quickly(&topology, discipline, &injected);
                assert_eq!(found, expected, "{topology:?}, {discipline:?}, seed {seed}");
                dropped += found.dropped;
                marked += found.delivered.iter().filter(|packet| packet.3).count();
                assert_eq!(
                    found.delivered.len() as u64 + found.dropped,
                    400,
                    "no packet is lost or made"
                );
            }
        }
    }
    assert!(
        dropped > 1_000 && marked > 1_000,
        "{dropped} drops and {marked} marks are too few to test"
    );
}

#[test]
fn packets_of_a_flow_and_class_stay_in_order() {
    let topology = topology(3, 2, 4);
    for discipline in disciplines() {
        for seed in 100..110 {
            let mut injected = draw(&topology, seed, 600);
            injected.retain(|(_, _, packet)| packet.kind == Kind::Data);
            for (_, _, packet) in &mut injected {
                packet.class = (packet.flow % 3) as u8;
            }
            let mut last: BTreeMap<u32, u32> = BTreeMap::new();
            for (_, flow, index, _) in quickly(&topology, discipline, &injected).delivered {
                let before = last.insert(flow, index);
                assert!(
                    before.is_none_or(|before| before < index),
                    "{discipline:?}, seed {seed}, flow {flow}"
                );
            }
        }
    }
}

#[test]
fn every_pair_of_hosts_is_reached_through_every_spine() {
    let topology = topology(3, 2, 4);
    for from in 0..topology.hosts() {
        for to in (0..topology.hosts()).filter(|to| *to != from) {
            for spine in 0..topology.spines {
                let mut ports = vec![from];
                while let Some(next) = topology.next_port(ports[ports.len() - 1], to, spine) {
                    ports.push(next);
                }
                let local = from / 2 == to / 2;
                let expected = if local {
                    vec![from, 6 + to]
                } else {
                    vec![
                        from,
                        topology.up(from / 2, spine),
                        topology.down(spine, to / 2),
                        6 + to,
                    ]
                };
                assert_eq!(ports, expected);
            }
        }
    }
    assert_eq!(topology.down(3, 2) + 1, topology.ports());
}
