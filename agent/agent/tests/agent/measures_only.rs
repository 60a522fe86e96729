//! The agent measures, and nothing else: it opens no TCP port and has no code that changes a queue.

use serde_json::json;

use crate::backend::{FakeBackend, Reply, Request, json};
use crate::process::{Running, agent, kind, wait_for};

/// State of a listening socket in `/proc/net/tcp` (`TCP_LISTEN`, include/net/tcp_states.h).
const LISTEN: &str = "0A";

/// Return the addresses at which a process listens, as `/proc/net/tcp` writes them.
fn listening(process: u32) -> Vec<String> {
    let own: Vec<String> = std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    let mut addresses = Vec::new();
    for table in ["tcp", "tcp6"] {
        let path = format!("/proc/{process}/net/{table}");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for row in text.lines().skip(1) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let is_own = own.contains(&format!("socket:[{}]", columns[9]));
            if columns[3] == LISTEN && is_own {
                addresses.push(columns[1].to_owned());
            }
        }
    }
    addresses
}

/// Plans no peers, and an order of the bulk sender that made earlier agents listen.
fn with_an_order(request: &Request) -> Reply {
    let order = json!({
        "id": "o-1", "secret": "00".repeat(32), "starts_at_ns": 0, "ends_at_ns": i64::MAX,
        "steps": [{"index": 0, "phase": 0, "role": "receiver", "address": "127.0.0.2", "port": 8422, "bytes": 1000,
                   "connections": 1}],
    });
    let plan = json!({
        "revision": "r", "agent_id": "a-1", "vm_key": 7, "server_time_ns": 1, "spike_threshold_ns": 1, "meshes": [],
        "caps": {"packets_per_s": 1, "peers": 1}, "bulk": [order],
    });
    let is_first = !request.headers.contains_key("if-none-match");
    match request.path.split('?').next() {
        Some("/v1/agents/self/plan") if is_first => json(200, &plan),
        _ => kind(request),
    }
}

#[test]
fn no_plan_and_no_setting_of_transfers_makes_it_listen() {
    let backend = FakeBackend::start(with_an_order);
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("backend", backend.url.as_str()),
        ("token", "sme_0123456789"),
        ("artifacts", "true"),
        ("bulk_sender", "true"),
    ];
    let mut command = agent("run", folder.path(), &settings);
    // The test's own `off`: the default must be as closed.
    command.env_remove("SINEMORA_AGENT_METRICS_LISTEN");
    let (running, lines) = Running::start(&mut command);
    wait_for(&lines, "sinemora-transfer");
    wait_for(&lines, "new plan");
    // An agent of earlier versions listened within a second of the plan.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(listening(running.id()), [] as [String; 0]);
    // The lists are read: this process listens for the backend.
    assert!(!listening(std::process::id()).is_empty());
}

#[test]
fn it_has_no_code_of_the_guard() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_sinemora-agent")).unwrap();
    let contains = |words: &[u8]| binary.windows(words.len()).any(|part| part == words);
    assert!(contains(b"metrics_listen"), "the binary can be searched");
    // What every guard needs: the name of Linux's queueing disciplines, and that of its classifier.
    assert!(!contains(b"qdisc"));
    assert!(!contains(b"sinemora_egress"));
}
