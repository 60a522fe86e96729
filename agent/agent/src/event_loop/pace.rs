//! When the loop wakes: seldom enough to be nearly free, often enough that no path's requests bunch up.
//!
//! The kernel stamps packets as they pass, so it costs no precision that requests and answers wait for the loop; each
//! turn of the loop costs as much as several packets. So turns are as far apart as the fastest path allows.

use super::schedule::rhythm;
use crate::clock::RawTime;
use crate::plan::{Plan, Protocol, Role};

/// Least and most time from one turn to the next while packets come and go, ns.
const SHORTEST_NS: i64 = 5_000_000;
const LONGEST_NS: i64 = 160_000_000;

/// How many exchanges may gather for one turn. Leaving together they are a burst of a kilobyte or two.
const TOGETHER: i64 = 16;

/// Part of the deadline for loss that a request may wait for its answer: none is lost because it waited.
const WAITING: f64 = 0.25;

/// Part of the interval of the fastest path from one turn to the next where this agent asks: its requests stay apart.
const ASKING: f64 = 0.64;

/// The same where it only answers. A little more than a whole one: were it less, each turn would come to look just
/// before a request does, and wait for it: twice the wakes.
const ANSWERING: f64 = 1.05;

/// What each message that is granted to stock clients per second adds to the time from one turn to the next, ns, and
/// the least and most it comes to: few clients are answered at once, and many together. ptpd takes no answer but to its newest
/// request, and asks again after any part of twice its interval; so an answer must not wait. The most is, with the quarter of
/// a millisecond until a turn begins, half of the shortest interval that is granted and a little more: Syncs wait for turns.
const SERVING_NS: i64 = 800;
const SERVING_LEAST_NS: i64 = 100_000;
const SERVING_MOST_NS: i64 = 1_000_000_000 / 256;

/// Answers to this agent's own requests may gather so long, ns, or so many of them: nothing waits for them, their stamps are
/// the kernel's, and those that are read together cost less.
const GATHER_NS: i64 = 50_000_000;
const GATHERED: i64 = 64;

/// How long the loop may sleep when nothing is due, ns: plans, deadlines and the order to stop wait for it.
const NAP_NS: i64 = 200_000_000;

/// What the loop does until its next turn: not look before `look_at`, then wait for packets, but no longer than
/// `act_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rest {
    pub look_at: RawTime,
    pub act_at: RawTime,
}

/// The rhythm that a plan allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    tick_ns: i64,
    /// From one turn that listens to the next while requests leave, ns.
    listen_ns: i64,
}

impl Pace {
    /// The pace of an agent with nothing to do.
    pub fn idle() -> Self {
        Self {
            tick_ns: LONGEST_NS,
            listen_ns: LONGEST_NS,
        }
    }

    /// The pace for a plan, both roles counted.
    pub fn of(plan: &Plan) -> Self {
        let (mut exchanges_hz, mut longest_ns, mut listen_ns) = (0, LONGEST_NS, GATHER_NS);
        for mesh in &plan.meshes {
            for peer in mesh.peers.iter().filter(|peer| peer.flows > 0) {
                exchanges_hz += i64::from(peer.flows) * i64::from(mesh.rate_hz);
                let share = match peer.role {
                    Role::Client => ASKING,
                    Role::Responder => ANSWERING,
                };
                let interval_ns = match peer.protocol {
                    Protocol::Lean => rhythm(mesh.rate_hz).0,
                    Protocol::Ieee => 1_000_000_000 / i64::from(mesh.rate_hz),
                };
                let share_ns = (share * interval_ns as f64) as i64;
                longest_ns = longest_ns.min(share_ns);
                if peer.role == Role::Responder {
                    let deadline_ns = f64::from(mesh.loss_deadline_ms) * 1e6;
                    longest_ns = longest_ns.min((WAITING * deadline_ns) as i64);
                }
                // Who asks waits for answers, and a stock responder's Sync for its request.
                if peer.role == Role::Responder || peer.protocol == Protocol::Ieee {
                    listen_ns = listen_ns.min(share_ns);
                }
            }
        }
        let gathering_ns = TOGETHER * 1_000_000_000 / exchanges_hz.max(1);
        let tick_ns = gathering_ns.min(longest_ns).max(SHORTEST_NS);
        let gathered_ns = GATHERED * 1_000_000_000 / exchanges_hz.max(1);
        Self {
            tick_ns,
            listen_ns: listen_ns.min(gathered_ns).max(tick_ns),
        }
    }

