//! Queues, ports and links: order, marks and drops by hand, and what holds for packets drawn at random.

use std::collections::BTreeMap;

use super::network::{Happening, Network};
use super::packet::{Kind, Packet};
use super::queue::{Discipline, Queue};
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

#[derive(Debug, PartialEq)]
struct Results {
    /// Time, flow, index, mark, in the order of delivery.
    delivered: Vec<(u64, u32, u32, bool)>,
    dropped: u64,
}

/// Packets by time of injection, each at its host.
type Injected = Vec<(u64, u32, Packet)>;

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

/// Return a packet of 1,000 bytes on the wire.
fn packet(flow: u32, index: u32, class: u8, rank: f64) -> Packet {
    Packet {
        kind: Kind::Data,
        flow,
        index,
        to: 3,
        spine: 0,
        wire_bytes: 1_000,
        class,
        marked: false,
        rank,
    }
}

/// Take out all packets: flow, index, mark.
fn taken(queue: &mut Queue) -> Vec<(u32, u32, bool)> {
    std::iter::from_fn(|| queue.pop())
        .map(|packet| (packet.flow, packet.index, packet.marked))
        .collect()
}

#[test]
fn the_highest_class_goes_first_and_each_has_its_share_of_buffer_and_threshold() {
    // For each class 3,000 bytes of buffer, and marks above 1,000.
    let mut queue = Queue::new(Discipline::Classes {
        classes: 2,
        buffer_bytes: 6_000,
        mark_bytes: Some(2_000),
    });
    let dropped: Vec<u64> = (0..4)
        .map(|index| queue.push(packet(1, index, 0, 0.0)))
        .collect();
    assert_eq!(dropped, [0, 0, 0, 1]);
    assert_eq!(queue.push(packet(2, 0, 7, 0.0)), 0, "the highest there is");
    let expected = [(2, 0, false), (1, 0, false), (1, 1, true), (1, 2, true)];
    assert_eq!(taken(&mut queue), expected);
}

#[test]
fn the_flow_of_the_highest_rank_sends_its_earliest_packet_and_the_lowest_rank_is_dropped() {
    let mut queue = Queue::new(Discipline::Ranked {
        buffer_bytes: 3_000,
    });
    for (flow, index, rank) in [(1, 0, 2.0), (2, 0, 5.0), (1, 1, 9.0)] {
        assert_eq!(queue.push(packet(flow, index, 0, rank)), 0);
    }
    // Of equals the one that came last is dropped.
    assert_eq!(queue.push(packet(3, 0, 0, 2.0)), 1);
    assert_eq!(
        taken(&mut queue),
        [(1, 0, false), (1, 1, false), (2, 0, false)]
    );
    for (flow, rank) in [(1, 2.0), (2, 5.0), (3, 3.0)] {
        queue.push(packet(flow, 0, 0, rank));
    }
    assert_eq!(queue.push(packet(4, 0, 0, 4.0)), 1);
    assert_eq!(
        taken(&mut queue),
        [(2, 0, false), (4, 0, false), (3, 0, false)]
    );
}

#[test]
fn an_acknowledgement_overtakes_data_that_waits() {
    let ack = Packet {
        kind: Kind::Ack,
        wire_bytes: 40,
        ..packet(2, 0, 0, 0.0)
    };
    let injected = vec![
        (0, 0, packet(0, 0, 0, 0.0)),
        (0, 1, packet(1, 0, 0, 0.0)),
        (900_000, 2, ack),
    ];
    for discipline in disciplines() {
        let delivered = quickly(&topology(1, 4, 1), discipline, &injected).delivered;
        // 1,000 bytes take 800 ns on each link, which is 10 ns long.
        let expected = [(1_620_000, 0), (1_652_000, 2), (2_452_000, 1)];
        let found: Vec<_> = delivered
            .iter()
            .map(|(at_ps, flow, _, _)| (*at_ps, *flow))
            .collect();
        assert_eq!(found, expected, "{discipline:?}");
    }
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
            let found = quickly(&topology, discipline, &injected);
            let all = found.delivered.len() as u64 + found.dropped;
            assert_eq!(all, injected.len() as u64, "no packet is lost or made");
            for (_, flow, index, _) in found.delivered {
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
