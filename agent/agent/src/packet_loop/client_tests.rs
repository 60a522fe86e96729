//! Decisions of the client without any packet.

use super::*;
use crate::clock::TimestampSource;
use crate::packet_loop::wakeup::WakeupIntervals;
use crate::paths::peer_session::Foreign;
use crate::plan::{Caps, MeshPlan, PathProbes, Peer, Plan, Protocol, Role};
use crate::ptp::VmTlv;
use crate::ptp::{PortIdentity, Verdict};
use std::collections::HashMap;

pub(super) const MS: i64 = 1_000_000;
pub(super) const S: i64 = 1_000 * MS;
pub(super) const EPOCH: i64 = 1_700_000_000 * S;

pub(in crate::packet_loop) fn peer(vm_key: u32, port: u16) -> Peer {
    Peer {
        vm_key,
        name: String::new(),
        address: "10.0.0.2".parse().unwrap(),
        event_port: port,
        general_port: port + 1,
        role: Role::Client,
        protocol: Protocol::Compact,
        domain: 0,
        flows: 1,
        vm_tag: 0,
        turns: None,
    }
}

pub(in crate::packet_loop) fn plan(peers: Vec<Peer>, rate_hz: u32, window_s: u32) -> Plan {
    Plan {
        caps: Caps {
            packets_per_s: 1000,
            peers: 10,
            ..Caps::default()
        },
        on_demand: Vec::new(),
        service_traffic: None,
        meshes: vec![MeshPlan {
            id: String::new(),
            key: 1,
            name: String::new(),
            window_s,
            rate_hz,
            loss_deadline_ms: 500,
            period_windows: 1,
            span_ns: None,
            probes: PathProbes::default(),
            peers,
        }],
        ..Plan::idle()
    }
}

/// Let the peer of a request receive it and respond at `there` by its own clock; the client receives all of it at `arrival`.
pub(super) fn respond(client: &mut Client, request: &Request, there: i64, arrival: RawTime) {
    respond_as(client, request, (request.to, None), there, arrival);
}

/// Respond from an address with what the responder tells about its VM.
fn respond_as(
    client: &mut Client,
    request: &Request,
    (from, vm): (SocketAddr, Option<VmTlv>),
    there: i64,
    arrival: RawTime,
) {
    let bodies = [
        Body::Sync {
            two_step: true,
            origin_ns: there,
        },
        Body::FollowUp { origin_ns: there },
        Body::DelayResp {
            receive_ns: there,
            requester: request.message.source,
            rx_report: None,
            sync_left_ns: None,
            hardware_clock: None,
            vm,
        },
    ];
    for body in bodies {
        let message = Message {
            source: PortIdentity { clock: 9, port: 0 },
            body,
            ..request.message
        };
        let arrival = Arrival {
            at: arrival,
            stamp: Some(arrival),
            source: TimestampSource::Kernel,
            ecn: None,
        };
        client.receive(from, &message, arrival);
    }
}

/// A client and peers that answer at once, except those that are deaf.
struct Simulation {
    client: Client,
    now: i64,
    deaf: Vec<u16>,
    /// Tags that responders name, and the ports they answer from, by the ports they are asked at.
    tags: HashMap<u16, u64>,
    answers_from: HashMap<u16, u16>,
    /// Additional delay of each flow relative to the one before.
    longer_ns: i64,
    windows: Vec<MeshWindow>,
    /// For each request: true if it announced that another one follows soon.
    soon: Vec<bool>,
}

impl Simulation {
    fn new() -> Self {
        let mut client = Client::new(7, 0);
        // Windows are easier to count without the second of many that a path starts with.
        client.table.schedule.first = 0;
        Self {
            client,
            now: 0,
            deaf: Vec::new(),
            tags: HashMap::new(),
            answers_from: HashMap::new(),
            longer_ns: 0,
            windows: Vec::new(),
            soon: Vec::new(),
        }
    }

    /// Return a simulation of one path at 8/s in windows of 10 s.
    fn of_one_path() -> Self {
        let mut simulation = Self::new();
        simulation.follow_peers(vec![peer(2, 319)]);
        simulation
    }

    fn follow(&mut self, plan: &Plan) {
        self.client.follow(plan, 16, RawTime(self.now));
    }

    fn follow_peers(&mut self, peers: Vec<Peer>) {
        self.follow(&plan(peers, 8, 10));
    }

