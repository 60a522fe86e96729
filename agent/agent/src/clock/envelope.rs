//! The line between the lower envelopes of both directions.
//!
//! With `f = t2 - t1` and `b = t4 - t3`, every exchange says `f = delay_in + offset` and `b = delay_out - offset`.
//! The line `u + s x` below all `f` and `-(v - s x)` above all `-b` that leaves the widest gap `u + v` between them
//! follows the clock: its slope is the skew, its middle the offset, and half the gap bounds the error that a
//! constant asymmetry can hide. This is the linear program of Moon, Skelly and Towsley (INFOCOM 1999) for two
//! directions, exact and without tuning: for a given slope `u` and `v` are minima, and the gap is concave in it.

use std::collections::VecDeque;

use super::hull::{LowerHull, Point};
use super::raw_time::{Leg, RawTime};

/// Exchanges are forgotten block by block: 8 to 9 blocks, 64 to 72 s. Longer than any window with its deadline.
const BLOCK_S: f64 = 8.0;
const BLOCKS: i64 = 9;

/// Quartz in cheap machines errs by less; ns per s.
const MAX_SKEW: f64 = 300_000.0;

/// What a software stamp alone may err by, ns.
const STAMP_NOISE_NS: f64 = 100.0;

/// How far a clock may wander from a straight line over the blocks kept, ns.
const WANDER_NS: f64 = 500.0;

/// And how fast beyond the last exchange, ns per s.
const WANDER_AHEAD: f64 = 100.0;

/// Offset of our clock against the peer's as a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Middle of the exchanges it was drawn through, and the last of them, s since the origin.
    centre_s: f64,
    last_s: f64,
    offset_ns: f64,
    /// ns per s.
    skew: f64,
    skew_error: f64,
    noise_ns: f64,
    /// Half the gap between the envelopes: what an unknown asymmetry may hide, at most half the least round trip.
    pub half_gap_ns: f64,
}

/// The exchanges of the last minute, reduced to what can touch a line.
#[derive(Debug, Clone)]
pub struct Envelope {
    origin: RawTime,
    /// Subtracted from every offset, so that what is left is small enough to be exact.
    reference_ns: i64,
    blocks: VecDeque<Block>,
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

/// One exchange in the envelope's own terms.
struct Sample {
    at_s: f64,
    inbound_ns: f64,
    outbound_ns: f64,
}

impl Envelope {
    /// An envelope that starts with an exchange: offsets are reckoned from what it shows.
    pub fn new(outbound: Leg, inbound: Leg) -> Self {
        let mut envelope = Self {
            origin: outbound.local,
            reference_ns: inbound.difference_ns(),
            blocks: VecDeque::new(),
        };
        envelope.add(outbound, inbound);
        envelope
    }

    pub fn add(&mut self, outbound: Leg, inbound: Leg) {
        let sample = self.sample(outbound, inbound);
        let index = (sample.at_s / BLOCK_S).floor() as i64;
        let newest = self.blocks.back().map_or(i64::MIN, |block| block.index);
        if index > newest {
            self.blocks.push_back(Block::new(index));
            self.blocks.retain(|block| block.index > index - BLOCKS);
        }
        // A response may come in when its block is already followed by another, or gone.
        if let Some(block) = self.blocks.iter_mut().rev().find(|b| b.index == index) {
            block.add(&sample);
        }
    }

    /// How far an exchange lies above the envelope (inbound, outbound), ns, if the clock follows `line`.
    pub fn excess(&self, line: &Line, outbound: Leg, inbound: Leg) -> (f64, f64) {
        let sample = self.sample(outbound, inbound);
        let offset = line.offset_ns + line.skew * (sample.at_s - line.centre_s);
        (
            sample.inbound_ns - offset - line.half_gap_ns,
            sample.outbound_ns + offset - line.half_gap_ns,
        )
    }

    /// The offset at `at` and what its estimation may err by (asymmetry not included), ns.
    pub fn offset_at(&self, line: &Line, at: RawTime) -> (i64, f64) {
        let at_s = self.seconds(at);
        let from_centre_s = at_s - line.centre_s;
        let offset = line.offset_ns + line.skew * from_centre_s;
        let ahead_s = (at_s - line.last_s).max(0.0);
        let error = line.noise_ns
            + WANDER_NS
            + line.skew_error * from_centre_s.abs()
            + WANDER_AHEAD * ahead_s;
        (
            self.reference_ns.saturating_add(offset.round() as i64),
            error,
        )
    }

    /// Draws the line with the widest gap through everything kept.
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

    /// How far the envelope may lie above the true floor: by how much the shortest round trips of the blocks
    /// differ, and for few exchanges by how much an average one exceeds the shortest.
    fn noise_ns(&self, count: f64) -> f64 {
        let mut minima: Vec<f64> = self.blocks.iter().map(|b| b.round_trip_min_ns).collect();
        minima.sort_unstable_by(f64::total_cmp);
        let least = minima[0];
        let sum: f64 = self.blocks.iter().map(|b| b.round_trip_sum_ns).sum();
        (minima[minima.len() / 2] - least) + 2.0 * (sum / count - least) / count
    }

    fn sample(&self, outbound: Leg, inbound: Leg) -> Sample {
        let from_reference = inbound.difference_ns().saturating_sub(self.reference_ns);
        let to_reference = self.reference_ns.saturating_sub(outbound.difference_ns());
        Sample {
            // One time for both: what the skew does between the two legs then cancels in the offset.
            at_s: (self.seconds(outbound.local) + self.seconds(inbound.local)) / 2.0,
            inbound_ns: from_reference as f64,
            outbound_ns: to_reference as f64,
        }
    }

    fn seconds(&self, at: RawTime) -> f64 {
        at.since(self.origin) as f64 / 1e9
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
        let at_s = sample.at_s;
        let point = |delay_ns| Point { at_s, delay_ns };
        self.inbound.add(point(sample.inbound_ns));
        self.outbound.add(point(sample.outbound_ns));
        let round_trip_ns = sample.inbound_ns + sample.outbound_ns;
        self.count += 1.0;
        self.at_sum_s += at_s;
        self.round_trip_sum_ns += round_trip_ns;
        self.round_trip_min_ns = self.round_trip_min_ns.min(round_trip_ns);
    }
}

/// The largest skew for which `holds`, which must hold up to some skew and not beyond; to a thousandth of a ppb.
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
