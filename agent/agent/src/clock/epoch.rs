//! The clock of a peer between two of its steps.

use super::envelope::{Envelope, Line};
use super::estimate::{Estimate, History};
use super::raw_time::{Leg, RawTime};
use super::sample::Origin;
use super::tracker::{RouteChange, Tracker};

/// Length, s, and exchanges from which the line is followed by the filter.
const ACQUIRED_S: f64 = 16.0;
const ACQUIRED_COUNT: f64 = 24.0;

/// Exchanges up to which each one redraws the line, and the time between later redraws, s.
const YOUNG: f64 = 48.0;
const REDRAW_S: f64 = 1.0;

/// A clock between two of its steps: first a line through all exchanges, then a filter that continues from it.
#[derive(Debug)]
pub struct Epoch {
    origin: Origin,
    stage: Stage,
    history: History,
    /// Route asymmetry known from earlier epochs: inbound minus outbound, ns.
    asymmetry_ns: f64,
}

#[derive(Debug)]
enum Stage {
    Acquiring {
        envelope: Envelope,
        line: Line,
        stale: bool,
    },
    Tracking(Tracker),
}

impl Epoch {
    /// Start an epoch with an exchange.
    pub fn new(outbound: Leg, inbound: Leg, asymmetry_ns: f64) -> Self {
        let origin = Origin::of(outbound, inbound);
        let mut envelope = Envelope::default();
        envelope.add(&origin.sample(outbound, inbound));
        let line = envelope.fit();
        Self {
            origin,
            stage: Stage::Acquiring {
                envelope,
                line,
                stale: false,
            },
            history: History::default(),
            asymmetry_ns,
        }
    }

    /// Add an exchange. Return the change of a route that it proves.
    pub fn observe(&mut self, outbound: Leg, inbound: Leg) -> Option<RouteChange> {
        let sample = self.origin.sample(outbound, inbound);
        match &mut self.stage {
            Stage::Acquiring {
                envelope,
                line,
                stale,
            } => {
                envelope.add(&sample);
                *stale = true;
                let (count, length_s) = envelope.size();
                if count < YOUNG || sample.at_s() - line.last_s >= REDRAW_S {
                    (*line, *stale) = (envelope.fit(), false);
                }
                if count >= ACQUIRED_COUNT && length_s >= ACQUIRED_S {
                    let line = envelope.fit();
                    self.track(&line);
                }
                None
            }
            Stage::Tracking(tracker) => {
                let (estimate, change) = tracker.observe(&sample)?;
                self.history.push(estimate);
                change
            }
        }
    }

    /// Redraw the line through all exchanges so far, if any were added since.
    pub fn refresh(&mut self) {
        if let Stage::Acquiring {
            envelope,
            line,
            stale,
        } = &mut self.stage
        {
            if *stale {
                (*line, *stale) = (envelope.fit(), false);
            }
        }
    }

    /// Return the estimate of the clock at a time.
    pub fn estimate_at(&self, at: RawTime) -> Estimate {
        let at_s = self.origin.seconds(at);
        match &self.stage {
            Stage::Acquiring { line, .. } => with_asymmetry(line, self.asymmetry_ns, at_s),
            Stage::Tracking(tracker) => {
                let known = self.history.at(at_s);
                known.unwrap_or_else(|| tracker.estimate_at(at_s))
            }
        }
    }

    /// Return the absolute offset of an estimate, ns: our clock minus the peer's.
    pub fn offset_ns(&self, estimate: &Estimate) -> i64 {
        self.origin.offset_ns(estimate.offset_ns)
    }

    /// Return the excess of an exchange over the shortest delays (inbound, outbound), ns, and the error of the clock there.
    pub fn excess(&self, outbound: Leg, inbound: Leg) -> (f64, f64, f64) {
        let sample = self.origin.sample(outbound, inbound);
        let ((a, b), error_ns) = match &self.stage {
            Stage::Acquiring { line, .. } => (
                line.excess(&sample),
                line.estimate_at(sample.at_s()).error_ns,
            ),
            Stage::Tracking(tracker) => (
                tracker.excess(&sample),
                tracker.estimate_at(sample.at_s()).error_ns,
            ),
        };
        (a, b, error_ns)
    }

    /// Return how much longer the inbound route is than the outbound one, as far as known, ns.
    pub fn asymmetry_ns(&self) -> f64 {
        match &self.stage {
            Stage::Acquiring { .. } => self.asymmetry_ns,
            Stage::Tracking(tracker) => tracker.asymmetry_ns(),
        }
    }

    fn track(&mut self, line: &Line) {
        let start = with_asymmetry(line, self.asymmetry_ns, 0.0);
        let end = with_asymmetry(line, self.asymmetry_ns, line.last_s);
        let half_asymmetry = bounded_asymmetry(line, self.asymmetry_ns) / 2.0;
        self.history.push(start);
        self.history.push(end);
        let base_ns = [
            line.half_gap_ns + half_asymmetry,
            line.half_gap_ns - half_asymmetry,
        ];
        self.stage = Stage::Tracking(Tracker::new(&end, line.skew_error, line.noise_ns, base_ns));
    }
}

/// Return the middle between the envelopes, corrected for the known asymmetry of the routes.
fn with_asymmetry(line: &Line, asymmetry_ns: f64, at_s: f64) -> Estimate {
    let half_asymmetry = bounded_asymmetry(line, asymmetry_ns) / 2.0;
    let middle = line.estimate_at(at_s);
    Estimate {
        offset_ns: middle.offset_ns - half_asymmetry,
        hidden_ns: middle.hidden_ns + half_asymmetry.abs(),
        ..middle
    }
}

/// Limit an asymmetry to the gap between the envelopes: no delay is negative.
fn bounded_asymmetry(line: &Line, asymmetry_ns: f64) -> f64 {
    let most = 2.0 * line.half_gap_ns;
    asymmetry_ns.clamp(-most, most)
}
