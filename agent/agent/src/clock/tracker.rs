//! Follows a clock once its line is known: the two-sided envelope.
//!
//! Queues only ever raise what a direction shows, and the clock moves both directions against one another. So the
//! sum of both, which no clock enters, tells first whether either is congested. If neither is, both measure the
//! clock; if one is, the other one does; if both are, nothing does and the error grows until one is free again.
//! A clock is continuous: what jumps in one direction alone is the route of that direction, also where no single bin
//! shows it, see [`super::changepoint`].

use super::changepoint::{Changepoint, ChangepointDetector, ClockState};
use super::estimate::Estimate;
use super::filter::Filter;
use super::route_shift::RouteShiftDetector;
use super::sample::Sample;

/// A bin is judged when it has so many exchanges and is so long, s, or when it is so long.
const BIN_COUNT: u32 = 24;
const BIN_LEAST_S: f64 = 0.25;
const BIN_MOST_S: f64 = 8.0;

/// A software stamp errs by as much, ns: bins are not trusted beyond it.
const LEAST_NOISE_NS: f64 = 300.0;

/// What lies beyond so many deviations is not noise.
const GATE: f64 = 4.0;

/// Bins that the noise is judged by.
const MEMORY: usize = 32;

/// Median of the least of three normal deviates (both directions and their sum) to their deviation.
const LEAST_OF_THREE: f64 = 3.0;

/// So long after its start a shorter round trip means that the first one was not the shortest, s.
const YOUNG_S: f64 = 60.0;

/// Share of what a bin tells of the shortest round trip that is believed.
const SETTLING: f64 = 0.125;

/// Changes of a route below this, ns, are followed and not told.
const LEAST_CHANGE_NS: f64 = 10_000.0;

/// The route of one direction has become longer, or shorter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouteChange {
    pub inbound: bool,
    pub by_ns: f64,
}

/// The exchanges since the last judgement: how far the lowest lies above its base, ns.
#[derive(Debug)]
struct Bin {
    started_s: f64,
    count: u32,
    least: [f64; 2],
}

/// Offset and skew, and the shortest delay of each direction: inbound first, then outbound.
#[derive(Debug)]
pub struct Tracker {
    filter: Filter,
    since_s: f64,
    base_ns: [f64; 2],
    /// How much of each base was found to be a longer route; a queue that stood may have looked like one.
    lengthened_ns: [f64; 2],
    hidden_ns: f64,
    noise_ns: f64,
    /// The least deviation of each of the last bins, in any order.
    deviations: Vec<f64>,
    judged: usize,
    bin: Option<Bin>,
    shifts: [RouteShiftDetector; 2],
    changepoints: ChangepointDetector,
    /// Bins in a row that fit nothing.
    puzzling: u32,
}

