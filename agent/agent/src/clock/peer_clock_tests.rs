//! The estimate against clocks whose truth is known.

use super::*;

const MS: i64 = 1_000_000;
const S: i64 = 1_000_000_000;

/// A pair of clocks and the path between them.
struct World {
    rate_hz: i64,
    offset_ns: f64,
    skew_ppm: f64,
    delay_in_ns: f64,
    delay_out_ns: f64,
    jitter_ns: f64,
    random: u64,
}

impl World {
    fn new(rate_hz: i64) -> Self {
        Self {
            rate_hz,
            offset_ns: 3e6,
            skew_ppm: 20.0,
            delay_in_ns: 50e3,
            delay_out_ns: 50e3,
            jitter_ns: 3e3,
            random: 42,
        }
    }

    /// Our clock minus the peer's at our time `at`: a skew that wanders by 0.05 ppm over two minutes.
    fn offset_at(&self, at: i64) -> f64 {
        let turn = std::f64::consts::TAU / (120.0 * S as f64);
        let wander = 0.05e-6 / turn * (turn * at as f64).sin();
        self.offset_ns + self.skew_ppm * 1e-6 * at as f64 + wander
    }

    fn uniform(&mut self) -> f64 {
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

    /// An exchange that starts at `at` and waits in a queue on its way in, and on its way out.
    fn exchange(&mut self, at: i64, queue_in_ns: f64, queue_out_ns: f64) -> (Leg, Leg) {
        let remote = |world: &Self, local: f64| local - world.offset_at(local as i64);
        let out = self.delay_out_ns + self.jitter() + queue_out_ns;
        let turn = self.uniform() * 5e6;
        let back = self.delay_in_ns + self.jitter() + queue_in_ns;
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

    /// Runs for `seconds`; `queue_in` gives the inbound queue at a time. Worst error and worst excess over the
    /// bound after `settled_s`, each looked up right after the exchange.
    fn run(
        &mut self,
        clock: &mut PeerClock,
        seconds: i64,
        settled_s: i64,
        queue_in: impl Fn(i64) -> f64,
    ) -> Worst {
        let mut worst = Worst::default();
        for i in 0..seconds * self.rate_hz {
            let at = i * S / self.rate_hz;
            let (outbound, inbound) = self.exchange(at, queue_in(at), 0.0);
            clock.observe(outbound, inbound);
            let offset = clock.offset_at(inbound.local).unwrap();
            let error = (offset.offset_ns as f64 - self.offset_at(inbound.local.0)).abs();
            worst.over_bound_ns = worst.over_bound_ns.max(error - offset.error_ns as f64);
            if at >= settled_s * S {
                worst.error_ns = worst.error_ns.max(error);
                worst.bound_ns = worst.bound_ns.max(offset.error_ns);
            }
        }
        worst
    }
}

#[derive(Debug, Default)]
struct Worst {
    error_ns: f64,
    bound_ns: u64,
    over_bound_ns: f64,
}

#[test]
fn finds_offset_and_skew_of_a_quiet_path() {
    for (rate_hz, most_ns) in [(1, 4e3), (2, 3e3), (8, 2e3), (16, 1.5e3), (128, 1e3)] {
        let mut world = World::new(rate_hz);
        let worst = world.run(&mut PeerClock::new(), 120, 20, |_| 0.0);
        assert!(worst.error_ns < most_ns, "{rate_hz}/s: {worst:?}");
        assert!(worst.over_bound_ns <= 0.0, "{rate_hz}/s: {worst:?}");
        assert!(worst.bound_ns < 70_000, "{rate_hz}/s: {worst:?}");
    }
}

#[test]
fn a_burst_in_one_direction_does_not_move_it() {
    for (rate_hz, most_ns) in [(2, 4e3), (8, 3e3), (16, 2e3), (128, 1e3)] {
        let mut world = World::new(rate_hz);
        let burst = |at| {
            if (30 * S..31 * S).contains(&at) {
                10e6
            } else {
                0.0
            }
        };
        let worst = world.run(&mut PeerClock::new(), 60, 20, burst);
        assert!(worst.error_ns < most_ns, "{rate_hz}/s: {worst:?}");
        assert!(worst.over_bound_ns <= 0.0, "{rate_hz}/s: {worst:?}");
    }
}

#[test]
fn the_bound_holds_when_one_direction_is_longer() {
    for (delay_in_ns, delay_out_ns) in [(250e3, 50e3), (50e3, 250e3), (1e6, 1e3)] {
        let mut world = World::new(8);
        (world.delay_in_ns, world.delay_out_ns) = (delay_in_ns, delay_out_ns);
        let worst = world.run(&mut PeerClock::new(), 90, 0, |_| 0.0);
        assert!(
            worst.over_bound_ns <= 0.0,
            "{delay_in_ns}/{delay_out_ns}: {worst:?}"
        );
        assert!(worst.bound_ns > 100_000, "{worst:?}");
    }
}

#[test]
fn says_something_true_after_the_first_exchange() {
    let mut clock = PeerClock::new();
    assert_eq!(clock.offset_at(RawTime(0)), None);
    let mut world = World::new(1);
    let (outbound, inbound) = world.exchange(0, 0.0, 0.0);
    clock.observe(outbound, inbound);
    let offset = clock.offset_at(inbound.local).unwrap();
    let error = (offset.offset_ns as f64 - world.offset_at(0)).abs();
    assert!(error <= offset.error_ns as f64);
    // Half the round trip, and what an unknown skew can do over the few ms of one exchange.
    assert!((50_000..60_000).contains(&offset.error_ns), "{offset:?}");
}

#[test]
fn a_step_of_the_peers_clock_is_seen_and_both_sides_of_it_stay_right() {
    for step_ns in [50e3, 1e6, -1e6, 3e9, -86_400e9] {
        let mut world = World::new(8);
        let mut clock = PeerClock::new();
        let before = world.run(&mut clock, 30, 20, |_| 0.0);
        assert!(before.over_bound_ns <= 0.0, "{before:?}");
        let stepped = RawTime(30 * S);
        let truth_before = world.offset_at(25 * S);
        world.offset_ns += step_ns;
        let seen: Vec<bool> = (0..80)
            .map(|i| {
                let (outbound, inbound) = world.exchange(stepped.0 + i * S / 8, 0.0, 0.0);
                clock.observe(outbound, inbound)
            })
            .collect();
        assert_eq!(seen.iter().position(|s| *s), Some(2), "step of {step_ns}");
        assert_eq!(seen.iter().filter(|s| **s).count(), 1);
        let error_at = |at: i64, truth: f64| {
            let offset = clock.offset_at(RawTime(at)).unwrap();
            let error = (offset.offset_ns as f64 - truth).abs();
            assert!(error <= offset.error_ns as f64, "{error} {offset:?}");
            error
        };
        assert!(error_at(25 * S, truth_before) < 3e3);
        assert!(error_at(stepped.0 + MS, world.offset_at(stepped.0)) < 5e3);
        assert!(error_at(39 * S, world.offset_at(39 * S)) < 5e3);
    }
}

#[test]
fn a_longer_or_shorter_route_is_no_step() {
    for change_ns in [100e3, -40e3] {
        let mut world = World::new(8);
        let mut clock = PeerClock::new();
        world.run(&mut clock, 30, 20, |_| 0.0);
        world.delay_in_ns += change_ns;
        for i in 0..400 {
            let (outbound, inbound) = world.exchange(30 * S + i * S / 8, 0.0, 0.0);
            assert!(!clock.observe(outbound, inbound), "{change_ns}: {i}");
            let offset = clock.offset_at(inbound.local).unwrap();
            let error = (offset.offset_ns as f64 - world.offset_at(inbound.local.0)).abs();
            assert!(
                error <= offset.error_ns as f64,
                "{change_ns}: {error} {offset:?}"
            );
        }
    }
}

#[test]
fn responses_out_of_order_and_wild_stamps_do_no_harm() {
    let mut world = World::new(8);
    let mut exchanges: Vec<_> = (0..240)
        .map(|i| world.exchange(i * S / 8, 0.0, 0.0))
        .collect();
    for i in (0..240).step_by(5) {
        exchanges.swap(i, i + 3);
    }
    let mut clock = PeerClock::new();
    for (outbound, inbound) in exchanges {
        clock.observe(outbound, inbound);
    }
    clock.refresh();
    let offset = clock.offset_at(RawTime(20 * S)).unwrap();
    assert!((offset.offset_ns as f64 - world.offset_at(20 * S)).abs() < 3e3);

    for remote_ns in [i64::MIN, i64::MAX, 0] {
        let leg = Leg {
            local: RawTime(31 * S),
            remote_ns,
        };
        clock.observe(leg, leg);
        clock.refresh();
        let _ = clock.offset_at(RawTime(31 * S)).unwrap();
    }
}
