//! Orders between two agents of this process, over loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::access::{self, Named, admit, greet};
use super::execution::Execution;
use super::limits::Limits;
use super::order::{BulkOrder, BulkRole, BulkStep};
use super::progress::{Abort, Progress};
use super::send::share;
use super::socket;
use sinemora_agent::plan::BackendClock;

const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const PORT: u16 = 8422;
const NAMED: Named = Named {
    step: 3,
    connection: 5,
};
const LIMITS: Limits = Limits {
    port: 0,
    bytes: 64 << 20,
    bytes_per_s: 1 << 30,
    seconds: 60,
};

/// Return a self-signed certificate and its key, each DER as base64, as the backend makes them.
fn certificate() -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |arguments: &str| {
        let done = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(folder.path())
            .output()
            .expect("openssl, which the toolchain installs");
        assert!(done.status.success());
    };
    openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bulk -keyout key.pem -outform \
         DER -out certificate",
    );
    openssl("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key");
    let read = |name| STANDARD.encode(std::fs::read(folder.path().join(name)).unwrap());
    (read("certificate"), read("key"))
}

/// Return an address that no other test uses.
fn own_address() -> IpAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    Ipv4Addr::new(127, 84, 22, NEXT.fetch_add(1, Relaxed)).into()
}

fn step(index: u16, role: BulkRole, address: IpAddr) -> BulkStep {
    BulkStep {
        index,
        phase: index,
        role,
        address,
        port: PORT,
        bytes: 3_000_001,
        connections: 4,
        rate_bytes_per_s: None,
        congestion: None,
        mptcp: false,
        tls: false,
    }
}

fn order(steps: Vec<BulkStep>) -> BulkOrder {
    let now_ns = BackendClock::new().now_ns();
    BulkOrder {
        id: "order".to_owned(),
        secret: SECRET.to_owned(),
        starts_at_ns: now_ns,
        ends_at_ns: now_ns + 30_000_000_000,
        certificate: None,
        certificate_key: None,
        steps,
    }
}

fn execution(order: BulkOrder) -> Execution {
    let address = order.steps[0].address;
    let progress = Arc::new(Progress::new(&order));
    Execution {
        order,
        limits: LIMITS,
        // The first is of no machine: it is for documentation (RFC 5737).
        listen: [
            SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), PORT),
            SocketAddr::new(address, PORT),
        ],
        clock: Arc::new(BackendClock::new()),
        progress,
        abort: Abort::default(),
    }
}

/// Run both ends of some steps, each changed by `change`, and return the sender's report.
fn exchanged(steps: u16, change: impl Fn(&mut BulkStep)) -> serde_json::Value {
    let address = own_address();
    let of = |role| {
        let mut steps: Vec<BulkStep> = (0..steps).map(|at| step(at, role, address)).collect();
        steps.iter_mut().for_each(&change);
        execution(order(steps))
    };
    let (mut sender, mut receiver) = (of(BulkRole::Sender), of(BulkRole::Receiver));
    if sender.order.steps.iter().any(|step| step.tls) {
        let (certificate, key) = certificate();
        sender.order.certificate = Some(certificate.clone());
        receiver.order.certificate = Some(certificate);
        receiver.order.certificate_key = Some(key);
    }
    run(&sender, &receiver);
    assert_eq!(error(&receiver), serde_json::Value::Null);
    serde_json::to_value(sender.progress.report()).unwrap()
}

/// Run both ends, and end the receiver soon after the sender.
fn run(sender: &Execution, receiver: &Execution) {
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.run());
        sender.run();
        let until = Instant::now() + Duration::from_secs(5);
        while !receiving.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        receiver.abort.set();
    });
}

fn error(execution: &Execution) -> serde_json::Value {
    serde_json::to_value(execution.progress.report()).unwrap()["error"].clone()
}

#[test]
fn steps_follow_one_another_and_all_bytes_are_acknowledged() {
    let report = exchanged(3, |_| {});
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    let mut ended_ns = 0;
    for one in steps {
        assert_eq!(one["error"], serde_json::Value::Null);
        let connections = one["connections"].as_array().unwrap();
        let of = |key: &'static str| {
            connections
                .iter()
                .map(move |one| one[key].as_u64().unwrap())
        };
        assert_eq!(connections.len(), 4);
        assert_eq!(of("bytes").sum::<u64>(), 3_000_001);
        let elapsed = one["elapsed_us"].as_u64().unwrap();
        assert_eq!(of("elapsed_us").max(), Some(elapsed));
        let started_ns = one["started_at_ns"].as_i64().unwrap();
        assert!(started_ns >= ended_ns);
        ended_ns = started_ns + 1000 * elapsed as i64;
    }
}

