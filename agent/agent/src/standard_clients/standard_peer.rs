//! A standard IEEE 1588 responder as seen by the client: its grants, its Syncs, and the time of the next request.
//!
//! Sync and Delay_Req are independent in the standard. Each received Sync starts an exchange, whose Delay_Req leaves at
//! once, so that both directions are measured at nearly the same moment. If no Sync arrives, the Delay_Req leaves alone.

use std::collections::VecDeque;
use std::net::SocketAddr;

use super::search::Search;
use super::sptp_session::SptpSession;
use super::sync_count::{Missed, SyncCount};
use crate::clock::RawTime;
use crate::paths::schedule::PathKey;
use crate::plan::Protocol;
use crate::ptp::{Arrival, Body, Message, NoService, PortIdentity, UnicastSession};

/// Syncs whose Follow_Up may still come.
const REMEMBERED: usize = 256;
/// Follow_Ups that may overtake their Sync.
const MOST_EARLY: usize = 16;
/// Share of an interval, in percent, that the client waits for a Sync.
const SYNC_WAIT_PERCENT: i64 = 150;
/// Silence, in intervals and at least in ns, after which all services are requested again.
const SILENT_INTERVALS: i64 = 8;
const SILENT_NS: i64 = 3_000_000_000;
/// Time between looks for a grant while there is none, ns.
const NO_SERVICE_NS: i64 = 1_000_000_000;

pub(crate) struct StandardPeer {
    pub path: PathKey,
    /// Port identity that its grants are for.
    pub requester: PortIdentity,
    pub general: SocketAddr,
    /// Port identity of the responder, once it has granted something. Requests name it, which proves that grants arrive.
    pub responder: PortIdentity,
    /// Arrival of its newest message.
    answered_at: RawTime,
    pub deadline_ns: i64,
    pub unicast: UnicastSession,
    /// Arrival of the Announce that changed its offset from UTC. Syncs that arrived before it are not read by the new one.
    pub scale_since: RawTime,
    /// Set for a server that is measured by SPTP, without grants.
    pub(super) sptp: Option<SptpSession>,
    rate_hz: u32,
    pub domain: u8,
    /// Another domain that it answers in.
    pub other_domain: Option<u8>,
    /// It authenticates its messages.
    pub authenticates: bool,
    /// Of the reason why it is silent.
    pub(super) search: Option<Search>,
    /// The reported reason why nothing is measured, and the time of the report.
    pub no_service: Option<(NoService, RawTime)>,
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
        (protocol, domain, rate_hz): (Protocol, u8, u32),
        now: RawTime,
    ) -> Self {
        let sptp = (protocol == Protocol::Sptp).then(|| SptpSession::new(requester, now));
        Self {
            path,
            requester,
            general,
            responder: PortIdentity::ANY,
            answered_at: RawTime(i64::MIN),
            deadline_ns: 0,
            unicast: UnicastSession::new(interval_of(rate_hz), now),
            scale_since: RawTime(i64::MIN),
            domain,
            other_domain: None,
            authenticates: false,
            search: None,
            no_service: None,
            // Long enough for the negotiation with a responder that is up.
            next: if sptp.is_some() {
                now
            } else {
                now.plus(SILENT_NS)
            },
            sptp,
            rate_hz,
            heard_at: now,
            syncs: SyncCount::default(),
            exchanges: VecDeque::new(),
            early: Vec::new(),
        }
    }

    /// Return true if a message from this source counts: the responder's. A grant to our requesting port identity, or any
    /// message of an SPTP server, makes its source the responder, unless the known one was heard within 3 s.
    pub fn accept(&mut self, source: PortIdentity, is_grant: bool, now: RawTime) -> bool {
        let is_silent = now.since(self.answered_at) > SILENT_NS;
        if is_silent && (is_grant || self.sptp.is_some()) {
            self.responder = source;
        }
        let is_known = self.responder == source;
        self.answered_at = if is_known { now } else { self.answered_at };
        is_known
    }

    /// Set the rate and the deadline of the plan.
    pub fn follow(&mut self, deadline_ns: i64, rate_hz: u32, now: RawTime) {
        self.deadline_ns = deadline_ns;
        self.rate_hz = rate_hz;
        self.unicast.set_interval(interval_of(rate_hz), now);
    }

    /// Return the message with its times in UTC.
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

    /// Return the reason why nothing can be measured at `now`; `None` if there is none, or not yet.
    pub fn reason(&self, standard_ports: bool, now: RawTime) -> Option<NoService> {
        let reason = self.unmeasured(now)?;
        if !standard_ports && self.sptp.is_none() {
            return Some(NoService::Ports);
        }
        if self.authenticates {
            return Some(NoService::Authentication);
        }
        match (reason, self.other_domain) {
            (NoService::Silent, Some(domain)) => Some(NoService::Domain(domain)),
            (NoService::Silent, None) => self.search.as_ref()?.reason(now),
            _ => Some(reason),
        }
    }

    /// Return why nothing is measured, as far as its answers show it.
    fn unmeasured(&self, now: RawTime) -> Option<NoService> {
        match &self.sptp {
            Some(sptp) => sptp.no_service(now),
            None => self.unicast.no_service(now),
        }
    }

    /// Return true if requests have an answer or are lost.
    pub fn serves(&self) -> bool {
        let sptp = self.sptp.as_ref();
        sptp.map_or_else(|| self.unicast.serves(), SptpSession::serves)
    }

    /// Return true if the reason of a silence that lasts is not searched yet. A responder of the standard answers to the
    /// standard ports only.
    pub fn must_search(&self, standard_ports: bool, now: RawTime) -> bool {
        let may_answer = standard_ports || self.sptp.is_some();
        may_answer && self.search.is_none() && self.unmeasured(now) == Some(NoService::Silent)
    }

    /// Count a Sync by its sequence id. Return the Syncs that it shows to be lost; `None` for a duplicate.
    pub fn count(&mut self, sequence_id: u16, at: RawTime) -> Option<Missed> {
        self.heard_at = at;
        let interval_ns = self.unicast.interval_ns();
        self.syncs.count(sequence_id, at, interval_ns)
    }

    /// Postpone the next request of a responder that grants no Delay_Resp: a request without an answer would not be loss.
    pub fn postpone(&mut self, now: RawTime) {
        self.next = now.plus(NO_SERVICE_NS);
    }

    /// Set the time of the next request after one that leaves at `now`. It waits a limited time for a Sync.
    pub fn requested(&mut self, now: RawTime, with_sync: bool) {
        if self.sptp.is_some() {
            // At an even rate, unless the agent woke too late: ptp4u confuses requests that come close together.
            let interval_ns = 1_000_000_000 / i64::from(self.rate_hz.max(1));
            let next = self.next.plus(interval_ns);
            self.next = if next.since(now) > interval_ns / 2 {
                next
            } else {
                now.plus(interval_ns)
            };
            return;
        }
        let interval_ns = self.unicast.interval_ns();
        let percent = if with_sync { SYNC_WAIT_PERCENT } else { 100 };
        self.next = now.plus(interval_ns / 100 * percent);
        let silent_ns = (SILENT_INTERVALS * interval_ns).max(SILENT_NS);
        if now.since(self.heard_at) > silent_ns {
            self.heard_at = now;
            self.unicast.request_again(now);
        }
    }

    /// Record the exchange that a Sync started, which arrived at `at`. Return the Follow_Up if it arrived before its Sync.
    pub fn started(&mut self, sync: u16, exchange: u16, at: RawTime) -> Option<(Message, Arrival)> {
        if self.exchanges.len() == REMEMBERED {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((sync, exchange));
        // One that has waited longer is of an earlier count of Syncs.
        let interval_ns = self.unicast.interval_ns();
        self.early
            .retain(|(_, arrival)| at.since(arrival.at) < interval_ns);
        let mut early = self.early.iter();
        let place = early.position(|(message, _)| message.sequence_id == sync)?;
        Some(self.early.swap_remove(place))
    }

    /// Return the exchange that a Sync has started.
    pub fn exchange(&self, sync: u16) -> Option<u16> {
        let mut newest_first = self.exchanges.iter().rev();
        newest_first
            .find(|(known, _)| *known == sync)
            .map(|(_, exchange)| *exchange)
    }

    /// Keep a Follow_Up until its Sync arrives.
    pub fn keep_early(&mut self, message: Message, arrival: Arrival) {
        if self.early.len() == MOST_EARLY {
            self.early.remove(0);
        }
        self.early.push((message, arrival));
    }

    /// Return when the next request or negotiation is due.
    pub fn due(&self) -> RawTime {
        if self.sptp.is_some() {
            return self.next;
        }
        self.next.min(self.unicast.next_due())
    }
}

