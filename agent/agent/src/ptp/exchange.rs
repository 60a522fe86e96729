//! One exchange on the client's side: its timestamps and its outcome.

use super::messages::{Body, EcnField, Message, VmTlv};
use crate::clock::{Leg, RawTime, TimestampSource, round_trip_ns};

/// A request that is about to leave.
#[derive(Debug, Clone, Copy)]
pub struct PendingRequest<T> {
    pub at: RawTime,
    /// Time after which a response counts as lost.
    pub deadline: RawTime,
    /// Time to settle even if its outcome is unknown; not before `deadline`.
    pub hold_until: RawTime,
    /// Time by which the response to the next request carries t1 of this one, for a round trip of no time; the deadline if
    /// none will.
    pub t1_deadline: RawTime,
    /// Returned with the outcome.
    pub tag: T,
}

/// The arrival of a message.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// Best known time, for deadlines.
    pub at: RawTime,
    /// Timestamp to measure with; `None` if none was taken.
    pub stamp: Option<RawTime>,
    pub source: TimestampSource,
    /// Its ECN field, if the socket reads it.
    pub ecn: Option<EcnField>,
}

/// The ECN fields that the packets of an exchange arrived with, which left with ECT(0); `None` is unknown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct EcnSeen {
    pub outbound: Option<EcnField>,
    pub inbound: Option<EcnField>,
}

/// The outcome of a request. `None` means unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<T> {
    pub tag: T,
    /// True if the Delay_Req reached the responder.
    pub request_arrived: Option<bool>,
    /// True if the responder sent a Sync.
    pub sync_sent: Option<bool>,
    pub sync_arrived: bool,
    /// True if the round trip was completed.
    pub answered: bool,
    /// Earlier Syncs of a standard responder that are lost, less those counted too early; `None` is unknown.
    pub syncs_missed: Option<i32>,
    /// t3 and t4.
    pub outbound: Option<Leg>,
    /// t1 and t2.
    pub inbound: Option<Leg>,
    /// The less precise origin of t2 and t3; `None` without either.
    pub source: Option<TimestampSource>,
    pub ecn: EcnSeen,
    pub residence: Residence,
    pub responder: ResponderNotes,
}

/// Time that switches on the way say they have held the packets of an exchange (residence time, IEEE 1588-2019, 10.2), ns;
/// 0 is none. It is part of the delays.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Residence {
    pub outbound_ns: i64,
    pub inbound_ns: i64,
}

/// What a response says about its responder.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ResponderNotes {
    /// It is an agent that does not name its VM, because it or the backend is of an earlier version.
    pub is_unnamed: bool,
    /// It took its timestamps itself, not the kernel.
    pub has_own_stamps: bool,
}

/// The effect of a message on an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The exchange is still incomplete.
    Taken,
    /// The exchange is complete: outbound and inbound.
    Complete(Leg, Leg),
    /// The part was received before; the first one counts.
    Duplicate,
    /// The message arrived after the deadline.
    Late,
    /// The message responds to no request.
    Unsolicited,
    /// The exchange is complete with impossible times: it is counted, not measured.
    Implausible,
}

/// The state of an exchange with a standard responder, whose Sync does not respond to the request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standard {
    pub syncs_missed: Option<i32>,
}

