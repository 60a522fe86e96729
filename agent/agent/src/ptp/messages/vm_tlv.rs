//! The TLV by which a responder names its VM and reports what arrived with the request.

use super::field::{Correction, Malformed, Writer};
use super::tlv;

/// What a responder reports to an agent about itself, as an organization extension TLV (14.3) of a response:
///
///  0  2  TLV type, 0x0003
///  2  2  length of what follows, 24
///  4  3  organisation id, as in the reception report
///  7  3  organisation subtype, 5
/// 10  8  tag of the two VMs by the responder's plan, 0 without one
/// 18  8  correction that the request arrived with: what switches say they held it
/// 26  1  least precise origin of t1 and t4, as in reports: 1 the process, 2 the kernel, 3 the network card; 0 is unknown
/// 27  1  reserved, 0
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct VmTlv {
    /// Keyed hash of the ids of both VMs, which only these two get in their plans.
    pub tag: u64,
    pub request_correction: Correction,
    pub source: u8,
}

const SUBTYPE: [u8; 3] = [0, 0, 5];
const VALUE_LEN: u16 = 24;
pub(super) const TLV_LEN: usize = 4 + VALUE_LEN as usize;

impl VmTlv {
    /// Read the value of an organization extension; `None` if it is another one.
    pub(super) fn read(value: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(mut from) = tlv::open(value, SUBTYPE) else {
            return Ok(None);
        };
        Ok(Some(Self {
            tag: from.u64()?,
            request_correction: Correction(i64::from_be_bytes(from.take()?)),
            source: from.take::<1>()?[0],
        }))
    }

    pub(super) fn write(&self, to: &mut Writer<'_>) {
        tlv::begin(SUBTYPE, VALUE_LEN, to);
        to.put(&self.tag.to_be_bytes());
        to.put(&self.request_correction.0.to_be_bytes());
        to.put(&[self.source, 0]);
    }
}
