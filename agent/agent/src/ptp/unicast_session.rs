//! The client side of unicast negotiation: the services granted by one responder and their renewal (16.1).

use super::messages::{Service, Tlv, Tlvs};
use crate::clock::RawTime;

/// Duration requested, s: the time that a responder continues after this agent vanishes. Renewed at half time.
const DURATION_S: u32 = 60;
/// Interval of Announce, 2 s (log2 s): it is used for the time scale only.
const ANNOUNCE_INTERVAL: i8 = 1;
/// First and longest pause before an unanswered request is repeated, ns.
const RETRY_NS: i64 = 1_000_000_000;
const LONGEST_RETRY_NS: i64 = 16_000_000_000;

const NANOS_PER_S: i64 = 1_000_000_000;

/// Time without an answer after which a responder is reported as silent, ns.
const SILENT_NS: i64 = 10_000_000_000;

/// The reason why a responder is not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoService {
    /// Standard responders send to ports 319 and 320, and this agent listens on others.
    Ports,
    /// It answered a request with a grant of no time.
    Refused,
    /// It has never answered a request.
    Silent,
    /// It answers in this PTP domain only, which is not the plan's.
    Domain(u8),
    /// Its host answers that no program listens on its general port.
    Closed,
    /// No host answers at its address.
    Unreachable,
    /// It authenticates its messages (16.14), which this agent cannot verify.
    Authentication,
    /// It granted Announce and sends none, so its time scale is unknown.
    NoAnnounce,
}

impl NoService {
    /// Return the name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ports => "ports",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Domain(_) => "domain",
            Self::Closed => "closed",
            Self::Unreachable => "unreachable",
            Self::Authentication => "authentication",
            Self::NoAnnounce => "no_announce",
        }
    }
}

/// The services granted by one responder.
#[derive(Debug)]
pub struct UnicastSession {
    /// Interval of Sync and Delay_Resp, log2 s.
    interval: i8,
    services: [ServiceState; 3],
    announced: bool,
    utc_offset_s: i16,
    refused: bool,
    began: RawTime,
    /// Delay_Resp was granted, and neither refused nor cancelled since. A responder that vanishes then loses requests.
    serves: bool,
}

#[derive(Debug, Clone, Copy)]
struct ServiceState {
    /// Granted interval and end of the grant.
    granted: Option<(i8, RawTime)>,
    ask_at: RawTime,
    retry_ns: i64,
}

impl UnicastSession {
    /// Create a session without grants, to be requested at once.
    pub fn new(interval: i8, now: RawTime) -> Self {
        let state = ServiceState {
            granted: None,
            ask_at: now,
            retry_ns: RETRY_NS,
        };
        Self {
            interval,
            services: [state; 3],
            announced: false,
            utc_offset_s: 0,
            refused: false,
            began: now,
            serves: false,
        }
    }

    /// Request another interval from now on.
    pub fn set_interval(&mut self, interval: i8, now: RawTime) {
        if self.interval != interval {
            self.interval = interval;
            self.request_again(now);
        }
    }

    /// Return the requests due at `now`. Announce comes first: its time scale is needed to read times.
    pub fn due_requests(&mut self, now: RawTime) -> Tlvs {
        let mut tlvs = Tlvs::default();
        for service in Service::ALL {
            let state = &mut self.services[service.place()];
            let ready = service == Service::Announce || self.announced;
            if state.ask_at > now || !ready {
                continue;
            }
            state.ask_at = now.plus(state.retry_ns);
            state.retry_ns = (2 * state.retry_ns).min(LONGEST_RETRY_NS);
            tlvs.push(Tlv::Request {
                service,
                interval: match service {
                    Service::Announce => ANNOUNCE_INTERVAL,
                    _ => self.interval,
                },
                duration_s: DURATION_S,
            });
        }
        tlvs
    }

    /// Return when the next request is due.
    pub fn next_due(&self) -> RawTime {
        let [announce, sync, delay_resp] = self.services.map(|state| state.ask_at);
        if self.announced {
            announce.min(sync).min(delay_resp)
        } else {
            announce
        }
    }

    /// Take a TLV of the responder. Return true if it is a cancellation to acknowledge.
    pub fn receive(&mut self, tlv: Tlv, now: RawTime) -> bool {
        match tlv {
            Tlv::Grant {
                service,
                interval,
                duration_s,
            } => {
                let state = &mut self.services[service.place()];
                self.refused = duration_s == 0;
                if service == Service::DelayResp {
                    self.serves = !self.refused;
                }
                if self.refused {
                    state.granted = None;
                    state.ask_at = now.plus(LONGEST_RETRY_NS);
                } else {
                    let lasts_ns = i64::from(duration_s) * NANOS_PER_S;
                    state.granted = Some((interval, now.plus(lasts_ns)));
                    state.ask_at = now.plus(lasts_ns / 2);
                    state.retry_ns = RETRY_NS;
                }
                false
            }
            Tlv::Cancel { service } => {
                let state = &mut self.services[service.place()];
                state.granted = None;
                state.ask_at = now.plus(RETRY_NS);
                if service == Service::DelayResp {
                    self.serves = false;
                }
                true
            }
            Tlv::Request { .. } | Tlv::Acknowledge { .. } => false,
        }
    }

    /// Take an Announce: the offset of the responder's time scale from UTC, s, if it is TAI. Return true if it is another one
    /// than before.
    pub fn receive_announce(&mut self, utc_offset_s: Option<i16>) -> bool {
        let is_first = !std::mem::replace(&mut self.announced, true);
        let utc_offset_s = utc_offset_s.unwrap_or(0);
        let before_s = std::mem::replace(&mut self.utc_offset_s, utc_offset_s);
        !is_first && before_s != utc_offset_s
    }

    /// Return the offset of the responder's time scale from UTC, ns.
    pub fn ahead_ns(&self) -> i64 {
        i64::from(self.utc_offset_s) * NANOS_PER_S
    }

    /// Return the interval of Sync, ns: as granted, or else as requested.
    pub fn interval_ns(&self) -> i64 {
        let granted = self.services[Service::Sync.place()].granted;
        super::interval_ns(granted.map_or(self.interval, |granted| granted.0.clamp(-7, 6)))
    }

    /// Return true if the responder has granted Delay_Resp and has not ended the grant: an unanswered request is lost.
    pub fn serves(&self) -> bool {
        self.serves
    }

    /// Return the reason why nothing can be measured at `now`, if that is so for longer than a negotiation takes.
    pub fn no_service(&self, now: RawTime) -> Option<NoService> {
        if self.refused {
            return Some(NoService::Refused);
        }
        if self.serves {
            return None;
        }
        let is_answered = self.announced || self.services.iter().any(|s| s.granted.is_some());
        match is_answered {
            _ if now.since(self.began) < SILENT_NS => None,
            true if !self.announced => Some(NoService::NoAnnounce),
            true => Some(NoService::Refused),
            false => Some(NoService::Silent),
        }
    }

    /// Request all services again from a responder that has fallen silent: it may have lost the grants.
    pub fn request_again(&mut self, now: RawTime) {
        for state in &mut self.services {
            state.ask_at = state.ask_at.min(now);
        }
    }

    /// Return the cancellations to send before this agent stops.
    pub fn cancellations(&self) -> Tlvs {
        let granted = Service::ALL
            .into_iter()
            .filter(|service| self.services[service.place()].granted.is_some());
        granted.map(|service| Tlv::Cancel { service }).collect()
    }
}

#[cfg(test)]
#[path = "unicast_session_tests.rs"]
mod tests;
