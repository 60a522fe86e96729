//! The classifier in the kernel, on frames. Machines where this user may load no program run none of these.

use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::kernel::{create_map, load_program, run_program};
use super::policy::{Order, Policy};
use super::program::{Surroundings, assemble};

const QUEUES: [u32; 4] = [0x534d_0010, 0x534d_0011, 0x534d_0012, 0x534d_0013];
const POINTS: [u8; 4] = [24, 16, 10, 0];
const IPV4_BYTES: usize = 20;
const MEASUREMENT: u16 = 319;

/// A loaded classifier. Its table ends with it.
struct Classifier {
    program: OwnedFd,
    _map: OwnedFd,
}

impl Classifier {
    /// Return `None` where programs may not be loaded.
    fn load(order: Order, gap_ms: u64) -> Option<Self> {
        Self::load_at(u64::MAX, order, gap_ms)
    }

    fn load_at(rate_bit: u64, order: Order, gap_ms: u64) -> Option<Self> {
        let classes = order.classes();
        let policy = Policy {
            order,
            code_points: Some(POINTS[4 - classes..].to_vec()),
            flow_gap: Duration::from_millis(gap_ms),
        };
        let map = match create_map() {
            Ok(map) => map,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(error) => panic!("{error}"),
        };
        let around = Surroundings {
            map_fd: map.as_raw_fd(),
            queues: &QUEUES[..classes],
            ports: &[MEASUREMENT, 320],
            rate_bit,
        };
        let code = assemble(&policy, &around).unwrap();
        Some(Self {
            program: load_program(&code).unwrap(),
            _map: map,
        })
    }

    /// Return the class of a frame, 0 the highest, and the frame as it leaves.
    fn run(&self, frame: &[u8]) -> (usize, Vec<u8>) {
        let (queue, after) = run_program(&self.program, frame).unwrap();
        let class = QUEUES.iter().position(|one| *one == queue);
        (class.unwrap_or_else(|| panic!("{queue:x}")), after)
    }

    fn class(&self, frame: &[u8]) -> usize {
        self.run(frame).0
    }
}

fn strict(bytes: &[u64]) -> Order {
    Order::StrictPriority {
        bytes: bytes.to_vec(),
    }
}

fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

fn ipv4(tos: u8, protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, tos];
    header.extend(((IPV4_BYTES + payload.len()) as u16).to_be_bytes());
    header.extend([0, 7]);
    header.extend(fragment.to_be_bytes());
    header.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = !checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.extend(payload);
    ethernet(0x0800, &header)
}

/// Return the sum of 16-bit words in ones' complement (RFC 1071); of a valid header it is 0xffff.
fn checksum(header: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(u16::from_be_bytes([pair[0], pair[1]]));
    let sum: u32 = header.chunks(2).map(word).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

fn ipv6(traffic_class: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x60 | traffic_class >> 4, traffic_class << 4 | 0x0b];
    header.extend([0xcd, 0xef]);
    header.extend((payload.len() as u16).to_be_bytes());
    header.extend([protocol, 64]);
    header.extend([0xfd; 16]);
    header.extend([0xfc; 16]);
    header.extend(payload);
    ethernet(0x86dd, &header)
}

/// A TCP segment of a connection, with 12 bytes of options.
fn tcp(port: u16, data: usize) -> Vec<u8> {
    let mut segment = port.to_be_bytes().to_vec();
    segment.extend([0x1f, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 8 << 4, 0x10]);
    segment.resize(32 + data, 0);
    segment
}

fn udp(from: u16, to: u16, data: usize) -> Vec<u8> {
    let mut datagram = from.to_be_bytes().to_vec();
    datagram.extend(to.to_be_bytes());
    datagram.resize(8 + data, 0);
    datagram
}

fn segment(port: u16, data: usize) -> Vec<u8> {
    ipv4(0, 6, 0, &tcp(port, data))
}

#[test]
fn a_flow_falls_with_the_bytes_of_data_that_it_sent() {
    let order = strict(&[3_000, 9_000, 20_000]);
    let Some(classifier) = Classifier::load(order.clone(), 60_000) else {
        return;
    };
    for data in [1_000, 333, 1] {
        let mut sent = 0;
        for nth in 0..60 {
            let expected = if nth == 0 { 0 } else { order.class_of(1, sent) };
            let class = classifier.class(&segment(5_000 + data as u16, data));
            assert_eq!(class, expected, "{sent} bytes sent");
            sent += data as u64;
        }
    }
}

#[test]
fn flows_are_told_apart_by_addresses_ports_and_protocol() {
    let Some(classifier) = Classifier::load(strict(&[1]), 60_000) else {
        return;
    };
    let mut other_host = segment(7, 100);
    other_host[14 + 19] = 9;
    let frames = [
        segment(7, 100),
        segment(8, 100),
        other_host,
        ipv4(0, 17, 0, &udp(7, 8_080, 100)),
        ipv6(0, 6, &tcp(7, 100)),
        ipv6(0, 17, &udp(7, 8_080, 100)),
        ipv4(0, 47, 0, &[0; 100]),
        ipv4(0, 17, 0x2000, &udp(9, 9, 100)),
    ];
    for expected in [0, 1, 1] {
        for frame in &frames {
            assert_eq!(classifier.class(frame), expected);
        }
    }
}

