//! `/metrics` for Prometheus and `/healthz` for supervisors, on loopback unless set otherwise.
//!
//! One thread, one request at a time, everything bounded: a scrape every few seconds needs no more, and a
//! client that dawdles is cut off.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::calendar::rfc3339;
use crate::counters::Counters;
use crate::plan::BackendClock;

const REQUEST_LIMIT_BYTES: usize = 4096;
const CLIENT_LIMIT: Duration = Duration::from_secs(2);

/// Answers scrapes until the process ends.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
    counters: Arc<Counters>,
    backend_clock: Arc<BackendClock>,
}

impl MetricsServer {
    /// Takes the address; fails when another program has it.
    pub fn bind(
        address: SocketAddr,
        counters: Arc<Counters>,
        backend_clock: Arc<BackendClock>,
    ) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address)?,
            counters,
            backend_clock,
        })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub fn run(self) {
        for stream in self.listener.incoming() {
            let answered = stream.and_then(|stream| self.answer(stream));
            if let Err(error) = answered {
                tracing::debug!(%error, "a scrape failed");
                // Out of file descriptors, accepting fails at once and for as long as that lasts.
                if error.kind() != io::ErrorKind::WouldBlock {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let request = read_request(&mut stream)?;
        let mut words = request.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let path = target.split('?').next().unwrap_or_default();
        let (status, kind, body) = match (method, path) {
            ("GET" | "HEAD", "/metrics") => (
                "200 OK",
                "text/plain; version=0.0.4; charset=utf-8",
                metrics(&self.counters, &self.backend_clock),
            ),
            ("GET" | "HEAD", "/healthz") => ("200 OK", "application/json", health(&self.counters)),
            ("GET" | "HEAD", _) => (
                "404 Not Found",
                "text/plain",
                "here are /metrics and /healthz\n".to_owned(),
            ),
            _ => (
                "405 Method Not Allowed",
                "text/plain",
                "only GET\n".to_owned(),
            ),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        if method == "HEAD" {
            Ok(())
        } else {
            stream.write_all(body.as_bytes())
        }
    }
}

fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + CLIENT_LIMIT;
    stream.set_write_timeout(Some(CLIENT_LIMIT))?;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while request.len() < REQUEST_LIMIT_BYTES && !request.windows(4).any(|four| four == b"\r\n\r\n")
    {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => break,
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

/// The text format of Prometheus, version 0.0.4.
fn metrics(c: &Counters, backend_clock: &BackendClock) -> String {
    let of = |counter: &AtomicU64| counter.load(Relaxed);
    let rising = [
        ("packets_sent", "PTP packets sent", of(&c.packets_sent)),
        (
            "packets_received",
            "PTP packets received",
            of(&c.packets_received),
        ),
        (
            "packets_rejected",
            "Packets from strangers, or not readable",
            of(&c.packets_rejected),
        ),
        (
            "transmit_stamps_missing",
            "Packets sent without a transmit stamp",
            of(&c.transmit_stamps_missing),
        ),
        (
            "receive_queue_overflows",
            "Packets this machine lost after they had arrived",
            of(&c.receive_queue_overflows),
        ),
        (
            "exchanges_completed",
            "Exchanges with all four stamps",
            of(&c.exchanges_completed),
        ),
        (
            "exchanges_lost",
            "Exchanges given up at their loss deadline",
            of(&c.exchanges_lost),
        ),
        (
            "responses_late",
            "Answers that came after the loss deadline",
            of(&c.responses_late),
        ),
        (
            "duplicates",
            "Packets that had come before",
            of(&c.duplicates),
        ),
        (
            "requests_left_out",
            "Requests of the plan that this agent did not send",
            of(&c.requests_left_out),
        ),
        (
            "windows_closed",
            "Windows handed over for reporting",
            of(&c.windows_closed),
        ),
        (
            "reports_sent",
            "Reports the backend acknowledged",
            of(&c.reports_sent),
        ),
        (
            "reports_dropped",
            "Reports given up because the spool was full",
            of(&c.reports_dropped),
        ),
        (
            "reports_refused",
            "Reports the backend refused, kept in refused/",
            of(&c.reports_refused),
        ),
        (
            "upload_failures",
            "Attempts to send reports or events that failed",
            of(&c.upload_failures),
        ),
        (
            "plan_failures",
            "Attempts to fetch the plan that failed",
            of(&c.plan_failures),
        ),
        (
            "events_dropped",
            "Events given up because too many waited",
            c.events.dropped(),
        ),
    ];
    let standing = [
        ("peers", "Peers of the plan in force", of(&c.peers)),
        (
            "spool_bytes",
            "Bytes of reports that wait",
            of(&c.spool_bytes),
        ),
        ("spool_reports", "Reports that wait", of(&c.spool_reports)),
        (
            "last_report_timestamp_seconds",
            "Last acknowledged report, Unix time; 0 is never",
            of(&c.last_report_at_s),
        ),
        (
            "last_plan_timestamp_seconds",
            "Last answer about the plan, Unix time; 0 is never",
            of(&c.last_plan_at_s),
        ),
        (
            "credential_refused",
            "1 while the backend takes nothing from this agent",
            c.credential_refused.load(Relaxed).into(),
        ),
    ];
    let mut text = String::with_capacity(4096);
    for (name, help, value) in rising {
        metric(
            &mut text,
            "counter",
            &format!("{name}_total"),
            help,
            "",
            value,
        );
    }
    for (name, help, value) in standing {
        metric(&mut text, "gauge", name, help, "", value);
    }
    if backend_clock.is_known() {
        let offset_s = backend_clock.offset_ns() as f64 / 1e9;
        metric(
            &mut text,
            "gauge",
            "backend_clock_offset_seconds",
            "Backend clock minus this machine's",
            "",
            offset_s,
        );
    }
    let labels = format!(
        "{{version=\"{}\",timestamp_source=\"{}\",clock_source=\"{}\"}}",
        env!("CARGO_PKG_VERSION"),
        c.timestamp_source(),
        escaped(&c.clock_source()),
    );
    metric(
        &mut text,
        "gauge",
        "info",
        "Version and sources of time",
        &labels,
        1,
    );
    text
}

fn metric(
    text: &mut String,
    kind: &str,
    name: &str,
    help: &str,
    labels: &str,
    value: impl std::fmt::Display,
) {
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "# HELP sinemora_agent_{name} {help}.\n# TYPE sinemora_agent_{name} {kind}\nsinemora_agent_{name}{labels} {value}\n"
    );
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

fn health(c: &Counters) -> String {
    let at = |seconds: u64| match i64::try_from(seconds).unwrap_or(0) {
        0 => serde_json::Value::Null,
        seconds => rfc3339(seconds.saturating_mul(1_000_000_000)).into(),
    };
    let status = match (c.credential_refused.load(Relaxed), c.peers.load(Relaxed)) {
        (true, _) => "refused",
        (false, 0) => "idle",
        (false, _) => "measuring",
    };
    let body = serde_json::json!({
        "status": status,
        "peers": c.peers.load(Relaxed),
        "spool_reports": c.spool_reports.load(Relaxed),
        "last_report_at": at(c.last_report_at_s.load(Relaxed)),
        "last_plan_at": at(c.last_plan_at_s.load(Relaxed)),
    });
    format!("{body}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            answer.contains("\nsinemora_agent_packets_sent_total 41\n"),
            "{answer}"
        );
        assert!(answer.contains("clock_source=\"odd\\\"name\""), "{answer}");
        assert!(
            !answer.contains("backend_clock_offset"),
            "not known is not zero"
        );
    }

    #[test]
    fn every_metric_has_one_help_one_type_and_a_number() {
        let clock = BackendClock::new();
        clock.set(0, Instant::now());
        let text = metrics(&Counters::default(), &clock);
        let mut names = std::collections::HashSet::new();
        for three in text.lines().collect::<Vec<_>>().chunks(3) {
            let name = three[0]
                .strip_prefix("# HELP ")
                .unwrap()
                .split(' ')
                .next()
                .unwrap();
            assert!(
                three[1].starts_with(&format!("# TYPE {name} ")),
                "{three:?}"
            );
            assert_eq!(
                three[1].ends_with("counter"),
                name.ends_with("_total"),
                "{three:?}"
            );
            assert!(three[2].starts_with(name), "{three:?}");
            three[2].rsplit(' ').next().unwrap().parse::<f64>().unwrap();
            assert!(names.insert(name), "{name} twice");
        }
    }

    #[test]
    fn health_says_how_things_stand() {
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
    fn odd_requests_get_an_answer_and_harm_nobody() {
        let (address, _) = server();
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        drop(TcpStream::connect(address).unwrap());
        let endless = format!("GET /{} HTTP/1.1", "x".repeat(REQUEST_LIMIT_BYTES - 14));
        assert!(ask(address, &endless).starts_with("HTTP/1.1 404"));
        assert!(ask(address, "HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    }
}
