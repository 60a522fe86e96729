use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::plan::TimedAnswer;

fn server() -> (SocketAddr, Arc<Counters>) {
    let counters = Arc::new(Counters::default());
    let any = ([127, 0, 0, 1], 0).into();
    let server = MetricsServer::bind(any, Arc::clone(&counters), Arc::default()).unwrap();
    let address = server.address().unwrap();
    std::thread::spawn(move || server.run());
    (address, counters)
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn counts_are_shown() {
    let (address, counters) = server();
    counters.packets_sent.store(41, Relaxed);
    counters.set_clock_source("odd\"name");
    let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let sent = "\nsinemora_agent_packets_sent_total 41\n";
    assert!(answer.contains(sent), "{answer}");
    assert!(answer.contains("clock_source=\"odd\\\"name\""), "{answer}");
    // Not known is not zero.
    assert!(!answer.contains("backend_clock_offset"), "{answer}");
}

#[test]
fn every_metric_has_one_help_one_type_and_a_number() {
    let clock = BackendClock::new();
    clock.observe(&TimedAnswer {
        sent_ns: 0,
        received_ns: 1,
        held_ns: 0,
        backend_ns: 0,
    });
    let text = text::metrics(&Counters::default(), &clock);
    let mut names = std::collections::HashSet::new();
    for three in text.lines().collect::<Vec<_>>().chunks(3) {
        let help = three[0].strip_prefix("# HELP ").unwrap();
        let name = help.split(' ').next().unwrap();
        let is_total = name.ends_with("_total");
        assert_eq!(three[1].ends_with("counter"), is_total, "{three:?}");
        assert!(three[1].starts_with(&format!("# TYPE {name} ")), "{name}");
        assert!(three[2].starts_with(name), "{three:?}");
        three[2].rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        assert!(names.insert(name), "{name} twice");
    }
}

#[test]
fn health_shows_the_state() {
    let (address, counters) = server();
    let status = || ask(address, "GET /healthz HTTP/1.0\r\n\r\n");
    assert!(status().contains(r#""status":"idle""#));
    assert!(status().contains(r#""last_report_at":null"#));
    counters.peers.store(3, Relaxed);
    counters.last_report_at_s.store(1, Relaxed);
    assert!(status().contains(r#""status":"measuring""#));
    assert!(status().contains("1970-01-01T00:00:01"));
    counters.credential_refused.store(true, Relaxed);
    assert!(status().contains(r#""status":"refused""#));
}

#[test]
fn invalid_requests_get_an_answer() {
    let (address, _) = server();
    assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    drop(TcpStream::connect(address).unwrap());
    let endless = format!("GET /{} HTTP/1.1", "x".repeat(REQUEST_LIMIT_BYTES - 14));
    assert!(ask(address, &endless).starts_with("HTTP/1.1 404"));
    assert!(ask(address, "HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
}
