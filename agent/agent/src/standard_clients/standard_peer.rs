//! A standard IEEE 1588 responder as seen by the client: its grants, its Syncs, and the time of the next request.
//!
//! Sync and Delay_Req are independent in the standard. Each received Sync starts an exchange, whose Delay_Req leaves at
//! once, so that both directions are measured at nearly the same moment. If no Sync arrives, the Delay_Req leaves alone.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::clock::RawTime;
use crate::paths::schedule::PathKey;
use crate::ptp::{Arrival, Body, Message, PortIdentity, UnicastSession};

/// Syncs whose Follow_Up may still come.
const REMEMBERED: usize = 256;
/// Follow_Ups that may overtake their Sync.
const MOST_EARLY: usize = 16;
/// Largest gap of sequence ids that counts as loss. A larger one shows that the responder has restarted its count.
const LARGEST_GAP: u16 = 1024;
/// Share of an interval, in percent, that the client waits for a Sync.
const SYNC_WAIT_PERCENT: i64 = 150;
/// Silence, in intervals and at least in ns, after which all services are requested again.
const SILENT_INTERVALS: i64 = 8;
const SILENT_NS: i64 = 3_000_000_000;

pub(crate) struct StandardPeer {
    pub path: PathKey,
    /// Port identity that its grants are for.
    pub requester: PortIdentity,
    pub general: SocketAddr,
    pub deadline_ns: i64,
    pub unicast: UnicastSession,
    /// Time of the next request without a Sync.
    pub next: RawTime,
    heard_at: RawTime,
    syncs: SyncCount,
    /// Sequence ids of Syncs and of the exchanges they started, oldest first.
    exchanges: VecDeque<(u16, u16)>,
    early: Vec<(Message, Arrival)>,
}

impl StandardPeer {
    pub fn new(
        path: PathKey,
        requester: PortIdentity,
        general: SocketAddr,
        rate_hz: u32,
        now: RawTime,
    ) -> Self {
        Self {
            path,
            requester,
            general,
            deadline_ns: 0,
            unicast: UnicastSession::new(interval_of(rate_hz), now),
            // Long enough for the negotiation with a responder that is up.
            next: now.plus(SILENT_NS),
            heard_at: now,
            syncs: SyncCount::default(),
            exchanges: VecDeque::new(),
            early: Vec::new(),
        }
    }

    /// Sets the rate and the deadline of the plan.
    pub fn follow(&mut self, deadline_ns: i64, rate_hz: u32, now: RawTime) {
        self.deadline_ns = deadline_ns;
        self.unicast.set_interval(interval_of(rate_hz), now);
    }

    /// Returns the message with its times in UTC.
    pub fn in_utc(&self, message: &Message) -> Message {
        let ahead_ns = self.unicast.ahead_ns();
        let mut message = *message;
        match &mut message.body {
            Body::Sync { origin_ns, .. } | Body::FollowUp { origin_ns } => {
                *origin_ns = origin_ns.saturating_sub(ahead_ns);
            }
            Body::DelayResp { receive_ns, .. } => {
                *receive_ns = receive_ns.saturating_sub(ahead_ns);
            }
            _ => {}
        }
        message
    }

    /// Counts a Sync by its sequence id. Returns the number missing before it, less those that arrive late; `None` for a
    /// duplicate.
    pub fn count(&mut self, sequence_id: u16, at: RawTime) -> Option<i32> {
        self.heard_at = at;
        self.syncs.count(sequence_id)
    }

    /// Sets the time of the next request after one that leaves at `now`. It waits a limited time for a Sync.
    pub fn requested(&mut self, now: RawTime, with_sync: bool) {
        let interval_ns = self.unicast.interval_ns();
        let percent = if with_sync { SYNC_WAIT_PERCENT } else { 100 };
        self.next = now.plus(interval_ns / 100 * percent);
        let silent_ns = (SILENT_INTERVALS * interval_ns).max(SILENT_NS);
        if now.since(self.heard_at) > silent_ns {
            self.heard_at = now;
            self.unicast.request_again(now);
        }
    }

    /// Records the exchange that a Sync started. Returns the Follow_Up if it arrived before its Sync.
    pub fn started(&mut self, sync: u16, exchange: u16) -> Option<(Message, Arrival)> {
        if self.exchanges.len() == REMEMBERED {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((sync, exchange));
        let mut early = self.early.iter();
        let place = early.position(|(message, _)| message.sequence_id == sync)?;
        Some(self.early.swap_remove(place))
    }

    /// Returns the exchange that a Sync has started.
    pub fn exchange(&self, sync: u16) -> Option<u16> {
        let mut newest_first = self.exchanges.iter().rev();
        newest_first
            .find(|(known, _)| *known == sync)
            .map(|(_, exchange)| *exchange)
    }

    /// Keeps a Follow_Up until its Sync arrives.
    pub fn keep_early(&mut self, message: Message, arrival: Arrival) {
        if self.early.len() == MOST_EARLY {
            self.early.remove(0);
        }
        self.early.push((message, arrival));
    }

    /// Returns when the next request or negotiation is due.
    pub fn due(&self) -> RawTime {
        self.next.min(self.unicast.next_due())
    }
}

/// The latest Syncs that have arrived.
#[derive(Debug, Default)]
struct SyncCount {
    newest: Option<u16>,
    /// Bit i: `newest - i` has arrived.
    come: u64,
}

impl SyncCount {
    fn count(&mut self, sequence_id: u16) -> Option<i32> {
        let newest = self.newest.unwrap_or(sequence_id.wrapping_sub(1));
        let ahead = sequence_id.wrapping_sub(newest);
        let back = newest.wrapping_sub(sequence_id);
        if ahead != 0 && ahead <= LARGEST_GAP {
            self.newest = Some(sequence_id);
            self.come = self.come.checked_shl(ahead.into()).unwrap_or(0) | 1;
            return Some(i32::from(ahead) - 1);
        }
        if back < 64 {
            let bit = 1 << back;
            let before = self.come & bit != 0;
            self.come |= bit;
            return (!before).then_some(-1);
        }
        // The responder has restarted its count.
        (self.newest, self.come) = (Some(sequence_id), 1);
        Some(0)
    }
}

/// Returns log2 of the seconds between exchanges.
fn interval_of(rate_hz: u32) -> i8 {
    -(rate_hz.max(1).ilog2() as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_that_are_missing_are_counted_and_late_ones_taken_back() {
        let mut syncs = SyncCount::default();
        let counted: Vec<_> = [65_534, 65_535, 2, 1, 1, 0, 2, 3, 40_000, 40_001]
            .map(|id| syncs.count(id))
            .into();
        let expected = [
            Some(0),
            Some(0),
            Some(2),
            Some(-1),
            None,
            Some(-1),
            None,
            Some(0),
            Some(0),
            Some(0),
        ];
        assert_eq!(counted, expected);
    }
}
