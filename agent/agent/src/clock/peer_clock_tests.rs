//! The estimate against clocks whose truth is known.

use super::super::simulated::{Event, Outcome, S, World};
use super::*;

/// The event of a scenario at a time, s, by random numbers of 0 to 1.
type Happens = fn(f64, [f64; 2]) -> Event;

const QUIET: Happens = |_, _| Event::default();
const US: f64 = 1e3;

fn inbound(queue_in_ns: f64) -> Event {
    Event {
        queue_in_ns,
        ..Event::default()
    }
}

fn clock(clock_ns: f64) -> Event {
    Event {
        clock_ns,
        ..Event::default()
    }
}

/// Return the delay, ns, by a queue of packets of 12 us each in front of ours, at a load (M/M/1).
fn load(load: f64, dice: [f64; 2]) -> f64 {
    let waits = f64::from(u8::from(dice[0] < load));
    -dice[1].ln() * 12.0 * US / (1.0 - load) * waits
}

/// Let a peer's clock observe the exchange that begins at `at`, and return its legs.
fn observe(peer: &mut PeerClock, world: &mut World, at: i64, event: Event) -> (Leg, Leg) {
    let (outbound, inbound) = world.exchange(at, event);
    peer.observe(outbound, inbound);
    (outbound, inbound)
}

/// Return the error of the offset at `at`, ns, and the offset, after a step of the true one.
fn error_at(peer: &PeerClock, world: &World, at: RawTime, step_ns: f64) -> (f64, Offset) {
    let offset = peer.offset_at(at).unwrap();
    let truth = world.offset_at(at.0) + step_ns;
    ((offset.offset_ns as f64 - truth).abs(), offset)
}

/// 1 from `from_s` to `to_s`, else 0.
fn within(at_s: f64, from_s: f64, to_s: f64) -> f64 {
    f64::from(u8::from((from_s..to_s).contains(&at_s)))
}

fn run(rate_hz: i64, seconds: i64, happens: Happens) -> Outcome {
    let mut world = World::new(rate_hz);
    (world.first, world.skew_ppm) = (32, 50.0);
    world.run(&mut PeerClock::new(), seconds, 20, happens)
}

#[test]
fn the_error_stays_small_whatever_the_network_does_and_always_within_the_bound() {
    // Most error, us, at 1, 2, 16 and 128 exchanges per second from 20 s on.
    let scenarios: [(&str, Happens, [f64; 4]); 10] = [
        ("quiet", QUIET, [3.0, 2.0, 0.6, 0.3]),
        (
            "5 ms for 1 s",
            |t, _| inbound(5e6 * within(t, 40.0, 41.0)),
            [3.0, 2.0, 0.6, 0.3],
        ),
        (
            "load of 70 %",
            |t, d| inbound(within(t, 40.0, 100.0) * load(0.7, d)),
            [6.0, 4.0, 2.0, 2.0],
        ),
        (
            "load of 95 %",
            |t, d| inbound(within(t, 40.0, 100.0) * load(0.95, d)),
            [6.0, 6.0, 3.0, 4.0],
        ),
        (
            "a queue that stands for 60 s",
            |t, d| inbound(within(t, 40.0, 100.0) * (2e6 + 1e5 * d[0])),
            [6.0, 6.0, 3.0, 4.0],
        ),
        (
            "a queue that stands for 3 min",
            |t, d| inbound(within(t, 40.0, 220.0) * (2e6 + 1e5 * d[0])),
            [12.0, 12.0, 12.0, 20.0],
        ),
        (
            "a queue that stands early and sinks for a moment",
            |t, d| {
                inbound(within(t, 22.0, 82.0) * (2e7 - 8e6 * within(t, 50.0, 54.0) + 1e5 * d[0]))
            },
            [6.0, 6.0, 3.0, 4.0],
        ),
        (
            "a longer route",
            |t, _| inbound(within(t, 40.0, 1e9) * 100.0 * US),
            [6.0, 4.0, 1.0, 0.6],
        ),
        (
            "a shorter route",
            |t, _| inbound(within(t, 100.0, 1e9) * -30.0 * US),
            [8.0, 4.0, 1.0, 0.6],
        ),
        (
            "a frequency that jumps by 0.5 ppm",
            |t, _| clock(within(t, 40.0, 1e9) * (t - 40.0) * 500.0),
            [12.0, 12.0, 4.0, 2.0],
        ),
    ];
    for (name, happens, most_us) in scenarios {
        for (rate_hz, most_us) in [1, 2, 16, 128].into_iter().zip(most_us) {
            let outcome = run(rate_hz, 240, happens);
            let worst_ns = outcome.error_ns.max(outcome.window_error_ns);
            let case = format!("{name}, {rate_hz}/s: {outcome:?}");
            assert!(worst_ns < most_us * US, "{case}");
            assert_eq!(outcome.outside, 0, "{case}");
            assert!(outcome.bound_ns < 90_000, "{case}");
        }
    }
}

