//! Decisions of the client without any packet.

use super::*;
use crate::plan::{Caps, MeshPlan, Peer};
use crate::ptp::Verdict;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;
const EPOCH: i64 = 1_700_000_000 * S;

fn peer(vm_key: u32, port: u16) -> Peer {
    Peer {
        vm_key,
        name: String::new(),
        address: "10.0.0.2".parse().unwrap(),
        event_port: port,
        general_port: port + 1,
        role: Role::Client,
        flows: 1,
    }
}

fn plan(peers: Vec<Peer>, rate_hz: u32, window_s: u32) -> Plan {
    Plan {
        caps: Caps {
            packets_per_s: 1000,
            peers: 10,
        },
        meshes: vec![MeshPlan {
            id: String::new(),
            key: 1,
            name: String::new(),
            window_s,
            rate_hz,
            loss_deadline_ms: 500,
            peers,
        }],
        ..Plan::idle()
    }
}

/// A client and peers that answer at once, except those that are deaf.
struct Play {
    client: Client,
    now: i64,
    deaf: Vec<u16>,
    windows: Vec<MeshWindow>,
}

impl Play {
    fn new() -> Self {
        Self {
            client: Client::new(7),
            now: 0,
            deaf: Vec::new(),
            windows: Vec::new(),
        }
    }

    fn follow(&mut self, plan: &Plan) {
        self.client.follow(plan, RawTime(self.now));
    }

    /// Plays for `ms` in ticks of 10 ms.
    fn run(&mut self, ms: i64) {
        let until = self.now + ms * MS;
        while self.now < until {
            let now = RawTime(self.now);
            while let Some(slot) = self.client.next_slot(now, EPOCH + self.now, || true) {
                if let Some(request) = slot.request {
                    self.client.departed(&request.id(), now);
                    if !self.deaf.contains(&request.to.port()) {
                        self.answer(&request);
                    }
                }
            }
            let settled = self.client.settle(now, EPOCH + self.now);
            self.windows.extend(settled.windows);
            self.now += 10 * MS;
        }
    }

    /// 50 us each way, by a clock 5 s behind ours.
    fn answer(&mut self, request: &Request) {
        let there = self.now + 50_000 - 5 * S;
        let arrival = RawTime(self.now + 100_000);
        let requester = request.message.source;
        let bodies = [
            Body::Sync {
                two_step: true,
                origin_ns: there,
            },
            Body::FollowUp { origin_ns: there },
            Body::DelayResp {
                receive_ns: there,
                requester,
                tally: None,
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
            };
            self.client.hear(request.to, &message, arrival);
        }
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

#[test]
fn every_window_holds_the_requests_of_its_time() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319), peer(3, 329)], 8, 10));
    play.run(31_000);
    assert_eq!(
        play.counts(),
        [(0, 160, 0, 160), (10, 160, 0, 160), (20, 160, 0, 160)]
    );
    assert_eq!(play.windows[0].peer_keys, [2, 3]);
    let outbound = play.windows[2].outbound.as_ref().unwrap();
    assert_eq!((outbound.min_ns[0], outbound.max_ns[1]), (50_000, 50_000));
}

#[test]
fn a_deaf_peer_is_lost_and_the_other_is_not() {
    let mut play = Play::new();
    play.deaf.push(329);
    play.follow(&plan(vec![peer(2, 319), peer(3, 329)], 8, 10));
    play.run(11_000);
    let round_trip = play.windows[0].round_trip.as_ref().unwrap();
    assert_eq!(
        (&round_trip.sent[..], &round_trip.lost[..]),
        (&[80, 80][..], &[0, 80][..])
    );
}

#[test]
fn changes_elsewhere_cost_a_path_no_slot_and_no_exchange() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    for round in 0..50 {
        let others = (0..round % 3).map(|i| peer(10 + i, 400 + 10 * i as u16));
        play.follow(&plan(
            std::iter::once(peer(2, 319)).chain(others).collect(),
            8,
            10,
        ));
        play.run(210);
    }
    play.run(1_000);
    let first = &play.windows[0];
    let at = first.peer_keys.iter().position(|key| *key == 2).unwrap();
    let round_trip = first.round_trip.as_ref().unwrap();
    assert_eq!(
        (
            round_trip.sent[at],
            round_trip.lost[at],
            round_trip.count[at]
        ),
        (80, 0, 80)
    );
}

