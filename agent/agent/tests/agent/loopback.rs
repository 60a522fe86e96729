//! Two agents on loopback, with real packets. Tests assert counts, which are exact under any load of the
//! machine, and that delays are possible.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::support::relay::{Direction, Fate, Passing, Relay};
use crate::support::{Agent, Loss, check_shape, eventually, listen, options, peer, plan};
use sinemora_agent::clock::PhcReading;
use sinemora_agent::hardware_clock::{ClockDomain, HardwareClock};
use sinemora_agent::network::Listen;
use sinemora_agent::packet_loop::Options;
use sinemora_agent::plan::Role::{Client, Responder};
use sinemora_agent::plan::{BackendClock, OnDemand, PathProbes, Peer, Plan};
use sinemora_agent::timestamp::cross_timestamp;

const A: u32 = 11;
const B: u32 = 22;

/// Return a client A and a responder B in the plan of each other.
fn pair(net: u8, rate_hz: u32) -> (Agent, Agent) {
    let a = Agent::start(listen(&format!("127.77.{net}.1")));
    let b = Agent::start(listen(&format!("127.77.{net}.2")));
    b.follow(plan(B, rate_hz, vec![peer(A, a.listen, Responder)]));
    a.follow(plan(A, rate_hz, vec![peer(B, b.listen, Client)]));
    (a, b)
}

/// Return a client and a responder with a relay between them.
fn relayed(
    net: u8,
    rate_hz: u32,
    start: fn(Listen) -> Agent,
    decide: impl Fn(Passing) -> Fate + Send + Sync + 'static,
) -> (Agent, Agent, Relay) {
    let a = start(listen(&format!("127.77.{net}.1")));
    let b = start(listen(&format!("127.77.{net}.2")));
    let places = [format!("127.77.{net}.3"), format!("127.77.{net}.4")];
    let relay = Relay::start(a.listen, b.listen, [&places[0], &places[1]], decide);
    b.follow(plan(B, rate_hz, vec![peer(A, relay.as_client, Responder)]));
    a.follow(plan(A, rate_hz, vec![peer(B, relay.as_responder, Client)]));
    (a, b, relay)
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}

#[test]
fn loss_of_each_direction_is_exactly_that_of_the_relay() {
    // Every seventh request, every fifth Sync, some of the other two; one long outage in each direction.
    let (mut a, _b, relay) = relayed(2, 64, Agent::start, |passing| {
        let lose = match (passing.direction, passing.kind) {
            (Direction::Outbound, _) => passing.nth % 7 == 3 || (100..140).contains(&passing.nth),
            (Direction::Inbound, 0x0) => passing.nth % 5 == 2 || (150..190).contains(&passing.nth),
            (Direction::Inbound, 0x8) => passing.nth % 11 == 4,
            (Direction::Inbound, _) => passing.nth % 6 == 1,
        };
        if lose { Fate::Lose } else { Fate::Pass }
    });
    let windows = a.windows(7);
    a.finish();
    windows.iter().for_each(|window| check_shape(window, B));
    let (loss, log) = (Loss::of(&windows), relay.log());
    // Windows follow one another without gap, so they hold the first requests that the relay saw.
    let sent = loss.outbound.0 as usize;
    assert!(sent > 200, "{sent}");
    let requests_lost = log.lost(0x1, sent);
    let answered = sent - requests_lost as usize;
    let syncs_lost = log.lost(0x0, answered);
    assert_eq!(loss.outbound, (sent as i32, requests_lost));
    assert_eq!(loss.inbound, (answered as i32, syncs_lost));
    assert_eq!(loss.round_trip, (sent as i32, requests_lost + syncs_lost));
    assert_eq!(a.counters.timestamp_source(), "kernel");
    let waits = a.waits.take();
    let parts = [&waits.wake, &waits.receive, &waits.send, &waits.queue];
    let counts = parts.map(|part| part.summary().unwrap().count);
    assert!(counts[3] <= counts[2], "{counts:?}"); // Only some ask for the time at the scheduler.
}

#[test]
fn the_packet_cap_is_kept_and_reported() {
    let mut a = Agent::start(listen("127.77.9.1"));
    let silent = listen("127.77.9.2");
    let mut capped = plan(A, 128, vec![peer(B, silent, Client)]);
    capped.caps.packets_per_s = 30;
    a.follow(capped);
    let windows = a.windows(3);
    a.finish();
    for window in &windows {
        let sent = window.outbound.as_ref().unwrap().sent[0];
        assert!(sent <= 34, "{window:?}");
    }
    assert_eq!(count(&a.counters.packets_per_s_cap), 30);
    assert!(count(&a.counters.requests_shed) > 200, "98 of 128 a second");
    eventually("the event", || reports(&a, "30 packets/s"));
}

