//! Tracking of a clock whose line is known: the two-sided envelope.
//!
//! Queues only raise the measured delay of a direction, and the clock moves both directions against each other. The sum
//! of both directions is independent of the clock, so it shows first whether either is congested. If neither is, both
//! measure the clock; if one is, the other does; if both are, none does and the error grows until one is free again.
//! A clock is continuous, so a jump in one direction alone is a change of that direction's route.
//! [`super::changepoint`] detects jumps that no single bin shows.

use super::changepoint::{Changepoint, ChangepointDetector, ClockState};
use super::direction::Direction;
use super::estimate::Estimate;
use super::filter::Filter;
use super::route_shift::RouteShiftDetector;
use super::sample::Sample;

/// A bin ends with this many exchanges after at least this time, s, or after the longest time, s.
const BIN_COUNT: u32 = 24;
const BIN_LEAST_S: f64 = 0.25;
const BIN_MOST_S: f64 = 8.0;

/// Error of a software timestamp, ns: the lower limit of the noise of bins.
const LEAST_NOISE_NS: f64 = 300.0;

/// Deviations beyond which a value is not noise.
const GATE: f64 = 4.0;

/// Bins that the noise is estimated from.
const MEMORY: usize = 32;

/// Median of the least of three normal deviates (both directions and their sum) to their deviation.
const LEAST_OF_THREE: f64 = 3.0;

/// Time after the start, s, during which a shorter round trip means that the first one was not the shortest.
const YOUNG_S: f64 = 60.0;

/// Share of a bin's deviation from the shortest round trip that the base follows.
const SETTLING: f64 = 0.125;

/// Smallest change of a route that is reported, ns; smaller changes are only followed.
const LEAST_CHANGE_NS: f64 = 10_000.0;

/// A change of the length of one direction's route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouteChange {
    pub direction: Direction,
    pub by_ns: f64,
}

/// The exchanges since the last evaluation: the least excess of each direction over its base, ns.
#[derive(Debug)]
struct Bin {
    started_s: f64,
    count: u32,
    least: [f64; 2],
}

/// Offset, skew and the shortest delay of each direction, in arrays indexed by [`Direction`].
#[derive(Debug)]
pub struct Tracker {
    filter: Filter,
    since_s: f64,
    base_ns: [f64; 2],
    /// The part of each base that was added as a longer route. A persistent queue may have looked like one.
    lengthened_ns: [f64; 2],
    hidden_ns: f64,
    noise_ns: f64,
    /// The least deviation of each of the last bins, in any order.
    deviations: Vec<f64>,
    evaluated: usize,
    bin: Option<Bin>,
    shifts: [RouteShiftDetector; 2],
    changepoints: ChangepointDetector,
    /// Consecutive bins that fit neither a clock nor a route.
    unexplained: u32,
}

impl Tracker {
    /// Continue from a line. `base_ns` are the shortest delays by that line.
    pub fn new(from: &Estimate, skew_error: f64, noise_ns: f64, base_ns: [f64; 2]) -> Self {
        let noise_ns = noise_ns.max(LEAST_NOISE_NS);
        Self {
            filter: Filter::new(
                from.at_s,
                from.offset_ns,
                noise_ns,
                from.skew,
                skew_error / 2.0,
            ),
            since_s: from.at_s,
            base_ns,
            lengthened_ns: [0.0; 2],
            hidden_ns: from.hidden_ns,
            noise_ns,
            deviations: vec![noise_ns / LEAST_OF_THREE; MEMORY],
            evaluated: 0,
            bin: None,
            shifts: [RouteShiftDetector::default(), RouteShiftDetector::default()],
            changepoints: ChangepointDetector::default(),
            unexplained: 0,
        }
    }

    /// Return the excess of an exchange over the bases (inbound, outbound), ns.
    pub fn excess(&self, sample: &Sample) -> (f64, f64) {
        let inbound = sample.inbound_ns - self.filter.offset_at(sample.inbound_at_s);
        let outbound = sample.outbound_ns + self.filter.offset_at(sample.outbound_at_s);
        (inbound - self.base_ns[0], outbound - self.base_ns[1])
    }

    /// Add an exchange. Return the estimate and any change of a route when a bin is full.
    pub fn observe(&mut self, sample: &Sample) -> Option<(Estimate, Option<RouteChange>)> {
        let (inbound, outbound) = self.excess(sample);
        let at_s = sample.at_s();
        let bin = self.bin.get_or_insert(Bin {
            started_s: at_s,
            count: 0,
            least: [f64::INFINITY; 2],
        });
        bin.count += 1;
        bin.least = [bin.least[0].min(inbound), bin.least[1].min(outbound)];
        let long_s = at_s - bin.started_s;
        let full = bin.count >= BIN_COUNT && long_s >= BIN_LEAST_S || long_s >= BIN_MOST_S;
        let bin = self.bin.take_if(|_| full)?;
        let change = self.evaluate(&bin, at_s);
        Some((self.estimate_at(at_s), change))
    }

