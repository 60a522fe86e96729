//! The client's open exchanges with one responder.
//!
//! Every request is settled exactly once: at its deadline, a little later while its t1 is outstanding, or when its window
//! must close if its outcome is unknown. Responses are matched by sequence id over all open requests, so that a round trip
//! longer than the interval between requests is no loss.

use std::collections::VecDeque;

use super::exchange::{Arrival, Exchange, Outcome, PendingRequest, Standard, Verdict};
use super::messages::{Body, Message, PortIdentity, RECEIPT_BITS, RxReportTlv};
use crate::clock::{RawTime, TimestampSource};

/// Sequence ids are unambiguous over half their range.
const MOST_OPEN: usize = 30_000;
/// Largest distance between the sequence ids of two requests that a standard responder confuses.
const NEAR: u16 = 4;

/// Open requests towards one responder, by consecutive sequence ids.
#[derive(Debug)]
pub struct ExchangeTable<T> {
    requester: PortIdentity,
    /// Source of the responses with our requesting port identity: it is random, so only a receiver of our requests knows it.
    responder: Option<PortIdentity>,
    /// Another source of a Sync that answered an open request since: a new process of the responder, or a forger.
    candidate: Option<PortIdentity>,
    restarted: bool,
    first: u16,
    open: VecDeque<Exchange<T>>,
    /// Number of requests in front that are known to have arrived.
    known: usize,
    rx_report: Option<RxReportTlv>,
}

impl<T: Copy> ExchangeTable<T> {
    /// Create an empty table whose requests carry `requester` as their source.
    pub fn new(requester: PortIdentity) -> Self {
        Self {
            requester,
            responder: None,
            candidate: None,
            restarted: false,
            first: 0,
            open: VecDeque::new(),
            known: 0,
            rx_report: None,
        }
    }

    pub fn requester(&self) -> PortIdentity {
        self.requester
    }

    /// Return the receipt of the responder's messages that the next request carries; 0 before the first message. While there
    /// is a candidate, every other request carries its receipt.
    pub fn receipt(&self) -> u64 {
        let next = self.first.wrapping_add(self.open.len() as u16);
        let turn = self.candidate.filter(|_| next % 2 == 1);
        let identity = turn.or(self.responder).or(self.candidate);
        identity.map_or(0, |known| known.clock & RECEIPT_BITS)
    }

    /// Return the source of the responses with our requesting port identity.
    pub fn responder(&self) -> Option<PortIdentity> {
        self.responder
    }

    /// Return true if a request with this sequence id is open and has no response with our requesting port identity.
    pub fn is_unanswered(&mut self, sequence_id: u16) -> bool {
        self.find(sequence_id).is_some_and(|open| !open.has_t4())
    }

    /// Open an exchange. Return the sequence id of its request; `None` if too many are open.
    pub fn open(&mut self, pending: PendingRequest<T>) -> Option<u16> {
        if self.open.len() == MOST_OPEN {
            return None;
        }
        let sequence_id = self.first.wrapping_add(self.open.len() as u16);
        self.open.push_back(Exchange::new(pending));
        Some(sequence_id)
    }

    /// Open an exchange with a standard responder, before whose Sync `syncs_missed` others are lost (`None`: unknown).
    pub fn open_standard(
        &mut self,
        pending: PendingRequest<T>,
        syncs_missed: Option<i32>,
    ) -> Option<u16> {
        let sequence_id = self.open(pending)?;
        if let Some(open) = self.find(sequence_id) {
            open.standard = Some(Standard { syncs_missed });
        }
        Some(sequence_id)
    }

    /// Open an exchange with an SPTP server.
    pub fn open_sptp(&mut self, pending: PendingRequest<T>) -> Option<u16> {
        let sequence_id = self.open(pending)?;
        if let Some(open) = self.find(sequence_id) {
            open.is_sptp = true;
        }
        Some(sequence_id)
    }

    /// Return true if a request with this sequence id is open.
    pub fn is_open(&self, sequence_id: u16) -> bool {
        usize::from(sequence_id.wrapping_sub(self.first)) < self.open.len()
    }

