//! The line between the lower envelopes of both directions.
//!
//! With `f = t2 - t1` and `b = t4 - t3`, every exchange gives `f = delay_in + offset` and `b = delay_out - offset`.
//! The line `u + s x` below all `f` and `-(v - s x)` above all `-b` that leaves the widest gap `u + v` between them
//! follows the clock: its slope is the skew, its middle the offset, and half the gap bounds the error that a
//! constant asymmetry can hide. This is the linear program of Moon, Skelly and Towsley (INFOCOM 1999) for two
//! directions, exact and without tuning: for a given slope `u` and `v` are minima, and the gap is concave in it.

use super::estimate::Estimate;
use super::hull::{LowerHull, Point};
use super::sample::Sample;

/// Length of the blocks whose shortest round trips are compared, s.
const BLOCK_S: f64 = 4.0;

/// Largest skew, ns per s: cheap quartz errs by less, and time daemons usually slew by no more.
const MAX_SKEW: f64 = 1_000_000.0;

/// Error of a software timestamp, ns.
const STAMP_NOISE_NS: f64 = 100.0;

/// Deviation of a clock from a straight line over the blocks kept, ns.
const WANDER_NS: f64 = 500.0;

/// Rate of that deviation after the last exchange, ns per s.
const WANDER_AHEAD: f64 = 100.0;

/// Offset of our clock against the peer's as a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Middle of the exchanges it was drawn through, and the last of them, s since the origin.
    centre_s: f64,
    pub last_s: f64,
    offset_ns: f64,
    /// ns per s.
    skew: f64,
    pub skew_error: f64,
    pub noise_ns: f64,
    /// Half the gap between the envelopes: the bound on the error of an unknown asymmetry, at most half the least round trip.
    pub half_gap_ns: f64,
}

/// The exchanges of an epoch, reduced to those that can touch a line.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
struct Block {
    index: i64,
    inbound: LowerHull,
    outbound: LowerHull,
    count: f64,
    at_sum_s: f64,
    round_trip_sum_ns: f64,
    round_trip_min_ns: f64,
}

impl Line {
    /// Return the excess of an exchange over the envelopes (inbound, outbound), ns, if the clock follows the line.
    pub fn excess(&self, sample: &Sample) -> (f64, f64) {
        let offset = self.offset_ns + self.skew * (sample.at_s() - self.centre_s);
        (
            sample.inbound_ns - offset - self.half_gap_ns,
            sample.outbound_ns + offset - self.half_gap_ns,
        )
    }

    /// Return the estimate of the line for a time.
    pub fn estimate_at(&self, at_s: f64) -> Estimate {
        let from_centre_s = at_s - self.centre_s;
        let ahead_s = (at_s - self.last_s).max(0.0);
        Estimate {
            at_s,
            offset_ns: self.offset_ns + self.skew * from_centre_s,
            skew: self.skew,
            error_ns: self.noise_ns
                + WANDER_NS
                + self.skew_error * from_centre_s.abs()
                + WANDER_AHEAD * ahead_s,
            hidden_ns: self.half_gap_ns,
        }
    }
}

impl Envelope {
    pub fn add(&mut self, sample: &Sample) {
        let index = (sample.at_s() / BLOCK_S).floor() as i64;
        let newest = self.blocks.last().map_or(i64::MIN, |block| block.index);
        if index > newest {
            self.blocks.push(Block::new(index));
        }
        // A response may arrive after the next block has begun.
        if let Some(block) = self.blocks.iter_mut().rev().find(|b| b.index == index) {
            block.add(sample);
        }
    }

    /// Return the number of exchanges, and the time from the first to the last, s.
    pub fn size(&self) -> (f64, f64) {
        let count = self.blocks.iter().map(|block| block.count).sum();
        let first = self
            .blocks
            .first()
            .and_then(|block| block.inbound.first_s());
        let last = self.blocks.last().and_then(|block| block.inbound.last_s());
        (
            count,
            last.zip(first).map_or(0.0, |(last, first)| last - first),
        )
    }

    /// Fit the line with the widest gap to all exchanges kept.
    pub fn fit(&self) -> Line {
        let (mut inbound, mut outbound) = (LowerHull::default(), LowerHull::default());
        for block in &self.blocks {
            inbound.append(&block.inbound);
            outbound.append(&block.outbound);
        }
        let count: f64 = self.blocks.iter().map(|b| b.count).sum();
        let centre_s = self.blocks.iter().map(|b| b.at_sum_s).sum::<f64>() / count;
        let noise_ns = self.noise_ns(count);

        let touch = |skew: f64| {
            let none = Point {
                at_s: centre_s,
                delay_ns: 0.0,
            };
            (
                inbound.support(skew).unwrap_or(none),
                outbound.support(-skew).unwrap_or(none),
            )
        };
        let heights = |skew: f64| {
            let (low, high) = touch(skew);
            (
                low.delay_ns - skew * (low.at_s - centre_s),
                high.delay_ns + skew * (high.at_s - centre_s),
            )
        };
        let gap = |skew: f64| heights(skew).0 + heights(skew).1;
        // The gap rises with the skew where the inbound envelope is touched before the outbound one.
        let slope = |skew: f64| {
            let (low, high) = touch(skew);
            high.at_s - low.at_s
        };
        let skew = (last_where(|s| slope(s) > 0.0) + last_where(|s| slope(s) >= 0.0)) / 2.0;
        let (u, v) = heights(skew);
        let enough = u + v - 2.0 * noise_ns - STAMP_NOISE_NS;
        let least = last_where(|s| s < skew && gap(s) < enough);
        let most = last_where(|s| s < skew || gap(s) >= enough);
        Line {
            centre_s,
            last_s: inbound.last_s().unwrap_or(centre_s),
            offset_ns: (u - v) / 2.0,
            skew,
            skew_error: (most - skew).max(skew - least),
            noise_ns,
            half_gap_ns: (u + v).abs() / 2.0,
        }
    }

    /// Estimate the distance of the envelope from the true floor: the spread of the shortest round trips of the blocks,
    /// and for few exchanges the excess of the average over the shortest.
    fn noise_ns(&self, count: f64) -> f64 {
        let mut minima: Vec<f64> = self.blocks.iter().map(|b| b.round_trip_min_ns).collect();
        minima.sort_unstable_by(f64::total_cmp);
        let least = minima[0];
        let sum: f64 = self.blocks.iter().map(|b| b.round_trip_sum_ns).sum();
        (minima[minima.len() / 2] - least) + 2.0 * (sum / count - least) / count
    }
}

impl Block {
    fn new(index: i64) -> Self {
        Self {
            index,
            inbound: LowerHull::default(),
            outbound: LowerHull::default(),
            count: 0.0,
            at_sum_s: 0.0,
            round_trip_sum_ns: 0.0,
            round_trip_min_ns: f64::INFINITY,
        }
    }

    fn add(&mut self, sample: &Sample) {
        let at_s = sample.at_s();
        let point = |delay_ns| Point { at_s, delay_ns };
        self.inbound.add(point(sample.inbound_ns));
        self.outbound.add(point(sample.outbound_ns));
        let round_trip_ns = sample.round_trip_ns();
        self.count += 1.0;
        self.at_sum_s += at_s;
        self.round_trip_sum_ns += round_trip_ns;
        self.round_trip_min_ns = self.round_trip_min_ns.min(round_trip_ns);
    }
}

/// Return the largest skew for which `holds` is true, to a thousandth of a ppb. It must be true up to some skew and false
/// beyond.
fn last_where(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-MAX_SKEW, MAX_SKEW);
    while high - low > 1e-3 {
        let middle = low.midpoint(high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
