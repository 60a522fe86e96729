//! Wakeups of the loop: rare enough to cost almost nothing, frequent enough to keep the requests of a path apart.
//!
//! The kernel timestamps packets as they pass, so requests and responses lose no precision while they wait for the loop.
//! Each turn of the loop costs as much as several packets. Turns are therefore as far apart as the fastest path allows.

use crate::clock::RawTime;
use crate::paths::schedule::Rhythm;
use crate::plan::{Plan, Protocol, Role};

/// Limits on the time between turns of the loop and on what may wait for a turn. Every time is in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct WakeupPolicy {
    /// Shortest and longest time between turns while packets are exchanged.
    pub shortest_turn_ns: i64,
    pub longest_turn_ns: i64,
    /// Exchanges that may gather for one turn. Leaving together, they are a burst of one or two kilobytes.
    pub exchanges_per_turn: i64,
    /// Share of the loss deadline that a request may wait for its response: no exchange is lost by waiting.
    pub deadline_share: f64,
    /// Share of the interval of the fastest path between turns of a client: its requests stay apart.
    pub client_interval_share: f64,
    /// Share of the same interval between turns of a responder. It is greater than 1: otherwise each turn would come just
    /// before a request, and wait for it, with twice the wakeups.
    pub responder_interval_share: f64,
    /// Time that each message per second granted to standard clients adds between turns, and the limits of the sum.
    /// Responses must not wait: ptpd accepts a Delay_Resp for its newest Delay_Req only, and sends the next one at a random
    /// time within twice its interval, but not within 0.5 ms. The longest time is a quarter of the shortest interval granted.
    pub granted_message_ns: i64,
    pub shortest_service_turn_ns: i64,
    pub longest_service_turn_ns: i64,
    /// Longest time between turns after which a request of SPTP is answered: sptp waits 100 ms for an answer.
    pub sptp_turn_ns: i64,
    /// Time after a request of SPTP that another one is expected.
    pub sptp_expected_ns: i64,
    /// Longest time and largest number of responses to own requests that may wait to be read. Nothing depends on them
    /// sooner, their timestamps are the kernel's, and reading them together costs less.
    pub longest_gather_ns: i64,
    pub gathered_exchanges: i64,
    /// Time between settlements of exchanges, which close windows, while a window that is over waits for some.
    pub settle_ns: i64,
    /// Time between settlements otherwise. It is the longest sleep: plans and the order to stop wait for it.
    pub idle_settle_ns: i64,
    /// Time between reads of the general port while event messages keep arriving. It carries negotiation and late
    /// timestamps, for which nothing waits.
    pub general_read_ns: i64,
    /// Time that a Follow_Up may wait for another message to its client, if granted messages are due within it: sent
    /// together they cost little more than one. Clients match it with their newest Sync only, and get Syncs at most every
    /// 7.8 ms.
    pub follow_up_wait_ns: i64,
    /// Time between messages that ask for their time at the packet scheduler: each costs a second timestamp.
    pub schedule_stamps_ns: i64,
}

/// The policy of every agent.
pub(super) const POLICY: WakeupPolicy = WakeupPolicy {
    shortest_turn_ns: 5_000_000,
    longest_turn_ns: 160_000_000,
    exchanges_per_turn: 16,
    deadline_share: 0.25,
    client_interval_share: 0.64,
    responder_interval_share: 1.05,
    granted_message_ns: 140,
    shortest_service_turn_ns: 100_000,
    longest_service_turn_ns: 1_000_000_000 / 512,
    sptp_turn_ns: 5_000_000,
    sptp_expected_ns: 30_000_000_000,
    longest_gather_ns: 50_000_000,
    gathered_exchanges: 64,
    settle_ns: 200_000_000,
    idle_settle_ns: 500_000_000,
    general_read_ns: 20_000_000,
    follow_up_wait_ns: 5_900_000,
    schedule_stamps_ns: 50_000_000,
};

/// The time until the next turn: sleep until `sleep_until`, then wait for packets until `poll_until` at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sleep {
    pub sleep_until: RawTime,
    pub poll_until: RawTime,
}

/// The times between turns that a plan allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct WakeupIntervals {
    turn_ns: i64,
    /// Time between turns that read packets while requests leave, ns.
    poll_ns: i64,
    /// Standard clients are served: turns come at equal times, whatever the one before brought.
    is_serving: bool,
}

impl WakeupIntervals {
    /// Return the intervals of an agent without peers.
    pub fn idle() -> Self {
        Self {
            turn_ns: POLICY.longest_turn_ns,
            poll_ns: POLICY.longest_turn_ns,
            is_serving: false,
        }
    }