    /// Return the offset that the last bin predicts for a time.
    pub fn estimate_at(&self, at_s: f64) -> Estimate {
        Estimate {
            at_s,
            offset_ns: self.filter.offset_at(at_s),
            skew: self.filter.skew,
            error_ns: 3.0 * self.filter.deviation_at(at_s) + self.noise_ns,
            hidden_ns: self.hidden_ns,
        }
    }

    /// Return how much longer the inbound route is than the outbound one, as known from changes of either, ns.
    pub fn asymmetry_ns(&self) -> f64 {
        self.base_ns[0] - self.base_ns[1]
    }

    fn evaluate(&mut self, bin: &Bin, at_s: f64) -> Option<RouteChange> {
        let passed_s = (at_s - self.filter.at_s).max(BIN_LEAST_S);
        self.filter.predict(at_s);
        let [inbound, outbound] = bin.least;
        let both = inbound + outbound;
        self.update_noise(inbound.abs().min(outbound.abs()).min(both.abs()));
        let both_gate = GATE * self.noise_ns * std::f64::consts::SQRT_2;
        if let Some(changepoint) = self.detect_changepoint(bin, both_gate, at_s) {
            return self.apply_changepoint(changepoint, at_s);
        }
        if both.abs() <= both_gate {
            self.follow_clean(inbound, outbound, passed_s);
            return None;
        }
        if at_s - self.since_s < YOUNG_S && self.was_never_so_short(-both) {
            self.centre_bases(bin.least);
            return None;
        }
        let gate = GATE * self.noise_ns.hypot(self.filter.variance().sqrt());
        let cleaner = if outbound.abs() < inbound.abs() {
            Direction::Outbound
        } else {
            Direction::Inbound
        };
        let (clean, excess) = (
            bin.least[cleaner as usize],
            bin.least[cleaner.other() as usize],
        );
        if clean.abs() <= gate {
            self.unexplained = 0;
            self.shifts[cleaner as usize].end();
            let innovation = match cleaner {
                Direction::Inbound => clean,
                Direction::Outbound => -clean,
            };
            self.filter.update(innovation, self.noise_ns.powi(2));
            return self.follow_one(cleaner.other(), excess, gate, at_s);
        }
        // One such bin proves nothing. Several in a row show that the clock has left its line.
        self.unexplained += 1;
        if inbound > 0.0 && outbound > 0.0 {
            return self.follow_both(bin.least, gate, at_s);
        }
        if self.unexplained >= 3 {
            self.unexplained = 0;
            let innovation = if inbound < outbound {
                inbound
            } else {
                -outbound
            };
            self.filter.raise_variance(innovation, passed_s);
            self.filter.update(innovation, self.noise_ns.powi(2));
        }
        None
    }

    /// Detect a change of a route that is as small as the noise of bins.
    fn detect_changepoint(&mut self, bin: &Bin, both_gate: f64, at_s: f64) -> Option<Changepoint> {
        let known = ClockState {
            filter: self.filter.clone(),
            base_ns: self.base_ns,
        };
        let is_new = self.changepoints.add(at_s, bin.least, known);
        // Single bins show larger changes.
        let most_ns = 2.0 * both_gate;
        (is_new && most_ns > LEAST_CHANGE_NS)
            .then(|| self.changepoints.compare(LEAST_CHANGE_NS, most_ns))?
    }

    /// Apply a change of a route that was attributed to the clock until now: restore the state before it.
    fn apply_changepoint(&mut self, changepoint: Changepoint, at_s: f64) -> Option<RouteChange> {
        let Changepoint {
            direction,
            by_ns,
            before,
        } = changepoint;
        self.filter = before.filter;
        self.filter.predict(at_s);
        self.base_ns = before.base_ns;
        self.unexplained = 0;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
        if by_ns > 0.0 {
            self.lengthen(direction, by_ns);
        } else {
            self.shorten(direction, by_ns);
        }
        reported(direction, by_ns)
    }