    fn round_trip(&self, window: usize) -> &crate::wire::Columns {
        self.windows[window].round_trip.as_ref().unwrap()
    }

    /// Play for `ms` in ticks of 10 ms.
    fn run(&mut self, ms: i64) {
        let until = self.now + ms * MS;
        while self.now < until {
            let now = RawTime(self.now);
            let time = BackendTime {
                ahead_ns: EPOCH,
                error_ns: 0,
                suspended_ns: 0,
                is_known: true,
                confirmed: RawTime(0),
                is_doubted: false,
            };
            self.client.follow_time(time, now);
            while let Some(slot) = self.client.next_slot(now, EPOCH + self.now, || true) {
                if let Some(request) = slot.request {
                    let Body::CompactReq { soon, .. } = request.message.body else {
                        panic!("{:?}", request.message);
                    };
                    self.soon.push(soon);
                    self.client
                        .record_departure(&request.id(), now, TimestampSource::Kernel);
                    if !self.deaf.contains(&request.to.port()) {
                        self.response(&request);
                    }
                }
            }
            let outcome = self.client.settle(now, now, EPOCH + self.now);
            self.windows.extend(outcome.closed.meshes);
            self.now += 10 * MS;
        }
    }

    /// 50 us each way, by a clock 5 s behind ours.
    fn response(&mut self, request: &Request) {
        let there = self.now + 50_000 - 5 * S + i64::from(request.flow) * self.longer_ns;
        let arrival = RawTime(self.now + 100_000 + i64::from(request.flow) * self.longer_ns);
        let port = request.to.port();
        let mut from = request.to;
        from.set_port(*self.answers_from.get(&port).unwrap_or(&port));
        let vm = self.tags.get(&port).map(|tag| VmTlv {
            tag: *tag,
            ..VmTlv::default()
        });
        respond_as(&mut self.client, request, (from, vm), there, arrival);
    }

    /// Requests, losses and delays per window, all peers together.
    fn counts(&self) -> Vec<(i64, i32, i32, u32)> {
        let row = |window: &MeshWindow| {
            let columns = window.round_trip.as_ref().unwrap();
            (
                window.started_at_s - EPOCH / S,
                columns.sent.iter().sum(),
                columns.lost.iter().sum(),
                columns.count.iter().sum(),
            )
        };
        self.windows.iter().map(row).collect()
    }
}

/// Return a peer that is measured in these turns only.
fn in_turns(turns: &[u32], vm_key: u32, port: u16) -> Peer {
    Peer {
        turns: Some(turns.to_vec()),
        ..peer(vm_key, port)
    }
}

#[test]
fn the_answers_of_another_vm_are_neither_delays_nor_loss_and_are_reported_once() {
    let mut simulation = Simulation::new();
    let tagged = |vm_key, port| Peer {
        vm_tag: 5,
        ..peer(vm_key, port)
    };
    // One names the VM that was asked, one another VM, one is of an earlier version.
    simulation.tags = [(319, 5), (329, 6)].into();
    simulation.follow_peers(vec![tagged(2, 319), tagged(3, 329), tagged(4, 339)]);
    simulation.run(21_000);
    let window = &simulation.windows[1];
    assert_eq!(window.peer_keys, [2, 4]);
    assert_eq!(window.peer_marks, [0, 1]);
    assert_eq!(simulation.counts()[1], (10, 160, 0, 160));
    let now = RawTime(simulation.now);
    let foreign = simulation.client.new_foreign(now);
    let (key, _, foreign) = foreign.unwrap();
    assert_eq!((key, foreign), ((1, 3), Foreign::AnotherVm));
    assert_eq!(simulation.client.new_foreign(now), None);
    // What it does not answer is no loss of the peer either, and then the peer itself is back.
    simulation.deaf.push(329);
    simulation.run(5_000);
    simulation.deaf.clear();
    simulation.tags.insert(329, 5);
    simulation.run(15_000);
    assert_eq!(simulation.windows[3].peer_keys, [2, 3, 4]);
    assert_eq!(simulation.counts()[3], (30, 240, 0, 240));
}