    /// Withdraw a request that never left this machine. Return its tag if it was open.
    pub fn withdraw(&mut self, sequence_id: u16) -> Option<T> {
        let open = self.find(sequence_id)?;
        let first = !std::mem::replace(&mut open.void, true);
        first.then_some(open.pending.tag)
    }

    /// Set the departure of a request. The kernel may report it after the response has arrived.
    pub fn record_departure(
        &mut self,
        sequence_id: u16,
        t3: RawTime,
        source: TimestampSource,
    ) -> Verdict {
        match self.find(sequence_id) {
            Some(open) => open.record_departure(t3, source),
            None => Verdict::Late,
        }
    }

    /// Add a message of the responder to its exchange.
    pub fn receive(&mut self, message: &Message, arrival: Arrival) -> Verdict {
        let rx_report = match message.body {
            Body::DelayReq
            | Body::SptpReq
            | Body::CompactReq { .. }
            | Body::Announce { .. }
            | Body::Signaling { .. } => {
                return Verdict::Unsolicited;
            }
            Body::DelayResp { requester, .. } if requester != self.requester => {
                return Verdict::Unsolicited;
            }
            Body::CompactResp { response_tlv, .. } if response_tlv.requester != self.requester => {
                return Verdict::Unsolicited;
            }
            Body::DelayResp { rx_report, .. } => rx_report,
            Body::CompactResp { rx_report, .. } => Some(rx_report),
            Body::FollowUp { .. }
                if self.responder.is_some_and(|known| known != message.source) =>
            {
                return Verdict::Unsolicited;
            }
            Body::Sync { .. } | Body::FollowUp { .. } => None,
        };
        let back = self.first.wrapping_sub(message.sequence_id);
        let verdict = match self.find(message.sequence_id) {
            Some(open) if arrival.at > open.pending.deadline => Verdict::Late,
            Some(open) => {
                let verdict = open.add_part(message, arrival);
                // Each answer of the one has one Delay_Resp, each of the other one Sync.
                let is_answer = match message.body {
                    Body::DelayResp { .. } => open.standard.is_some(),
                    Body::Sync { .. } => open.is_sptp,
                    _ => false,
                };
                if verdict == Verdict::Duplicate && is_answer {
                    self.explain_by_duplicate(message.sequence_id);
                }
                verdict
            }
            None if back != 0 && usize::from(back) < MOST_OPEN => Verdict::Late,
            None => return Verdict::Unsolicited,
        };
        if matches!(verdict, Verdict::Taken | Verdict::Complete(..)) {
            self.identify(message);
        }
        if let Some(rx_report) = rx_report.filter(|_| self.responder == Some(message.source)) {
            self.apply_rx_report(rx_report);
        }
        verdict
    }

    /// Take the source of a response to an open request as the responder if it has our requesting port identity, else as the
    /// candidate.
    fn identify(&mut self, message: &Message) {
        if self.responder == Some(message.source) {
            return;
        }
        if message.requester().is_none() {
            self.candidate = Some(message.source);
            return;
        }
        if self.responder.is_some() {
            self.restarted = true;
            self.rx_report = None;
        }
        (self.responder, self.candidate) = (Some(message.source), None);
    }

    /// Set t1 of an exchange from a later response, if the exchange is still open.
    pub fn record_sync_departure(&mut self, sequence_id: u16, t1_ns: i64) -> Verdict {
        match self.find(sequence_id) {
            Some(open) => open.record_sync_departure(t1_ns),
            None => Verdict::Late,
        }
    }

    /// Return true if another process has replaced the responder since the last call, with a new clock.
    pub fn take_restarted(&mut self) -> bool {
        std::mem::take(&mut self.restarted)
    }

    /// Settle the exchanges due at `now`, oldest first. All messages that arrived before `now` must have been added.
    pub fn settle(&mut self, now: RawTime, mut each: impl FnMut(Outcome<T>)) {
        while let Some(open) = self.open.front() {
            let pending = open.pending;
            let decided = open.void || open.arrived.is_some() || pending.hold_until <= now;
            if pending.deadline > now || !decided || !open.void && open.awaits_t1(now) {
                break;
            }
            if !open.void {
                each(open.outcome());
            }
            self.open.pop_front();
            self.first = self.first.wrapping_add(1);
            self.known = self.known.saturating_sub(1);
        }
    }