impl Tracker {
    /// Goes on from a line. `base_ns` are the shortest delays by it, inbound and outbound.
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
            judged: 0,
            bin: None,
            shifts: [RouteShiftDetector::default(), RouteShiftDetector::default()],
            changepoints: ChangepointDetector::default(),
            puzzling: 0,
        }
    }

    /// How far an exchange lies above the bases (inbound, outbound), ns.
    pub fn excess(&self, sample: &Sample) -> (f64, f64) {
        let inbound = sample.inbound_ns - self.filter.offset_at(sample.inbound_at_s);
        let outbound = sample.outbound_ns + self.filter.offset_at(sample.outbound_at_s);
        (inbound - self.base_ns[0], outbound - self.base_ns[1])
    }

    /// Takes an exchange in. When a bin is full: the estimate by it, and what it says of the routes.
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
        let change = self.judge(&bin, at_s);
        Some((self.estimate_at(at_s), change))
    }

    /// The offset as it is expected at a time from the last bin on.
    pub fn estimate_at(&self, at_s: f64) -> Estimate {
        Estimate {
            at_s,
            offset_ns: self.filter.offset_at(at_s),
            skew: self.filter.skew,
            error_ns: 3.0 * self.filter.deviation_at(at_s) + self.noise_ns,
            hidden_ns: self.hidden_ns,
        }
    }

    /// By how much the inbound way is longer than the outbound one as far as changes of either have shown, ns.
    pub fn asymmetry_ns(&self) -> f64 {
        self.base_ns[0] - self.base_ns[1]
    }

    fn judge(&mut self, bin: &Bin, at_s: f64) -> Option<RouteChange> {
        let passed_s = (at_s - self.filter.at_s).max(BIN_LEAST_S);
        self.filter.predict(at_s);
        let [inbound, outbound] = bin.least;
        let both = inbound + outbound;
        self.learn_noise(inbound.abs().min(outbound.abs()).min(both.abs()));
        let both_gate = GATE * self.noise_ns * std::f64::consts::SQRT_2;
        if let Some(found) = self.compare(bin, both_gate, at_s) {
            return self.moved(found, at_s);
        }
        if both.abs() <= both_gate {
            self.both_clean(inbound, outbound, passed_s);
            return None;
        }
        if at_s - self.since_s < YOUNG_S && self.was_never_so_short(-both) {
            self.centre(bin.least);
            return None;
        }
        let gate = GATE * self.noise_ns.hypot(self.filter.variance().sqrt());
        let cleaner = usize::from(outbound.abs() < inbound.abs());
        let (clean, other) = (bin.least[cleaner], bin.least[1 - cleaner]);
        if clean.abs() <= gate {
            self.puzzling = 0;
            self.shifts[cleaner].end();
            self.filter.update(
                if cleaner == 0 { clean } else { -clean },
                self.noise_ns.powi(2),
            );
            return self.off(1 - cleaner, other, gate, at_s);
        }
        // Nothing can be told from a bin like this; of many in a row, that the clock did not keep to its line.
        self.puzzling += 1;
        if inbound > 0.0 && outbound > 0.0 {
            return self.both_off(bin.least, gate, at_s);
        }
        if self.puzzling >= 3 {
            self.puzzling = 0;
            let innovation = if inbound < outbound {
                inbound
            } else {
                -outbound
            };
            self.filter.doubt(innovation, passed_s);
            self.filter.update(innovation, self.noise_ns.powi(2));
        }
        None
    }

    /// Compares this stretch of time with the one before: a route may have changed by as little as bins wander.
    fn compare(&mut self, bin: &Bin, both_gate: f64, at_s: f64) -> Option<Changepoint> {
        let known = ClockState {
            filter: self.filter.clone(),
            base_ns: self.base_ns,
        };
        let is_new = self.changepoints.add(at_s, bin.least, known);
        // What lies further out, single bins tell.
        let most_ns = 2.0 * both_gate;
        (is_new && most_ns > LEAST_CHANGE_NS)
            .then(|| self.changepoints.compare(LEAST_CHANGE_NS, most_ns))?
    }

    /// A route changed some time ago and was taken for the clock since: all goes on from what was known before.
    fn moved(&mut self, found: Changepoint, at_s: f64) -> Option<RouteChange> {
        let Changepoint { way, by_ns, before } = found;
        self.filter = before.filter;
        self.filter.predict(at_s);
        self.base_ns = before.base_ns;
        self.puzzling = 0;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
        if by_ns > 0.0 {
            self.lengthen(way, by_ns);
        } else {
            self.shorten(way, by_ns);
        }
        change(way, by_ns)
    }

    /// The round trip is at its base: both directions measure the clock.
    fn both_clean(&mut self, inbound: f64, outbound: f64, passed_s: f64) {
        self.puzzling = 0;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
        let innovation = (inbound - outbound) / 2.0;
        let variance = self.noise_ns.powi(2) / 2.0;
        if innovation.abs() > GATE * (variance + self.filter.variance()).sqrt() {
            self.filter.doubt(innovation, passed_s);
        }
        self.filter.update(innovation, variance);
        // Of which direction the shortest delay has moved a little, nobody can say.
        let share = SETTLING * (inbound + outbound) / 2.0;
        self.base_ns.iter_mut().for_each(|base| *base += share);
        self.hide(share.max(0.0));
    }

    /// Whether a round trip shorter by so much, ns, is clearly shorter than at the start: not only by what a direction
    /// has become longer since, which is known to be that direction's.
    fn was_never_so_short(&self, by_ns: f64) -> bool {
        let lengthened = self.lengthened_ns.iter().sum::<f64>();
        by_ns - lengthened > (self.base_ns.iter().sum::<f64>() - lengthened).max(0.0) / 10.0
    }

    /// One direction is off its base while the other one is on it.
    fn off(&mut self, way: usize, excess: f64, gate: f64, at_s: f64) -> Option<RouteChange> {
        if excess < 0.0 {
            self.shifts[way].end();
            self.shorten(way, excess);
            return change(way, excess);
        }
        let by_ns = self.shifts[way].add(at_s, excess, gate)?;
        self.lengthen(way, by_ns);
        change(way, by_ns)
    }

    /// Both are off: the clock runs unseen, and only what lasts is believed. What both ways have in common is followed and
    /// not told of one.
    fn both_off(&mut self, least: [f64; 2], gate: f64, at_s: f64) -> Option<RouteChange> {
        let rises = [0, 1].map(|way| self.shifts[way].add(at_s, least[way], gate));
        for (way, by_ns) in rises.iter().enumerate() {
            by_ns.iter().for_each(|by_ns| self.lengthen(way, *by_ns));
        }
        match rises {
            [Some(by_ns), None] => change(0, by_ns),
            [None, Some(by_ns)] => change(1, by_ns),
            _ => None,
        }
    }

    fn lengthen(&mut self, way: usize, by_ns: f64) {
        self.changepoints.clear();
        self.base_ns[way] += by_ns;
        self.lengthened_ns[way] += by_ns;
        self.hide(self.filter.variance().sqrt() + self.noise_ns);
    }

    fn shorten(&mut self, way: usize, by_ns: f64) {
        self.changepoints.clear();
        if self.base_ns[way] + by_ns < 0.0 {
            let mut least = [0.0; 2];
            least[way] = by_ns;
            return self.centre(least);
        }
        self.base_ns[way] += by_ns;
        self.lengthened_ns[way] = (self.lengthened_ns[way] + by_ns).max(0.0);
        self.hide(self.filter.variance().sqrt() + self.noise_ns);
    }

    /// The shortest round trip was not the shortest: as at the start, both ways are taken to be equally long.
    fn centre(&mut self, least: [f64; 2]) {
        self.changepoints.clear();
        let base = [self.base_ns[0] + least[0], self.base_ns[1] + least[1]];
        let half = (base[0] + base[1]).max(0.0) / 2.0;
        self.filter.shift((base[0] - base[1]) / 2.0);
        self.base_ns = [half, half];
        self.lengthened_ns = [0.0; 2];
        self.hidden_ns = half;
        self.shifts.iter_mut().for_each(RouteShiftDetector::end);
    }

    /// An unknown asymmetry may now hide `more_ns`, but never so much that a delay would be negative.
    fn hide(&mut self, more_ns: f64) {
        let most = self.base_ns[0].max(self.base_ns[1]);
        self.hidden_ns = (self.hidden_ns + more_ns).min(most.max(0.0));
    }

    fn learn_noise(&mut self, deviation: f64) {
        self.deviations[self.judged % MEMORY] = deviation;
        self.judged += 1;
        let mut sorted = self.deviations.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        self.noise_ns = (LEAST_OF_THREE * sorted[MEMORY / 2]).max(LEAST_NOISE_NS);
    }
}

fn change(way: usize, by_ns: f64) -> Option<RouteChange> {
    (by_ns.abs() >= LEAST_CHANGE_NS).then_some(RouteChange {
        inbound: way == 0,
        by_ns,
    })
}