#[test]
fn a_slow_path_without_a_first_burst_settles_too() {
    let mut world = World::new(1);
    let outcome = world.run(&mut PeerClock::new(), 240, 40, QUIET);
    assert!(outcome.error_ns < 4.0 * US, "{outcome:?}");
    assert_eq!(outcome.outside, 0, "{outcome:?}");
}

#[test]
fn a_queue_at_the_start_is_not_taken_for_the_route_for_ever() {
    let queue: Happens = |t, _| inbound(within(t, 0.0, 30.0) * 2e6);
    let outcome = run(16, 120, queue);
    assert_eq!(outcome.outside, 0, "{outcome:?}");
    let mut world = World::new(16);
    let mut clock = PeerClock::new();
    world.run(&mut clock, 120, 20, queue);
    let (error, offset) = error_at(&clock, &world, RawTime(120 * S), 0.0);
    assert!(error < 2.0 * US, "{error} {offset:?}");
    assert!(offset.error_ns < 60_000, "{offset:?}");
}

#[test]
fn the_bound_holds_when_one_direction_is_longer() {
    for (delay_in_ns, delay_out_ns) in [(250e3, 50e3), (50e3, 250e3), (1e6, 1e3)] {
        let mut world = World::new(8);
        (world.delay_in_ns, world.delay_out_ns) = (delay_in_ns, delay_out_ns);
        let outcome = world.run(&mut PeerClock::new(), 90, 0, QUIET);
        assert_eq!(outcome.outside, 0, "{delay_in_ns}: {outcome:?}");
        assert!(outcome.bound_ns > 100_000, "{outcome:?}");
    }
}

#[test]
fn the_bound_holds_after_the_first_exchange() {
    let mut clock = PeerClock::new();
    assert_eq!(clock.offset_at(RawTime(0)), None);
    let mut world = World::new(1);
    let (_, inbound) = observe(&mut clock, &mut world, 0, Event::default());
    let (error, offset) = error_at(&clock, &world, inbound.local, 0.0);
    assert!(error <= offset.error_ns as f64);
    // Half the round trip, and what an unknown skew can do over the few ms of one exchange.
    assert!((50_000..60_000).contains(&offset.error_ns), "{offset:?}");
}

#[test]
fn a_step_of_either_clock_is_seen_within_four_exchanges_and_both_sides_of_it_stay_right() {
    let steps: [Happens; 4] = [
        |t, _| clock(within(t, 40.0, 1e9) * 1e6),
        |t, _| clock(within(t, 40.0, 1e9) * -1e6),
        |t, _| clock(within(t, 40.0, 1e9) * 3e9),
        |t, _| clock(within(t, 40.0, 1e9) * -86_400e9),
    ];
    for happens in steps {
        for rate_hz in [1, 8, 128] {
            let outcome = run(rate_hz, 120, happens);
            let case = format!("{rate_hz}/s: {outcome:?}");
            let [(at_s, Change::Stepped)] = outcome.changes[..] else {
                panic!("{case}");
            };
            assert!(at_s <= 40.0 + 3.0 / rate_hz as f64, "{case}");
            // An exchange that was late by as much as the step hides it until the next one.
            assert!(outcome.outside <= 1, "{case}");
            assert!(outcome.window_error_ns < 5.0 * US, "{case}");
        }
    }
}