/// Return log2 of the seconds between exchanges.
fn interval_of(rate_hz: u32) -> i8 {
    -(rate_hz.max(1).ilog2() as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn requests_of_sptp_keep_their_rate_and_never_come_close_together() {
        let general = "10.0.0.1:320".parse().unwrap();
        let settings = (Protocol::Sptp, 0, 16);
        let new = || StandardPeer::new((1, 2), PortIdentity::ANY, general, settings, RawTime(0));
        // How late the agent wakes each time, ms; the interval is 62.5 ms.
        for late_ms in [0, 1, 20, 31, 32, 45, 60, 62, 63, 100, 500] {
            let mut peer = new();
            let mut left = Vec::new();
            for turn in 0..20 {
                let late = if turn % 3 == 1 { late_ms * MS } else { 0 };
                let now = peer.next.plus(late);
                peer.requested(now, false);
                left.push(now.0);
            }
            let gaps = left.windows(2).map(|two| two[1] - two[0]);
            assert!(gaps.min() > Some(31 * MS), "{late_ms} ms late: {left:?}");
            if late_ms < 31 {
                let expected = 19 * 62_500_000;
                assert!((left[19] - left[0] - expected).abs() < 32 * MS, "{left:?}");
            }
        }
    }

    #[test]
    fn only_who_grants_is_heard_until_it_is_silent() {
        let general = "10.0.0.1:320".parse().unwrap();
        let settings = (Protocol::Ieee1588, 0, 16);
        let mut peer = StandardPeer::new((1, 2), PortIdentity::ANY, general, settings, RawTime(0));
        let [known, other] = [5, 6].map(|clock| PortIdentity { clock, port: 1 });
        let mut heard = |source, is_grant, second: i64| {
            peer.accept(source, is_grant, RawTime(second * 1_000 * MS))
        };
        assert!(!heard(known, false, 0), "it has granted nothing");
        assert!(heard(known, true, 1));
        assert!(!heard(other, true, 4) && !heard(other, false, 4));
        assert!(heard(known, false, 4));
        assert!(!heard(other, false, 8));
        assert!(heard(other, true, 8));
        assert!(!heard(known, false, 8));
    }
}