    /// Return the intervals for a plan, with both roles of this agent.
    pub fn of(plan: &Plan) -> Self {
        let mut exchanges_hz = 0;
        let (mut longest_ns, mut poll_ns) = (POLICY.longest_turn_ns, POLICY.longest_gather_ns);
        for mesh in &plan.meshes {
            for peer in mesh.peers.iter().filter(|peer| peer.flows > 0) {
                exchanges_hz += i64::from(peer.flows) * i64::from(mesh.rate_hz);
                let share = match peer.role {
                    Role::Client => POLICY.client_interval_share,
                    Role::Responder => POLICY.responder_interval_share,
                };
                let interval_ns = match peer.protocol {
                    Protocol::Compact => {
                        Rhythm::of(mesh.rate_hz, mesh.probes.reordering).interval_ns
                    }
                    Protocol::Ieee1588 | Protocol::Sptp => 1_000_000_000 / i64::from(mesh.rate_hz),
                };
                let share_ns = (share * interval_ns as f64) as i64;
                longest_ns = longest_ns.min(share_ns);
                if peer.role == Role::Responder {
                    let deadline_ns = f64::from(mesh.loss_deadline_ms) * 1e6;
                    longest_ns = longest_ns.min((POLICY.deadline_share * deadline_ns) as i64);
                }
                // A client waits for its response, and the Sync of a standard responder for its Delay_Req.
                if peer.role == Role::Responder || peer.protocol == Protocol::Ieee1588 {
                    poll_ns = poll_ns.min(share_ns);
                }
            }
        }
        let together_ns = POLICY.exchanges_per_turn * 1_000_000_000 / exchanges_hz.max(1);
        let turn_ns = together_ns.min(longest_ns).max(POLICY.shortest_turn_ns);
        let gathered_ns = POLICY.gathered_exchanges * 1_000_000_000 / exchanges_hz.max(1);
        Self {
            turn_ns,
            poll_ns: poll_ns.min(gathered_ns).max(turn_ns),
            is_serving: false,
        }
    }

    /// Return the intervals while standard clients are granted `messages_hz` messages per second.
    pub fn serving(self, messages_hz: i64) -> Self {
        let service_ns = (messages_hz * POLICY.granted_message_ns).clamp(
            POLICY.shortest_service_turn_ns,
            POLICY.longest_service_turn_ns,
        );
        let turn_ns = self.turn_ns.min(service_ns);
        Self {
            turn_ns,
            poll_ns: turn_ns,
            is_serving: true,
        }
    }

    /// Return the intervals while requests of SPTP are expected. Between packets the agent sleeps as before.
    pub fn serving_sptp(self) -> Self {
        Self {
            turn_ns: self.turn_ns.min(POLICY.sptp_turn_ns),
            poll_ns: self.poll_ns.min(POLICY.sptp_turn_ns),
            ..self
        }
    }

    /// Return when to read packets again after a turn that read them at `polled_at`, if only requests are due until then.
    pub fn poll_at(&self, polled_at: RawTime) -> RawTime {
        polled_at.plus(self.poll_ns)
    }

    /// Return true if a turn that reads packets before `settle_at` settles, because that would cost a wake-up of its own.
    pub fn settles_early(&self, next_due: Option<RawTime>, settle_at: RawTime) -> bool {
        self.turn_ns == POLICY.longest_turn_ns && next_due.is_none_or(|due| due > settle_at)
    }

    /// Return the sleep after a turn that began at `began` and sent packets or not, with the next request due at `next_due`
    /// and the next settlement at `settle_at`.
    ///
    /// A request that is due shortly after the next turn postpones it: one turn, not two. While standard clients are served
    /// it does not, since other clients wait for that turn. After a turn that sent nothing, no packets need to gather: the
    /// next one ends the sleep.
    pub fn sleep(
        &self,
        (began, has_sent): (RawTime, bool),
        next_due: Option<RawTime>,
        settle_at: RawTime,
    ) -> Sleep {
        let turn = began.plus(self.turn_ns);
        let shortly = turn.plus(self.turn_ns * 3 / 5);
        match next_due {
            Some(due) if due <= turn => Sleep {
                sleep_until: turn,
                poll_until: turn,
            },
            Some(due) if due <= shortly && !self.is_serving => Sleep {
                sleep_until: due,
                poll_until: due,
            },
            due => Sleep {
                sleep_until: if has_sent || self.is_serving {
                    turn
                } else {
                    began
                },
                poll_until: due.map_or(settle_at, |due| due.min(settle_at)),
            },
        }
    }
}

#[cfg(test)]
#[path = "wakeup_tests.rs"]
mod tests;