#[test]
fn between_the_last_exchange_before_a_step_and_the_first_after_it_the_bound_says_so() {
    let (mut world, mut peer) = (World::new(1), PeerClock::new());
    world.first = 32;
    world.run(&mut peer, 41, 20, QUIET);
    let step = clock(1e6);
    // The step was at 40.5 s, which is not detected yet at 40.8 s.
    let at = |ms: i64| RawTime(ms * S / 1000);
    for second in 41..50 {
        observe(&mut peer, &mut world, second * S, step);
        for (ms, step_ns) in [(40_000, 0.0), (40_300, 0.0), (40_800, 1e6), (41_000, 1e6)] {
            let (error, offset) = error_at(&peer, &world, at(ms), step_ns);
            assert!(error <= offset.error_ns as f64, "{second}, {ms}: {error}");
        }
        let before = peer.offset_at(at(40_000)).unwrap();
        assert!(before.error_ns < 100_000, "{before:?}");
    }
    // Long after, what is known again stands by itself.
    assert!(peer.offset_at(at(49_000)).unwrap().error_ns < 300_000);
}

#[test]
fn a_step_between_the_legs_of_an_exchange_is_within_the_bound_of_the_second() {
    for step_ns in [1e6, -1e6] {
        let (mut world, mut peer) = (World::new(16), PeerClock::new());
        world.run(&mut peer, 60, 20, QUIET);
        let leaves = 60 * S;
        let (outbound, _) = world.exchange(leaves, Event::default());
        let (_, inbound) = world.exchange(leaves, clock(step_ns));
        peer.observe(outbound, inbound);
        for n in 1..5 {
            let at = leaves + n * S / 16;
            observe(&mut peer, &mut world, at, clock(step_ns));
        }
        let (error, offset) = error_at(&peer, &world, inbound.local, step_ns);
        assert!(error <= offset.error_ns as f64, "{step_ns}: {offset:?}");
    }
}

/// Return an exchange with a standard responder, whose Sync arrives first: it leaves at `at`, the Delay_Req 2 ms later. Its
/// clock is stepped by the given amounts when it sends the one and receives the other.
fn apart(at: i64, delay_ns: i64, [t1_step_ns, t4_step_ns]: [i64; 2]) -> (Leg, Leg) {
    let inbound = Leg {
        local: RawTime(at + delay_ns),
        remote_ns: at + t1_step_ns,
    };
    let sent = at + delay_ns + 2_000_000;
    let outbound = Leg {
        local: RawTime(sent),
        remote_ns: sent + delay_ns + t4_step_ns,
    };
    (outbound, inbound)
}

#[test]
fn no_delay_straddles_a_step_of_a_standard_responder() {
    const DELAY: i64 = 150_000_000;
    for step_ns in [S, -S, S / 5, -S / 5, -S / 10, -3 * S / 10] {
        for rate_hz in [1, 16] {
            let (mut clock, mut all) = (PeerClock::new(), Vec::new());
            let stepped_at = 60 * S + S / 50;
            let mut steps = 0;
            for n in 0..90 * rate_hz {
                let at = n * S / rate_hz;
                let step = |moment: i64| if moment >= stepped_at { step_ns } else { 0 };
                let legs = apart(at, DELAY, [step(at), step(at + 2 * DELAY + 2_000_000)]);
                // The agent does not measure a round trip of less than no time.
                if round_trip_ns(legs.0, legs.1) < 0 {
                    continue;
                }
                steps += i32::from(clock.observe(legs.0, legs.1) == Some(Change::Stepped));
                all.push(legs);
            }
            let mut measured = 0;
            for (outbound, inbound) in &all {
                let legs = (*outbound, *inbound);
                let (Some(there), Some(back)) = (
                    clock.offset_of(legs, outbound.local),
                    clock.offset_of(legs, inbound.local),
                ) else {
                    continue;
                };
                measured += 1;
                let delays = [
                    (there.offset_ns - outbound.difference_ns(), there.error_ns),
                    (inbound.difference_ns() - back.offset_ns, back.error_ns),
                ];
                for (delay_ns, error_ns) in delays {
                    let case = format!("{step_ns}, {rate_hz}/s: {delay_ns} ± {error_ns}");
                    assert!((delay_ns - DELAY).unsigned_abs() <= error_ns, "{case}");
                    assert!(error_ns < 160_000_000, "{case}");
                }
            }
            assert_eq!(steps, 1, "{step_ns}, {rate_hz}/s");
            assert!(measured + 12 >= all.len(), "{step_ns}: {measured}");
        }
    }
}

#[test]
fn a_peer_whose_clock_is_slewed_is_followed() {
    // As ntpd does it; an agent's own stamps are of a clock that is never slewed.
    let slewed: Happens = |t, _| clock((t - 40.0).clamp(0.0, 20.0) * 500e3);
    for rate_hz in [1, 2, 16, 128] {
        let outcome = run(rate_hz, 120, slewed);
        let case = format!("{rate_hz}/s: {outcome:?}");
        assert!(outcome.window_error_ns < 60.0 * US, "{case}");
        assert!(outcome.outside * 1000 <= outcome.looked_up, "{case}");
    }
}

