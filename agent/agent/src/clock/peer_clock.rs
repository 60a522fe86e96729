//! The clock of one peer over time: its eras, and where one ends because the clock stepped.

use std::collections::VecDeque;

use super::epoch::Epoch;
use super::hardware_offset::HardwareOffset;
use super::raw_time::{Leg, RawTime};
use super::tracker::RouteChange;

/// So many exchanges that fit a step make one, if no exchange between them fits the line as it was.
const STEP_PROOF: usize = 3;

/// So many that do not fit the line and do not prove a step are taken for a shorter route.
const MOST_SUSPECTS: usize = 12;

/// Steps below this, ns, are left to the era, which follows them.
const LEAST_STEP_NS: f64 = 10_000.0;

/// Eras that are over and remembered, as windows still ask for their time.
const PAST: usize = 4;

/// An era that is over.
#[derive(Debug)]
struct Past {
    epoch: Epoch,
    /// When its newest exchange began, and when it ended itself. Somewhere between the two the clock was stepped.
    fits_until: RawTime,
    until: RawTime,
    /// By how much the clock was stepped, ns; 0 when that is not known.
    step_ns: f64,
}

/// Our clock minus the peer's at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub offset_ns: i64,
    /// Bound on the error of `offset_ns`, and so of any one-way delay made with it.
    pub error_ns: u64,
    /// The part of it that the estimation itself may err by (three standard deviations), without what an unknown
    /// asymmetry may hide.
    pub random_ns: u64,
    /// How much faster our clock runs, parts per 10^9.
    pub skew_ppb: i32,
    /// Whether it is known from hardware clocks at both ends, and not by taking routes for equally long.
    pub by_hardware: bool,
}

/// What an exchange has proven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// One of the two clocks was stepped.
    Stepped,
    Route(RouteChange),
}

/// Offset and skew of a peer's clock, from the first exchange on.
#[derive(Debug, Default)]
pub struct PeerClock {
    epoch: Option<Epoch>,
    /// Eras before a step of the clock, oldest first.
    past: VecDeque<Past>,
    /// When the newest exchange that fits the era began.
    fits_until: RawTime,
    /// Exchanges that look like a step of the clock; they belong to nothing yet.
    suspects: Vec<(Leg, Leg)>,
    proofs: usize,
    /// By how much the clock may have stepped if they are, ns.
    suspected_ns: f64,
    /// For the next era: what is known of the difference between the routes, ns.
    asymmetry_ns: f64,
    /// What hardware clocks say of the era.
    hardware: HardwareOffset,
}

