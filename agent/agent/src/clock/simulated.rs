//! A pair of clocks and the routes between them, whose truth is known.

use super::{Change, Leg, PeerClock, RawTime};

pub const S: i64 = 1_000_000_000;

/// Queues and clock error at a time (ns since the start).
#[derive(Debug, Default, Clone, Copy)]
pub struct Event {
    pub queue_in_ns: f64,
    pub queue_out_ns: f64,
    /// By how much the clock is off, beyond its offset and skew.
    pub clock_ns: f64,
}

pub struct World {
    pub rate_hz: i64,
    /// Number of exchanges in the first second, independent of the rate.
    pub first: i64,
    pub offset_ns: f64,
    pub skew_ppm: f64,
    pub delay_in_ns: f64,
    pub delay_out_ns: f64,
    pub jitter_ns: f64,
    pub random: u64,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Worst error of the offset looked up right after an exchange, once settled, ns.
    pub error_ns: f64,
    /// Exchanges looked up, at once and when their window of 10 s was over, and those outside the bound.
    pub looked_up: u64,
    pub outside: u64,
    /// Worst error and largest bound in those windows, once settled, ns.
    pub window_error_ns: f64,
    pub bound_ns: u64,
    pub changes: Vec<(f64, Change)>,
}

impl World {
    pub fn new(rate_hz: i64) -> Self {
        Self {
            rate_hz,
            first: 0,
            offset_ns: 3e6,
            skew_ppm: 20.0,
            delay_in_ns: 50e3,
            delay_out_ns: 50e3,
            jitter_ns: 3e3,
            random: 42,
        }
    }

    /// Our clock minus the peer's at our time `at`: a skew that wanders by 0.05 ppm over two minutes.
    pub fn offset_at(&self, at: i64) -> f64 {
        let turn = std::f64::consts::TAU / (120.0 * S as f64);
        let wander = 0.05e-6 / turn * (turn * at as f64).sin();
        self.offset_ns + self.skew_ppm * 1e-6 * at as f64 + wander
    }

    pub fn uniform(&mut self) -> f64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.random >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponential, one packet in a hundred a hundred times as late.
    fn jitter(&mut self) -> f64 {
        let tail = if self.uniform() < 0.01 { 100.0 } else { 1.0 };
        -self.uniform().ln() * self.jitter_ns * tail
    }

    /// Return the two legs of an exchange that starts at `at`, with the events of that time.
    pub fn exchange(&mut self, at: i64, event: Event) -> (Leg, Leg) {
        let remote =
            |world: &Self, local: f64| local - world.offset_at(local as i64) - event.clock_ns;
        let out = self.delay_out_ns + self.jitter() + event.queue_out_ns;
        let turn = self.uniform() * 5e6;
        let back = self.delay_in_ns + self.jitter() + event.queue_in_ns;
        let arrival = at as f64 + out;
        let departure = arrival + turn;
        let outbound = Leg {
            local: RawTime(at),
            remote_ns: remote(self, arrival).round() as i64,
        };
        let inbound = Leg {
            local: RawTime((departure + back).round() as i64),
            remote_ns: remote(self, departure).round() as i64,
        };
        (outbound, inbound)
    }

    /// Run for `seconds`. `event` gives what happens at a time, s, with two random numbers of 0 to 1.
    pub fn run(
        &mut self,
        clock: &mut PeerClock,
        seconds: i64,
        settled_s: i64,
        event: impl Fn(f64, [f64; 2]) -> Event,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let mut window: Vec<(RawTime, f64)> = Vec::new();
        let early = (0..self.first).map(|i| i * S / self.first.max(1));
        let rest = (i64::from(self.first > 0) * self.rate_hz..seconds * self.rate_hz)
            .map(|i| i * S / self.rate_hz);
        for at in early.chain(rest).collect::<Vec<_>>() {
            let dice = [self.uniform(), self.uniform()];
            let event = event(at as f64 / S as f64, dice);
            let (outbound, inbound) = self.exchange(at, event);
            let change = clock.observe(outbound, inbound);
            outcome
                .changes
                .extend(change.map(|c| (at as f64 / S as f64, c)));
            let truth = self.offset_at(inbound.local.0) + event.clock_ns;
            outcome.check(clock, inbound.local, truth, at >= settled_s * S);
            window.push((inbound.local, truth));
            if (at + S / self.rate_hz) % (10 * S) < S / self.rate_hz {
                clock.refresh();
                for (local, truth) in window.drain(..) {
                    let offset = clock.offset_at(local).unwrap();
                    let error = (offset.offset_ns as f64 - truth).abs();
                    outcome.looked_up += 1;
                    outcome.outside += u64::from(error > offset.error_ns as f64);
                    if local.0 >= settled_s * S {
                        outcome.window_error_ns = outcome.window_error_ns.max(error);
                        outcome.bound_ns = outcome.bound_ns.max(offset.error_ns);
                    }
                }
            }
        }
        outcome
    }
}

impl Outcome {
    fn check(&mut self, clock: &PeerClock, at: RawTime, truth: f64, settled: bool) {
        let offset = clock.offset_at(at).unwrap();
        let error = (offset.offset_ns as f64 - truth).abs();
        self.looked_up += 1;
        self.outside += u64::from(error > offset.error_ns as f64);
        if settled {
            self.error_ns = self.error_ns.max(error);
        }
    }
}
