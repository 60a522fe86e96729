//! The client's open exchanges with one responder, and what became of each.
//!
//! Every request is settled exactly once: at its deadline, a little later while its answer is not yet wholly told, or,
//! while its fate is not known, when its window must close. Responses are matched by sequence id over all open requests: a round trip longer than the interval
//! between requests is no loss.

use std::collections::VecDeque;

use super::exchange::{Arrival, Exchange, Outcome, PendingRequest, Standard, Verdict};
use super::field::PortIdentity;
use super::messages::{Body, Message};
use super::rx_report_tlv::RxReportTlv;
use crate::clock::RawTime;

/// Sequence ids are told apart over half their range.
const MOST_OPEN: usize = 30_000;

/// Open requests towards one responder, by consecutive sequence ids.
#[derive(Debug)]
pub struct ExchangeTable<T> {
    requester: PortIdentity,
    responder: Option<PortIdentity>,
    restarted: bool,
    first: u16,
    open: VecDeque<Exchange<T>>,
    /// How many requests in front are known to have arrived.
    known: usize,
    rx_report: Option<RxReportTlv>,
}

impl<T: Copy> ExchangeTable<T> {
    /// An empty ledger whose requests carry `requester` as their source.
    pub fn new(requester: PortIdentity) -> Self {
        Self {
            requester,
            responder: None,
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

    /// Opens an exchange and says the sequence id of its request; `None` when too many are open.
    pub fn open(&mut self, pending: PendingRequest<T>) -> Option<u16> {
        if self.open.len() == MOST_OPEN {
            return None;
        }
        let sequence_id = self.first.wrapping_add(self.open.len() as u16);
        self.open.push_back(Exchange::new(pending));
        Some(sequence_id)
    }

    /// Opens an exchange with a stock responder, before whose Sync `syncs_missed` others should have come.
    pub fn open_standard(&mut self, pending: PendingRequest<T>, syncs_missed: i32) -> Option<u16> {
        let sequence_id = self.open(pending)?;
        if let Some(open) = self.find(sequence_id) {
            open.standard = Some(Standard { syncs_missed });
        }
        Some(sequence_id)
    }

    /// The request never left this machine: it will not be settled. Its tag, if it was open.
    pub fn withdraw(&mut self, sequence_id: u16) -> Option<T> {
        let open = self.find(sequence_id)?;
        let first = !std::mem::replace(&mut open.void, true);
        first.then_some(open.pending.tag)
    }

    /// Gives the departure of a request, which the kernel tells after the fact, at times after the response.
    pub fn departed(&mut self, sequence_id: u16, t3: RawTime) -> Verdict {
        match self.find(sequence_id) {
            Some(open) => open.depart(t3),
            None => Verdict::Late,
        }
    }

    /// Files a message that the responder sent.
    pub fn receive(&mut self, message: &Message, arrival: Arrival) -> Verdict {
        let rx_report = match message.body {
            Body::DelayReq
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
            Body::Sync { .. } | Body::FollowUp { .. } => None,
        };
        let back = self.first.wrapping_sub(message.sequence_id);
        let verdict = match self.find(message.sequence_id) {
            Some(open) if arrival.at > open.pending.deadline => Verdict::Late,
            Some(open) => open.file(message, arrival.stamp),
            None if back != 0 && usize::from(back) < MOST_OPEN => Verdict::Late,
            None => return Verdict::Unsolicited,
        };
        if self.responder.is_some_and(|known| known != message.source) {
            self.restarted = true;
            self.rx_report = None;
        }
        self.responder = Some(message.source);
        if let Some(rx_report) = rx_report {
            self.learn(rx_report);
        }
        verdict
    }

    /// A later answer tells when the Sync of an exchange left. Such news have no deadline: only what is still open hears them.
    pub fn sync_departed(&mut self, sequence_id: u16, t1_ns: i64) -> Verdict {
        match self.find(sequence_id) {
            Some(open) => open.sync_departed(t1_ns),
            None => Verdict::Late,
        }
    }

    /// Whether the responder was replaced by another process since the last call: its clock starts anew.
    pub fn take_restarted(&mut self) -> bool {
        std::mem::take(&mut self.restarted)
    }

    /// Settles what is due at `now`, oldest first. Everything that arrived before `now` must have been filed.
    pub fn settle(&mut self, now: RawTime, mut each: impl FnMut(Outcome<T>)) {
        while let Some(open) = self.open.front() {
            let pending = open.pending;
            let decided = open.void || open.arrived.is_some() || pending.hold_until <= now;
            if pending.deadline > now || !decided || !open.void && open.awaits_news(now) {
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

    /// Ends the open requests of which `which` holds: those that were answered, or whose deadline has passed at
    /// `now`, are settled; of the others only the tag is left.
    pub fn end(
        &mut self,
        now: RawTime,
        which: impl Fn(&T) -> bool,
        mut each: impl FnMut(Result<Outcome<T>, T>),
    ) {
        let open = self.open.iter_mut().filter(|open| !open.void);
        for open in open.filter(|open| which(&open.pending.tag)) {
            open.void = true;
            let over = open.sync_arrived || open.pending.deadline <= now;
            each(if over {
                Ok(open.outcome())
            } else {
                Err(open.pending.tag)
            });
        }
    }

    fn find(&mut self, sequence_id: u16) -> Option<&mut Exchange<T>> {
        let index = sequence_id.wrapping_sub(self.first);
        self.open.get_mut(usize::from(index))
    }

    /// Takes from a tally which requests arrived.
    fn learn(&mut self, rx_report: RxReportTlv) {
        let previous = self.rx_report.filter(|p| rx_report.requests >= p.requests);
        let ahead = previous.map_or(u16::MAX, |p| rx_report.newest.wrapping_sub(p.newest));
        let overtaken = previous.is_some() && ahead > u16::MAX / 2;
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
                let told = rx_report.arrived(sequence_id);
                let counted = unwatched.filter(|_| back < ahead && back >= rx_report.watched);
                open.arrived = told.or(counted).or(open.arrived);
            }
            open.perhaps_shed |= shed && back < ahead;
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

    /// For requests after the previous tally that the map of the new one no longer reaches: whether all of them
    /// arrived, or none; `None` when some did.
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
