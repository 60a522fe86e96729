//! Types shared by all messages, and reading them from untrusted bytes.

/// Reason why bytes are not a message of this agent's exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than the message claims or needs.
    #[error("shorter than its message length or type asks for")]
    Short,
    /// Not version 2 of the protocol (7.5.4, minor versions 0 and 1 are understood).
    #[error("PTP version {0}, not 2")]
    Version(u8),
    /// Another profile's sdoId (7.1).
    #[error("not of sdoId 0")]
    SdoId,
    /// A type that no exchange uses (table 36).
    #[error("message type {0:#x}")]
    Type(u8),
    /// A time that is none, or beyond the year 2262.
    #[error("a timestamp that is no time")]
    Timestamp,
    /// A TLV that runs over the end of its message (14.1).
    #[error("a TLV that runs over the end")]
    Tlv,
    /// An AUTHENTICATION TLV (16.14), which this agent cannot verify.
    #[error("an AUTHENTICATION TLV, which is not supported")]
    Authentication,
}

/// Takes fields off the front of untrusted bytes.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*field)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.take().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_be_bytes)
    }

    pub fn u128(&mut self) -> Result<u128, Malformed> {
        self.take().map(u128::from_be_bytes)
    }
}

/// Puts fields one after the other; the buffer is as long as the longest message.
pub(super) struct Writer<'a> {
    pub bytes: &'a mut [u8],
    pub len: usize,
}

impl Writer<'_> {
    pub fn put(&mut self, field: &[u8]) {
        self.bytes[self.len..self.len + field.len()].copy_from_slice(field);
        self.len += field.len();
    }
}

/// The identity of a sender or requester: a clock and one of its ports (5.3.5).
///
///  0  8  clock identity
///  8  2  port number
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortIdentity {
    pub clock: u64,
    pub port: u16,
}

impl PortIdentity {
    /// Any port that the message reaches (13.12.2).
    pub const ANY: Self = Self {
        clock: u64::MAX,
        port: u16::MAX,
    };

    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            clock: from.u64()?,
            port: from.u16()?,
        })
    }

    pub(super) fn write(self, to: &mut Writer<'_>) {
        to.put(&self.clock.to_be_bytes());
        to.put(&self.port.to_be_bytes());
    }
}

/// Nanoseconds scaled by 2^16 (5.3.2): 2.5 ns is `0x0000_0000_0002_8000`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Correction(pub i64);

impl Correction {
    /// Whole nanoseconds, rounded to the nearest.
    pub fn nanos(self) -> i64 {
        (self.0 >> 16) + ((self.0 >> 15) & 1)
    }
}

const NANOS_PER_S: u64 = 1_000_000_000;

/// Read a timestamp (5.3.3) as ns since the epoch of its time scale.
///
///  0  6  seconds
///  6  4  nanoseconds, less than 10^9
pub(super) fn read_time(from: &mut Reader<'_>) -> Result<i64, Malformed> {
    let seconds = u64::from(from.u16()?) << 32 | u64::from(from.u32()?);
    let nanos = u64::from(from.u32()?);
    if nanos >= NANOS_PER_S {
        return Err(Malformed::Timestamp);
    }
    seconds
        .checked_mul(NANOS_PER_S)
        .and_then(|whole| i64::try_from(whole + nanos).ok())
        .ok_or(Malformed::Timestamp)
}

/// Write ns since the epoch of our time scale. An earlier time, which the field cannot hold, is written as the epoch.
pub(super) fn write_time(time_ns: i64, to: &mut Writer<'_>) {
    let time_ns = u64::try_from(time_ns).unwrap_or(0);
    let seconds = time_ns / NANOS_PER_S;
    to.put(&seconds.to_be_bytes()[2..]);
    to.put(&((time_ns % NANOS_PER_S) as u32).to_be_bytes());
}