    /// Update the filter from both directions: the round trip is at its base.
    fn follow_clean(&mut self, inbound: f64, outbound: f64, passed_s: f64) {
        self.unexplained = 0;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
        let innovation = (inbound - outbound) / 2.0;
        let variance = self.noise_ns.powi(2) / 2.0;
        if innovation.abs() > GATE * (variance + self.filter.variance()).sqrt() {
            self.filter.raise_variance(innovation, passed_s);
        }
        self.filter.update(innovation, variance);
        // The direction whose shortest delay has moved a little is unknown.
        let share = SETTLING * (inbound + outbound) / 2.0;
        self.base_ns.iter_mut().for_each(|base| *base += share);
        self.add_hidden_asymmetry(share.max(0.0));
    }

    /// Return true if a round trip shorter by `by_ns` is clearly shorter than at the start. Additions to a base since then
    /// do not count.
    fn was_never_so_short(&self, by_ns: f64) -> bool {
        let lengthened = self.lengthened_ns.iter().sum::<f64>();
        by_ns - lengthened > (self.base_ns.iter().sum::<f64>() - lengthened).max(0.0) / 10.0
    }

    /// Follow one direction that has left its base while the other one is at its own.
    fn follow_one(
        &mut self,
        direction: Direction,
        excess: f64,
        gate: f64,
        at_s: f64,
    ) -> Option<RouteChange> {
        if excess < 0.0 {
            self.shifts[direction as usize].end();
            self.shorten(direction, excess);
            return reported(direction, excess);
        }
        let by_ns = self.shifts[direction as usize].add(at_s, excess, gate)?;
        self.lengthen(direction, by_ns);
        reported(direction, by_ns)
    }

    /// Follow both directions, neither of which is at its base: the clock is not measured, and only a lasting rise
    /// counts. A rise of both directions is followed and not reported.
    fn follow_both(&mut self, least: [f64; 2], gate: f64, at_s: f64) -> Option<RouteChange> {
        let rises = Direction::BOTH.map(|direction| {
            let place = direction as usize;
            self.shifts[place].add(at_s, least[place], gate)
        });
        for (direction, by_ns) in Direction::BOTH.into_iter().zip(rises) {
            if let Some(by_ns) = by_ns {
                self.lengthen(direction, by_ns);
            }
        }
        match rises {
            [Some(by_ns), None] => reported(Direction::Inbound, by_ns),
            [None, Some(by_ns)] => reported(Direction::Outbound, by_ns),
            _ => None,
        }
    }

    fn lengthen(&mut self, direction: Direction, by_ns: f64) {
        self.changepoints.clear();
        self.base_ns[direction as usize] += by_ns;
        self.lengthened_ns[direction as usize] += by_ns;
        self.add_hidden_asymmetry(self.filter.variance().sqrt() + self.noise_ns);
    }

    fn shorten(&mut self, direction: Direction, by_ns: f64) {
        let place = direction as usize;
        self.changepoints.clear();
        if self.base_ns[place] + by_ns < 0.0 {
            let mut least = [0.0; 2];
            least[place] = by_ns;
            return self.centre_bases(least);
        }
        self.base_ns[place] += by_ns;
        self.lengthened_ns[place] = (self.lengthened_ns[place] + by_ns).max(0.0);
        self.add_hidden_asymmetry(self.filter.variance().sqrt() + self.noise_ns);
    }

    /// Lower the shortest round trip and assume, as at the start, that both routes are equally long.
    fn centre_bases(&mut self, least: [f64; 2]) {
        self.changepoints.clear();
        let base = [self.base_ns[0] + least[0], self.base_ns[1] + least[1]];
        let half = (base[0] + base[1]).max(0.0) / 2.0;
        self.filter.shift((base[0] - base[1]) / 2.0);
        self.base_ns = [half, half];
        self.lengthened_ns = [0.0; 2];
        self.hidden_ns = half;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
    }

    /// Add to what an unknown asymmetry may hide, up to the delay that would become negative.
    fn add_hidden_asymmetry(&mut self, more_ns: f64) {
        let most = self.base_ns[0].max(self.base_ns[1]);
        self.hidden_ns = (self.hidden_ns + more_ns).min(most.max(0.0));
    }

    fn update_noise(&mut self, deviation: f64) {
        self.deviations[self.evaluated % MEMORY] = deviation;
        self.evaluated += 1;
        let mut sorted = self.deviations.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        self.noise_ns = (LEAST_OF_THREE * sorted[MEMORY / 2]).max(LEAST_NOISE_NS);
    }
}

/// Return the change to report, if it is large enough.
fn reported(direction: Direction, by_ns: f64) -> Option<RouteChange> {
    (by_ns.abs() >= LEAST_CHANGE_NS).then_some(RouteChange { direction, by_ns })
}