#[test]
fn packets_without_data_measurements_and_what_is_not_ip_go_first() {
    let Some(classifier) = Classifier::load(strict(&[1]), 60_000) else {
        return;
    };
    for _ in 0..3 {
        classifier.class(&segment(7, 1_000));
        for frame in [
            segment(7, 0),
            ipv4(0, 17, 0, &udp(MEASUREMENT, 40_000, 44)),
            ipv4(0, 17, 0, &udp(40_000, 320, 44)),
            ipv6(0, 17, &udp(MEASUREMENT, MEASUREMENT, 44)),
            ipv4(0, 1, 0, &[8; 64]),
            ipv6(0, 58, &[128; 64]),
            ethernet(0x0806, &[0; 46]),
        ] {
            assert_eq!(classifier.class(&frame), 0);
        }
    }
    // The same port of TCP is not a measurement's.
    assert_eq!(classifier.class(&segment(MEASUREMENT, 1_000)), 0);
    assert_eq!(classifier.class(&segment(MEASUREMENT, 1_000)), 1);
}

#[test]
fn a_pause_begins_a_new_flow() {
    let Some(classifier) = Classifier::load(strict(&[1]), 50) else {
        return;
    };
    assert_eq!([0; 3].map(|_| classifier.class(&segment(7, 10))), [0, 1, 1]);
    sleep(Duration::from_millis(60));
    assert_eq!([0; 3].map(|_| classifier.class(&segment(7, 10))), [0, 1, 1]);
}

#[test]
fn marks_are_written_beside_ecn_and_only_where_there_is_none() {
    let Some(classifier) = Classifier::load(strict(&[1, 5_000]), 60_000) else {
        return;
    };
    let points = &POINTS[1..];
    for ecn in [0, 1, 2, 3] {
        for round in 0..4 {
            let frame = ipv4(ecn, 6, 0, &tcp(100 + u16::from(ecn), 3_000));
            let (class, after) = classifier.run(&frame);
            assert_eq!(class, [0, 1, 2, 2][round]);
            assert_eq!(after[15], points[class] << 2 | ecn);
            assert_eq!(checksum(&after[14..34]), 0xffff, "the header's checksum");
            assert_eq!(after[34..], frame[34..]);

            let frame = ipv6(ecn, 6, &tcp(200 + u16::from(ecn), 3_000));
            let (class, after) = classifier.run(&frame);
            let marked = ipv6(points[class] << 2 | ecn, 6, &[]);
            assert_eq!(after[14..16], marked[14..16]);
            assert_eq!(after[16..], frame[16..]);
        }
    }
    let own = 46 << 2 | 1;
    let data = tcp(300, 900);
    for frame in [ipv4(own, 6, 0, &data), ipv6(own, 6, &data)] {
        for _ in 0..3 {
            assert_eq!(classifier.run(&frame).1, frame);
        }
    }
}

/// With α = 10^15 the age counts nothing, so classes are those of bytes: this tests the logarithm of the program.
#[test]
fn log_priority_of_an_infinite_alpha_is_by_bytes() {
    let alpha = 1e15;
    let bytes = [64_000.0f64, 1_500.0, 100.0];
    let order = Order::LogPriority {
        alpha,
        boundaries: bytes.map(|bytes| -alpha * bytes.log2()).to_vec(),
    };
    let Some(classifier) = Classifier::load(order, 60_000) else {
        return;
    };
    for (port, data) in [(1, 7), (2, 61), (3, 1_000), (4, 3_000)] {
        let mut sent = 0.0;
        for nth in 0..100 {
            let class = classifier.class(&segment(port, data));
            let near = |bound: &f64| (sent / bound).log2().abs() < 0.01;
            if nth == 0 {
                assert_eq!(class, 0);
            } else if !bytes.iter().any(near) {
                let expected = bytes.iter().filter(|bound| **bound < sent).count();
                assert_eq!(class, expected, "{sent} bytes");
            }
            sent += data as f64;
        }
    }
}

/// Flows that sent 1,000 bytes rise with age as α says: 1 ms, 8 ms and 64 ms are three octaves apart each.
#[test]
fn age_lifts_a_flow() {
    for alpha in [0.0, 0.5, 1.0, 3.0] {
        let starts = [23.0, 20.0, 17.0].map(|age| age - alpha * 1_000f64.log2());
        let order = Order::LogPriority {
            alpha,
            boundaries: vec![starts[2], starts[1], starts[0]],
        };
        let Some(classifier) = Classifier::load(order.clone(), 60_000) else {
            return;
        };
        for (port, pause_ms) in [(1, 0), (2, 1), (3, 3), (4, 30)] {
            let before = Instant::now();
            assert_eq!(classifier.class(&segment(port, 1_000)), 0);
            let began = Instant::now();
            sleep(Duration::from_millis(pause_ms));
            let waited = began.elapsed();
            let class = classifier.class(&segment(port, 1_000));
            // The kernel took the times within those taken here; where they differ in class, either is right.
            let class_at = |age: Duration| order.class_of(age.as_nanos() as u64, 1_000);
            let possible = class_at(before.elapsed() * 102 / 100)..=class_at(waited * 98 / 100);
            let is_right = possible.contains(&class);
            assert!(is_right, "α {alpha}, {waited:?}: {class}, not {possible:?}");
        }
    }
}

/// At 8 Mbit/s a byte takes 1 µs, so 16,000 bytes that are handed over at once are 16 ms old when the next follows them.
#[test]
fn a_flow_is_at_least_as_old_as_its_bytes_take_on_the_link() {
    let ages = [13.0, 15.0, 17.0].map(|octave: f64| octave + 1_000f64.log2());
    let order = Order::LogPriority {
        alpha: 0.0,
        boundaries: ages.to_vec(),
    };
    let Some(classifier) = Classifier::load_at(8_000_000, order, 60_000) else {
        return;
    };
    let classes = [0; 200].map(|_| classifier.class(&segment(7, 1_000)));
    // Octaves of kilobytes: 2^13 µs are reached after 8,192 bytes.
    for (nth, class) in [(0, 0), (7, 3), (9, 2), (31, 2), (34, 1), (130, 1), (133, 0)] {
        assert_eq!(classes[nth], class, "{nth}");
    }
}
