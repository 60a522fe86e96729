//! The clock of one peer over time: a sequence of epochs, each ended by a step of the clock.

use std::collections::VecDeque;

use super::epoch::Epoch;
use super::hardware_offset::HardwareOffset;
use super::raw_time::{Leg, RawTime, round_trip_ns};
use super::standstill::Standstill;
use super::tracker::RouteChange;

/// Exchanges that prove a step if none between them fits the previous line.
const STEP_PROOF: usize = 3;

/// Exchanges that neither fit the line nor prove a step and are then taken for a shorter route.
const MOST_SUSPECTS: usize = 12;

/// Exchanges before a step that may have begun before it and ended after it: as many as are on their way at once.
const RECENT: usize = 8;

/// Smallest step that starts an epoch, ns; the epoch follows smaller ones.
const LEAST_STEP_NS: f64 = 10_000.0;

/// Past epochs kept, for windows that still need their time.
const PAST: usize = 4;

/// An epoch that has ended.
#[derive(Debug)]
struct PastEpoch {
    epoch: Epoch,
    /// Start of its newest exchange that ended before the step, and its own end. The clock was stepped between the two.
    fits_until: RawTime,
    until: RawTime,
    /// Size of the step, ns; 0 if unknown.
    step_ns: f64,
}

/// The offset of the own clock from the peer's at a time: own minus peer, as IEEE 1588's offset from the master. One-way
/// delays are made with it in `window/delay.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub offset_ns: i64,
    /// Bound on the error of `offset_ns`, and so of any one-way delay made with it.
    pub error_ns: u64,
    /// The part of the error due to the estimation (three standard deviations), without that of an unknown asymmetry.
    pub random_ns: u64,
    /// Rate of the own clock minus that of the peer's, parts per 10^9.
    pub skew_ppb: i32,
    /// True if the offset comes from hardware clocks at both ends and not from assuming equally long routes.
    pub by_hardware: bool,
}

/// A change that an exchange has proven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// One of the two clocks was stepped.
    Stepped,
    /// A standard responder announces another offset of its time scale from UTC.
    TimeScale,
    Route(RouteChange),
}

/// Offset and skew of a peer's clock, from the first exchange on.
#[derive(Debug, Default)]
pub struct PeerClock {
    epoch: Option<Epoch>,
    /// Epochs before a step of the clock, oldest first.
    past: VecDeque<PastEpoch>,
    /// Start of the newest exchange that fits the epoch.
    fits_until: RawTime,
    /// Starts of the newest exchanges that fit, oldest first, and how far the longer direction exceeds its shortest delay, ns.
    recent: VecDeque<(RawTime, f64)>,
    /// Exchanges that look like a step of the clock and belong to no epoch yet.
    suspects: Vec<(Leg, Leg)>,
    /// The first suspects that show a shorter route, or began before a step and ended after it.
    shorter: usize,
    proofs: usize,
    /// Size of the step that they suggest, ns.
    suspected_ns: f64,
    /// Known asymmetry of the routes, ns, for the next epoch.
    asymmetry_ns: f64,
    /// Offset of the epoch by hardware clocks.
    hardware: HardwareOffset,
    /// What the newest exchange shows about our clock since the epoch began.
    standstill: Option<Standstill>,
    /// Since when, and by how much, our clock is known to be behind the line of this epoch, ns.
    known_standstill: Option<(RawTime, i64)>,
}

impl PeerClock {
    pub fn new() -> Self {
        Self::default()
    }

    /// Add a complete exchange. Return the change that it proves.
    pub fn observe(&mut self, outbound: Leg, inbound: Leg) -> Option<Change> {
        match self.classify(outbound, inbound) {
            Classification::Stepped { by_ns } => {
                self.proofs += 1;
                self.suspected_ns = self.suspected_ns.max(by_ns);
            }
            Classification::Short { by_ns } => self.suspected_ns = self.suspected_ns.max(by_ns),
            Classification::Shorter { by_ns } if self.may_straddle(outbound, inbound, by_ns) => {
                self.suspected_ns = self.suspected_ns.max(by_ns);
                self.shorter += usize::from(self.suspects.len() == self.shorter);
            }
            Classification::Plain | Classification::Shorter { .. } => {
                let cleared = self.clear();
                return self.add(outbound, inbound).or(cleared).map(Change::Route);
            }
        }
        self.suspects.push((outbound, inbound));
        if self.proofs == STEP_PROOF {
            let mut suspects = std::mem::take(&mut self.suspects);
            suspects.drain(..std::mem::take(&mut self.shorter));
            let (outbound, inbound) = suspects[0];
            self.fits_until = self.ended_before(self.suspected_ns);
            self.restart(start_of(outbound, inbound));
            for (outbound, inbound) in suspects {
                self.add(outbound, inbound);
            }
            return Some(Change::Stepped);
        }
        if self.suspects.len() == MOST_SUSPECTS {
            return self.clear().map(Change::Route);
        }
        None
    }