#[test]
fn known_asymmetry_outlives_a_step_but_not_a_move() {
    let lengthened: Happens = |t, _| inbound(within(t, 40.0, 1e9) * 100.0 * US);
    for (forget, most_us) in [(false, 0.0..3.0), (true, 48.0..52.0)] {
        let mut world = World::new(16);
        let mut clock = PeerClock::new();
        world.run(&mut clock, 80, 20, lengthened);
        let at = RawTime(80 * S);
        if forget {
            clock.reset(at);
        } else {
            clock.restart(at);
        }
        world.delay_in_ns += 100.0 * US;
        for i in 0..160 {
            let at = at.0 + i * S / 16;
            observe(&mut clock, &mut world, at, Event::default());
        }
        let (error, offset) = error_at(&clock, &world, RawTime(90 * S), 0.0);
        assert!(most_us.contains(&(error / US)), "{forget}: {error}");
        assert!(error < offset.error_ns as f64, "{error} {offset:?}");
    }
}

#[test]
fn responses_out_of_order_and_wild_stamps_do_no_harm() {
    let mut world = World::new(8);
    let mut exchanges: Vec<_> = (0..240)
        .map(|i| world.exchange(i * S / 8, Event::default()))
        .collect();
    for i in (0..240).step_by(5) {
        exchanges.swap(i, i + 3);
    }
    let mut clock = PeerClock::new();
    for (outbound, inbound) in exchanges {
        clock.observe(outbound, inbound);
    }
    clock.refresh();
    let (error, _) = error_at(&clock, &world, RawTime(20 * S), 0.0);
    assert!(error < 3e3, "{error}");

    for remote_ns in [i64::MIN, i64::MAX, 0] {
        let leg = Leg {
            local: RawTime(31 * S),
            remote_ns,
        };
        for _ in 0..50 {
            clock.observe(leg, leg);
        }
        clock.refresh();
        let _ = clock.offset_at(RawTime(31 * S)).unwrap();
    }
}

/// 40 exchanges, 50 ms apart, that take 300 us there and 100 us back; the peer's clock is 7 us behind ours.
fn unequal_routes() -> PeerClock {
    let mut clock = PeerClock::new();
    for i in 0..40 {
        let sent = i * 50_000_000;
        let outbound = Leg {
            local: RawTime(sent),
            remote_ns: sent + 300_000 - 7_000,
        };
        let inbound = Leg {
            local: RawTime(sent + 600_000),
            remote_ns: sent + 500_000 - 7_000,
        };
        clock.observe(outbound, inbound);
    }
    clock
}

#[test]
fn hardware_clocks_at_both_ends_show_the_asymmetry() {
    let (mut clock, end) = (unequal_routes(), RawTime(2_000_000_000));
    let assumed = clock.offset_at(end).unwrap();
    let error_ns = assumed.offset_ns - (7_000 - 100_000);
    assert!(error_ns.abs() < 2_000, "{assumed:?}");
    assert!(!assumed.by_hardware && assumed.error_ns >= 200_000);
    // They err by 1 us each, which is admitted.
    for i in 0..8 {
        clock.observe_hardware(RawTime(i * 100_000_000), 7_000 + 2_000, 2_000);
    }
    let known = clock.offset_at(end).unwrap();
    assert!(known.by_hardware, "{known:?}");
    let error_ns = known.offset_ns.abs_diff(7_000);
    assert!(error_ns <= known.error_ns, "{known:?}");
    assert!(known.error_ns < 10_000, "{known:?}");
    clock.restart(end);
    let after = clock.offset_at(RawTime(1_000_000_000)).unwrap();
    assert!(!after.by_hardware, "{after:?}");
}

#[test]
fn impossible_or_stale_hardware_clocks_are_ignored() {
    let end = RawTime(2_000_000_000);
    for (offset_ns, error_ns) in [(5_000_000, 2_000), (7_000, 1_000_000)] {
        let mut clock = unequal_routes();
        let before = clock.offset_at(end).unwrap();
        (0..8).for_each(|i| clock.observe_hardware(RawTime(i * 100_000_000), offset_ns, error_ns));
        assert_eq!(clock.offset_at(end), Some(before));
    }
}
