//! The TLV with the offset of a responder's hardware clock.

use super::field::{Malformed, Writer};
use super::tlv;

/// The offset of a responder's hardware clock from the timestamps in its messages, carried in Delay_Resp as an
/// organization extension TLV (14.3) after the reception report.
///
///  0  2  TLV type, 0x0003
///  2  2  length of what follows, 20
///  4  3  organisation id, as in the reception report
///  7  3  organisation subtype, 2
/// 10  1  clock domain: the source of the clock's time
/// 11  1  reserved, 0
/// 12  8  offset, ns, at the receive timestamp of the same message
/// 20  4  error of the offset, ns
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardwareClockTlv {
    pub clock_domain: u8,
    pub ahead_ns: i64,
    pub error_ns: u32,
}

const SUBTYPE: [u8; 3] = [0, 0, 2];
const VALUE_LEN: u16 = 20;
pub(super) const TLV_LEN: usize = 4 + VALUE_LEN as usize;

impl HardwareClockTlv {
    /// Read the value of an organization extension; `None` if it is another one.
    pub(super) fn read(value: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(mut from) = tlv::open(value, SUBTYPE) else {
            return Ok(None);
        };
        let [clock_domain, _reserved] = from.take()?;
        Ok(Some(Self {
            clock_domain,
            ahead_ns: i64::from_be_bytes(from.take()?),
            error_ns: from.u32()?,
        }))
    }

    pub(super) fn write(&self, to: &mut Writer<'_>) {
        tlv::begin(SUBTYPE, VALUE_LEN, to);
        to.put(&[self.clock_domain, 0]);
        to.put(&self.ahead_ns.to_be_bytes());
        to.put(&self.error_ns.to_be_bytes());
    }
}