    /// Return what the newest exchange shows about our clock since the epoch began; `None` if it began with that exchange.
    pub fn standstill(&self) -> Option<Standstill> {
        self.standstill
    }

    /// Take into account that our clock stood still for `by_ns` just before `from`.
    pub fn account_standstill(&mut self, from: RawTime, by_ns: i64) {
        // An epoch that began since then has it in its line.
        if self.epoch.is_some() && self.fits_until < from {
            let before_ns = self.known_standstill.map_or(0, |(_, ns)| ns);
            self.known_standstill = Some((from, before_ns.saturating_add(by_ns)));
        }
    }

    /// End the epoch at `at`: earlier estimates stay valid for earlier times. The routes stay as they are.
    pub fn restart(&mut self, at: RawTime) {
        self.refresh();
        self.suspects.clear();
        self.recent.clear();
        self.shorter = 0;
        let step_ns = std::mem::take(&mut self.suspected_ns);
        self.proofs = 0;
        self.hardware.clear();
        (self.standstill, self.known_standstill) = (None, None);
        let Some(epoch) = self.epoch.take() else {
            return;
        };
        self.asymmetry_ns = epoch.asymmetry_ns();
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(PastEpoch {
            epoch,
            fits_until: self.fits_until.min(at),
            until: at,
            step_ns,
        });
    }

    /// End the epoch at `at` because one of the two machines has moved: the routes may have changed as well.
    pub fn reset(&mut self, at: RawTime) {
        self.restart(at);
        self.asymmetry_ns = 0.0;
    }

    /// Bring the estimates up to date. Costs a few microseconds; call it before many lookups.
    pub fn refresh(&mut self) {
        if let Some(epoch) = &mut self.epoch {
            epoch.refresh();
        }
    }

    /// Return the offset at a time; `None` if no exchange covers it.
    pub fn offset_at(&self, at: RawTime) -> Option<Offset> {
        self.offset_by(self.past.iter().find(|past| at < past.until), at, at)
    }

    /// Return the offset at a time of an exchange with these legs; `None` if it may have begun before a step of the clock and
    /// ended after it.
    pub fn offset_of(&self, (outbound, inbound): (Leg, Leg), at: RawTime) -> Option<Offset> {
        let start = start_of(outbound, inbound);
        let past = self.past.iter().find(|past| start < past.until);
        if past.is_some_and(|past| past.step_ns > 0.0 && start > past.fits_until) {
            return None;
        }
        self.offset_by(past, at, start)
    }

    /// Return the offset at a time by an epoch. `start`: whether it may be after a step.
    fn offset_by(&self, past: Option<&PastEpoch>, at: RawTime, start: RawTime) -> Option<Offset> {
        let epoch = past.map(|past| &past.epoch).or(self.epoch.as_ref())?;
        let estimate = epoch.estimate_at(at);
        let (fits_until, step_ns) = match (past, self.suspects.first()) {
            (Some(past), _) => (past.fits_until, past.step_ns),
            (None, Some((outbound, inbound))) => {
                let fits_until = self.ended_before(self.suspected_ns);
                (
                    fits_until.min(start_of(*outbound, *inbound)),
                    self.suspected_ns,
                )
            }
            (None, None) => (start, 0.0),
        };
        // The moment of the step is unknown; only that it was not earlier.
        let suspected_ns = if start > fits_until { step_ns } else { 0.0 };
        let assumed = Offset {
            offset_ns: epoch.offset_ns(&estimate),
            error_ns: (estimate.bound_ns() + suspected_ns).ceil() as u64,
            random_ns: (estimate.error_ns + suspected_ns).ceil() as u64,
            skew_ppb: estimate.skew.round() as i32,
            by_hardware: false,
        };
        let (shift_ns, clocks_ns) = match self.hardware.at(at) {
            Some(correction) if past.is_none() && suspected_ns == 0.0 => correction,
            _ => return Some(assumed),
        };
        let error_ns = clocks_ns + estimate.error_ns;
        // No packet arrives before it leaves: clocks that show otherwise are wrong.
        let is_possible = shift_ns.abs() <= estimate.bound_ns() + clocks_ns;
        if !is_possible || error_ns >= estimate.bound_ns() {
            return Some(assumed);
        }
        Some(Offset {
            offset_ns: assumed.offset_ns.saturating_add(shift_ns.round() as i64),
            error_ns: error_ns.ceil() as u64,
            random_ns: error_ns.ceil() as u64,
            by_hardware: true,
            ..assumed
        })
    }

