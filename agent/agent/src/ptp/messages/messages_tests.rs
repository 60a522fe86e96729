use super::*;
use crate::ptp::{Service, Tlv};

const CLIENT: PortIdentity = PortIdentity {
    clock: 0x0253_4dff_fe00_0007,
    port: 3,
};
const RESPONDER: PortIdentity = PortIdentity {
    clock: 0x0253_4dff_fe00_0009,
    port: 1,
};
const RX_REPORT: RxReportTlv = RxReportTlv {
    requests: 1_000,
    syncs: 999,
    newest: 0x1235,
    watched: 128,
    arrived: 0x8000_0000_0000_0000_0000_0000_0000_0005,
};

/// Return the messages of `golden.txt` as text, and their bytes in hexadecimal.
fn golden_texts() -> Vec<(&'static str, String)> {
    let blocks = include_str!("golden.txt").split("\n\n").skip(1);
    blocks
        .map(|block| {
            let mut lines = block.lines().filter(|line| !line.starts_with('#'));
            (lines.next().unwrap(), lines.collect())
        })
        .collect()
}

fn golden() -> Vec<(Message, String)> {
    let texts = golden_texts().into_iter();
    texts
        .map(|(_, hex)| (Message::read(&bytes(&hex)).unwrap(), hex))
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn written(message: &Message) -> Vec<u8> {
    let mut buffer = [0xaa; MAX_LEN];
    let len = message.write(&mut buffer);
    buffer[..len].to_vec()
}

#[test]
fn bytes_are_those_of_the_standard() {
    for (text, hex) in golden_texts() {
        let message = Message::read(&bytes(&hex)).unwrap();
        let read = format!("{message:?}")
            .replace(&format!("{CLIENT:?}"), "CLIENT")
            .replace(&format!("{RESPONDER:?}"), "RESPONDER")
            .replace(&format!("{RX_REPORT:?}"), "RX_REPORT");
        assert_eq!(read, text);
        assert_eq!(written(&message), bytes(&hex), "{text}");
    }
    assert_eq!(golden().len(), 15);
}

#[test]
fn minor_versions_0_and_1_are_understood_and_version_1_is_not() {
    let (message, hex) = &golden()[1];
    let mut datagram = bytes(hex);
    datagram[1] = 0x02;
    assert_eq!(Message::read(&datagram), Ok(*message));
    datagram[1] = 0x11;
    assert_eq!(Message::read(&datagram), Err(Malformed::Version(1)));
}

#[test]
fn the_message_length_counts_and_not_that_of_the_datagram() {
    for (message, hex) in golden() {
        let mut datagram = bytes(&hex);
        // Some senders append octets for checksums, which are no TLV.
        datagram.extend([0x00, 0x03]);
        assert_eq!(Message::read(&datagram), Ok(message));
        datagram.truncate(datagram.len() - 3);
        assert_eq!(Message::read(&datagram), Err(Malformed::Short));
    }
}

#[test]
fn only_an_exchange_that_compares_ecn_leaves_with_ect() {
    for (sent, _) in golden() {
        let compares = matches!(
            sent.body,
            Body::CompactReq { ecn: Some(_), .. } | Body::CompactResp { ecn: Some(_), .. }
        );
        let field = if compares {
            EcnField::ECT0
        } else {
            EcnField::NOT_ECT
        };
        assert_eq!(sent.leaves_with(), field, "{sent:?}");
    }
}

#[test]
fn what_is_not_ours_is_refused() {
    let cases = [
        (0, 0x11, Malformed::SdoId),
        (0, 0x0a, Malformed::Type(0x0a)),
        (3, 33, Malformed::Short),
        (3, 43, Malformed::Short),
        (40, 0x3c, Malformed::Timestamp),
        (34, 0xff, Malformed::Timestamp),
    ];
    for (offset, value, why) in cases {
        let mut datagram = bytes(&golden()[0].1);
        datagram[offset] = value;
        assert_eq!(
            Message::read(&datagram),
            Err(why),
            "byte {offset} = {value:#x}"
        );
    }
}

#[test]
fn other_tlvs_are_passed_over_and_broken_ones_refused() {
    let (message, hex) = &golden()[3];
    let plain = bytes(hex);
    let with = |tlv: &str| {
        let mut datagram = plain[..54].to_vec();
        datagram.extend(bytes(tlv));
        datagram.extend(&plain[54..]);
        datagram[3] = datagram.len() as u8;
        Message::read(&datagram)
    };
    // A PAD, another organisation's extension, and one too short to name an organisation.
    for tlv in [
        "8008 0002 0000",
        "0003 0008 0080c2 000001 beef",
        "0003 0002 0000",
    ] {
        assert_eq!(with(tlv), Ok(*message), "{tlv}");
    }
    assert_eq!(with("8008 ffff 0000"), Err(Malformed::Tlv));
    assert_eq!(with("0003 0008 02534d 000001 beef"), Err(Malformed::Short));
    assert_eq!(
        with(
            "0003 0022 02534d 000001 00000000 00000000 0000 0081 00000000000000000000000000000000"
        ),
        Err(Malformed::Tlv)
    );
}

#[test]
fn corrections_round_to_the_nearest_nanosecond() {
    let cases = [
        (0, 0),
        (0x7fff, 0),
        (0x8000, 1),
        (0x2_8000, 3),
        (-0x8000, 0),
        (-0x8001, -1),
        (-0x1_0000, -1),
    ];
    for (scaled, nanos) in cases {
        assert_eq!(Correction(scaled).nanos(), nanos, "{scaled:#x}");
    }
    assert_eq!(Correction(i64::MAX).nanos(), 1 << 47);
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn tlv(&mut self) -> Tlv {
        let service = Service::ALL[self.next() as usize % 3];
        let (interval, duration_s) = (self.next() as i8, self.next() as u32);
        match self.next() % 4 {
            0 => Tlv::Request {
                service,
                interval,
                duration_s,
            },
            1 => Tlv::Grant {
                service,
                interval,
                duration_s,
            },
            2 => Tlv::Cancel { service },
            _ => Tlv::Acknowledge { service },
        }
    }

    fn message(&mut self) -> Message {
        let port = |r: &mut Self| PortIdentity {
            clock: r.next(),
            port: r.next() as u16,
        };
        let time = |r: &mut Self| (r.next() >> 1) as i64;
        let rx_report = |r: &mut Self| RxReportTlv {
            requests: r.next() as u32,
            syncs: r.next() as u32,
            newest: r.next() as u16,
            watched: (r.next() % 129) as u16,
            arrived: u128::from(r.next()) << 64 | u128::from(r.next()),
        };
        let hardware_clock = |r: &mut Self| {
            (r.next() % 3 == 0).then(|| HardwareClockTlv {
                clock_domain: r.next() as u8,
                ahead_ns: r.next() as i64,
                error_ns: r.next() as u32,
            })
        };
        let vm = |r: &mut Self| {
            (r.next() % 2 == 0).then(|| VmTlv {
                tag: r.next(),
                request_correction: Correction(r.next() as i64),
                source: r.next() as u8,
            })
        };
        let body = match self.next() % 9 {
            0 => Body::Sync {
                two_step: self.next() % 2 == 0,
                origin_ns: time(self),
            },
            1 => Body::DelayReq,
            2 => Body::FollowUp {
                origin_ns: time(self),
            },
            7 => Body::CompactReq {
                soon: self.next() % 2 == 0,
                receipt: (self.next() % 3 != 0).then(|| self.next() & RECEIPT_BITS),
                ecn: (self.next() % 2 == 0).then_some(EcnField::ECT0),
            },
            8 => {
                let mut response_tlv = ResponseTlv::new(time(self), port(self));
                for _ in 0..self.next() % 5 {
                    response_tlv.push(
                        self.next() as u16,
                        response_tlv
                            .receive_ns
                            .saturating_add(i64::from(self.next() as i32 >> 1)),
                    );
                }
                Body::CompactResp {
                    origin_ns: time(self),
                    response_tlv,
                    rx_report: rx_report(self),
                    hardware_clock: hardware_clock(self),
                    vm: vm(self),
                    ecn: (self.next() % 2 == 0).then(|| EcnField::of(self.next() as u8)),
                }
            }
            5 => Body::Announce {
                origin_ns: time(self),
                utc_offset_s: (self.next() % 2 == 0).then(|| self.next() as i16),
            },
            6 => Body::Signaling {
                target: port(self),
                tlvs: (0..self.next() % 5).map(|_| self.tlv()).collect(),
            },
            kind => Body::DelayResp {
                receive_ns: time(self),
                requester: port(self),
                rx_report: (kind == 3).then(|| rx_report(self)),
                sync_left_ns: None,
                hardware_clock: hardware_clock(self),
                vm: vm(self),
            },
        };
        Message {
            domain: 0,
            source: port(self),
            sequence_id: self.next() as u16,
            correction: Correction(self.next() as i64),
            body,
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let message = random.message();
        assert_eq!(Message::read(&written(&message)), Ok(message));
    }
}
