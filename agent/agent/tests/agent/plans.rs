//! Polling for the plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::backend::{FakeBackend, PATIENCE, Reply, json, problem, reply};
use serde_json::json;
use sinemora_agent::backoff::Backoff;
use sinemora_agent::config::LocalLimits;
use sinemora_agent::counters::Counters;
use sinemora_agent::plan::{BackendClock, PassedPlan, Plan, PlanCache, PlanTag, PollPace, Poller};
use sinemora_agent::stop::Stop;

const MS: Duration = Duration::from_millis(1);
const HOUR_NS: i64 = 3_600_000_000_000;

/// An agent that polls for its plan, and its backend.
struct World {
    backend: FakeBackend,
    folder: Arc<TempDir>,
    plans: Receiver<PassedPlan>,
    plan_tag: PlanTag,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl World {
    fn new(backend: FakeBackend) -> Self {
        Self::after(&Arc::new(tempfile::tempdir().unwrap()), backend)
    }

    /// Answer the first request with `reply(1)`, the second with `reply(2)`, and so on.
    fn by_turn(reply: impl FnMut(u32) -> Reply + Send + 'static) -> Self {
        Self::new(FakeBackend::by_turn(reply))
    }

    /// Start with the state that another world has left.
    fn after(folder: &Arc<TempDir>, backend: FakeBackend) -> Self {
        let (sender, plans) = channel();
        let backend_clock = Arc::new(BackendClock::new());
        let (counters, stop) = (Arc::default(), Stop::default());
        let plan_tag = PlanTag::default();
        let poller = Poller {
            client: backend.client(),
            agent_id: "a-1".into(),
            cache: PlanCache::new(folder.path()),
            limits: LocalLimits::default(),
            plans: sender,
            peers: Arc::default(),
            backend_clock: Arc::clone(&backend_clock),
            plan_tag: plan_tag.clone(),
            counters: Arc::clone(&counters),
            pace: PollPace {
                backoff: Backoff::new(MS, 5 * MS),
                gap: MS,
                locked: 2 * MS,
            },
            stop: stop.clone(),
        };
        let thread = Some(std::thread::spawn(move || poller.run()));
        Self {
            backend,
            folder: Arc::clone(folder),
            plans,
            plan_tag,
            backend_clock,
            counters,
            stop,
            thread,
        }
    }

    /// Return the next plan, and follow it.
    fn next(&self) -> Arc<Plan> {
        let passed = self.passed();
        let plan = Arc::clone(&passed.plan);
        passed.followed();
        plan
    }

    fn passed(&self) -> PassedPlan {
        self.plans.recv_timeout(PATIENCE).unwrap()
    }

    /// Return the folder of an agent that has followed a plan and stopped.
    fn left() -> Arc<TempDir> {
        let world = Self::new(FakeBackend::start(|_| plan("r1", 8)));
        world.next();
        Arc::clone(&world.folder)
    }

    fn stop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

fn plan(revision: &str, rate_hz: u32) -> Reply {
    plan_ahead(revision, rate_hz, HOUR_NS)
}

fn plan_ahead(revision: &str, rate_hz: u32, ahead_ns: i64) -> Reply {
    let body = json!({
        "revision": revision, "agent_id": "a-1", "vm_key": 7, "server_time_ns": BackendClock::new().now_ns() + ahead_ns,
        "caps": {"packets_per_s": 20000, "peers": 2000}, "spike_threshold_ns": 500_000,
        "meshes": [{"id": "m", "key": 1, "name": "demo", "window_s": 10, "rate_hz": rate_hz, "loss_deadline_ms": 1000,
                    "peers": []}],
    });
    json(200, &body).with("ETag", &format!("\"{revision}\""))
}

#[test]
fn a_new_plan_is_passed_on_once_and_polled_by_its_etag() {
    let world = World::by_turn(|asked| match asked {
        1..=3 => plan("r1", 8),
        4..=6 => reply(304),
        _ => plan("r2", 16),
    });
    assert_eq!(world.next().meshes[0].rate_hz, 8);
    // An unchanged plan is not passed on again.
    assert_eq!(world.next().meshes[0].rate_hz, 16);
    let requests: Vec<_> = (0..7).map(|_| world.backend.next()).collect();
    assert_eq!(requests[0].path, "/v1/agents/self/plan?wait_s=0");
    assert_eq!(requests[0].headers.get("if-none-match"), None);
    // Two quick polls measure the round trip.
    assert_eq!(requests[2].path, "/v1/agents/self/plan?wait_s=25");
    assert_eq!(requests[2].headers["if-none-match"], "\"r1\"");
    assert_eq!(world.counters.plan_failures.load(Relaxed), 0);
}

#[test]
fn a_plan_is_named_only_once_it_is_in_force() {
    let world = World::by_turn(|asked| match asked {
        1 => plan("r1", 8),
        _ => plan("r2", 16),
    });
    world.next();
    let passed = world.passed();
    std::thread::sleep(20 * MS);
    let polls = world.backend.so_far();
    let named = polls.iter().map(|poll| poll.headers.get("if-none-match"));
    let named: Vec<_> = named.map(|tag| tag.map(String::as_str)).collect();
    assert_eq!(named, [None, Some("\"r1\"")]);
    assert_eq!(world.plan_tag.get().as_deref(), Some("\"r1\""));
    passed.followed();
    assert_eq!(world.backend.next().headers["if-none-match"], "\"r2\"");
    assert_eq!(world.plan_tag.get().as_deref(), Some("\"r2\""));
}

#[test]
fn an_agent_stops_while_no_plan_is_followed() {
    let mut world = World::new(FakeBackend::start(|_| plan("r1", 8)));
    let passed = world.passed();
    world.stop();
    drop(passed);
    assert_eq!(world.backend.so_far().len(), 1);
}

#[test]
fn windows_follow_the_backends_clock_without_a_new_plan() {
    let hours = Arc::new(AtomicI64::new(2));
    let now = Arc::clone(&hours);
    let backend = FakeBackend::start(move |request| {
        let now_ns = BackendClock::new().now_ns();
        match request.headers.contains_key("if-none-match") {
            false => plan("r1", 8).with("Sinemora-Time-Ns", &(now_ns + HOUR_NS)),
            true => reply(304).with("Sinemora-Time-Ns", &(now_ns + now.load(Relaxed) * HOUR_NS)),
        }
    });
    let world = World::new(backend);
    world.next();
    let follows = |lead_ns: i64| {
        let from = Instant::now();
        while (world.backend_clock.lead_ns() - lead_ns).abs() > 500_000_000 {
            assert!(from.elapsed() < PATIENCE, "{lead_ns} ns");
            std::thread::yield_now();
        }
    };
    follows(2 * HOUR_NS);
    assert!(world.counters.events.take(1).is_empty());
    hours.store(1, Relaxed);
    follows(HOUR_NS);
    let from = Instant::now();
    let mut told = Vec::new();
    while told.is_empty() && from.elapsed() < PATIENCE {
        told = world.counters.events.take(1);
    }
    let said = &told.first().expect("an event").detail;
    assert!(said.contains("clock was set back by 3"), "{said}");
    assert!(said.contains("repeat a time"), "{said}");
}

#[test]
fn a_vm_whose_own_clock_is_ahead_reports_no_step_of_the_backends() {
    // A proxy drops the header with the time, so the first answer shows it in the plan alone.
    let world = World::by_turn(|asked| match asked {
        1 => plan_ahead("r1", 8, -HOUR_NS),
        _ => reply(304),
    });
    world.next();
    (0..5).for_each(|_| _ = world.backend.next());
    assert!(world.backend_clock.lead_ns() < -HOUR_NS / 2);
    assert!(world.counters.events.take(1).is_empty());
}

#[test]
fn the_last_plan_is_in_force_while_the_backend_is_unreachable() {
    let world = World::after(&World::left(), FakeBackend::start(|_| reply(502)));
    assert_eq!(world.next().revision, "r1");
    world.backend.next();
    world.backend.next();
    assert!(!world.backend_clock.is_known());
}

#[test]
fn a_time_that_no_clock_shows_is_refused_and_the_agent_lives_on() {
    let world = World::by_turn(|asked| match asked {
        1 => {
            let mut body: serde_json::Value = serde_json::from_str(&plan("r1", 8).body).unwrap();
            body["server_time_ns"] = json!(i64::MAX);
            json(200, &body)
        }
        2 => plan("r2", 8)
            .with("Sinemora-Time-Ns", &i64::MAX)
            .with("Sinemora-Held-Ns", &i64::MIN),
        _ => plan("r3", 8),
    });
    let revisions = [world.next(), world.next()].map(|plan| plan.revision.clone());
    assert_eq!(revisions, ["r2", "r3"]);
    assert_eq!(world.counters.plan_failures.load(Relaxed), 1);
}

#[test]
fn an_invalid_plan_changes_nothing() {
    let world = World::by_turn(|asked| match asked {
        1 => plan("r1", 8),
        2 => plan("r2", 7),
        3 => json(200, &json!({"revision": "r3"})),
        _ => plan("r4", 32),
    });
    let revisions = [world.next(), world.next()].map(|plan| plan.revision.clone());
    assert_eq!(revisions, ["r1", "r4"]);
    assert_eq!(world.counters.plan_failures.load(Relaxed), 2);
}

#[test]
fn a_revoked_agent_measures_nothing_until_it_is_admitted_again() {
    let world = World::by_turn(|asked| match asked {
        1 | 2 | 6.. => plan("r1", 8),
        _ => problem(401, "agent_revoked", "This agent was revoked."),
    });
    assert_eq!(world.next().revision, "r1");
    assert_eq!(*world.next(), Plan::idle());
    // The idle plan is passed on once, then the plan again.
    assert_eq!(world.next().revision, "r1");
    let requests = [(); 6].map(|()| world.backend.next());
    let tagged = requests.map(|request| request.headers.contains_key("if-none-match"));
    assert_eq!(tagged, [false, true, true, false, false, false]);
    assert!(!world.counters.credential_refused.load(Relaxed));
}

#[test]
fn a_revoked_agent_does_not_measure_after_a_restart_either() {
    let revoking = FakeBackend::start(|_| problem(401, "agent_revoked", "This agent was revoked."));
    let mut world = World::after(&World::left(), revoking);
    assert_eq!(world.next().revision, "r1");
    assert_eq!(*world.next(), Plan::idle());
    assert!(world.counters.credential_refused.load(Relaxed));
    world.stop();
    assert_eq!(PlanCache::new(world.folder.path()).load("a-1"), None);
}
