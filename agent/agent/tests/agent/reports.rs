//! Upload of reports to a backend that accepts them, is unreachable, or refuses them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prost::Message;

use crate::backend::{FakeBackend, Reply, Request, problem, reply};
use sinemora_agent::backoff::Backoff;
use sinemora_agent::counters::{Counters, EventKind};
use sinemora_agent::report::{Pace, RefusedReports, Spool, Uploader};
use sinemora_agent::stop::Stop;
use sinemora_agent::wire::{MeshWindow, Report};

const MS: Duration = Duration::from_millis(1);

/// An uploader with short pauses, and its spool.
struct World {
    folder: tempfile::TempDir,
    spool: Arc<Spool>,
    counters: Arc<Counters>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl World {
    fn new(backend: &FakeBackend, reports: &[(u64, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::open(&folder.path().join("spool"), 1 << 20).unwrap());
        for (sequence, report) in reports {
            spool.push(*sequence, report.as_bytes().to_vec());
        }
        let (counters, stop) = (Arc::new(Counters::default()), Stop::default());
        let uploader = Uploader {
            client: backend.client(),
            spool: Arc::clone(&spool),
            refused: RefusedReports::new(&folder.path().join("refused"), 10, 1 << 20),
            backend_clock: Arc::default(),
            counters: Arc::clone(&counters),
            pace: Pace {
                backoff: Backoff::new(MS, 5 * MS),
                locked: Duration::from_secs(3600),
                phase: Duration::ZERO,
                idle: 5 * MS,
            },
            stop: stop.clone(),
        };
        let thread = Some(std::thread::spawn(move || uploader.run()));
        Self {
            folder,
            spool,
            counters,
            stop,
            thread,
        }
    }

    fn finish(&mut self) {
        self.stop.set();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn body(request: &Request) -> &str {
    std::str::from_utf8(&request.body).unwrap()
}

#[test]
fn reports_go_oldest_first_and_leave_the_spool_when_acknowledged() {
    let backend = FakeBackend::start(|_| reply(204));
    let mut world = World::new(&backend, &[(2, "two"), (1, "one"), (3, "three")]);
    let requests = [backend.next(), backend.next(), backend.next()];
    assert_eq!(requests.each_ref().map(body), ["one", "two", "three"]);
    let headers = &requests[0].headers;
    assert_eq!(requests[0].path, "/v1/agents/self/reports");
    assert_eq!(headers["content-type"], "application/x-protobuf");
    assert_eq!(headers["content-encoding"], "zstd");
    assert_eq!(headers["authorization"], "Bearer sma_test");
    world.spool.push(4, b"four".to_vec());
    assert_eq!(body(&backend.next()), "four");
    world.finish();
    assert_eq!(world.spool.size(), (0, 0));
    assert_eq!(world.counters.reports_sent.load(Relaxed), 4);
    assert!(world.counters.last_report_at_s.load(Relaxed) > 0);
}

#[test]
fn a_busy_backend_gets_the_report_again_after_its_retry_after() {
    let backend = FakeBackend::by_turn(|asked| match asked {
        1 => problem(503, "database_unavailable", "The database is away.").with("Retry-After", &1),
        2 => problem(429, "queue_full", "Slower, please."),
        _ => reply(204),
    });
    let asked = Instant::now();
    let mut world = World::new(&backend, &[(1, "one"), (2, "two")]);
    let bodies: Vec<String> = (0..4).map(|_| body(&backend.next()).to_owned()).collect();
    assert!(asked.elapsed() >= Duration::from_secs(1), "Retry-After");
    assert_eq!(bodies, ["one", "one", "one", "two"]);
    world.finish();
    assert_eq!(world.spool.size().1, 0);
    assert_eq!(world.counters.upload_failures.load(Relaxed), 2);
}

#[test]
fn a_refused_report_is_kept_apart_and_reported_while_the_others_continue() {
    let backend = FakeBackend::start(|request| match request.body.as_slice() {
        b"two" => problem(422, "report_malformed", "peer_keys must ascend"),
        _ => reply(204),
    });
    let mut world = World::new(&backend, &[(1, "one"), (2, "two"), (3, "three")]);
    let event = &backend.next_to("POST", "/v1/agents/self/events").json()["events"][0];
    assert_eq!(event["kind"], "error");
    let detail = event["detail"]["message"].as_str().unwrap();
    let words = "report 2 was refused: HTTP 422 report_malformed: peer_keys must ascend";
    assert!(detail.contains(words), "{detail}");
    let third = backend.next_to("POST", "/v1/agents/self/reports");
    assert_eq!(body(&third), "three");
    world.finish();
    assert_eq!(world.spool.size().1, 0);
    assert_eq!(world.counters.reports_refused.load(Relaxed), 1);
    assert_eq!(world.counters.reports_sent.load(Relaxed), 2);
    let folder = world.folder.path().join("refused");
    let kept = folder.join("00000000000000000002.report");
    assert_eq!(std::fs::read(&kept).unwrap(), b"two");
    let why = std::fs::read_to_string(kept.with_extension("why")).unwrap();
    assert!(why.contains("peer_keys must ascend"), "{why}");
}

#[test]
fn a_report_that_a_proxy_finds_too_large_is_sent_in_parts() {
    let mesh_keys = |bytes: &[u8]| -> Vec<u32> {
        let plain = zstd::bulk::decompress(bytes, 1 << 20).unwrap();
        let report = Report::decode(plain.as_slice()).unwrap();
        report.windows.iter().map(|one| one.mesh_key).collect()
    };
    let backend = FakeBackend::start(move |request| {
        if request.path.ends_with("/reports") && mesh_keys(&request.body).len() > 1 {
            return Reply {
                body: "<h1>413 Request Entity Too Large</h1>".into(),
                ..reply(413)
            };
        }
        reply(204)
    });
    let windows = (1..=3).map(|mesh_key| MeshWindow {
        mesh_key,
        ..MeshWindow::default()
    });
    let report = Report {
        sequence: 1,
        windows: windows.collect(),
        ..Report::default()
    };
    let mut world = World::new(&backend, &[]);
    let bytes = zstd::bulk::compress(&report.encode_to_vec(), 3).unwrap();
    world.spool.push(1, bytes);
    let sent =
        [(); 5].map(|()| mesh_keys(&backend.next_to("POST", "/v1/agents/self/reports").body));
    assert_eq!(sent, [vec![1, 2, 3], vec![1], vec![2, 3], vec![2], vec![3]]);
    world.finish();
    assert_eq!(world.spool.size().1, 0);
    assert_eq!(world.counters.reports_refused.load(Relaxed), 0);
}

#[test]
fn a_revoked_agent_keeps_its_reports_and_retries_rarely() {
    let backend = FakeBackend::start(|_| problem(401, "agent_revoked", "This agent was revoked."));
    let mut world = World::new(&backend, &[(1, "one")]);
    backend.next();
    // At the rate of retries for a busy backend, some ten requests would arrive in this time.
    std::thread::sleep(50 * MS);
    world.finish();
    assert_eq!(backend.so_far().len(), 0);
    assert_eq!(world.spool.size().1, 1);
    assert_eq!(world.counters.reports_refused.load(Relaxed), 0);
}

#[test]
fn events_wait_for_an_unreachable_backend_and_are_sent_in_order() {
    let backend = FakeBackend::by_turn(|asked| reply(if asked <= 2 { 502 } else { 204 }));
    let mut world = World::new(&backend, &[]);
    let events = &world.counters.events;
    (0..150).for_each(|number| events.raise(EventKind::ClockStep, number, "x"));
    let mut received = 0;
    while received < 150 {
        let body = backend.next().json();
        let events = body["events"].as_array().unwrap();
        assert!(events.len() <= 100, "{}", events.len());
        if world.counters.upload_failures.load(Relaxed) < 2 || events[0]["at"] != at(received) {
            continue; // an attempt that failed
        }
        received += events.len();
    }
    world.finish();
    assert_eq!(world.counters.events.dropped(), 0);
}

fn at(number: usize) -> String {
    format!("1970-01-01T00:00:00.{number:09}Z")
}
