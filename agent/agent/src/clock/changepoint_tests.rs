//! Route changes on paths whose shortest delays wander.

use super::super::simulated::{Event, Outcome, World};
use super::super::{Change, Direction, PeerClock};

const US: f64 = 1e3;

/// Return the excess of a direction's shortest delay at a time: a random part of `most_ns` every 0.7 s, as of an appliance
/// or hypervisor with sleep states.
fn wander(at_s: f64, direction: u64, most_ns: f64) -> f64 {
    let mixed = ((at_s / 0.7) as u64 * 2 + direction + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    most_ns * ((mixed ^ (mixed >> 32)) >> 40) as f64 / f64::from(1 << 24)
}

/// Runs with directions of this noise that become longer (inbound, outbound) at 80 s.
fn run(
    rate_hz: i64,
    seconds: i64,
    wander_ns: f64,
    by_ns: [f64; 2],
    clock_ns: fn(f64) -> f64,
) -> Outcome {
    let mut world = World::new(rate_hz);
    (world.first, world.delay_in_ns, world.delay_out_ns) = (32, 1e6, 1e6);
    world.run(&mut PeerClock::new(), seconds, 20, |t, _| {
        let changed = f64::from(u8::from(t >= 80.0));
        Event {
            queue_in_ns: wander(t, 0, wander_ns) + changed * by_ns[0],
            queue_out_ns: wander(t, 1, wander_ns) + changed * by_ns[1],
            clock_ns: clock_ns(t),
        }
    })
}

#[test]
fn a_small_change_of_a_route_is_reported_once_with_its_direction() {
    for wander_us in [5.0, 15.0, 30.0, 50.0, 70.0] {
        for by_us in [[100.0, 0.0], [0.0, 100.0], [-100.0, 0.0], [0.0, -100.0]] {
            for rate_hz in [16, 64] {
                let by_ns = by_us.map(|us| us * US);
                let outcome = run(rate_hz, 160, wander_us * US, by_ns, |_| 0.0);
                let case = format!("{rate_hz}/s, {wander_us} us, {by_us:?}: {outcome:?}");
                let [(at_s, Change::Route(change))] = outcome.changes[..] else {
                    panic!("{case}");
                };
                assert!((80.0..=110.0).contains(&at_s), "{case}");
                let is_inbound = change.direction == Direction::Inbound;
                assert_eq!(is_inbound, by_us[0] != 0.0, "{case}");
                let off_ns = change.by_ns - by_ns[0] - by_ns[1];
                assert!(off_ns.abs() < (5.0 + 0.35 * wander_us) * US, "{case}");
                assert_eq!(outcome.outside, 0, "{case}");
            }
        }
    }
}

/// The error of the clock over time, ns, and the increase of both directions, us.
type Elsewhere = (fn(f64) -> f64, f64);

#[test]
fn wandering_delays_and_clocks_are_no_route_changes() {
    let elsewhere: [Elsewhere; 4] = [
        (|_| 0.0, 0.0),
        (|t| (t - 80.0).max(0.0) * 1e3, 0.0),
        (|t| f64::from(u8::from(t >= 80.0)) * 1e6, 0.0),
        (|_| 0.0, 50.0),
    ];
    for wander_us in [5.0, 15.0, 30.0, 50.0, 70.0] {
        for (which, (clock_ns, by_us)) in elsewhere.into_iter().enumerate() {
            for rate_hz in [2, 16] {
                let outcome = run(rate_hz, 240, wander_us * US, [by_us * US; 2], clock_ns);
                let case = format!("{rate_hz}/s, {wander_us} us, {which}: {outcome:?}");
                // If both directions became longer, each may be reported with its size.
                let is_true = |change: &Change| match change {
                    Change::Stepped | Change::TimeScale => which == 2,
                    Change::Route(of) => {
                        which == 3 && (of.by_ns - by_us * US).abs() < (10.0 + 0.5 * wander_us) * US
                    }
                };
                let mut changes = outcome.changes.iter();
                assert!(changes.all(|(_, change)| is_true(change)), "{case}");
                assert!(which != 2 || outcome.changes.len() == 1, "{case}");
                // An exchange that was late by as much as a step hides it until the next one.
                assert!(outcome.outside <= u64::from(which == 2), "{case}");
            }
        }
    }
}