#[test]
fn answers_from_another_port_are_named_and_no_loss() {
    let mut simulation = Simulation::of_one_path();
    simulation.answers_from.insert(319, 40_319);
    simulation.run(11_000);
    let lost = simulation.counts().iter().map(|(_, _, lost, _)| lost).sum();
    assert_eq!((0, simulation.windows.len()), (lost, 0));
    let now = RawTime(simulation.now);
    let (_, at, foreign) = simulation.client.new_foreign(now).unwrap();
    let from = SocketAddr::new(at.ip(), 40_319);
    assert_eq!(foreign, Foreign::Elsewhere(from));
    // Without any answer it is loss again.
    simulation.deaf.push(319);
    simulation.run(40_000);
    let (.., sent, lost, _) = simulation.counts().pop().unwrap();
    assert_eq!((sent, lost), (80, 80));
}

#[test]
fn paths_that_take_turns_fill_their_windows_and_leave_the_others() {
    let mut simulation = Simulation::new();
    let (often, seldom) = (in_turns(&[1, 2], 3, 329), in_turns(&[0], 2, 319));
    let mut plan = plan(vec![seldom, often, peer(4, 339)], 8, 10);
    plan.meshes[0].period_windows = 3;
    simulation.follow(&plan);
    simulation.run(61_000);
    assert_eq!(simulation.windows.len(), 6);
    let first = (EPOCH / S / 10 % 3) as usize;
    for (nth, window) in simulation.windows.iter().enumerate() {
        let is_seldom = (first + nth) % 3 == 0;
        assert_eq!(window.peer_keys, [if is_seldom { 2 } else { 3 }, 4]);
        let round_trip = simulation.round_trip(nth);
        // A slot at the end of a window may be played in the next one, which is another path's turn.
        assert!(round_trip.sent.iter().all(|sent| (79..=80).contains(sent)));
        assert_eq!(round_trip.lost, [0, 0]);
        assert!(round_trip.count.iter().all(|count| *count >= 79));
    }
}

#[test]
fn the_last_request_of_a_turn_announces_no_other_one() {
    let mut simulation = Simulation::new();
    let first = (EPOCH / S / 10 % 2) as u32;
    let mut plan = plan(vec![in_turns(&[first], 2, 319)], 8, 10);
    plan.meshes[0].period_windows = 2;
    simulation.follow(&plan);
    simulation.run(15_000);
    assert_eq!(simulation.soon.len(), 80);
    assert!(simulation.soon[..79].iter().all(|soon| *soon));
    assert!(!simulation.soon[79]);
}

#[test]
fn changes_elsewhere_cost_a_path_no_slot_and_no_exchange() {
    let mut simulation = Simulation::of_one_path();
    for round in 0..50 {
        let others = (0..round % 3).map(|i| peer(10 + i, 400 + 10 * i as u16));
        simulation.follow_peers(std::iter::once(peer(2, 319)).chain(others).collect());
        simulation.run(210);
    }
    simulation.run(1_000);
    let mut keys = simulation.windows[0].peer_keys.iter();
    let at = keys.position(|key| *key == 2).unwrap();
    let round_trip = simulation.round_trip(0);
    assert_eq!((round_trip.sent[at], round_trip.lost[at]), (80, 0));
    assert_eq!(round_trip.count[at], 80);
}

#[test]
fn a_moved_peer_is_distinguished_from_its_old_address() {
    let mut simulation = Simulation::of_one_path();
    simulation.run(5_000);
    simulation.follow_peers(vec![peer(2, 919)]);
    simulation.run(6_000);
    assert_eq!(simulation.counts(), [(0, 80, 0, 80)]);
    let outbound = simulation.windows[0].outbound.as_ref().unwrap();
    assert_eq!(outbound.count, [80]);
    assert_eq!([outbound.min_ns[0], outbound.max_ns[0]], [50_000; 2]);
}

#[test]
fn a_new_rate_and_length_hold_from_the_next_slot_and_window() {
    let mut simulation = Simulation::of_one_path();
    simulation.run(5_000);
    simulation.follow(&plan(vec![peer(2, 319)], 32, 5));
    simulation.run(11_000);
    let counts = simulation.counts();
    assert_eq!(counts.len(), 2, "{counts:?}");
    assert!((199..=201).contains(&counts[0].1), "{counts:?}");
    assert_eq!(counts[1], (10, 160, 0, 160));
}

#[test]
fn a_mesh_that_goes_and_comes_back_within_a_window_hands_it_over_once() {
    let mut simulation = Simulation::of_one_path();
    simulation.run(3_000);
    simulation.follow(&Plan::idle());
    simulation.run(3_000);
    simulation.follow(&plan(vec![peer(2, 319)], 8, 10));
    simulation.run(15_000);
    assert_eq!(simulation.counts(), [(0, 56, 0, 56), (10, 80, 0, 80)]);
}

