//! Transports and orders: worked by hand, against the single link, and what holds for all of them.

use super::sender::Sender;
use super::*;
use crate::tests::Draws;
use crate::{Flows, Knowledge, Policy, simulate};

const PACKET: u32 = 1_460;

/// 10 and 40 Gbit/s, as in the source.
const fn topology(leaves: u32, hosts_per_leaf: u32, spines: u32) -> Topology {
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

fn fabric(topology: Topology, transport: Transport, order: FlowOrder) -> Fabric {
    Fabric {
        topology,
        packet_bytes: PACKET,
        header_bytes: 40,
        transport,
        settings: transport.settings(),
        order,
        seed: 1,
    }
}

fn age(alpha: f64, knows: Knowledge, boundaries: &[f64]) -> FlowOrder {
    FlowOrder::Age {
        alpha,
        knows,
        boundaries: boundaries.to_vec(),
    }
}

/// Every transport with every order that it is used with.
fn all_modes() -> Vec<(Transport, FlowOrder)> {
    let (sent, remaining) = (Knowledge::Sent, Knowledge::Remaining);
    let bounds = [-6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0];
    vec![
        (Transport::Tcp, FlowOrder::Turn),
        (Transport::Dctcp, FlowOrder::Turn),
        (Transport::Dctcp, age(1.0, sent, &[])),
        (Transport::Dctcp, age(1.0, sent, &bounds)),
        (Transport::Dctcp, age(1.5, remaining, &bounds)),
        (Transport::Pfabric, FlowOrder::Sent),
        (Transport::Pfabric, FlowOrder::Remaining),
        (Transport::Pfabric, age(2.0, sent, &[])),
        (Transport::Pfabric, age(2.0, remaining, &[])),
        (Transport::Homa, FlowOrder::Remaining),
        (Transport::Homa, age(0.5, remaining, &[])),
        (Transport::Homa, age(0.5, remaining, &bounds[..6])),
    ]
}

#[derive(Debug, Default)]
struct Drawn {
    arrivals: Vec<i64>,
    sizes: Vec<i64>,
    from: Vec<i64>,
    to: Vec<i64>,
}

impl Drawn {
    fn add(&mut self, at_ps: i64, size: i64, from: i64, to: i64) {
        self.arrivals.push(at_ps);
        self.sizes.push(size);
        self.from.push(from);
        self.to.push(to);
    }

    /// Poisson arrivals at a load of the hosts' links; sizes of 1 byte to 300 kB, log-uniform.
    fn mixed(topology: &Topology, seed: u64, count: usize, load: f64) -> Self {
        let mut draws = Draws::new(seed);
        let hosts = u64::from(topology.hosts());
        let mean = 299_999.0 / 3e5_f64.ln();
        let gap_ps = mean * topology.edge_byte_ps as f64 / load / hosts as f64;
        let (mut drawn, mut at) = (Self::default(), 0.0);
        for _ in 0..count {
            at -= (1.0 - draws.unit()).ln() * gap_ps;
            let from = draws.below(hosts);
            let to = (from + 1 + draws.below(hosts - 1)) % hosts;
            let size = (3e5_f64.powf(draws.unit()) as i64).max(1);
            drawn.add(at as i64, size, from as i64, to as i64);
        }
        drawn
    }

    fn under(&self, fabric: &Fabric) -> FabricOutcome {
        self.recorded(fabric, false)
    }

    fn recorded(&self, fabric: &Fabric, record: bool) -> FabricOutcome {
        let traffic = Traffic::new(fabric, &self.arrivals, &self.sizes, &self.from, &self.to);
        let traffic = traffic.expect("flows fit the fabric");
        simulate_fabric(fabric, &traffic, record, |_| true).expect("nobody stops it")
    }

    fn packets(&self) -> u64 {
        let packet = i64::from(PACKET);
        self.sizes
            .iter()
            .map(|size| ((size + packet - 1) / packet) as u64)
            .sum()
    }
}

#[test]
fn a_packet_takes_four_links() {
    // 1,500 B: 1.2 µs at 10 Gbit/s and 0.3 µs at 40 Gbit/s, twice each; 10 + 100 + 100 + 10 ns on the way.
    let mut drawn = Drawn::default();
    drawn.add(5_000_000, 1_460, 0, 2);
    // In one rack: twice 1.2 µs, twice 10 ns.
    drawn.add(50_000_000, 1_460, 0, 1);
    // 1 B and 40 B of headers.
    drawn.add(90_000_000, 1, 3, 0);
    for (transport, order) in all_modes() {
        let outcome = drawn.under(&fabric(topology(2, 2, 2), transport, order.clone()));
        let expected = [8_220_000, 52_420_000, 90_000_000 + 41 * 2_000 + 220_000];
        assert_eq!(outcome.finish_ps, expected, "{transport:?}, {order:?}");
        assert_eq!((outcome.sent, outcome.hops), (3, 4 + 2 + 4));
    }
}

#[test]
fn two_senders_share_the_last_link() {
    let mut drawn = Drawn::default();
    drawn.add(0, 1_460, 0, 4);
    drawn.add(0, 1_460, 2, 4);
    for (transport, order) in all_modes() {
        let outcome = drawn.under(&fabric(topology(3, 2, 2), transport, order.clone()));
        assert_eq!(
            outcome.finish_ps,
            [3_220_000, 4_420_000],
            "{transport:?}, {order:?}"
        );
    }
}

#[test]
fn a_window_waits_for_its_acknowledgements() {
    // Two packets at once, then one each time that one is acknowledged; slow start adds another. A packet takes
    // 3.22 µs, its acknowledgement (40 B: 32 and 8 ns) 0.3 µs: the first at 3.52 µs, the second 1.2 µs later.
    let mut drawn = Drawn::default();
    drawn.add(0, 3 * 1_460, 0, 2);
    let mut fabric = fabric(topology(2, 2, 1), Transport::Tcp, FlowOrder::Turn);
    fabric.settings.window_packets = 2;
    assert_eq!(drawn.under(&fabric).finish_ps, [3_520_000 + 3_220_000]);
    fabric.settings.window_packets = 1;
    // 2 packets after the first acknowledgement.
    assert_eq!(
        drawn.under(&fabric).finish_ps,
        [3_520_000 + 1_200_000 + 3_220_000]
    );
    fabric.settings.window_packets = 3;
    assert_eq!(drawn.under(&fabric).finish_ps, [2 * 1_200_000 + 3_220_000]);
}

#[test]
fn homa_grants_what_it_received() {
    // Of 3 packets 1 is sent at once. Its receiver grants the second: 3.22 µs there, 0.3 µs back, and so on.
    let mut drawn = Drawn::default();
    drawn.add(0, 3 * 1_460, 0, 2);
    let mut fabric = fabric(topology(2, 2, 1), Transport::Homa, FlowOrder::Remaining);
    fabric.settings.unscheduled_packets = 1;
    assert_eq!(drawn.under(&fabric).finish_ps, [2 * 3_520_000 + 3_220_000]);
    fabric.settings.unscheduled_packets = 2;
    // The first two back to back; the third when the first has arrived.
    assert_eq!(drawn.under(&fabric).finish_ps, [3_520_000 + 3_220_000]);
}

#[test]
fn homa_spreads_first_packets_by_size_and_others_by_rank() {
    let mut drawn = Drawn::default();
    drawn.add(0, 500, 0, 2);
    drawn.add(100_000_000, 1_400, 0, 2);
    drawn.add(200_000_000, 10 * 1_460, 0, 2);
    let mut fabric = fabric(topology(2, 2, 1), Transport::Homa, FlowOrder::Remaining);
    fabric.settings.scheduled_classes = 2;
    fabric.settings.cutoffs = vec![1_000, 1_460];
    // Classes 0 and 1 for granted packets; one flow alone is in the lowest. 2, 3, 4: large, medium and small flows.
    let unscheduled = i64::from(7 * PACKET);
    assert_eq!(
        drawn.under(&fabric).class_bytes,
        [3 * 1_460, 0, unscheduled, 1_400, 500]
    );
}

#[test]
fn a_full_buffer_drops_and_what_is_dropped_is_sent_again() {
    // 10 packets of each of 3 senders meet at one link with room for 4.
    let mut drawn = Drawn::default();
    for from in 0..3 {
        drawn.add(0, 10 * 1_460, from, 6);
    }
    for (transport, order) in all_modes() {
        let mut fabric = fabric(topology(3, 3, 1), transport, order);
        fabric.settings.buffer_bytes = 6_000 * fabric.classes() as u64;
        fabric.settings.mark_bytes = None;
        let outcome = drawn.under(&fabric);
        assert!(outcome.dropped > 0, "{transport:?}");
        assert_eq!(outcome.delivered, 30);
        assert_eq!(outcome.sent, 30 + outcome.dropped + outcome.duplicates);
        // The link is busy for as long as 30 packets take.
        assert!(
            outcome
                .finish_ps
                .iter()
                .all(|finish| *finish <= 45_000_000_000),
            "{transport:?}"
        );
        assert!(outcome.finish_ps.iter().max() >= Some(&(30 * 1_200_000)));
    }
}

#[test]
fn three_later_acknowledgements_show_a_loss() {
    let settings = Transport::Dctcp.settings();
    let mut sender = Sender::new(&settings, 20);
    let sent: Vec<u32> = (0..10).map(|_| sender.take()).collect();
    for index in &sent {
        sender.on_send(*index, &settings, 0);
    }
    assert!(!sender.can_send(Transport::Dctcp), "the window is full");
    let acknowledge = |sender: &mut Sender, index| {
        sender.on_ack(Transport::Dctcp, &settings, index, false, 1_000);
        sender.resend.iter().copied().collect::<Vec<u32>>()
    };
    assert_eq!(acknowledge(&mut sender, 2), []);
    assert_eq!(acknowledge(&mut sender, 3), []);
    assert_eq!(acknowledge(&mut sender, 4), [0, 1]);
    // A packet that counted as lost and was late is not sent again.
    assert_eq!(acknowledge(&mut sender, 1), [0]);
    assert_eq!(sender.take(), 0);
}

#[test]
fn marks_shorten_queues() {
    // Two long flows to one host. TCP fills the buffer and loses packets, DCTCP does not.
    let mut drawn = Drawn::default();
    drawn.add(0, 20_000_000, 0, 4);
    drawn.add(0, 20_000_000, 2, 4);
    let tcp = drawn.under(&fabric(topology(3, 2, 2), Transport::Tcp, FlowOrder::Turn));
    let dctcp = drawn.under(&fabric(
        topology(3, 2, 2),
        Transport::Dctcp,
        FlowOrder::Turn,
    ));
    assert!(
        tcp.dropped > 0 && tcp.marked == 0,
        "{} dropped",
        tcp.dropped
    );
    assert!(
        dctcp.dropped == 0 && dctcp.marked > 100,
        "{} marked",
        dctcp.marked
    );
    let least = 40_000_000 * 800 * 1_500 / 1_460;
    // TCP waits for a timeout or two when the last packets of a window are lost.
    for (outcome, timeouts) in [(&tcp, 2), (&dctcp, 0)] {
        let last = *outcome.finish_ps.iter().max().expect("two flows");
        let most = least * 11 / 10 + timeouts * 10_000_000_000;
        assert!(
            (least..most).contains(&last),
            "{last} ps, at least {least} ps"
        );
    }
    // They share the link.
    let first = *dctcp.finish_ps.iter().min().expect("two flows");
    assert!(first > least * 8 / 10, "{first} ps");
}

#[test]
fn an_incast_takes_as_long_as_its_last_link() {
    // 15 hosts send 1,350 kB each to one: 16.2 ms at 10 Gbit/s, and 2.7 % of headers.
    let mut drawn = Drawn::default();
    for from in 1..16 {
        drawn.add(0, 1_350_000, from, 0);
    }
    let least = 16_200_000_000_i64;
    for (transport, order) in all_modes() {
        let outcome = drawn.under(&fabric(topology(4, 4, 4), transport, order.clone()));
        let last = *outcome.finish_ps.iter().max().expect("15 flows");
        assert!(last >= least, "{transport:?}, {order:?}: {last} ps");
        // An eighth of the buffer for each class: the last packets of a window may be lost, which takes a timeout.
        let timeouts = i64::from(transport == Transport::Dctcp && order != FlowOrder::Turn);
        let most = least * 115 / 100 + timeouts * 10_000_000_000;
        assert!(last < most, "{transport:?}, {order:?}: {last} ps");
    }
}

/// With windows and buffers that never end, one sender, and whole packets, the NIC is the one bottleneck.
#[test]
fn one_sender_is_the_single_link() {
    let mut draws = Draws::new(23);
    let mut drawn = Drawn::default();
    let mut at = 0.0;
    for _ in 0..1_500 {
        let packets = 200_f64.powf(draws.unit()) as i64;
        at -= (1.0 - draws.unit()).ln() * 37.0 * 1_460.0 * 800.0 / 0.85;
        drawn.add(at as i64, packets * 1_460, 0, 1);
    }
    let flows = Flows::new(&drawn.arrivals, &drawn.sizes, 800, 1_460).expect("in order");
    let mut modes = vec![
        (Policy::Las, FlowOrder::Sent),
        (Policy::Srpt, FlowOrder::Remaining),
    ];
    for knows in [Knowledge::Sent, Knowledge::Remaining] {
        for alpha in [0.0, 0.5, 1.0, 2.0, 45.0, 1e15] {
            let policy = Policy::Age {
                alpha,
                knows,
                first_packet_rule: true,
            };
            modes.push((policy, age(alpha, knows, &[])));
        }
    }
    for (policy, order) in modes {
        let mut fabric = fabric(topology(2, 1, 1), Transport::Pfabric, order);
        fabric.header_bytes = 0;
        fabric.settings.window_packets = u32::MAX;
        fabric.settings.window_max = u32::MAX;
        fabric.settings.buffer_bytes = u64::MAX / 2;
        fabric.settings.timeout_ps = u64::MAX / 4;
        // After the NIC: two fast links, the last link, and what all four take to propagate.
        let after_ps = 1_460 * (200 + 200 + 800) + 220_000;
        let link = simulate(&flows, &policy, false, |_| true).expect("not stopped");
        let expected: Vec<i64> = link
            .finish_ps
            .iter()
            .map(|finish| finish + after_ps)
            .collect();
        assert_eq!(drawn.under(&fabric).finish_ps, expected, "{policy:?}");
    }
}

#[test]
fn flows_are_spread_over_spines_evenly_and_stay_on_theirs() {
    let topology = topology(9, 16, 4);
    for backward in [false, true] {
        let mut counts = [0; 4];
        for flow in 0..40_000 {
            let spine = topology.spine_of(flow, backward, 1);
            assert_eq!(spine, topology.spine_of(flow, backward, 1));
            counts[spine as usize] += 1;
        }
        // 10,000 each, with a standard deviation of 87.
        assert!(
            counts.iter().all(|count| (9_600..10_400).contains(count)),
            "{counts:?}"
        );
    }
    let mut drawn = Drawn::default();
    for flow in 0..20_000 {
        drawn.add(flow * 1_000_000, 1_000, flow % 16, 16 + flow % 128);
    }
    let outcome = drawn.under(&fabric(topology, Transport::Dctcp, FlowOrder::Turn));
    for spine in 0..4 {
        let up = outcome.port_packets[topology.up(0, spine) as usize];
        assert!(
            (4_700..5_300).contains(&up),
            "{up} of 20,000 packets on spine {spine}"
        );
    }
    let used: u64 = (0..4)
        .map(|spine| outcome.port_packets[topology.up(0, spine) as usize])
        .sum();
    assert_eq!(used, 20_000);
}

/// Return the least time of a flow: its bytes through the first link, its last packet through the others.
fn least_ps(topology: &Topology, size: u64, from: u64, to: u64) -> u64 {
    let packet = u64::from(PACKET);
    let packets = size.div_ceil(packet);
    let last = size - (packets - 1) * packet + 40;
    let local =
        from / u64::from(topology.hosts_per_leaf) == to / u64::from(topology.hosts_per_leaf);
    let edges = (size + 40 * packets) * topology.edge_byte_ps
        + last * topology.edge_byte_ps
        + 2 * topology.edge_delay_ps;
    edges
        + if local {
            0
        } else {
            2 * (last * topology.core_byte_ps + topology.core_delay_ps)
        }
}

#[test]
fn whatever_the_traffic_packets_are_conserved_and_no_flow_is_faster_than_light() {
    let mut draws = Draws::new(41);
    for round in 0..6 {
        let topology = topology(
            1 + draws.below(3) as u32,
            2 + draws.below(3) as u32,
            1 + draws.below(3) as u32,
        );
        let drawn = Drawn::mixed(&topology, round, 300, 0.4 + 0.6 * draws.unit());
        for (transport, order) in all_modes() {
            let mut fabric = fabric(topology, transport, order.clone());
            let label = format!("round {round}, {transport:?}, {order:?}");
            if round % 2 == 1 {
                fabric.settings.buffer_bytes =
                    (3_000 + draws.below(6_000)) * fabric.classes() as u64;
            }
            let outcome = drawn.under(&fabric);
            assert_eq!(outcome.delivered, drawn.packets(), "{label}");
            assert_eq!(
                outcome.sent,
                outcome.delivered + outcome.duplicates + outcome.dropped,
                "{label}"
            );
            assert!(outcome.hops >= 2 * outcome.delivered, "{label}");
            assert_eq!(
                outcome.port_packets.iter().sum::<u64>(),
                outcome.hops,
                "{label}"
            );
            let bytes: i64 = drawn.sizes.iter().sum();
            let sent: i64 = outcome.class_bytes.iter().sum();
            assert!(
                sent >= bytes && (sent == bytes || outcome.sent > outcome.delivered),
                "{label}"
            );
            for (at, finish) in outcome.finish_ps.iter().enumerate() {
                let (from, to) = (drawn.from[at] as u64, drawn.to[at] as u64);
                let least = least_ps(&topology, drawn.sizes[at] as u64, from, to) as i64;
                assert!(finish - drawn.arrivals[at] >= least, "{label}: flow {at}");
            }
            assert_eq!(drawn.under(&fabric), outcome, "{label}: the same again");
            fabric.seed = 2;
            if topology.spines > 1 && topology.leaves > 1 {
                assert_ne!(
                    drawn.under(&fabric).port_packets,
                    outcome.port_packets,
                    "{label}: other paths"
                );
            }
        }
    }
}

#[test]
fn srpt_spares_small_flows_more_than_windows_do() {
    let topology = topology(3, 4, 2);
    let drawn = Drawn::mixed(&topology, 5, 4_000, 0.8);
    let mean = |transport, order| {
        let outcome = drawn.under(&fabric(topology, transport, order));
        let times = outcome.finish_ps.iter().zip(&drawn.arrivals);
        times.map(|(end, start)| (end - start) as f64).sum::<f64>() / 4_000.0
    };
    let dctcp = mean(Transport::Dctcp, FlowOrder::Turn);
    for (transport, order) in [
        (Transport::Pfabric, FlowOrder::Remaining),
        (Transport::Homa, FlowOrder::Remaining),
        (
            Transport::Dctcp,
            age(2.0, Knowledge::Remaining, &[-4.0, 0.0, 4.0]),
        ),
    ] {
        let other = mean(transport, order.clone());
        assert!(
            other < 0.8 * dctcp,
            "{transport:?}, {order:?}: {other} ps, DCTCP {dctcp} ps"
        );
    }
}

#[test]
fn priorities_are_recorded_for_boundaries() {
    let topology = topology(3, 4, 2);
    let drawn = Drawn::mixed(&topology, 6, 500, 0.5);
    let dctcp = fabric(topology, Transport::Dctcp, age(1.0, Knowledge::Sent, &[]));
    let outcome = drawn.recorded(&dctcp, true);
    assert_eq!(outcome.recorded.len() as u64, outcome.sent - 500);
    let homa = fabric(
        topology,
        Transport::Homa,
        age(1.0, Knowledge::Remaining, &[]),
    );
    let outcome = drawn.recorded(&homa, true);
    let unscheduled = i64::from(7 * PACKET);
    let granted: i64 = drawn
        .sizes
        .iter()
        .map(|size| (size - unscheduled).max(0))
        .sum();
    assert_eq!(outcome.recorded_bytes.iter().sum::<i64>(), granted);
}

#[test]
fn a_watcher_stops_it() {
    let topology = topology(2, 2, 1);
    let drawn = Drawn::mixed(&topology, 1, 20_000, 0.8);
    let fabric = fabric(topology, Transport::Dctcp, FlowOrder::Turn);
    let traffic = Traffic::new(
        &fabric,
        &drawn.arrivals,
        &drawn.sizes,
        &drawn.from,
        &drawn.to,
    );
    let mut calls = 0;
    let stopped = simulate_fabric(&fabric, &traffic.expect("flows fit"), false, |_| {
        calls += 1;
        calls < 2
    });
    assert_eq!((stopped, calls), (Err(Stopped), 2));
}

#[test]
fn traffic_that_makes_no_sense_is_refused() {
    let good = fabric(topology(2, 2, 1), Transport::Dctcp, FlowOrder::Turn);
    for (arrivals, sizes, from, to) in [
        (vec![2, 1], vec![1, 1], vec![0, 0], vec![1, 1]),
        (vec![-1], vec![1], vec![0], vec![1]),
        (vec![0], vec![0], vec![0], vec![1]),
        (vec![0], vec![1 << 50], vec![0], vec![1]),
        (vec![0], vec![1], vec![0], vec![0]),
        (vec![0], vec![1], vec![0], vec![4]),
        (vec![0], vec![1], vec![-1], vec![1]),
        (vec![0], vec![1, 1], vec![0], vec![1]),
        (vec![0], vec![1], vec![0], vec![]),
    ] {
        let refused = Traffic::new(&good, &arrivals, &sizes, &from, &to);
        assert_eq!(
            refused.err(),
            Some(TooLong),
            "{arrivals:?}, {sizes:?}, {from:?}, {to:?}"
        );
    }
    let refused = |change: fn(&mut Fabric)| {
        let mut bad = good.clone();
        change(&mut bad);
        assert_eq!(
            Traffic::new(&bad, &[0], &[1], &[0], &[1]).err(),
            Some(TooLong),
            "{bad:?}"
        );
    };
    refused(|fabric| fabric.topology.leaves = 0);
    refused(|fabric| fabric.topology.spines = 1 << 20);
    refused(|fabric| fabric.topology.edge_byte_ps = 0);
    refused(|fabric| fabric.packet_bytes = 0);
    refused(|fabric| fabric.settings.window_packets = 0);
    refused(|fabric| fabric.settings.buffer_bytes = 1_000);
    refused(|fabric| fabric.order = age(f64::NAN, Knowledge::Sent, &[]));
    refused(|fabric| fabric.order = age(1.0, Knowledge::Sent, &[1.0, 0.0]));
}
