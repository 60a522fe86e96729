//! The TLV that reports which requests a responder has received, so that the client can attribute loss to a direction.

use super::field::{Malformed, Writer, read_time, write_time};
use super::tlv;

/// Number of the latest sequence ids that a report covers.
pub const MAP_LEN: u16 = 128;

/// The reception report on one client's requests, carried in Delay_Resp as an organization extension TLV (14.3).
///
///  0  2  TLV type, 0x0003
///  2  2  length of what follows
///  4  3  organisation id: locally administered, not registered
///  7  3  organisation subtype
/// 10  4  requests: Delay_Req received so far, without duplicates
/// 14  4  syncs: Sync sent so far
/// 18  2  newest: highest sequence id received
/// 20  2  watched: number of sequence ids, back from `newest`, that the map covers
/// 22 16  arrived: bit i, from the least significant, is set if `newest - i` arrived
/// 38 10  (optional) t1 of the Sync of the same sequence id
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RxReportTlv {
    pub requests: u32,
    pub syncs: u32,
    pub newest: u16,
    pub watched: u16,
    pub arrived: u128,
}

const SUBTYPE: [u8; 3] = [0, 0, 1];
const VALUE_LEN: u16 = 34;
/// With a time at the end.
const LONG_LEN: u16 = VALUE_LEN + 10;
pub(super) const TLV_LEN: usize = 4 + LONG_LEN as usize;

impl RxReportTlv {
    /// Return true if `sequence_id` arrived; `None` if the map does not cover it.
    pub fn arrived(&self, sequence_id: u16) -> Option<bool> {
        let back = self.newest.wrapping_sub(sequence_id);
        (back < self.watched).then(|| self.arrived >> back & 1 == 1)
    }

    /// Return the number of requests without a Sync: the responder exceeded its packet rate.
    pub fn unanswered(&self) -> u32 {
        self.requests.wrapping_sub(self.syncs)
    }

    /// Read the value of an organization extension, and t1 if present; `None` if it is another one.
    pub(super) fn read(value: &[u8]) -> Result<Option<(Self, Option<i64>)>, Malformed> {
        let Some(mut from) = tlv::open(value, SUBTYPE) else {
            return Ok(None);
        };
        let rx_report = Self {
            requests: from.u32()?,
            syncs: from.u32()?,
            newest: from.u16()?,
            watched: from.u16()?,
            arrived: from.u128()?,
        };
        if rx_report.watched > MAP_LEN {
            return Err(Malformed::Tlv);
        }
        let left_ns = if value.len() < LONG_LEN.into() {
            None
        } else {
            Some(read_time(&mut from)?)
        };
        Ok(Some((rx_report, left_ns)))
    }

    pub(super) fn write(&self, left_ns: Option<i64>, to: &mut Writer<'_>) {
        let length = left_ns.map_or(VALUE_LEN, |_| LONG_LEN);
        tlv::begin(SUBTYPE, length, to);
        to.put(&self.requests.to_be_bytes());
        to.put(&self.syncs.to_be_bytes());
        to.put(&self.newest.to_be_bytes());
        to.put(&self.watched.to_be_bytes());
        to.put(&self.arrived.to_be_bytes());
        if let Some(left_ns) = left_ns {
            write_time(left_ns, to);
        }
    }
}
