//! Two real agents on loopback, from enrolment to reports: every measured window reaches the backend once, even if the
//! backend fails and an agent is killed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prost::Message;
use serde_json::{Value, json};
use sinemora_agent::plan::BackendClock;
use sinemora_agent::wire::Report;

use crate::backend::{FakeBackend, PATIENCE, Reply, Request, json, problem, reply};
use crate::process::{Running, agent, free_ports};
use crate::support::{MESH, check_shape};

const CLIENT: u32 = 1;
const RESPONDER: u32 = 2;

/// A backend of a mesh of two with windows of 1 s. It keeps acknowledged reports by agent, and fails on request.
#[derive(Default)]
struct Mesh {
    ports: BTreeMap<u32, [Value; 2]>,
    reports: BTreeMap<u32, Vec<Report>>,
    stumbles: bool,
}

impl Mesh {
    fn answer(&mut self, request: &Request) -> Reply {
        let credential = request.headers.get("authorization");
        let caller = credential.map_or(0, |credential| {
            credential.rsplit('_').next().unwrap().parse().unwrap()
        });
        match request.to() {
            ("POST", "/v1/agents/enrol") => {
                let about = request.json();
                let is_client = about["hostname"] == "client";
                let key = if is_client { CLIENT } else { RESPONDER };
                let ports = ["event_port", "general_port"].map(|name| about[name].clone());
                self.ports.insert(key, ports);
                let (agent_id, vm_id) = (format!("a-{key}"), format!("v-{key}"));
                let enrolled = json!({
                    "agent_id": agent_id, "vm_id": vm_id, "vm_key": key, "tenant_id": "t", "credential": format!("sma_{key}"),
                });
                json(201, &enrolled)
            }
            ("GET", "/v1/agents/self/plan") => self.plan(caller),
            ("POST", "/v1/agents/self/reports") if self.stumbles => {
                problem(503, "database_unavailable", "Later.")
            }
            ("POST", "/v1/agents/self/reports") => {
                let bytes = zstd::bulk::decompress(&request.body, 1 << 20).unwrap();
                let report = Report::decode(bytes.as_slice()).unwrap();
                self.reports.entry(caller).or_default().push(report);
                reply(204)
            }
            _ => reply(204),
        }
    }

    fn plan(&self, caller: u32) -> Reply {
        let (peer, role) = if caller == CLIENT {
            (RESPONDER, "client")
        } else {
            (CLIENT, "responder")
        };
        let peers = self.ports.get(&peer).map(|[event_port, general_port]| {
            json!({"vm_key": peer, "name": "peer", "address": "127.0.0.1", "event_port": event_port,
                   "general_port": general_port, "role": role, "flows": 1})
        });
        let revision = if peers.is_some() { "both" } else { "alone" };
        let body = json!({
            "revision": revision, "agent_id": format!("a-{caller}"), "vm_key": caller,
            "server_time_ns": BackendClock::new().now_ns(), "caps": {"packets_per_s": 20000, "peers": 2000},
            "spike_threshold_ns": 500_000_000,
            "meshes": [{"id": "m", "key": MESH, "name": "pair", "window_s": 1, "rate_hz": 16, "loss_deadline_ms": 200,
                        "peers": peers.into_iter().collect::<Vec<_>>()}],
        });
        json(200, &body)
    }

    fn measured(&self) -> usize {
        self.reports.get(&CLIENT).map_or(0, |reports| {
            let windows = reports.iter().flat_map(|report| &report.windows);
            let trips = windows.filter_map(|window| window.round_trip.as_ref());
            trips.filter(|r| r.count.iter().any(|n| *n > 0)).count()
        })
    }
}

fn wait_until(mesh: &Mutex<Mesh>, what: &str, holds: impl Fn(&Mesh) -> bool) {
    let from = Instant::now();
    while !holds(&mesh.lock().unwrap()) {
        assert!(from.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_measured_arrives_once_and_in_order() {
    let mesh = Arc::new(Mutex::new(Mesh::default()));
    let serving = Arc::clone(&mesh);
    let backend = FakeBackend::start(move |request| serving.lock().unwrap().answer(request));
    let folder = tempfile::tempdir().unwrap();
    let ports = [free_ports(), free_ports()];
    let start = |name: &str, ports: &[String; 2]| {
        let settings = [
            ("backend", backend.url.as_str()),
            ("token", "sme_0123456789"),
            ("name", name),
            ("event_port", &ports[0]),
            ("general_port", &ports[1]),
        ];
        // Their logs have no reader: a closed pipe must not end the agent.
        Running::start(&mut agent("run", &folder.path().join(name), &settings)).0
    };
    let responder = start("responder", &ports[1]);
    let client = start("client", &ports[0]);
    wait_until(&mesh, "two measured windows", |mesh| mesh.measured() >= 2);

    mesh.lock().unwrap().stumbles = true;
    let spool = folder.path().join("client/spool/v-1");
    let waiting = || {
        let files = std::fs::read_dir(&spool).unwrap();
        files
            .filter(|e| is_report(&e.as_ref().unwrap().path()))
            .count()
    };
    wait_until(&mesh, "two spooled reports", |_| waiting() >= 2);
    client.signal("-KILL");
    client.exit_code();
    let client = start("client", &ports[0]);
    mesh.lock().unwrap().stumbles = false;
    let before = mesh.lock().unwrap().measured();
    wait_until(&mesh, "four more windows", |mesh| {
        mesh.measured() >= before + 4
    });
    client.ends_by("-TERM");
    responder.ends_by("-TERM");

    let mesh = mesh.lock().unwrap();
    let reports = &mesh.reports[&CLIENT];
    let sequences: Vec<u64> = reports.iter().map(|report| report.sequence).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    let windows: Vec<_> = reports
        .iter()
        .flat_map(|report| &report.windows)
        .filter(|w| !w.peer_keys.is_empty())
        .collect();
    windows
        .iter()
        .for_each(|window| check_shape(window, RESPONDER));
    // A request that is due at the edge of a window may leave on either side of it.
    let counts = windows
        .iter()
        .map(|window| window.round_trip.as_ref().unwrap().count[0]);
    let full = counts.filter(|count| (15..=17).contains(count)).count();
    assert!(full >= 2, "{full} windows of 16 exchanges in a second");
    let health = reports.last().unwrap().health.as_ref().unwrap();
    assert_eq!((health.reports_dropped, health.reports_refused), (0, 0));
    // Responses to the killed client may reach the new one, which did not request them.
    let rejected = health.packets_rejected;
    assert!(rejected <= 8, "{rejected} rejected");
}

fn is_report(path: &std::path::Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "report")
}
