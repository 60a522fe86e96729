//! The asking side of unicast negotiation: what has been granted to us, and when to ask again (16.1).

use super::unicast_tlv::{Service, Tlv, Tlvs};
use crate::clock::RawTime;

/// How long we ask for, s: a responder that we vanish from goes on no longer than this. Asked again at half time.
const DURATION_S: u32 = 60;
/// Announce every 2 s: it is only listened to for the time scale (log2 s).
const ANNOUNCE_INTERVAL: i8 = 1;
/// First and longest pause before an unanswered request is sent again, ns.
const RETRY_NS: i64 = 1_000_000_000;
const LONGEST_RETRY_NS: i64 = 16_000_000_000;

const NANOS_PER_S: i64 = 1_000_000_000;

/// What one responder has granted.
#[derive(Debug)]
pub struct UnicastSession {
    /// Of Sync and Delay_Resp, log2 s.
    interval: i8,
    services: [ServiceState; 3],
    announced: bool,
    utc_offset_s: i16,
    refused: bool,
}

#[derive(Debug, Clone, Copy)]
struct ServiceState {
    /// The granted interval, and until when.
    granted: Option<(i8, RawTime)>,
    ask_at: RawTime,
    retry_ns: i64,
}

impl UnicastSession {
    /// Nothing granted yet; to be asked for at once.
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
        }
    }

    /// Asks for another interval from now on.
    pub fn set_interval(&mut self, interval: i8, now: RawTime) {
        if self.interval != interval {
            self.interval = interval;
            self.ask_again(now);
        }
    }

    /// What to ask for at `now`. Announce comes first: until the time scale is known, times cannot be read.
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

    /// When there is something to ask for.
    pub fn next_due(&self) -> RawTime {
        let [announce, sync, delay_resp] = self.services.map(|state| state.ask_at);
        if self.announced {
            announce.min(sync).min(delay_resp)
        } else {
            announce
        }
    }

    /// Takes what the responder says. Whether a cancellation has to be acknowledged.
    pub fn receive(&mut self, tlv: Tlv, now: RawTime) -> bool {
        match tlv {
            Tlv::Grant {
                service,
                interval,
                duration_s,
            } => {
                let state = &mut self.services[service.place()];
                self.refused = duration_s == 0;
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
                true
            }
            Tlv::Request { .. } | Tlv::Acknowledge { .. } => false,
        }
    }

    /// Takes an Announce: by how many seconds the responder's times are ahead of UTC, if they are TAI.
    pub fn receive_announce(&mut self, utc_offset_s: Option<i16>) {
        self.announced = true;
        self.utc_offset_s = utc_offset_s.unwrap_or(0);
    }

    /// What the responder's times are ahead of its UTC, ns.
    pub fn ahead_ns(&self) -> i64 {
        i64::from(self.utc_offset_s) * NANOS_PER_S
    }

    /// Time between two Syncs, ns: as granted, or as asked for while nothing is.
    pub fn interval_ns(&self) -> i64 {
        let granted = self.services[Service::Sync.place()].granted;
        super::interval_ns(granted.map_or(self.interval, |granted| granted.0.clamp(-7, 6)))
    }

    /// Whether the last answer was a refusal.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// The responder has fallen silent: it may have forgotten us, so it is asked for everything again.
    pub fn ask_again(&mut self, now: RawTime) {
        for state in &mut self.services {
            state.ask_at = state.ask_at.min(now);
        }
    }

    /// What to say before leaving.
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
