//! Reports as they are spooled and sent: protobuf, zstd.

use prost::Message;

use crate::wire::Report;

/// Level 3 halves the size of a report compared with level 1; higher levels gain nothing on such small blocks.
const ZSTD_LEVEL: i32 = 3;
/// Largest report that is read again.
const LIMIT_BYTES: usize = 64 << 20;

pub(super) fn pack(report: &Report) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(&report.encode_to_vec(), ZSTD_LEVEL)
}

/// Return a spooled report; `None` if it is damaged.
pub(super) fn unpack(bytes: &[u8]) -> Option<Report> {
    let plain = zstd::bulk::decompress(bytes, LIMIT_BYTES).ok()?;
    Report::decode(plain.as_slice()).ok()
}

/// Return both halves of a report with several windows; `None` for one that cannot be divided.
pub(super) fn halves(bytes: &[u8]) -> Option<[Vec<u8>; 2]> {
    let mut first = unpack(bytes)?;
    let rest = first.windows.split_off(first.windows.len() / 2);
    if first.windows.is_empty() {
        return None;
    }
    let second = Report {
        windows: rest,
        traffic: Vec::new(),
        connections: Vec::new(),
        services: Vec::new(),
        host: Vec::new(),
        ..first.clone()
    };
    Some([pack(&first).ok()?, pack(&second).ok()?])
}
