//! Enrolment with a backend that answers correctly, and with backends that fail in each way.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::backend::{FakeBackend, json, problem, reply};
use crate::process::free_ports;
use serde_json::{Value, json};
use sinemora_agent::config::{Config, Layers, Source, find};
use sinemora_agent::identity::Identity;
use sinemora_agent::run::enrol_only;

pub const ENROLLED: &str = r#"{"agent_id": "a-1", "vm_id": "v-1", "vm_key": 7, "tenant_id": "t-1",
    "credential": "sma_secret", "something_newer": 1}"#;

/// Return the configuration of an agent called db-1 with free ports; what is in `more` comes first.
pub fn config(backend: &str, state_dir: &Path, more: &[(&str, &str)]) -> Config {
    let mut layers = Layers::default();
    let state_dir = state_dir.to_str().unwrap();
    let ports = free_ports();
    let given = [
        ("event_port", ports[0].as_str()),
        ("general_port", &ports[1]),
        ("metrics_listen", "off"),
        ("backend", backend),
        ("token", "sme_0123456789"),
        ("state_dir", state_dir),
        ("name", "db-1"),
        ("cloud_metadata", "off"),
    ];
    for (key, text) in more.iter().chain(&given) {
        layers.add(find(key).unwrap(), *text, Source::Flag);
    }
    Config::resolve(&layers, "host").unwrap()
}

#[test]
fn a_token_becomes_a_private_identity() {
    let backend = FakeBackend::start(|_| json(201, &serde_json::from_str(ENROLLED).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let zone = [
        ("zone_provider", "aws"),
        ("zone_region", "eu-west-1"),
        ("zone_name", "eu-west-1a"),
    ];
    let config = config(&backend.url, folder.path(), &zone);
    let identity = enrol_only(&config, false).unwrap();
    assert_eq!((identity.agent_id.as_str(), identity.vm_key), ("a-1", 7));
    assert_eq!(Identity::load(folder.path()).unwrap(), Some(identity));
    let file = std::fs::metadata(folder.path().join("identity.json")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);

    let body = backend.next_to("POST", "/v1/agents/enrol").json();
    let expected = json!({
        "token": "sme_0123456789", "hostname": "db-1", "probe_address": "127.0.0.1",
        "zone": {"provider": "aws", "region": "eu-west-1", "name": "eu-west-1a"},
        "event_port": config.event_port, "general_port": config.general_port, "agent_version": env!("CARGO_PKG_VERSION"),
        "description": body["description"],
    });
    assert_eq!(body, expected);
    let kernel = body["description"]["kernel"].as_str();
    assert!(kernel.is_some_and(|kernel| !kernel.is_empty()));

    let error = enrol_only(&config, false).unwrap_err();
    let words = "--force enrols it again";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(error.exit_code(), 2);
    enrol_only(&config, true).unwrap();
}

#[test]
fn every_refusal_names_the_remedy() {
    let mut outside: Value = serde_json::from_str(ENROLLED).unwrap();
    outside["vm_id"] = json!("../../etc");
    // A captive portal, or the maintenance page of a proxy.
    let page = reply(200).with("Content-Type", "text/html");
    let away = problem(503, "database_unavailable", "Try later.");
    let moved = reply(302).with("Location", "https://elsewhere.example/");
    let answers = [
        (json(201, &outside), "one of a Sinemora backend (vm_id"),
        (page, "a proxy or a portal may answer in its place"),
        (away, "cannot enrol now: HTTP 503 database_unavailable"),
        (moved, "set `backend` to the URL of the backend itself"),
        (
            json(201, &json!({"hello": "world"})),
            "or `backend` is wrong",
        ),
    ]
    .map(|(answer, words)| (answer, 1, words));
    let refusals = [
        (401, "enrolment_token_unknown", "whole token was copied"),
        (401, "enrolment_token_used", "Create a new token"),
        (401, "enrolment_token_expired", "Create a new token"),
        (409, "vm_has_agent", "Revoke the old agent of this VM"),
        (422, "invalid", "its detail"),
    ]
    .map(|(status, code, words)| (problem(status, code, "its detail"), 3, words));
    for (answer, exit_code, expected) in answers.into_iter().chain(refusals) {
        let reply = answer.clone();
        let backend = FakeBackend::start(move |_| reply.clone());
        let folder = tempfile::tempdir().unwrap();
        let error = enrol_only(&config(&backend.url, folder.path(), &[]), false).unwrap_err();
        assert!(error.to_string().contains(expected), "{answer:?}: {error}");
        assert_eq!(error.exit_code(), exit_code, "{error}");
        assert_eq!(Identity::load(folder.path()).unwrap(), None);
    }
}

#[test]
fn a_disk_that_cannot_be_written_is_detected_before_the_token_is_used_up() {
    let backend = FakeBackend::start(|_| json(201, &serde_json::from_str(ENROLLED).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    // A folder has the name of the trial file, so that even root cannot write it.
    std::fs::create_dir(folder.path().join("trial.tmp")).unwrap();
    let error = enrol_only(&config(&backend.url, folder.path(), &[]), false).unwrap_err();
    assert!(error.to_string().starts_with("state_dir "), "{error}");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(backend.so_far().len(), 0);
}

#[test]
fn a_port_of_another_program_is_detected_before_the_token_is_used_up() {
    let backend = FakeBackend::start(|_| json(201, &serde_json::from_str(ENROLLED).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let taken = config(&backend.url, folder.path(), &[("general_port", &port)]);
    let error = enrol_only(&taken, false).unwrap_err().to_string();
    assert!(error.contains("is in use by another program"), "{error}");

    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let taken = config(&backend.url, folder.path(), &[("metrics_listen", &address)]);
    let error = enrol_only(&taken, false).unwrap_err().to_string();
    assert!(error.starts_with("metrics_listen 127.0.0.1:"), "{error}");
    assert!(error.contains("set it to off"), "{error}");

    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(backend.so_far().len(), 0);
    enrol_only(&config(&backend.url, folder.path(), &[]), false).unwrap();
}