/// A request and the parts of its response.
#[derive(Debug)]
pub(super) struct Exchange<T> {
    pub pending: PendingRequest<T>,
    pub void: bool,
    t1_ns: Option<i64>,
    t2: Option<RawTime>,
    t3: Option<RawTime>,
    t4_ns: Option<i64>,
    source: Option<TimestampSource>,
    ecn: EcnSeen,
    residence: Residence,
    responder: ResponderNotes,
    pub sync_arrived: bool,
    complete: bool,
    pub arrived: Option<bool>,
    /// Set for a standard responder only.
    pub standard: Option<Standard>,
    /// Set for an SPTP server only.
    pub is_sptp: bool,
    /// True if the responder left an unknown request near this one unanswered.
    pub may_be_shed: bool,
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
            source: None,
            ecn: EcnSeen::default(),
            residence: Residence::default(),
            responder: ResponderNotes {
                is_unnamed: true,
                ..ResponderNotes::default()
            },
            sync_arrived: false,
            complete: false,
            arrived: None,
            standard: None,
            is_sptp: false,
            may_be_shed: false,
        }
    }

    /// Return true if a later response may still carry its t1 after `now`.
    pub fn awaits_t1(&self, now: RawTime) -> bool {
        let round_trip_ns = self.t2.map_or(0, |t2| t2.since(self.pending.at));
        self.sync_arrived
            && self.t1_ns.is_none()
            && now < self.pending.t1_deadline.plus(round_trip_ns)
    }

    /// Return true if a response with t4 has arrived.
    pub fn has_t4(&self) -> bool {
        self.t4_ns.is_some()
    }

    /// Set the departure of the request, t3.
    pub fn record_departure(&mut self, t3: RawTime, source: TimestampSource) -> Verdict {
        self.t3 = Some(t3);
        self.add_source(source);
        self.verdict()
    }

    /// Keep the least precise origin of its timestamps.
    fn add_source(&mut self, source: TimestampSource) {
        self.source = Some(self.source.map_or(source, |known| known.min(source)));
    }

    /// Set the arrival of its Sync, t2.
    fn record_arrival(&mut self, arrival: Arrival) {
        self.sync_arrived = true;
        self.t2 = arrival.stamp;
        if arrival.stamp.is_some() {
            self.add_source(arrival.source);
        }
    }

    /// Set the departure of its Sync, t1, from a later response.
    pub fn record_sync_departure(&mut self, t1_ns: i64) -> Verdict {
        if self.t1_ns.is_some() {
            return Verdict::Duplicate;
        }
        self.t1_ns = Some(t1_ns);
        self.verdict()
    }

    /// Add a part of the response.
    pub fn add_part(&mut self, message: &Message, arrival: Arrival) -> Verdict {
        let correction_ns = message.correction.nanos();
        if self.standard.is_none() || matches!(message.body, Body::DelayResp { .. }) {
            self.arrived = Some(true);
        }
        if let Some(vm) = message.vm() {
            self.add_notes(vm);
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
                self.record_arrival(arrival);
                self.add_inbound_residence(correction_ns);
                if !two_step {
                    self.t1_ns = Some(origin_ns);
                }
            }
            Body::CompactResp {
                response_tlv, ecn, ..
            } => {
                self.record_arrival(arrival);
                if ecn.is_some() {
                    // The response says that it left with ECT(0), too.
                    self.ecn = EcnSeen {
                        outbound: ecn,
                        inbound: arrival.ecn,
                    };
                }
                self.t4_ns = Some(response_tlv.receive_ns);
                self.add_inbound_residence(correction_ns);
            }
            Body::FollowUp { origin_ns } => {
                self.t1_ns = Some(origin_ns);
                self.add_inbound_residence(correction_ns);
            }
            Body::DelayResp {
                receive_ns,
                sync_left_ns,
                ..
            } => {
                // That of the request, which a standard responder has copied (11.3.2).
                self.residence.outbound_ns = self.residence.outbound_ns.max(correction_ns);
                self.t4_ns = Some(receive_ns);
                self.t1_ns = self.t1_ns.or(sync_left_ns);
            }
            Body::DelayReq
            | Body::SptpReq
            | Body::CompactReq { .. }
            | Body::Announce { .. }
            | Body::Signaling { .. } => {
                return Verdict::Unsolicited;
            }
        }
        self.verdict()
    }

    fn add_notes(&mut self, vm: VmTlv) {
        self.residence.outbound_ns = vm.request_correction.nanos();
        self.responder = ResponderNotes {
            is_unnamed: vm.tag == 0,
            has_own_stamps: vm.source == TimestampSource::User as u8,
        };
    }

    /// Add a correction of the Sync or of its Follow_Up (11.4.5): a switch may write into either.
    fn add_inbound_residence(&mut self, correction_ns: i64) {
        let inbound_ns = &mut self.residence.inbound_ns;
        *inbound_ns = inbound_ns.saturating_add(correction_ns);
    }

    fn is_measured_agent(&self) -> bool {
        self.complete && self.standard.is_none() && !self.is_sptp
    }

    /// Return the residence, as far as it is possible: a packet was not held for less than no time, nor for longer than the
    /// round trip.
    fn plausible_residence(&self) -> Residence {
        let most_ns = match (self.outbound(), self.inbound()) {
            (Some(outbound), Some(inbound)) => round_trip_ns(outbound, inbound),
            _ => 0,
        };
        let Residence {
            outbound_ns,
            inbound_ns,
        } = self.residence;
        let is_possible = outbound_ns >= 0
            && inbound_ns >= 0
            && outbound_ns.saturating_add(inbound_ns) <= most_ns;
        if is_possible {
            self.residence
        } else {
            Residence::default()
        }
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
            remote_ns: self.t1_ns?,
        })
    }

    /// Return `Complete` once, for the last part.
    fn verdict(&mut self) -> Verdict {
        match (self.outbound(), self.inbound()) {
            (Some(outbound), Some(inbound)) if !self.complete => {
                self.complete = true;
                let plausible = match self.standard {
                    None => is_plausible(outbound, inbound),
                    Some(_) => is_plausible_apart(outbound, inbound),
                };
                if plausible {
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
            // Sequence ids show which of its Syncs were lost.
            _ if self.standard.is_some() => Some(self.sync_arrived),
            _ if self.sync_arrived => Some(true),
            Some(true) if self.may_be_shed => None,
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
            syncs_missed: self
                .standard
                .map_or(Some(0), |standard| standard.syncs_missed),
            outbound: self.outbound(),
            inbound: self.inbound(),
            source: self.source,
            ecn: self.ecn,
            residence: self.plausible_residence(),
            responder: ResponderNotes {
                is_unnamed: self.responder.is_unnamed && self.is_measured_agent(),
                ..self.responder
            },
        }
    }
}

/// Return true if the responder's time between request and Sync is not negative, within the tolerance of two clocks, and no
/// longer than the local time that passed.
fn is_plausible(outbound: Leg, inbound: Leg) -> bool {
    let passed_ns = inbound.local.since(outbound.local);
    let there_ns = inbound.remote_ns.saturating_sub(outbound.remote_ns);
    (-(passed_ns / 1000 + 1)..=passed_ns).contains(&there_ns)
}

/// Longest round trip, ns.
const LONGEST_NS: i64 = 60_000_000_000;

/// Return true if the sum of both delays is possible. A Sync that does not respond to the request may have left before it.
fn is_plausible_apart(outbound: Leg, inbound: Leg) -> bool {
    (0..LONGEST_NS).contains(&round_trip_ns(outbound, inbound))
}