    /// End the open requests that `which` selects. Settle those that were answered or whose deadline has passed at `now`,
    /// and return the tags of the others.
    pub fn end(
        &mut self,
        now: RawTime,
        which: impl Fn(&T) -> bool,
        mut each: impl FnMut(Result<Outcome<T>, T>),
    ) {
        let open = self.open.iter_mut().filter(|open| !open.void);
        for open in open.filter(|open| which(&open.pending.tag)) {
            open.void = true;
            let outcome = open.outcome();
            let over = outcome.answered || open.pending.deadline <= now;
            each(if over {
                Ok(outcome)
            } else {
                Err(open.pending.tag)
            });
        }
    }

    /// Withdraw the open requests for which `keep`, which may change their tags, returns false.
    pub fn retain_open(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        for open in self.open.iter_mut().filter(|open| !open.void) {
            open.void = !keep(&mut open.pending.tag);
        }
    }

    /// Take a repeated answer of a standard responder or SPTP server as the one to an unanswered request next to its own.
    ///
    /// ptp4u builds its answers in one buffer, so the second of two requests that come close together is answered twice and
    /// the first not at all. Both have arrived, and nothing was lost.
    fn explain_by_duplicate(&mut self, repeated: u16) {
        let near = (1..=NEAR).map(|by| repeated.wrapping_sub(by));
        let near = near.chain((1..=NEAR).map(|by| repeated.wrapping_add(by)));
        for sequence_id in near {
            let unanswered = self.find(sequence_id).filter(|open| open.arrived.is_none());
            if let Some(open) = unanswered {
                open.arrived = Some(true);
                // Its Sync came, too, with the wrong sequence id.
                open.sync_arrived |= open.is_sptp;
                return;
            }
        }
    }

    fn find(&mut self, sequence_id: u16) -> Option<&mut Exchange<T>> {
        let index = sequence_id.wrapping_sub(self.first);
        self.open.get_mut(usize::from(index))
    }

    /// Apply a reception report to the open requests.
    fn apply_rx_report(&mut self, rx_report: RxReportTlv) {
        let further = |p: RxReportTlv| rx_report.newest.wrapping_sub(p.newest);
        let overtaken = self.rx_report.is_some_and(|p| further(p) > u16::MAX / 2);
        let previous = self.rx_report.filter(|p| rx_report.requests >= p.requests);
        let ahead = previous.map_or(u16::MAX, further);
        let unwatched = self.unwatched(&rx_report, previous.filter(|_| !overtaken));
        let shed = !overtaken && rx_report.unanswered() != previous.map_or(0, |p| p.unanswered());

        for index in self.known..self.open.len() {
            let sequence_id = self.first.wrapping_add(index as u16);
            let open = &mut self.open[index];
            let back = rx_report.newest.wrapping_sub(sequence_id);
            if back > u16::MAX / 2 {
                break;
            }
            if open.arrived != Some(true) {
                let mapped = rx_report.arrived(sequence_id);
                let counted = unwatched.filter(|_| back < ahead && back >= rx_report.watched);
                open.arrived = mapped.or(counted).or(open.arrived);
            }
            open.may_be_shed |= shed && back < ahead;
        }
        while self
            .open
            .get(self.known)
            .is_some_and(|open| open.arrived == Some(true))
        {
            self.known += 1;
        }
        if !overtaken {
            self.rx_report = Some(rx_report);
        }
    }

    /// Return the outcome of the requests between the previous report and the map of the new one: true if all arrived,
    /// false if none did; `None` if some did.
    fn unwatched(&self, rx_report: &RxReportTlv, previous: Option<RxReportTlv>) -> Option<bool> {
        let previous = previous?;
        let gap = rx_report
            .newest
            .wrapping_sub(previous.newest)
            .checked_sub(rx_report.watched)?;
        let arrived = rx_report.requests - previous.requests;
        match arrived.checked_sub(rx_report.arrived.count_ones())? {
            0 => Some(false),
            n if n == u32::from(gap) => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "exchange_table_tests.rs"]
mod tests;
