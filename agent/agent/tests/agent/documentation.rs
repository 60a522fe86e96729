//! `docs/agent.md` lists every setting with its default, `docs/agent-measurements.md` every metric.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use sinemora_agent::config::SETTINGS;
use sinemora_agent::metrics::MetricsServer;
use sinemora_agent::plan::{BackendClock, TimedAnswer};

fn documentation(page: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(folder.join(page)).unwrap()
}

#[test]
fn every_setting_is_explained_with_its_default() {
    let text = documentation("agent.md");
    for setting in SETTINGS {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", setting.key)));
        let row = row
            .unwrap_or_else(|| panic!("{} has no row", setting.key))
            .replace('`', "");
        let default = row.split('|').nth(2).unwrap().trim();
        // The backend has no default of its own; the identity remembers one.
        let expected = if setting.key == "backend" {
            "remembered from enrolment"
        } else {
            setting.default.unwrap_or("")
        };
        assert_eq!(default, expected, "{}", setting.key);
    }
    let rows = text
        .lines()
        .skip_while(|line| *line != "## Settings")
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    assert_eq!(
        rows.filter(|line| line.starts_with("| `")).count(),
        SETTINGS.len(),
        "a row of no setting"
    );
}

#[test]
fn every_metric_is_explained() {
    let clock = Arc::new(BackendClock::new());
    clock.observe(&TimedAnswer {
        sent_ns: 0,
        received_ns: 1,
        held_ns: 0,
        backend_ns: 0,
    });
    let server = MetricsServer::bind(([127, 0, 0, 1], 0).into(), Arc::default(), clock).unwrap();
    let mut stream = TcpStream::connect(server.address().unwrap()).unwrap();
    std::thread::spawn(move || server.run());
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (text, mut count) = (documentation("agent-measurements.md"), 0);
    for line in answer
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE sinemora_agent_"))
    {
        let name = line.split(' ').next().unwrap();
        assert!(text.contains(&format!("`{name}`")), "{name}");
        count += 1;
    }
    assert!(count > 15);
}
