//! The TLVs of unicast negotiation (16.1), in which a client requests messages and a responder grants them.

use super::field::{Malformed, Reader, Writer};

/// Largest number of TLVs read from one Signaling message; a client repeats requests that were not granted.
pub const MOST_TLVS: usize = 4;

/// The messages that are granted (16.1.4.1, by message type).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    Announce,
    Sync,
    DelayResp,
}

impl Service {
    pub const ALL: [Self; 3] = [Self::Announce, Self::Sync, Self::DelayResp];

    pub(in crate::ptp) fn place(self) -> usize {
        match self {
            Self::Announce => 0,
            Self::Sync => 1,
            Self::DelayResp => 2,
        }
    }

    fn of(message_type: u8) -> Option<Self> {
        match message_type {
            0xb => Some(Self::Announce),
            0x0 => Some(Self::Sync),
            0x9 => Some(Self::DelayResp),
            _ => None,
        }
    }

    fn message_type(self) -> u8 {
        match self {
            Self::Announce => 0xb,
            Self::Sync => 0x0,
            Self::DelayResp => 0x9,
        }
    }
}

/// A TLV of the negotiation. `interval` is the logarithm to base 2 of the seconds between messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tlv {
    /// 16.1.4.1, type 0x0004:
    ///
    ///  0  1  message type in the upper half
    ///  1  1  log inter-message period
    ///  2  4  duration, s
    Request {
        service: Service,
        interval: i8,
        duration_s: u32,
    },
    /// 16.1.4.2, type 0x0005: as a request, then a reserved octet and one whose lowest bit invites renewal. A duration
    /// of 0 denies.
    Grant {
        service: Service,
        interval: i8,
        duration_s: u32,
    },
    /// 16.1.4.3, type 0x0006:
    ///
    ///  0  1  message type in the upper half, flags in the lower
    ///  1  1  reserved
    Cancel { service: Service },
    /// 16.1.4.4, type 0x0007, as a cancellation.
    Acknowledge { service: Service },
}

/// The TLVs of one Signaling message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tlvs {
    all: [Option<Tlv>; MOST_TLVS],
    len: usize,
}

impl Tlvs {
    /// Add a TLV. Skips it beyond [`MOST_TLVS`].
    pub fn push(&mut self, tlv: Tlv) {
        if let Some(place) = self.all.get_mut(self.len) {
            *place = Some(tlv);
            self.len += 1;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Tlv> + '_ {
        self.all.iter().copied().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Read to the end of a message. Skip TLVs of other kinds and of unknown services.
    pub(super) fn read(mut from: Reader<'_>) -> Result<Self, Malformed> {
        let mut tlvs = Self::default();
        while from.0.len() >= 4 {
            let (kind, length) = (from.u16()?, usize::from(from.u16()?));
            let (value, rest) = from.0.split_at_checked(length).ok_or(Malformed::Tlv)?;
            if let Some(tlv) = Tlv::read(kind, Reader(value))? {
                tlvs.push(tlv);
            }
            from = Reader(rest);
        }
        Ok(tlvs)
    }

    pub(super) fn write(&self, to: &mut Writer<'_>) {
        self.iter().for_each(|tlv| tlv.write(to));
    }
}

impl FromIterator<Tlv> for Tlvs {
    fn from_iter<I: IntoIterator<Item = Tlv>>(tlvs: I) -> Self {
        let mut all = Self::default();
        tlvs.into_iter().for_each(|tlv| all.push(tlv));
        all
    }
}

impl Tlv {
    fn read(kind: u16, mut from: Reader<'_>) -> Result<Option<Self>, Malformed> {
        if !(0x0004..=0x0007).contains(&kind) {
            return Ok(None);
        }
        let [first] = from.take().map_err(|_| Malformed::Tlv)?;
        let Some(service) = Service::of(first >> 4) else {
            return Ok(None);
        };
        let mut timing = || -> Result<(i8, u32), Malformed> {
            let interval = i8::from_be_bytes(from.take().map_err(|_| Malformed::Tlv)?);
            Ok((interval, from.u32().map_err(|_| Malformed::Tlv)?))
        };
        Ok(Some(match kind {
            0x0004 => {
                let (interval, duration_s) = timing()?;
                Self::Request {
                    service,
                    interval,
                    duration_s,
                }
            }
            0x0005 => {
                let (interval, duration_s) = timing()?;
                Self::Grant {
                    service,
                    interval,
                    duration_s,
                }
            }
            0x0006 => Self::Cancel { service },
            _ => Self::Acknowledge { service },
        }))
    }

    fn write(self, to: &mut Writer<'_>) {
        let mut put = |kind: u16, length: u16, service: Service, rest: &[u8]| {
            to.put(&kind.to_be_bytes());
            to.put(&length.to_be_bytes());
            to.put(&[service.message_type() << 4]);
            to.put(rest);
        };
        match self {
            Self::Request {
                service,
                interval,
                duration_s,
            } => {
                let [a, b, c, d] = duration_s.to_be_bytes();
                put(0x0004, 6, service, &[interval.to_be_bytes()[0], a, b, c, d]);
            }
            Self::Grant {
                service,
                interval,
                duration_s,
            } => {
                let [a, b, c, d] = duration_s.to_be_bytes();
                let interval = interval.to_be_bytes()[0];
                let renew = u8::from(duration_s > 0);
                put(0x0005, 8, service, &[interval, a, b, c, d, 0, renew]);
            }
            Self::Cancel { service } => put(0x0006, 2, service, &[0]),
            Self::Acknowledge { service } => put(0x0007, 2, service, &[0]),
        }
    }
}