#[test]
fn two_meshes_of_one_pair_are_kept_apart() {
    let mut simulation = Simulation::new();
    let mut both = plan(vec![peer(2, 319)], 8, 10);
    let mut other = both.meshes[0].clone();
    (other.key, other.rate_hz, other.window_s) = (2, 16, 5);
    both.meshes.push(other);
    simulation.follow(&both);
    simulation.run(6_000);
    simulation.follow_peers(vec![peer(2, 319)]);
    simulation.run(6_000);
    let row = |w: &MeshWindow| (w.mesh_key, w.round_trip.as_ref().unwrap().count[0]);
    let mut of: Vec<_> = simulation.windows.iter().map(row).collect();
    of.sort_unstable();
    assert_eq!(of[0], (1, 80));
    assert_eq!(of[1..], [(2, 16), (2, 80)]);
}

#[test]
fn messages_from_unknown_addresses_are_ignored() {
    let mut simulation = Simulation::of_one_path();
    let message = Message {
        domain: 0,
        source: PortIdentity { clock: 9, port: 0 },
        sequence_id: 0,
        correction: Correction(0),
        body: Body::FollowUp { origin_ns: 0 },
    };
    let arrival = Arrival {
        at: RawTime(0),
        stamp: None,
        source: TimestampSource::Kernel,
        ecn: None,
    };
    let mut receive = |from: &str| {
        let from = from.parse().unwrap();
        simulation.client.receive(from, &message, arrival)
    };
    assert_eq!(receive("10.0.0.3:319"), SessionUpdate::default());
    let verdict = receive("10.0.0.2:320").verdict;
    assert_eq!(verdict, Some(Verdict::Unsolicited));
}

#[test]
fn what_is_unanswered_when_this_machine_drops_packets_is_not_loss() {
    let mut simulation = Simulation::new();
    simulation.deaf.push(329);
    simulation.follow_peers(vec![peer(2, 319), peer(3, 329)]);
    simulation.run(9_900);
    simulation.client.drop_unanswered(RawTime(simulation.now));
    simulation.run(1_500);
    let round_trip = simulation.round_trip(0);
    assert_eq!(round_trip.sent[0], 80);
    // Half a second of requests, those younger than the deadline, is as if it had not been.
    assert!((75..=77).contains(&round_trip.sent[1]), "{round_trip:?}");
    assert_eq!(round_trip.lost[1], round_trip.sent[1]);
}

#[test]
fn each_flow_keeps_the_rate_and_shows_its_own_delay() {
    let mut simulation = Simulation::new();
    simulation.longer_ns = 200_000;
    let wide = Peer {
        flows: 4,
        ..peer(2, 319)
    };
    simulation.follow_peers(vec![wide.clone()]);
    simulation.run(11_000);
    assert_eq!(simulation.counts(), [(0, 320, 0, 320)]);
    let window = &simulation.windows[0];
    assert_eq!(window.flows, [4]);
    let outbound = window.outbound_flows.as_ref().unwrap();
    assert_eq!(outbound.count, [80; 4]);
    let expected = [0, 1, 2, 3].map(|flow| 50_000 + 200_000 * flow);
    assert_eq!(outbound.min_ns, expected);
    assert_eq!(outbound.p50_ns, expected);
    let inbound = window.inbound_flows.as_ref().unwrap();
    assert_eq!(inbound.min_ns, [50_000; 4]);

    // Fewer ports than asked for, and then one: what is there is used.
    let (wide, now) = (plan(vec![wide], 8, 10), RawTime(simulation.now));
    simulation.client.follow(&wide, 2, now);
    simulation.run(18_000);
    simulation.follow_peers(vec![peer(2, 319)]);
    simulation.run(20_000);
    let row = |w: &MeshWindow| (w.flows[0], w.outbound_flows.is_some());
    let flows: Vec<_> = simulation.windows.iter().map(row).collect();
    assert_eq!(flows, [(4, true), (4, true), (2, true), (1, false)]);
    for (_, sent, lost, count) in simulation.counts() {
        assert_eq!((lost, count), (0, sent as u32));
    }
}

