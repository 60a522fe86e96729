use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use delaybox::config::RawConfig;
use delaybox::sides::INTERFACE;

use crate::boxed::{Boxed, LEFT, RIGHT, drain, send, with_namespaces};

#[test]
fn a_stream_arrives_whole_and_no_faster_than_the_rate() {
    with_namespaces(|| {
        let boxed = Boxed::between_new(
            "delay=100us rate=80mbit burst=10kB queue=200kB",
            "delay=100us",
        );
        let listener = boxed.sides[1]
            .namespace()
            .within(|| TcpListener::bind(SocketAddr::from((RIGHT, 0))))
            .unwrap();
        let target = listener.local_addr().unwrap();
        let sent: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
        let expected = sent.clone();
        let started = Instant::now();
        let mut stream = boxed.sides[0]
            .namespace()
            .within(|| TcpStream::connect(target))
            .unwrap();
        let sender = std::thread::spawn(move || stream.write_all(&sent).unwrap());
        let mut received = Vec::new();
        let (mut accepted, _) = listener.accept().unwrap();
        accepted.read_to_end(&mut received).unwrap();
        let took = started.elapsed().as_secs_f64();
        sender.join().unwrap();
        assert!(received == expected, "{} bytes", received.len());
        // 3 MB at 10 MB/s take 0.3 s, headers apart.
        assert!(took > 0.29, "{took}");
        let counted = boxed.stop().outbound.counters;
        assert!(counted.sent_bytes > 3_000_000);
    });
}

/// Check two boxes in a row: left of the second is the interface that is right of the first.
#[test]
fn an_interface_that_exists_is_bridged() {
    with_namespaces(|| {
        let first = Boxed::start(&RawConfig {
            right_address: Some("10.77.0.3/24".to_owned()),
            both: Some("delay=1ms".to_owned()),
            ..RawConfig::default()
        });
        let middle = first.sides[1].namespace().path();
        let second = Boxed::start(&RawConfig {
            left: Some(format!("if:{INTERFACE}@{middle}")),
            both: Some("delay=2ms".to_owned()),
            ..RawConfig::default()
        });
        assert!(second.sides[0].address().is_none());
        let (left, right) = (first.socket(0, LEFT), second.socket(1, RIGHT));
        (0..50).for_each(|sequence| send(&left, &right, sequence));
        assert_eq!(drain(&right), (0..50).collect::<Vec<_>>());
        send(&right, &left, 7);
        assert_eq!(drain(&left), [7]);
        let (first, second) = (first.stop(), second.stop());
        assert!(first.outbound.counters.sent_packets >= 50);
        assert!(second.outbound.achieved_ns.unwrap().min >= 2_000_000);
    });
}