#[test]
fn a_moved_peer_is_told_from_where_it_was() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    play.run(5_000);
    play.follow(&plan(vec![peer(2, 919)], 8, 10));
    play.run(6_000);
    assert_eq!(play.counts(), [(0, 80, 0, 80)]);
    let outbound = play.windows[0].outbound.as_ref().unwrap();
    assert_eq!(
        (outbound.count[0], outbound.min_ns[0], outbound.max_ns[0]),
        (80, 50_000, 50_000)
    );
}

#[test]
fn a_new_rate_and_length_hold_from_the_next_slot_and_window() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    play.run(5_000);
    play.follow(&plan(vec![peer(2, 319)], 32, 5));
    play.run(11_000);
    let counts = play.counts();
    assert_eq!(counts.len(), 2, "{counts:?}");
    assert!((199..=201).contains(&counts[0].1), "{counts:?}");
    assert_eq!(counts[1], (10, 160, 0, 160));
}

#[test]
fn a_mesh_that_goes_and_comes_back_within_a_window_hands_it_over_once() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    play.run(3_000);
    play.follow(&Plan::idle());
    play.run(3_000);
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    play.run(15_000);
    assert_eq!(play.counts(), [(0, 56, 0, 56), (10, 80, 0, 80)]);
}

#[test]
fn two_meshes_of_one_pair_are_kept_apart() {
    let mut play = Play::new();
    let mut both = plan(vec![peer(2, 319)], 8, 10);
    let mut other = both.meshes[0].clone();
    (other.key, other.rate_hz, other.window_s) = (2, 16, 5);
    both.meshes.push(other);
    play.follow(&both);
    play.run(6_000);
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    play.run(6_000);
    let mut of: Vec<_> = play
        .windows
        .iter()
        .map(|w| (w.mesh_key, w.round_trip.clone().unwrap().count[0]))
        .collect();
    of.sort_unstable();
    assert_eq!(of[0], (1, 80));
    assert_eq!(of[1..], [(2, 16), (2, 80)]);
}

#[test]
fn without_permission_nothing_is_sent_or_counted() {
    let mut client = Client::new(7);
    client.follow(&plan(vec![peer(2, 319)], 8, 10), RawTime(0));
    let slot = client.next_slot(RawTime(S), EPOCH, || false).unwrap();
    assert!(slot.request.is_none() && slot.left_out > 0);
    assert!(client.finish(RawTime(S)).is_empty());
}

#[test]
fn messages_from_elsewhere_are_nobodys() {
    let mut play = Play::new();
    play.follow(&plan(vec![peer(2, 319)], 8, 10));
    let message = Message {
        source: PortIdentity { clock: 9, port: 0 },
        sequence_id: 0,
        correction: Correction(0),
        body: Body::FollowUp { origin_ns: 0 },
    };
    let arrival = Arrival {
        at: RawTime(0),
        stamp: None,
    };
    let heard = play
        .client
        .hear("10.0.0.3:319".parse().unwrap(), &message, arrival);
    assert_eq!(heard, Heard::default());
    let heard = play
        .client
        .hear("10.0.0.2:320".parse().unwrap(), &message, arrival);
    assert_eq!(heard.verdict, Some(Verdict::Foreign));
}

#[test]
fn what_is_unanswered_when_this_machine_drops_packets_is_not_loss() {
    let mut play = Play::new();
    play.deaf.push(329);
    play.follow(&plan(vec![peer(2, 319), peer(3, 329)], 8, 10));
    play.run(9_900);
    play.client.disregard_unanswered(RawTime(play.now));
    play.run(1_500);
    let round_trip = play.windows[0].round_trip.as_ref().unwrap();
    assert_eq!(round_trip.sent[0], 80);
    // Half a second of requests, those younger than the deadline, is as if it had not been.
    assert!((75..=77).contains(&round_trip.sent[1]), "{round_trip:?}");
    assert_eq!(round_trip.lost[1], round_trip.sent[1]);
}