#[test]
fn every_rate_and_every_window_length_yields_whole_windows() {
    for rate_hz in [1, 2, 4, 8, 16, 32, 64, 128] {
        for window_s in [1, 7, 60] {
            let mut simulation = Simulation::new();
            // On the grid of windows, which starts at the epoch.
            simulation.now = (i64::from(window_s) - (EPOCH / S) % i64::from(window_s)) * S;
            let start = simulation.now / S;
            simulation.follow(&plan(vec![peer(2, 319)], rate_hz, window_s));
            simulation.run(2_000 * i64::from(window_s) + 1_000);
            let (requests, counts) = ((rate_hz * window_s) as i32, simulation.counts());
            let starts: Vec<i64> = counts.iter().map(|(start, ..)| *start).collect();
            assert_eq!(starts, [start, start + i64::from(window_s)]);
            for (_, sent, lost, count) in counts {
                // A slot on the edge may fall on either side of it.
                assert!((requests - sent).abs() <= 1, "{sent} of {requests}");
                assert_eq!((lost, count), (0, sent as u32));
            }
        }
    }
}

#[test]
fn requests_leave_spread_over_the_turns_and_not_in_bursts() {
    for (peers, rate_hz, flows) in [(100, 1, 1), (1000, 1, 1), (40, 16, 2), (20, 128, 1)] {
        let wide = |nth| Peer {
            flows,
            ..peer(2 + nth, 1000 + 2 * nth as u16)
        };
        let plan = plan((0..peers).map(wide).collect(), rate_hz, 10);
        let mut client = Client::new(7, 0);
        client.table.schedule.first = 0;
        client.follow(&plan, 16, RawTime(0));
        let intervals = WakeupIntervals::of(&plan);
        let (mut now, mut sent, mut most, mut turns) = (RawTime(0), 0u32, 0u32, 0);
        let began = RawTime(2 * S);
        while now.0 < 4 * S {
            let mut together = 0;
            while client.next_slot(now, EPOCH + now.0, || true).is_some() {
                together += 1;
            }
            client.settle(now, now, EPOCH + now.0);
            if now > began {
                (sent, most, turns) = (sent + together, most.max(together), turns + 1);
            }
            let sleep = intervals.sleep((now, true), client.next_due(), now.plus(S));
            now = sleep.poll_until;
        }
        let expected = 2 * peers * rate_hz * flows;
        assert!(sent.abs_diff(expected) <= peers * flows, "{sent}");
        let on_average = expected / turns;
        assert!(most <= 3 * on_average + 3, "{most}, not {on_average}");
    }
}

#[test]
fn only_requests_that_another_one_follows_soon_leave_the_rest_to_its_answer() {
    // Deadline in ms, rate, flows.
    let cases = [
        (1000, 128, 1, true),
        (1000, 1, 1, true),
        (1000, 1, 8, true),
        (250, 4, 1, true),
        (250, 2, 1, false),
        (250, 1, 8, true),
        (250, 1, 1, false),
    ];
    for (deadline_ms, rate_hz, flows, soon) in cases {
        let mut simulation = Simulation::new();
        let mut plan = plan(vec![peer(2, 1)], rate_hz, 1);
        plan.meshes[0].loss_deadline_ms = deadline_ms;
        plan.meshes[0].peers[0].flows = flows;
        simulation.follow(&plan);
        simulation.run(7_000);
        assert!(simulation.soon.len() >= 6, "{}", simulation.soon.len());
        let is_right = simulation.soon.iter().all(|s| *s == soon);
        assert!(is_right, "{rate_hz}/s by {flows}, {deadline_ms} ms");
    }
    // The second of many that a path starts with, and then one a second.
    let mut simulation = Simulation::new();
    simulation.client.table.schedule.first = 32;
    let mut plan = plan(vec![peer(2, 1)], 1, 1);
    plan.meshes[0].loss_deadline_ms = 250;
    simulation.follow(&plan);
    simulation.run(6_000);
    let later = simulation.soon.iter().filter(|soon| **soon).count();
    assert!((30..=32).contains(&later), "{later}");
    assert_eq!(simulation.soon.last(), Some(&false));
}

#[test]
fn a_window_is_handed_over_as_soon_as_its_last_exchange_is_decided() {
    let mut simulation = Simulation::of_one_path();
    while simulation.windows.is_empty() {
        simulation.run(10);
    }
    let last_decided = 10_000 - 125 + 500;
    let after_ms = simulation.now / MS - last_decided;
    assert!((0..=150).contains(&after_ms), "{after_ms} ms");
}