    /// Add the offset at a time by hardware clocks at both ends, and the sum of their errors.
    pub fn observe_hardware(&mut self, at: RawTime, offset_ns: i64, error_ns: u64) {
        if let Some(epoch) = &self.epoch {
            let by_line_ns = epoch.offset_ns(&epoch.estimate_at(at));
            let shift_ns = offset_ns.saturating_sub(by_line_ns) as f64;
            self.hardware.add(at, shift_ns, error_ns);
        }
    }

    fn add(&mut self, outbound: Leg, inbound: Leg) -> Option<RouteChange> {
        // Its start, not its end: a step between its two legs looks like a queue or a route.
        let start = start_of(outbound, inbound);
        self.fits_until = self.fits_until.max(start);
        if let Some(epoch) = &self.epoch {
            let (a, b, _) = epoch.excess(outbound, inbound);
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back((start, a.max(b)));
        }
        match &mut self.epoch {
            Some(epoch) => epoch.observe(outbound, inbound),
            None => {
                self.epoch = Some(Epoch::new(outbound, inbound, self.asymmetry_ns));
                None
            }
        }
    }

    /// Return the start of the newest exchange that ended before a step of `step_ns`. One that ended after it has one direction
    /// longer by as much.
    fn ended_before(&self, step_ns: f64) -> RawTime {
        let mut newest_first = self.recent.iter().rev();
        let whole = newest_first.find(|(_, excess_ns)| *excess_ns < step_ns / 2.0);
        let known = whole.or(self.recent.front());
        known.map_or(self.fits_until, |(start, _)| *start)
    }

    /// Return true if an exchange that is shorter in one direction by `by_ns` may have begun before a step: all those that did
    /// were on their way at once, so that they began within the time that one of them took.
    fn may_straddle(&self, outbound: Leg, inbound: Leg, by_ns: f64) -> bool {
        let Some((first_out, first_in)) = self.suspects.first() else {
            return true;
        };
        let since_ns = start_of(outbound, inbound).since(start_of(*first_out, *first_in));
        self.proofs > 0 || (since_ns as f64) < round_trip_ns(outbound, inbound) as f64 + by_ns
    }

    /// Add the suspects as ordinary exchanges: there was no step.
    fn clear(&mut self) -> Option<RouteChange> {
        self.proofs = 0;
        self.shorter = 0;
        self.suspected_ns = 0.0;
        let suspects = std::mem::take(&mut self.suspects);
        let changes = suspects.into_iter().map(|(o, i)| self.add(o, i));
        changes.fold(None, |first, change| first.or(change))
    }

    /// Classify an exchange. A step moves one direction up and the other one down by the same amount and leaves the
    /// round trip unchanged. A queue only lengthens, and a shorter route shortens the round trip.
    fn classify(&mut self, outbound: Leg, inbound: Leg) -> Classification {
        let Some(epoch) = &self.epoch else {
            return Classification::Plain;
        };
        let (a, b, error_ns) = epoch.excess(outbound, inbound);
        let known = self.known_standstill;
        let shown = Standstill::of((a, b), error_ns);
        let expected = known.filter(|(from, _)| outbound.local >= *from);
        // Our clock ran if the exchange is as before: the backend's was stepped.
        let is_as_before = shown.is_refuted();
        self.standstill = Some(match expected {
            Some((_, ns)) if !is_as_before => shown.less(ns),
            _ => shown,
        });
        if expected.is_some() && is_as_before {
            self.known_standstill = None;
        }
        let gate_ns = 4.0 * error_ns + LEAST_STEP_NS;
        let (low, high) = (a.min(b), a.max(b));
        if low >= -gate_ns {
            Classification::Plain
        } else if high <= gate_ns {
            Classification::Shorter { by_ns: -low }
        } else if (low + high).abs() < -low / 2.0 {
            Classification::Stepped { by_ns: -low }
        } else {
            Classification::Short { by_ns: -low }
        }
    }
}

/// The position of an exchange relative to the line.
enum Classification {
    /// Fits, delayed or not.
    Plain,
    /// Shorter in one direction and unchanged in the other: a shorter route, or a step between its two legs.
    Shorter { by_ns: f64 },
    /// Shorter in one direction and longer by the same amount in the other.
    Stepped { by_ns: f64 },
    /// Shorter than possible in one direction and not equally longer in the other: perhaps a step during a queue.
    Short { by_ns: f64 },
}

/// Return when the first of the own packets of an exchange left or arrived: a standard responder sends its Sync unasked.
fn start_of(outbound: Leg, inbound: Leg) -> RawTime {
    outbound.local.min(inbound.local)
}

#[cfg(test)]
#[path = "peer_clock_tests.rs"]
mod tests;
