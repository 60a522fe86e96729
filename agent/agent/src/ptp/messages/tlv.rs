//! The header of this agent's organization extension TLVs (14.3).

use super::field::{Reader, Writer};

pub(super) const TLV_TYPE: u16 = 0x0003;

/// Locally administered, not registered: first octet with the "locally administered" bit set, then `SM`.
const ORGANISATION: [u8; 3] = [0x02, b'S', b'M'];

/// Return a reader behind the ids of an extension's value; `None` if organization or subtype differ.
pub(super) fn open(value: &[u8], subtype: [u8; 3]) -> Option<Reader<'_>> {
    let mut from = Reader(value);
    let ids = from.take::<6>().ok()?;
    (ids[..3] == ORGANISATION && ids[3..] == subtype).then_some(from)
}

/// Write the header of an extension whose value, including the ids, is `length` octets long.
pub(super) fn begin(subtype: [u8; 3], length: u16, to: &mut Writer<'_>) {
    to.put(&TLV_TYPE.to_be_bytes());
    to.put(&length.to_be_bytes());
    to.put(&ORGANISATION);
    to.put(&subtype);
}