impl PeerClock {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a complete exchange. What it proves to have changed.
    pub fn observe(&mut self, outbound: Leg, inbound: Leg) -> Option<Change> {
        match self.look(outbound, inbound) {
            Appearance::Stepped { by_ns } => {
                self.proofs += 1;
                self.suspected_ns = self.suspected_ns.max(by_ns);
            }
            Appearance::Short { by_ns } => self.suspected_ns = self.suspected_ns.max(by_ns),
            Appearance::Plain => {
                let cleared = self.clear();
                return self.add(outbound, inbound).or(cleared).map(Change::Route);
            }
        }
        self.suspects.push((outbound, inbound));
        if self.proofs == STEP_PROOF {
            let suspects = std::mem::take(&mut self.suspects);
            self.restart(suspects[0].0.local);
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

    /// The peer's clock starts anew at `at`: what was learnt of it holds for before, not for after. The routes
    /// stay as they are.
    pub fn restart(&mut self, at: RawTime) {
        self.refresh();
        self.suspects.clear();
        let step_ns = std::mem::take(&mut self.suspected_ns);
        self.proofs = 0;
        self.hardware.clear();
        let Some(epoch) = self.epoch.take() else {
            return;
        };
        self.asymmetry_ns = epoch.asymmetry_ns();
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(Past {
            epoch,
            fits_until: self.fits_until.min(at),
            until: at,
            step_ns,
        });
    }

    /// One of the two machines has moved at `at`: neither its clock nor its routes need be what they were.
    pub fn forget(&mut self, at: RawTime) {
        self.restart(at);
        self.asymmetry_ns = 0.0;
    }

    /// Brings what is known up to date. Worth a few microseconds before many questions.
    pub fn refresh(&mut self) {
        if let Some(epoch) = &mut self.epoch {
            epoch.refresh();
        }
    }

    /// The offset at a time since the clock was first seen; `None` when no exchange tells of that time.
    pub fn offset_at(&self, at: RawTime) -> Option<Offset> {
        let past = self.past.iter().find(|past| at < past.until);
        let epoch = past.map(|past| &past.epoch).or(self.epoch.as_ref())?;
        let estimate = epoch.estimate_at(at);
        let (fits_until, step_ns) = match (past, self.suspects.first()) {
            (Some(past), _) => (past.fits_until, past.step_ns),
            (None, Some((outbound, _))) => (self.fits_until.min(outbound.local), self.suspected_ns),
            (None, None) => (at, 0.0),
        };
        // Nobody saw when the step was, only that it was not before.
        let suspected_ns = if at > fits_until { step_ns } else { 0.0 };
        let assumed = Offset {
            offset_ns: epoch.offset_ns(&estimate),
            error_ns: (estimate.bound_ns() + suspected_ns).ceil() as u64,
            random_ns: (estimate.error_ns + suspected_ns).ceil() as u64,
            skew_ppb: estimate.skew.round() as i32,
            by_hardware: false,
        };
        let (shift_ns, clocks_ns) = match self.hardware.at(at) {
            Some(found) if past.is_none() && suspected_ns == 0.0 => found,
            _ => return Some(assumed),
        };
        let error_ns = clocks_ns + estimate.error_ns;
        // No packet arrives before it left: clocks that say so are not what they claim to be.
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

    /// Takes in what hardware clocks at both ends say: the offset at a time, and what they may be off together.
    pub fn anchored(&mut self, at: RawTime, offset_ns: i64, error_ns: u64) {
        if let Some(epoch) = &self.epoch {
            let by_line_ns = epoch.offset_ns(&epoch.estimate_at(at));
            let shift_ns = offset_ns.saturating_sub(by_line_ns) as f64;
            self.hardware.take(at, shift_ns, error_ns);
        }
    }

    fn add(&mut self, outbound: Leg, inbound: Leg) -> Option<RouteChange> {
        // Not when it ended: a step between its two legs looks like a queue or a route.
        self.fits_until = self.fits_until.max(outbound.local);
        match &mut self.epoch {
            Some(epoch) => epoch.observe(outbound, inbound),
            None => {
                self.epoch = Some(Epoch::new(outbound, inbound, self.asymmetry_ns));
                None
            }
        }
    }

    /// There was no step: the suspects are exchanges like any other.
    fn clear(&mut self) -> Option<RouteChange> {
        self.proofs = 0;
        self.suspected_ns = 0.0;
        let suspects = std::mem::take(&mut self.suspects);
        let changes = suspects.into_iter().map(|(o, i)| self.add(o, i));
        changes.fold(None, |found, change| found.or(change))
    }

    /// A step takes from one direction what it adds to the other and leaves the round trip alone; a queue only
    /// adds, and a shorter route shortens the round trip.
    fn look(&self, outbound: Leg, inbound: Leg) -> Appearance {
        let Some(epoch) = &self.epoch else {
            return Appearance::Plain;
        };
        let (a, b, error_ns) = epoch.excess(outbound, inbound);
        let gate_ns = 4.0 * error_ns + LEAST_STEP_NS;
        let (low, high) = (a.min(b), a.max(b));
        // When one way is shorter and the other one as it was, that is a shorter route.
        if low >= -gate_ns || high <= gate_ns {
            Appearance::Plain
        } else if (low + high).abs() < -low / 2.0 {
            Appearance::Stepped { by_ns: -low }
        } else {
            Appearance::Short { by_ns: -low }
        }
    }
}

/// What an exchange looks like beside the line.
enum Appearance {
    /// As it should, delayed or not.
    Plain,
    /// Shorter one way and as much longer the other.
    Stepped { by_ns: f64 },
    /// Shorter one way than it can be, and not as much longer the other: perhaps a step, in a queue.
    Short { by_ns: f64 },
}

#[cfg(test)]
#[path = "peer_clock_tests.rs"]
mod tests;