#[test]
fn tls_mptcp_and_a_congestion_control_carry_all_bytes() {
    let controls = socket::congestion_controls();
    assert!(!controls.is_empty());
    let report = exchanged(3, |step| match step.index {
        0 => step.tls = true,
        1 => step.mptcp = socket::has_mptcp(),
        _ => step.congestion = controls.last().cloned(),
    });
    for one in report["steps"].as_array().unwrap() {
        assert_eq!(one["error"], serde_json::Value::Null, "{one}");
        assert!(one["elapsed_us"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_rate_holds_for_all_connections_of_a_step_together() {
    let report = exchanged(1, |step| step.rate_bytes_per_s = Some(6_000_000));
    let elapsed_s = report["steps"][0]["elapsed_us"].as_f64().unwrap() / 1e6;
    // For 0.5 s of bytes.
    assert!((0.45..1.5).contains(&elapsed_s), "{elapsed_s} s");
}

#[test]
fn an_order_beyond_the_limits_of_the_agent_is_refused() {
    type Change = fn(&mut BulkOrder);
    let cases: [(Change, &str); 4] = [
        (|order| order.steps[0].bytes = 65 << 20, "bulk_max_size"),
        (
            |order| order.ends_at_ns = order.starts_at_ns + 61_000_000_000,
            "bulk_max_s",
        ),
        (|order| order.steps[0].connections = 257, "257 connections"),
        (
            |order| order.steps[0].connections = 0,
            "without bytes or connections",
        ),
    ];
    for (change, expected) in cases {
        let mut order = order(vec![step(0, BulkRole::Sender, own_address())]);
        change(&mut order);
        let execution = execution(order);
        execution.run();
        assert!(error(&execution).as_str().unwrap().contains(expected));
    }
}

#[test]
fn an_abort_ends_an_order_at_once() {
    let address = own_address();
    let slow = |role| {
        let mut one = step(0, role, address);
        one.rate_bytes_per_s = Some(100_000);
        execution(order(vec![one]))
    };
    let (sender, receiver) = (slow(BulkRole::Sender), slow(BulkRole::Receiver));
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| receiver.run());
        scope.spawn(|| sender.run());
        std::thread::sleep(Duration::from_millis(300));
        sender.abort.set();
        receiver.abort.set();
    });
    assert!(began.elapsed() < Duration::from_secs(3));
    let report = serde_json::to_value(sender.progress.report()).unwrap();
    assert_eq!(report["steps"][0]["elapsed_us"], 0);
}

/// Run both ends of a greeting, and return what each says.
fn greeted(
    ours: &str,
    theirs: &str,
    meddle: impl Fn(&mut TcpStream) + Send,
) -> (std::io::Result<()>, std::io::Result<(Named, u64)>) {
    let listener = TcpListener::bind((own_address(), 0)).unwrap();
    let to = listener.local_addr().unwrap();
    let (ours, theirs) = (access::key(ours).unwrap(), access::key(theirs).unwrap());
    std::thread::scope(|scope| {
        let receiver = scope.spawn(move || admit(&mut listener.accept().unwrap().0, &theirs));
        let mut stream = TcpStream::connect(to).unwrap();
        meddle(&mut stream);
        let sent = greet(&mut stream, &ours, NAMED, 99);
        drop(stream);
        (sent, receiver.join().unwrap())
    })
}

#[test]
fn both_ends_prove_the_secret_of_the_order() {
    let (sent, received) = greeted(SECRET, SECRET, |_| {});
    sent.unwrap();
    assert_eq!(received.unwrap(), (NAMED, 99));
    let other = SECRET.replace("00", "01");
    let (sent, received) = greeted(&other, SECRET, |_| {});
    assert!(sent.unwrap_err().to_string().contains("does not know"));
    received.unwrap_err();
    let (_, received) = greeted(SECRET, SECRET, |stream| {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    });
    assert!(received.unwrap_err().to_string().contains("no sender"));
}

#[test]
fn a_stranger_gets_nothing_and_does_not_disturb_the_order() {
    let address = own_address();
    let of = |role| execution(order(vec![step(0, role, address)]));
    let (sender, receiver) = (of(BulkRole::Sender), of(BulkRole::Receiver));
    std::thread::scope(|scope| {
        scope.spawn(|| receiver.run());
        let mut stranger = loop {
            if let Ok(stream) = TcpStream::connect((address, PORT)) {
                break stream;
            }
        };
        let bad = access::key(&SECRET.replace("00", "02")).unwrap();
        greet(&mut stranger, &bad, NAMED, 750_001).unwrap_err();
        let mut rest = Vec::new();
        let _ = stranger.read_to_end(&mut rest);
        assert!(rest.is_empty());
        sender.run();
        receiver.abort.set();
    });
    let report = serde_json::to_value(sender.progress.report()).unwrap();
    assert!(report["steps"][0]["elapsed_us"].as_u64().unwrap() > 0);
}

#[test]
fn bytes_are_shared_evenly() {
    let shares: Vec<u64> = (0..4).map(|at| share(10, 4, at)).collect();
    assert_eq!(shares, [3, 3, 2, 2]);
}
