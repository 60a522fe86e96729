use super::*;

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
    let read = |block: &'static str| {
        let mut lines = block.lines().filter(|line| !line.starts_with('#'));
        (lines.next().unwrap(), lines.collect())
    };
    blocks.map(read).collect()
}

fn golden() -> Vec<(Message, String)> {
    let texts = golden_texts().into_iter();
    let read = |hex: String| (Message::read(&bytes(&hex)).unwrap(), hex);
    texts.map(|(_, hex)| read(hex)).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    let pairs = digits.chunks(2);
    pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
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
        let field = match sent.body {
            Body::CompactReq { ecn: Some(_), .. } => EcnField::ECT0,
            Body::CompactResp { ecn: Some(_), .. } => EcnField::ECT0,
            _ => EcnField::NOT_ECT,
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
        assert_eq!(Message::read(&datagram), Err(why), "{offset} {value:#x}");
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
    let foreign = "0003 0008 0080c2 000001 beef";
    for tlv in ["8008 0002 0000", foreign, "0003 0002 0000"] {
        assert_eq!(with(tlv), Ok(*message), "{tlv}");
    }
    assert_eq!(with("8008 ffff 0000"), Err(Malformed::Tlv));
    assert_eq!(with("0003 0008 02534d 000001 beef"), Err(Malformed::Short));
    // It watches 129 requests, of which it has 128 bits.
    let watched = "0003 0022 02534d 000001 00000000 00000000 0000 0081";
    let bits = "00".repeat(16);
    assert_eq!(with(&(watched.to_owned() + &bits)), Err(Malformed::Tlv));
}

#[test]
fn corrections_round_to_the_nearest_nanosecond() {
    let ahead = [(0, 0), (0x7fff, 0), (0x8000, 1), (0x2_8000, 3)];
    let back = [(-0x8000, 0), (-0x8001, -1), (-0x1_0000, -1)];
    for (scaled, nanos) in ahead.into_iter().chain(back) {
        assert_eq!(Correction(scaled).nanos(), nanos, "{scaled:#x}");
    }
    assert_eq!(Correction(i64::MAX).nanos(), 1 << 47);
}