    /// The pace while stock clients are served with so many messages per second.
    pub fn serving(self, messages_hz: i64) -> Self {
        let soon_ns = (messages_hz * SERVING_NS).clamp(SERVING_LEAST_NS, SERVING_MOST_NS);
        let tick_ns = self.tick_ns.min(soon_ns);
        Self {
            tick_ns,
            listen_ns: tick_ns,
        }
    }

    /// When to listen again after a turn that listened at `listened`, if only requests are due until then.
    pub fn listen_at(&self, listened: RawTime) -> RawTime {
        listened.plus(self.listen_ns)
    }

    /// How to rest after a turn that began at `began`, with the next request due at `next_due`.
    ///
    /// A request that is due shortly after the tick takes the packets that wait along with it: one turn, not two.
    pub fn rest(&self, began: RawTime, next_due: Option<RawTime>) -> Rest {
        let tick = began.plus(self.tick_ns);
        let nap = began.plus(NAP_NS);
        let shortly = tick.plus(self.tick_ns * 3 / 5);
        match next_due {
            Some(due) if due <= tick => Rest {
                look_at: tick,
                act_at: tick,
            },
            Some(due) if due <= shortly => Rest {
                look_at: due,
                act_at: due,
            },
            due => Rest {
                look_at: tick,
                act_at: due.map_or(nap, |due| due.min(nap)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::plan::{Caps, MeshPlan, Peer};
    use crate::ptp::{Grants, PortIdentity, Service, Way};

    const MS: i64 = 1_000_000;

    fn pace(peers: u32, rate_hz: u32, flows: u32) -> Pace {
        of(Role::Client, peers, rate_hz, flows)
    }

    fn of(role: Role, peers: u32, rate_hz: u32, flows: u32) -> Pace {
        Pace::of(&plan(role, peers, rate_hz, flows))
    }

    fn plan(role: Role, peers: u32, rate_hz: u32, flows: u32) -> Plan {
        let peer = |vm_key| Peer {
            vm_key,
            name: String::new(),
            address: [10, 0, 0, 1].into(),
            event_port: 319,
            general_port: 320,
            role,
            protocol: Protocol::Lean,
            flows,
        };
        Plan {
            caps: Caps {
                packets_per_s: 1,
                peers,
                ..Caps::default()
            },
            meshes: vec![MeshPlan {
                id: String::new(),
                key: 1,
                name: String::new(),
                window_s: 10,
                rate_hz,
                loss_deadline_ms: 1000,
                peers: (0..peers).map(peer).collect(),
            }],
            ..Plan::idle()
        }
    }

    #[test]
    fn stock_clients_are_answered_at_once_and_many_together() {
        let ticks_us = [1, 257, 1285, 5140, 100_000]
            .map(|messages_hz| pace(100, 1, 1).serving(messages_hz).tick_ns / 1000);
        assert_eq!(ticks_us, [100, 205, 1028, 3906, 3906]);
    }

    /// At least 90 % of intervals are within 30 % of what was granted (9.5.9.2), although Syncs wait for turns, and turns
    /// for the machine.
    #[test]
    fn syncs_of_many_clients_are_as_regular_as_the_standard_asks() {
        const INTERVAL: f64 = 1e9 / 128.0;
        let mut grants = Grants::default();
        for last in 0..20 {
            let way = Way {
                client: [10, 0, 0, last].into(),
                event_port: 319,
                general_port: 320,
                local: None,
            };
            let identity = PortIdentity { clock: 1, port: 1 };
            for service in [Service::Sync, Service::DelayResp] {
                grants.request((way.client, identity), way, (service, -7, 300), RawTime(0));
            }
        }
        let pace = Pace::idle().serving(grants.messages_hz());
        let (mut began, mut left) = (RawTime(0), HashMap::<_, RawTime>::new());
        let (mut near, mut all) = (0, 0);
        while began.0 < 20_000 * MS {
            while let Some(due) = grants.next_due(began) {
                if let Some(before) = left.insert(due.way.client, began) {
                    let interval = began.since(before) as f64;
                    near += u32::from((interval / INTERVAL - 1.0).abs() <= 0.3);
                    all += 1;
                }
            }
            began = pace.rest(began, grants.next()).look_at.plus(MS / 5);
        }
        assert!(all > 50_000 && near * 10 >= all * 9, "{near} of {all}");
    }

    /// A request is there whenever a responder comes to look: it wakes once for each.
    #[test]
    fn who_only_answers_does_not_wait_for_requests() {
        let (pace, interval_ns) = (of(Role::Responder, 1, 128, 1), rhythm(128).0);
        let (mut now, mut asked, mut waits) = (RawTime(0), RawTime(0), 0);
        for _ in 0..1000 {
            now = pace.rest(now, None).look_at;
            waits += u32::from(asked > now);
            now = now.max(asked);
            while asked <= now {
                asked = asked.plus(interval_ns);
            }
        }
        assert!(waits < 100, "{waits} of 1000 turns waited");
    }

    #[test]
    fn few_exchanges_let_it_sleep_and_fast_paths_do_not() {
        let ticks = [
            (1, 1, 1),
            (100, 1, 1),
            (1000, 1, 1),
            (1, 16, 1),
            (2, 128, 1),
            (1, 8, 8),
        ];
        let ticks = ticks.map(|(peers, rate_hz, flows)| pace(peers, rate_hz, flows).tick_ns / MS);
        assert_eq!(ticks, [160, 160, 16, 40, 10, 80]);
    }

    #[test]
    fn no_request_waits_for_long_beside_the_deadline_for_its_answer() {
        let ticks = [1, 100, 250, 400, 1000].map(|deadline_ms| {
            let mut plan = plan(Role::Responder, 100, 1, 1);
            plan.meshes[0].loss_deadline_ms = deadline_ms;
            Pace::of(&plan).tick_ns * 10 / MS
        });
        assert_eq!(ticks, [50, 250, 625, 1000, 1600]);
    }

    #[test]
    fn answers_gather_and_requests_of_others_do_not() {
        let listens = |role, peers, rate_hz| of(role, peers, rate_hz, 1).listen_ns / MS;
        assert_eq!(listens(Role::Client, 1, 128), 50);
        assert_eq!(listens(Role::Client, 20, 128), 25);
        assert_eq!(listens(Role::Client, 100, 128), 5);
        assert_eq!(listens(Role::Responder, 1, 128), 16);
        assert_eq!(listens(Role::Client, 1, 1), 160);
        assert_eq!(pace(1, 128, 1).serving(1285).listen_ns, 1_028_000);
    }

    /// Requests of one path leave once per slot, each slot in a turn of its own.
    #[test]
    fn a_fast_path_is_one_turn_per_slot() {
        let pace = pace(1, 128, 1);
        let (interval_ns, requests) = rhythm(128);
        let (mut now, mut due, mut turns, mut sent) = (RawTime(0), RawTime(0), 0, 0);
        while now.0 < 1_000 * MS {
            turns += 1;
            let mut together = 0;
            while due <= now {
                due = due.plus(interval_ns);
                together += requests;
            }
            assert!(together <= 2, "{together} requests in one turn");
            sent += together;
            // Answers are always there: it wakes as soon as it looks.
            now = pace.rest(now, Some(due)).look_at;
        }
        assert!((126..=130).contains(&sent), "{sent}");
        assert!(turns <= 66, "{turns}");
    }

    #[test]
    fn it_rests_no_longer_than_a_nap_and_no_longer_than_until_the_next_request() {
        let pace = pace(1, 1, 1);
        let rest = |due| pace.rest(RawTime(0), due);
        let at = |look, act| Rest {
            look_at: RawTime(look * MS),
            act_at: RawTime(act * MS),
        };
        assert_eq!(rest(None), at(160, 200));
        assert_eq!(rest(Some(RawTime(20 * MS))), at(160, 160));
        assert_eq!(rest(Some(RawTime(240 * MS))), at(240, 240));
        assert_eq!(rest(Some(RawTime(290 * MS))), at(160, 200));
        assert_eq!(rest(Some(RawTime(900 * MS))), at(160, 200));
    }
}
