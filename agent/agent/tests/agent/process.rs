//! The binary: its start, its output and its exit codes.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::backend::{FakeBackend, PATIENCE, Reply, Request, json, problem, reply};

/// Return a command of the agent with settings for a test: free ports, a separate folder, no file, no metrics.
pub fn agent(task: &str, state_dir: &Path, settings: Settings<'_>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinemora-agent"));
    let ports = free_ports();
    command
        .env_clear()
        .arg(task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let own = [
        ("state_dir", state_dir.to_str().unwrap()),
        ("listen_address", "127.0.0.1"),
        ("event_port", &ports[0]),
        ("general_port", &ports[1]),
        ("metrics_listen", "off"),
        ("log_format", "json"),
        ("cloud_metadata", "off"),
    ];
    for (key, value) in own.iter().chain(settings) {
        command.env(format!("SINEMORA_AGENT_{}", key.to_uppercase()), value);
    }
    command
}

pub fn free_ports() -> [String; 2] {
    let sockets = [(); 2].map(|()| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port().to_string())
}

type Settings<'a> = &'a [(&'a str, &'a str)];

/// Return the settings of an agent that enrols at a backend.
fn enrols_at(backend: &FakeBackend) -> [(&str, &str); 2] {
    [("backend", &backend.url), ("token", "sme_0123456789")]
}

/// A process that does not outlive its test.
pub struct Running(Child);

impl Running {
    pub fn start(command: &mut Command) -> (Self, Receiver<Value>) {
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let output = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(output).is_err() {
                    break;
                }
            }
        });
        (Self(child), lines)
    }

    pub fn signal(&self, signal: &str) {
        // The shell's own: a minimal system has no program of this name.
        let status = Command::new("sh")
            .args(["-c", "kill \"$@\"", "sh", signal, &self.0.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// What every user of the machine can read of it.
    fn command_line(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/cmdline", self.0.id())).unwrap()
    }

    pub fn exit_code(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    /// Send it a signal, by which it ends without an error.
    pub fn ends_by(self, signal: &str) {
        self.signal(signal);
        assert_eq!(self.exit_code(), Some(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn wait_for(lines: &Receiver<Value>, words: &str) -> Value {
    loop {
        let line = lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("no line contains {words:?}"));
        if line.to_string().contains(words) {
            return line;
        }
    }
}

fn ends(command: &mut Command) -> (Option<i32>, String) {
    let done = command.output().unwrap();
    let printed = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(printed).unwrap())
}

/// Start a backend that enrols, plans no peers, and accepts every report.
pub fn kind(request: &Request) -> Reply {
    match request.to() {
        ("POST", "/v1/agents/enrol") => json(
            201,
            &json!({"agent_id": "a-1", "vm_id": "v-1", "vm_key": 7, "tenant_id": "t-1", "credential": "sma_secret"}),
        ),
        ("GET", "/v1/agents/self/plan") if request.headers.contains_key("if-none-match") => {
            reply(304)
        }
        ("GET", "/v1/agents/self/plan") => json(
            200,
            &json!({"revision": "r", "agent_id": "a-1", "vm_key": 7, "server_time_ns": 1_795_000_000_000_000_000_i64,
                    "caps": {"packets_per_s": 1, "peers": 1}, "spike_threshold_ns": 1, "meshes": []}),
        ),
        _ => reply(204),
    }
}

#[test]
fn enrols_at_its_first_start_and_remembers_it() {
    let backend = FakeBackend::start(kind);
    let folder = tempfile::tempdir().unwrap();
    let token = enrols_at(&backend);
    let (process, lines) = Running::start(&mut agent("run", folder.path(), &token));
    wait_for(&lines, "enrolled");
    wait_for(&lines, "new plan");
    let described = backend.next_to("PATCH", "/v1/agents/self").json();
    assert_eq!(described["probe_address"], "127.0.0.1");
    process.ends_by("-TERM");

    let (process, lines) = Running::start(&mut agent("run", folder.path(), &[]));
    wait_for(&lines, "the plan of the last run");
    wait_for(&lines, "windows follow the backend's clock");
    let asked = backend.so_far();
    let mut paths = asked.iter().map(|request| request.path.as_str());
    assert!(paths.all(|path| path != "/v1/agents/enrol"));
    let last = asked.last().unwrap();
    assert_eq!(last.headers["authorization"], "Bearer sma_secret");
    let second = ends(&mut agent("run", folder.path(), &[]));
    assert_eq!(second.0, Some(1));
    assert!(second.1.contains("in use by another agent"), "{}", second.1);
    process.ends_by("-INT");
}

#[test]
fn a_stop_is_told_to_the_backend_and_a_retired_agent_forgets_its_identity() {
    let backend = FakeBackend::start(kind);
    let folder = tempfile::tempdir().unwrap();
    let token = enrols_at(&backend);
    let nothing = ends(&mut agent("retire", folder.path(), &token));
    assert_eq!(nothing.0, Some(0));
    assert!(nothing.1.contains("not enrolled"), "{}", nothing.1);

    let (process, lines) = Running::start(&mut agent("run", folder.path(), &token));
    wait_for(&lines, "new plan");
    process.ends_by("-TERM");
    let told = backend.next_to("POST", "/v1/agents/self/events").json();
    assert_eq!(told["events"][0]["kind"], "stopping");

    // Beside a running agent, as a hook before the end of a VM does.
    let (process, lines) = Running::start(&mut agent("run", folder.path(), &[]));
    wait_for(&lines, "the plan of the last run");
    let retired = ends(&mut agent("retire", folder.path(), &[]));
    assert_eq!(retired.0, Some(0), "{}", retired.1);
    let asked = backend.next_to("DELETE", "/v1/agents/self");
    assert_eq!(asked.headers["authorization"], "Bearer sma_secret");
    assert!(!folder.path().join("identity.json").exists());
    process.ends_by("-TERM");
}

#[test]
fn a_stop_does_not_wait_for_a_backend_that_is_away() {
    let backend = FakeBackend::start(|request| match request.path.as_str() {
        "/v1/agents/self/events" => {
            std::thread::sleep(PATIENCE);
            reply(204)
        }
        _ => kind(request),
    });
    let folder = tempfile::tempdir().unwrap();
    let token = enrols_at(&backend);
    let (process, lines) = Running::start(&mut agent("run", folder.path(), &token));
    wait_for(&lines, "new plan");
    let began = std::time::Instant::now();
    process.signal("-TERM");
    wait_for(&lines, "does not know of this stop");
    assert_eq!(process.exit_code(), Some(0));
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_token_of_the_command_line_is_not_seen_while_the_agent_runs() {
    let backend = FakeBackend::start(kind);
    let folder = tempfile::tempdir().unwrap();
    let url = [("backend", backend.url.as_str())];
    let mut command = agent("run", folder.path(), &url);
    let (process, lines) =
        Running::start(command.args(["--token", "sme_0123456789", "--name=db-1"]));
    wait_for(&lines, "enrolled");
    let line = process.command_line();
    assert!(line.contains("--name=db-1"), "{line}");
    assert!(!line.contains("sme_"), "{line}");
    process.ends_by("-TERM");

    let wrong = ends(agent("run", folder.path(), &url).args(["--token", "0123456789"]));
    assert_eq!(wrong.0, Some(2));
    assert!(wrong.1.contains("--token"), "{}", wrong.1);
    assert!(!wrong.1.contains("0123456789"), "{}", wrong.1);
}

#[test]
fn waits_for_an_unreachable_backend_at_its_first_start_and_can_be_stopped() {
    let backend = FakeBackend::start(|_| {
        problem(503, "database_unavailable", "Later.").with("Retry-After", "600")
    });
    let folder = tempfile::tempdir().unwrap();
    let token = enrols_at(&backend);
    let (process, lines) = Running::start(&mut agent("run", folder.path(), &token));
    let output = wait_for(&lines, "not enrolled yet");
    assert!(output["again_in_s"].as_f64().unwrap() >= 600.0, "{output}");
    process.ends_by("-TERM");
}

#[test]
fn fails_with_an_exit_code_and_a_message() {
    let refusing =
        FakeBackend::start(|_| problem(401, "enrolment_token_used", "It was used before."));
    let folder = tempfile::tempdir().unwrap();
    let with_token = enrols_at(&refusing);
    let port = "SINEMORA_AGENT_EVENT_PORT must be a port from 1 to 65535 (given: \"x\")";
    let unset = "backend is not set, and this agent is not enrolled yet";
    let unknown = "SINEMORA_AGENT_EVNT_PORT is not a setting";
    let used = "It was used before. Create a new token";
    let cases: [(&str, Settings<'_>, i32, &str); 5] = [
        ("run", &[], 2, unset),
        ("run", &[("event_port", "x")], 2, port),
        ("run", &[("evnt_port", "1")], 2, unknown),
        ("run", &with_token, 3, used),
        ("enrol", &with_token, 3, used),
    ];
    for (task, settings, code, expected) in cases {
        let (status, output) = ends(&mut agent(task, folder.path(), settings));
        assert_eq!(status, Some(code), "{task} {settings:?}: {output}");
        assert!(output.contains(expected), "{task} {settings:?}: {output}");
        assert!(!output.contains("sme_0123456789"), "{output}");
    }
}

#[test]
fn a_panic_in_a_thread_ends_the_process() {
    const ASKED: &str = "SINEMORA_TEST_PANIC";
    if std::env::var_os(ASKED).is_some() {
        sinemora_agent::program::end_on_panic();
        let _ = std::thread::spawn(|| panic!("on purpose")).join();
        // Without the end of the process, the test in it passes.
        return;
    }
    let name = "process::a_panic_in_a_thread_ends_the_process";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ASKED, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr).into_owned();
    assert_eq!(child.status.signal(), Some(6), "SIGABRT: {text}");
    assert!(text.contains("on purpose"), "{text}");
}

#[test]
fn check_distinguishes_a_ready_machine() {
    let backend = FakeBackend::start(|_| json(200, &json!({"status": "ready"})));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.toml");
    let text = "zone_name = 'a'\nzone_region = 'file'\nname = 'file'\n";
    std::fs::write(&file, format!("backend = '{}'\n{text}", backend.url)).unwrap();
    let file = file.to_str().unwrap();
    let settings = [
        ("config", file),
        ("token", "sme_0123456789"),
        ("zone_region", "environment"),
        ("name", "environment"),
    ];
    let mut check = agent("check", folder.path(), &settings);
    let (status, output) = ends(check.args(["--name", "flag"]));
    assert_eq!(status, Some(0), "{output}");
    for words in [
        &format!("zone_name       a ({file})"),
        "zone_region     environment (environment)",
        "name            flag (flag)",
        "The agent can run.",
        "is ready (",
    ] {
        assert!(output.contains(words), "{words:?} not in {output}");
    }
    assert!(!output.contains("sme_0123456789"), "{output}");

    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let settings = [("config", file), ("event_port", &port)];
    let (status, output) = ends(&mut agent("check", folder.path(), &settings));
    assert_eq!(status, Some(1), "{output}");
    for words in [
        "WRONG event_port",
        "another program uses it",
        "WRONG identity",
    ] {
        assert!(output.contains(words), "{words:?} not in {output}");
    }
}

#[test]
fn check_does_not_take_any_page_for_the_backend() {
    let portal = FakeBackend::start(|_| reply(200).with("Content-Type", "text/html"));
    let folder = tempfile::tempdir().unwrap();
    let settings = enrols_at(&portal);
    let (status, output) = ends(&mut agent("check", folder.path(), &settings));
    assert_eq!(status, Some(1), "{output}");
    assert!(output.contains("not of a Sinemora backend"), "{output}");
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = agent("check", folder.path(), &[("backend", "http://127.0.0.1:1")])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1));
    assert!(!output.contains("panicked"), "{output}");
}
