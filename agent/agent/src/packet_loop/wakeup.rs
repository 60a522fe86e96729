//! When the loop wakes: seldom enough to be nearly free, often enough that no path's requests bunch up.
//!
//! The kernel stamps packets as they pass, so it costs no precision that requests and answers wait for the loop; each
//! turn of the loop costs as much as several packets. So turns are as far apart as the fastest path allows.

use crate::clock::RawTime;
use crate::paths::schedule::rhythm;
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
/// request, and asks again after any part of twice its interval; so an answer must not wait. The most is half of the shortest
/// interval that is granted: Syncs wait for turns, and come as regularly.
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
                    Protocol::Compact => rhythm(mesh.rate_hz).0,
                    Protocol::Ieee1588 => 1_000_000_000 / i64::from(mesh.rate_hz),
                };
                let share_ns = (share * interval_ns as f64) as i64;
                longest_ns = longest_ns.min(share_ns);
                if peer.role == Role::Responder {
                    let deadline_ns = f64::from(mesh.loss_deadline_ms) * 1e6;
                    longest_ns = longest_ns.min((WAITING * deadline_ns) as i64);
                }
                // Who asks waits for answers, and a stock responder's Sync for its request.
                if peer.role == Role::Responder || peer.protocol == Protocol::Ieee1588 {
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
#[path = "wakeup_tests.rs"]
mod tests;