/// Return whether the agent has raised an event with these words; earlier events are gone then.
fn reports(agent: &Agent, words: &str) -> bool {
    let events = agent.counters.events.take(10);
    events.iter().any(|event| event.detail.contains(words))
}

#[test]
fn an_agent_above_its_memory_cap_sends_less_and_reports_why() {
    let mut a = Agent::start(listen("127.77.13.1"));
    let silent = listen("127.77.13.2");
    let mut capped = plan(A, 128, vec![peer(B, silent, Client)]);
    // Less than any process has.
    capped.caps.memory_mib = Some(1);
    a.follow(capped);
    eventually("the event", || reports(&a, "the plan allows 1 MiB"));
    assert!(count(&a.counters.packets_per_s_allowed) < 128);
    assert_eq!(count(&a.counters.packets_per_s_cap), 20_000);
    assert!(count(&a.counters.memory_bytes) > 1 << 20);
    a.finish();
}

/// The clock of this machine as a hardware clock that all agents on it share.
struct Shared;

impl HardwareClock for Shared {
    fn name(&self) -> &'static str {
        "shared"
    }

    fn clock_domain(&self) -> ClockDomain {
        ClockDomain::Operator
    }

    fn read(&mut self) -> std::io::Result<PhcReading> {
        let now = cross_timestamp();
        Ok(PhcReading {
            at: now.raw,
            shows_ns: now.real.0,
            error_ns: 5_000,
        })
    }
}

#[test]
fn hardware_clocks_at_both_ends_show_the_longer_direction() {
    let with_shared = |at| {
        let options = Options {
            hardware: Some(Box::new(Shared)),
            ..options()
        };
        Agent::start_by(at, options)
    };
    // Without them half of each round trip would be attributed to each direction.
    let delayed = |passing: Passing| match passing.direction {
        Direction::Outbound => Fate::Delay(Duration::from_millis(200)),
        Direction::Inbound => Fate::Pass,
    };
    let (a, _b, _relay) = relayed(14, 32, with_shared, delayed);
    eventually("a window by hardware clocks", || {
        let window = a.windows(1).pop().unwrap();
        if window.asymmetry_source != [2] {
            return false;
        }
        let (outbound, inbound) = (window.outbound.unwrap(), window.inbound.unwrap());
        let admitted = outbound.clock_error_ns[0] as i64;
        assert!(outbound.min_ns[0] >= 200_000_000 - admitted, "{outbound:?}");
        assert!(inbound.min_ns[0] >= -admitted, "{inbound:?}");
        // Without them the error would be the whole of the longer direction.
        assert!(admitted < 200_000_000, "{admitted}");
        true
    });
    let source = a.counters.clock_source();
    assert_eq!(source.split(" + ").nth(1), Some("shared"));
}

/// Return a plan without meshes that measures `peer` on demand for `seconds` whole seconds from the next one on.
fn on_demand(vm_key: u32, rate_hz: u32, seconds: i64, peer: Peer) -> Plan {
    let now_ns = BackendClock::new().now_ns();
    let starts_at_ns = (now_ns / 1_000_000_000 + 2) * 1_000_000_000;
    let measurement = OnDemand {
        id: "m".into(),
        key: 7,
        rate_hz,
        loss_deadline_ms: 1_000,
        starts_at_ns,
        ends_at_ns: starts_at_ns + seconds * 1_000_000_000,
        probes: PathProbes::default(),
        peer,
    };
    let mut plan = plan(vm_key, 1, vec![]);
    plan.meshes.clear();
    plan.on_demand = vec![measurement];
    plan
}

/// What such a measurement reports, `interop/test_on_demand.py` compares with a delaybox.
#[test]
fn the_further_source_port_of_a_measurement_on_demand_closes_with_it() {
    let a = Agent::start(listen("127.77.15.1"));
    let b = Agent::start(listen("127.77.15.2"));
    let flows = |peer: Peer| Peer { flows: 2, ..peer };
    let mut to_b = on_demand(A, 32, 3, flows(peer(B, b.listen, Client)));
    let mut to_a = to_b.clone();
    to_a.vm_key = B;
    to_a.on_demand[0].peer = flows(peer(A, a.listen, Responder));
    b.follow(to_a);
    a.follow(to_b.clone());
    let window = a.next_on_demand();
    let further = (a.listen.address, window.ports[1]);
    assert!(UdpSocket::bind(further).is_err(), "it is open");
    to_b.on_demand.clear();
    a.follow(to_b);
    eventually("its further source port closed", || {
        UdpSocket::bind(further).is_ok()
    });
}

#[test]
fn stopping_reports_the_open_windows() {
    let (mut a, _b) = pair(10, 64);
    let completed = || count(&a.counters.exchanges_completed);
    eventually("some exchanges", || completed() > 20);
    std::thread::sleep(Duration::from_secs(4));
    let windows = a.finish();
    assert!(!windows.is_empty());
    assert_eq!(Loss::of(&windows).round_trip.1, 0);
}
