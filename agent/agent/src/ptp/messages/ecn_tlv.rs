//! The ECN field of IP packets (RFC 3168, 5), and the TLV by which both ends of an exchange compare it.

use super::field::{Malformed, Writer};
use super::tlv;

/// The ECN field: the two low bits of the octet of IPv4's type of service or IPv6's traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcnField(u8);

impl EcnField {
    /// Not ECN-capable: every packet unless asked for, and what a hop leaves that clears the field.
    pub const NOT_ECT: Self = Self(0b00);
    /// ECN-capable: a congested switch marks the packet instead of dropping it.
    pub const ECT0: Self = Self(0b10);
    /// The mark of congestion.
    pub const CE: Self = Self(0b11);

    /// Return the field of the whole octet.
    pub fn of(octet: u8) -> Self {
        Self(octet & 0b11)
    }

    pub fn code(self) -> u8 {
        self.0
    }

    /// Read the value of an organization extension; `None` if it is another one.
    pub(super) fn read(value: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(mut from) = tlv::open(value, SUBTYPE) else {
            return Ok(None);
        };
        let [octet] = from.take()?;
        Ok(Some(Self::of(octet)))
    }

    /// Write the TLV, an organization extension (14.3). In a request it is the field that the packet leaves with, and asks
    /// that its Sync leaves with the same one; in the response that with which the request arrived.
    ///
    ///  0  2  TLV type, 0x0003
    ///  2  2  length of what follows, 8
    ///  4  3  organisation id, as in the reception report
    ///  7  3  organisation subtype, 4
    /// 10  1  ECN field
    /// 11  1  0
    pub(super) fn write(self, to: &mut Writer<'_>) {
        tlv::begin(SUBTYPE, VALUE_LEN, to);
        to.put(&[self.0, 0]);
    }
}

const SUBTYPE: [u8; 3] = [0, 0, 4];
const VALUE_LEN: u16 = 8;
pub(super) const TLV_LEN: usize = 4 + VALUE_LEN as usize;
