//! The wire format of protobuf, as far as reports need it.

/// How the content of a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Varint,
    Fixed64,
    Bytes,
    Fixed32,
}

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub number: u32,
    pub kind: Kind,
    /// Content without the length.
    pub content: &'a [u8],
    /// All bytes of the field, its key included.
    pub whole: &'a [u8],
}

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The fields of a message, in their order; ends after the first that is malformed.
pub(crate) struct Fields<'a> {
    left: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Self { left: message }
    }

    fn field(&mut self) -> Option<Field<'a>> {
        let whole = self.left;
        let (key, after) = varint(whole)?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0)?;
        let (kind, content, after) = match key & 7 {
            0 => {
                let (_, end) = varint(after)?;
                let size = after.len() - end.len();
                (Kind::Varint, &after[..size], end)
            }
            1 => (Kind::Fixed64, after.get(..8)?, after.get(8..)?),
            2 => {
                let (size, start) = varint(after)?;
                let size = usize::try_from(size).ok()?;
                (Kind::Bytes, start.get(..size)?, start.get(size..)?)
            }
            5 => (Kind::Fixed32, after.get(..4)?, after.get(4..)?),
            _ => return None,
        };
        self.left = after;
        Some(Field {
            number,
            kind,
            content,
            whole: &whole[..whole.len() - after.len()],
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.left = &[];
        }
        Some(field.ok_or(Malformed))
    }
}

/// Read a number of at most 64 bits; return it and the bytes after it.
#[inline]
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    if let Some((byte @ 0..128, left)) = bytes.split_first() {
        return Some((u64::from(*byte), left));
    }
    // Most numbers of a report have two to five bytes. The highest bit of each byte tells whether another one follows.
    if let Some(eight) = bytes.first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            let last = ends.trailing_zeros() / 8;
            let own = word & u64::MAX >> (56 - 8 * last) & 0x7f7f_7f7f_7f7f_7f7f;
            let pairs = own & 0x007f_007f_007f_007f | (own & 0x7f00_7f00_7f00_7f00) >> 1;
            let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
            let number = fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4;
            return Some((number, &bytes[last as usize + 1..]));
        }
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 127) << (7 * at);
        if *byte < 128 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}
