//! One exchange on the client's side: the parts that have come in, and what they say.

use super::messages::{Body, Message};
use crate::clock::{Leg, RawTime};

/// A request that is about to leave.
#[derive(Debug, Clone, Copy)]
pub struct PendingRequest<T> {
    pub at: RawTime,
    /// What arrives after this is lost.
    pub deadline: RawTime,
    /// When to settle although its fate is not known; not before `deadline`.
    pub hold_until: RawTime,
    /// When the answer to the next request will have told when the Sync of this one left, if the round trip took no time;
    /// the deadline where nothing is left to tell.
    pub t1_deadline: RawTime,
    /// Comes back with what became of it.
    pub tag: T,
}

/// When a message came in.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// The best that is known, for deadlines.
    pub at: RawTime,
    /// Exact enough to measure with; `None` when no stamp was taken.
    pub stamp: Option<RawTime>,
}

/// What became of a request. `None`: nobody can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<T> {
    pub tag: T,
    /// Whether the Delay_Req reached the responder.
    pub request_arrived: Option<bool>,
    /// Whether the responder sent a Sync.
    pub sync_sent: Option<bool>,
    pub sync_arrived: bool,
    /// Whether the round trip was made.
    pub answered: bool,
    /// Further Syncs of a stock responder that should have come before, less those that were missed too early.
    pub syncs_missed: i32,
    /// t3 and t4.
    pub outbound: Option<Leg>,
    /// t1 and t2.
    pub inbound: Option<Leg>,
}

/// What a message meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A part of an exchange that is still incomplete.
    Taken,
    /// The last part: outbound and inbound.
    Complete(Leg, Leg),
    /// The same part came before; the first one counts.
    Duplicate,
    /// After its deadline.
    Late,
    /// Answers nothing that was asked.
    Unsolicited,
    /// Complete, but with times that cannot be: it is counted, not measured.
    Implausible,
}

/// What differs when the responder is a stock one: its Sync does not answer the request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standard {
    pub syncs_missed: i32,
}

/// A request and what has come back.
#[derive(Debug)]
pub(super) struct Exchange<T> {
    pub pending: PendingRequest<T>,
    pub void: bool,
    t1_ns: Option<i64>,
    t2: Option<RawTime>,
    t3: Option<RawTime>,
    t4_ns: Option<i64>,
    correction_ns: i64,
    pub sync_arrived: bool,
    complete: bool,
    pub arrived: Option<bool>,
    /// Of a stock responder: `None` when it is of our own exchange.
    pub standard: Option<Standard>,
    /// The responder left some request near this one unanswered; nobody knows which.
    pub perhaps_shed: bool,
}

impl<T: Copy> Exchange<T> {
    pub fn new(pending: PendingRequest<T>) -> Self {
        Self {
            pending,
            void: false,
            t1_ns: None,
            t2: None,
            t3: None,
            t4_ns: None,
            correction_ns: 0,
            sync_arrived: false,
            complete: false,
            arrived: None,
            standard: None,
            perhaps_shed: false,
        }
    }

    /// Whether a later answer may still tell, after `now`, when its Sync left.
    pub fn awaits_news(&self, now: RawTime) -> bool {
        let round_trip_ns = self.t2.map_or(0, |t2| t2.since(self.pending.at));
        self.sync_arrived
            && self.t1_ns.is_none()
            && now < self.pending.t1_deadline.plus(round_trip_ns)
    }

    /// The request left at `t3`.
    pub fn depart(&mut self, t3: RawTime) -> Verdict {
        self.t3 = Some(t3);
        self.verdict()
    }

    /// Its Sync left at `t1_ns`, as a later answer tells.
    pub fn sync_departed(&mut self, t1_ns: i64) -> Verdict {
        if self.t1_ns.is_some() {
            return Verdict::Duplicate;
        }
        self.t1_ns = Some(t1_ns);
        self.verdict()
    }

    /// Files a part of the answer.
    pub fn file(&mut self, message: &Message, stamp: Option<RawTime>) -> Verdict {
        let correction_ns = message.correction.nanos();
        if self.standard.is_none() || matches!(message.body, Body::DelayResp { .. }) {
            self.arrived = Some(true);
        }
        match message.body {
            Body::Sync { .. } | Body::CompactResp { .. } if self.sync_arrived => {
                return Verdict::Duplicate;
            }
            Body::FollowUp { .. } if self.t1_ns.is_some() => return Verdict::Duplicate,
            Body::DelayResp { .. } if self.t4_ns.is_some() => return Verdict::Duplicate,
            Body::Sync {
                two_step,
                origin_ns,
            } => {
                self.sync_arrived = true;
                self.t2 = stamp;
                self.correction_ns += correction_ns;
                if !two_step {
                    self.t1_ns = Some(origin_ns);
                }
            }
            Body::CompactResp { response_tlv, .. } => {
                self.sync_arrived = true;
                self.t2 = stamp;
                self.t4_ns = Some(response_tlv.receive_ns);
                self.correction_ns += correction_ns;
            }
            Body::FollowUp { origin_ns } => {
                self.t1_ns = Some(origin_ns);
                self.correction_ns += correction_ns;
            }
            Body::DelayResp {
                receive_ns,
                sync_left_ns,
                ..
            } => {
                self.t4_ns = Some(receive_ns - correction_ns);
                self.t1_ns = self.t1_ns.or(sync_left_ns);
            }
            Body::DelayReq
            | Body::CompactReq { .. }
            | Body::Announce { .. }
            | Body::Signaling { .. } => {
                return Verdict::Unsolicited;
            }
        }
        self.verdict()
    }

    fn outbound(&self) -> Option<Leg> {
        Some(Leg {
            local: self.t3?,
            remote_ns: self.t4_ns?,
        })
    }

    fn inbound(&self) -> Option<Leg> {
        Some(Leg {
            local: self.t2?,
            remote_ns: self.t1_ns? + self.correction_ns,
        })
    }

    /// Complete once, when the last part comes in.
    fn verdict(&mut self) -> Verdict {
        match (self.outbound(), self.inbound()) {
            (Some(outbound), Some(inbound)) if !self.complete => {
                self.complete = true;
                let possible = match self.standard {
                    None => possible(outbound, inbound),
                    Some(_) => possible_apart(outbound, inbound),
                };
                if possible {
                    Verdict::Complete(outbound, inbound)
                } else {
                    (self.t2, self.t3) = (None, None);
                    Verdict::Implausible
                }
            }
            _ => Verdict::Taken,
        }
    }

    pub fn outcome(&self) -> Outcome<T> {
        let sync_sent = match self.arrived {
            // Which of its Syncs were lost tell their sequence ids.
            _ if self.standard.is_some() => Some(self.sync_arrived),
            _ if self.sync_arrived => Some(true),
            Some(true) if self.perhaps_shed => None,
            other => other,
        };
        Outcome {
            tag: self.pending.tag,
            request_arrived: self.arrived,
            sync_sent,
            sync_arrived: self.sync_arrived,
            answered: match self.standard {
                None => self.sync_arrived,
                Some(_) => self.arrived == Some(true),
            },
            syncs_missed: self.standard.map_or(0, |standard| standard.syncs_missed),
            outbound: self.outbound(),
            inbound: self.inbound(),
        }
    }
}

/// The responder answers after it is asked, and no packet arrives before it leaves: the round trip takes some of the
/// time that passed here, give or take what two clocks may disagree on its length.
fn possible(outbound: Leg, inbound: Leg) -> bool {
    let passed_ns = inbound.local.since(outbound.local);
    let slack_ns = passed_ns / 1000 + 1;
    let there_ns = inbound.remote_ns.saturating_sub(outbound.remote_ns);
    (-slack_ns..=passed_ns + slack_ns).contains(&there_ns)
}

/// No round trip longer than this is waited for, ns.
const LONGEST_NS: i64 = 60_000_000_000;

/// The same for a Sync that is no answer: it may have left before the request did. What the two legs took together
/// is more than nothing, give or take what two clocks may disagree on the time between them.
fn possible_apart(outbound: Leg, inbound: Leg) -> bool {
    let passed_ns = inbound.local.since(outbound.local);
    let slack_ns = passed_ns.abs() / 1000 + 1;
    let there_ns = inbound.remote_ns.saturating_sub(outbound.remote_ns);
    (-slack_ns..LONGEST_NS).contains(&passed_ns.saturating_sub(there_ns))
}
