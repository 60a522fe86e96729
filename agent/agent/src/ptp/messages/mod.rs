//! The messages of exchanges and of their negotiation, byte by byte.

mod ecn_tlv;
mod field;
mod hardware_clock_tlv;
mod response_tlv;
mod rx_report_tlv;
mod tlv;
mod unicast_tlv;
mod vm_tlv;

pub use ecn_tlv::EcnField;
pub use field::{Correction, Malformed, PortIdentity};
pub use hardware_clock_tlv::HardwareClockTlv;
pub use response_tlv::ResponseTlv;
pub(super) use response_tlv::SyncDepartures;
pub(super) use rx_report_tlv::MAP_LEN;
pub use rx_report_tlv::RxReportTlv;
pub use unicast_tlv::{Service, Tlv, Tlvs};
pub use vm_tlv::VmTlv;

use field::{Reader, Writer, read_time, write_time};
use rx_report_tlv::TLV_LEN;
use tlv::TLV_TYPE;

/// Length of the longest message we send, bytes.
pub const MAX_LEN: usize = 54
    + TLV_LEN
    + response_tlv::TLV_LEN
    + hardware_clock_tlv::TLV_LEN
    + vm_tlv::TLV_LEN
    + ecn_tlv::TLV_LEN;

/// Type of the AUTHENTICATION TLV (table 52).
const AUTHENTICATION: u16 = 0x8009;

/// Sync is followed by a Follow_Up with its exact departure (table 37).
const TWO_STEP: u16 = 0x0200;
/// PTP profile specific 2: the exchange is between agents (table 37).
const COMPACT: u16 = 0x4000;
/// PTP profile specific 1 (table 37). Together with the former: the compact exchange; alone: SPTP.
const SOON: u16 = 0x2000;
/// Sent to one port only (table 37).
const UNICAST: u16 = 0x0400;
/// The time scale is TAI and not one of the responder's own (7.2.1, table 37).
const PTP_TIME_SCALE: u16 = 0x0008;
/// Log interval of messages that respond or have no fixed rate (table 42).
const NO_INTERVAL: u8 = 0x7f;

/// The part of a clock identity that a request carries as the proof of a receipt.
pub const RECEIPT_BITS: u64 = 0xffff_ffff_ffff;
/// Lengths of a request, of the messages of its response and of a plain Sync or Follow_Up at most, bytes.
pub const REQUEST_LEN: usize = 44;
pub const SYNC_LEN: usize = 44;
pub const ANNOUNCE_LEN: usize = 64;
pub const DELAY_RESP_LEN: usize = 54 + TLV_LEN + hardware_clock_tlv::TLV_LEN + vm_tlv::TLV_LEN;
pub const COMPACT_RESP_LEN: usize = DELAY_RESP_LEN - 10 + response_tlv::TLV_LEN + ecn_tlv::TLV_LEN;

/// Source of time (table 6).
const INTERNAL_OSCILLATOR: u8 = 0xa0;

/// A message of an exchange or about exchanges. Its header (13.3.1, table 35):
///
///  0  1  majorSdoId, 0 | message type
///  1  1  minor version, 0 or 1 | version, 2
///  2  2  message length; bytes of the datagram beyond it are not ours to read
///  4  1  domain
///  5  1  minorSdoId
///  6  2  flags
///  8  8  correction
/// 16  4  (message type specific)
/// 20 10  source port identity
/// 30  2  sequence id
/// 32  1  control, for version 1 hardware
/// 33  1  log message interval
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// PTP domain (7.1): 0 between agents.
    pub domain: u8,
    pub source: PortIdentity,
    pub sequence_id: u16,
    pub correction: Correction,
    pub body: Body,
}

/// The message body after the header. Times are ns since the epoch of the responder's time scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// 13.6, type 0x0:
    ///
    /// 34 10  origin timestamp, an estimate when two-step
    Sync { two_step: bool, origin_ns: i64 },
    /// 13.6, type 0x1:
    ///
    /// 34 10  origin timestamp, 0: the client keeps it (11.3.2)
    DelayReq,
    /// A Delay_Req of SPTP (Meta's Simple PTP), marked by a flag. Its response is a Sync, whose origin timestamp is t4, and an
    /// Announce, whose origin timestamp is t1, both with its sequence id.
    SptpReq,
    /// A Delay_Req with a flag for an exchange between agents: the Delay_Resp may carry t1 as well. With a second flag
    /// another request follows `soon`: then the whole response may be a [`CompactResp`](Self::CompactResp). The field of the
    /// origin timestamp holds the receipt:
    ///
    /// 34  6  low octets of the clock identity of the responder's messages to this client, 0 before the first one
    /// 40  4  1; 0 from agents of earlier versions, which send no receipt (`None`)
    /// 44 12  (optional) ECN TLV
    CompactReq {
        soon: bool,
        receipt: Option<u64>,
        ecn: Option<EcnField>,
    },
    /// A Sync that is the whole response, with both flags of its request:
    ///
    /// 34 10  origin timestamp, an estimate
    /// 44  …  response TLV: t4, and t1 of earlier Syncs
    ///  … 38  reception report
    ///  … 24  (optional) hardware clock TLV
    ///  … 28  VM TLV; agents of earlier versions send none
    ///  … 12  (optional) ECN TLV, if the request has one
    CompactResp {
        origin_ns: i64,
        response_tlv: ResponseTlv,
        rx_report: RxReportTlv,
        hardware_clock: Option<HardwareClockTlv>,
        vm: Option<VmTlv>,
        ecn: Option<EcnField>,
    },
    /// 13.7, type 0x8:
    ///
    /// 34 10  precise origin timestamp of the Sync of this sequence id: t1
    FollowUp { origin_ns: i64 },
    /// 13.8, type 0x9:
    ///
    /// 34 10  receive timestamp: t4
    /// 44 10  requesting port identity
    /// 54 38  (optional) reception report, or 48 with t1 at its end
    ///  … 24  (optional) hardware clock TLV
    ///  … 28  (optional) VM TLV
    DelayResp {
        receive_ns: i64,
        requester: PortIdentity,
        rx_report: Option<RxReportTlv>,
        /// t1, in the reception report of a response to an agent, which gets no Follow_Up.
        sync_left_ns: Option<i64>,
        /// Offset of the responder's hardware clock, in a response to an agent.
        hardware_clock: Option<HardwareClockTlv>,
        /// In a response to an agent.
        vm: Option<VmTlv>,
    },
    /// 13.5, type 0xb:
    ///
    /// 34 10  origin timestamp: 0 is not used, t1 in SPTP
    /// 44  2  current UTC offset, s
    /// 46  1  reserved
    /// 47  1  priority 1
    /// 48  4  clock class, accuracy and variance
    /// 52  1  priority 2
    /// 53  8  grandmaster identity
    /// 61  2  steps removed
    /// 63  1  time source
    ///
    /// `utc_offset_s` is the offset of the responder's time scale from UTC; `None` for an arbitrary time scale (ARB, 7.2.1),
    /// as this agent's: no clock shall be set by it.
    Announce {
        origin_ns: i64,
        utc_offset_s: Option<i16>,
    },
    /// 13.12, type 0xc:
    ///
    /// 34 10  target port identity, all ones for any
    /// 44  …  TLVs
    Signaling { target: PortIdentity, tlvs: Tlvs },
}

impl Body {
    /// Return message type (table 36), control (table 42) and flags.
    fn codes(&self) -> (u8, u8, u16) {
        match self {
            Self::Sync { two_step: true, .. } => (0x0, 0, TWO_STEP | UNICAST),
            Self::Sync { .. } => (0x0, 0, UNICAST),
            Self::DelayReq => (0x1, 1, UNICAST),
            Self::SptpReq => (0x1, 1, UNICAST | SOON),
            Self::CompactReq { soon: false, .. } => (0x1, 1, UNICAST | COMPACT),
            Self::CompactReq { soon: true, .. } => (0x1, 1, UNICAST | COMPACT | SOON),
            Self::CompactResp { .. } => (0x0, 0, TWO_STEP | UNICAST | COMPACT | SOON),
            Self::FollowUp { .. } => (0x8, 2, UNICAST),
            Self::DelayResp { .. } => (0x9, 3, UNICAST),
            Self::Announce {
                utc_offset_s: Some(_),
                ..
            } => (0xb, 5, UNICAST | PTP_TIME_SCALE),
            Self::Announce { .. } => (0xb, 5, UNICAST),
            Self::Signaling { .. } => (0xc, 5, UNICAST),
        }
    }
}

impl Message {
    /// Return what the responder says about its VM.
    pub fn vm(&self) -> Option<VmTlv> {
        match self.body {
            Body::CompactResp { vm, .. } | Body::DelayResp { vm, .. } => vm,
            _ => None,
        }
    }

    /// Return the port identity whose request it responds to.
    pub fn requester(&self) -> Option<PortIdentity> {
        match self.body {
            Body::CompactResp { response_tlv, .. } => Some(response_tlv.requester),
            Body::DelayResp { requester, .. } => Some(requester),
            _ => None,
        }
    }

    /// Return the ECN field that its packet leaves with: ECN-capable if the exchange compares it.
    pub fn leaves_with(&self) -> EcnField {
        match self.body {
            Body::CompactReq { ecn: Some(_), .. } | Body::CompactResp { ecn: Some(_), .. } => {
                EcnField::ECT0
            }
            _ => EcnField::NOT_ECT,
        }
    }

    /// Read an untrusted datagram.
    pub fn read(datagram: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader(datagram);
        let [kind, version, length_high, length_low, domain, _minor_sdo] = from.take()?;
        if version & 0x0f != 2 {
            return Err(Malformed::Version(version & 0x0f));
        }
        if kind & 0xf0 != 0 {
            return Err(Malformed::SdoId);
        }
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        let mut from = Reader(datagram.get(6..length).ok_or(Malformed::Short)?);
        let flags = from.u16()?;
        let correction = Correction(i64::from_be_bytes(from.take()?));
        from.take::<4>()?;
        let source = PortIdentity::read(&mut from)?;
        let sequence_id = from.u16()?;
        from.take::<2>()?;
        let fixed_len = match kind & 0x0f {
            0x8 | 0x0 | 0x1 | 0xc => 44,
            0x9 => 54,
            _ => 64,
        };
        if flags & COMPACT == 0 && length > fixed_len {
            refuse_authentication(Reader(datagram.get(fixed_len..length).unwrap_or_default()))?;
        }
        let body = match kind & 0x0f {
            0x0 => {
                let origin_ns = read_time(&mut from)?;
                let ours = if flags & COMPACT == 0 {
                    Ours::default()
                } else {
                    Ours::find(from)?
                };
                match (ours.response_tlv, ours.rx_report) {
                    (Some(response_tlv), Some((rx_report, _))) => Body::CompactResp {
                        origin_ns,
                        response_tlv,
                        rx_report,
                        hardware_clock: ours.hardware_clock,
                        vm: ours.vm,
                        ecn: ours.ecn,
                    },
                    _ => Body::Sync {
                        two_step: flags & TWO_STEP != 0,
                        origin_ns,
                    },
                }
            }
            0x1 => {
                // Some implementations leave anything in this field; nothing depends on it without the flag.
                let receipt = u64::from(from.u16()?) << 32 | u64::from(from.u32()?);
                let has_receipt = from.u32()? == 1;
                match (flags & COMPACT != 0, flags & SOON != 0) {
                    (false, false) => Body::DelayReq,
                    (false, true) => Body::SptpReq,
                    (true, soon) => Body::CompactReq {
                        soon,
                        receipt: has_receipt.then_some(receipt),
                        ecn: Ours::find(from)?.ecn,
                    },
                }
            }
            0x8 => Body::FollowUp {
                origin_ns: read_time(&mut from)?,
            },
            0x9 => {
                let receive_ns = read_time(&mut from)?;
                let requester = PortIdentity::read(&mut from)?;
                let ours = Ours::find(from)?;
                let (rx_report, sync_left_ns) = ours.rx_report.unzip();
                Body::DelayResp {
                    receive_ns,
                    requester,
                    rx_report,
                    sync_left_ns: sync_left_ns.flatten(),
                    hardware_clock: ours.hardware_clock,
                    vm: ours.vm,
                }
            }
            0xb => {
                // Implementations that do not use it leave anything there.
                let origin = from.take::<10>()?;
                let origin_ns = read_time(&mut Reader(&origin)).unwrap_or(0);
                let offset_s = i16::from_be_bytes(from.take()?);
                from.take::<18>()?;
                let of_ptp = flags & PTP_TIME_SCALE != 0;
                Body::Announce {
                    origin_ns,
                    utc_offset_s: of_ptp.then_some(offset_s),
                }
            }
            0xc => Body::Signaling {
                target: PortIdentity::read(&mut from)?,
                tlvs: Tlvs::read(from)?,
            },
            other => return Err(Malformed::Type(other)),
        };
        Ok(Self {
            domain,
            source,
            sequence_id,
            correction,
            body,
        })
    }

    /// Write the message to the front of `bytes`. Return its length.
    pub fn write(&self, bytes: &mut [u8; MAX_LEN]) -> usize {
        let (kind, control, flags) = self.body.codes();
        let mut to = Writer { bytes, len: 0 };
        to.put(&[kind, 0x12, 0, 0, self.domain, 0]);
        to.put(&flags.to_be_bytes());
        to.put(&self.correction.0.to_be_bytes());
        to.put(&[0; 4]);
        self.source.write(&mut to);
        to.put(&self.sequence_id.to_be_bytes());
        to.put(&[control, NO_INTERVAL]);
        match self.body {
            Body::DelayReq | Body::SptpReq => write_time(0, &mut to),
            Body::CompactReq { receipt, ecn, .. } => {
                to.put(&receipt.unwrap_or(0).to_be_bytes()[2..]);
                to.put(&u32::from(receipt.is_some()).to_be_bytes());
                if let Some(ecn) = ecn {
                    ecn.write(&mut to);
                }
            }
            Body::Sync { origin_ns, .. } | Body::FollowUp { origin_ns } => {
                write_time(origin_ns, &mut to);
            }
            Body::CompactResp {
                origin_ns,
                response_tlv,
                rx_report,
                hardware_clock,
                vm,
                ecn,
            } => {
                write_time(origin_ns, &mut to);
                response_tlv.write(&mut to);
                rx_report.write(None, &mut to);
                if let Some(hardware_clock) = hardware_clock {
                    hardware_clock.write(&mut to);
                }
                if let Some(vm) = vm {
                    vm.write(&mut to);
                }
                if let Some(ecn) = ecn {
                    ecn.write(&mut to);
                }
            }
            Body::DelayResp {
                receive_ns,
                requester,
                rx_report,
                sync_left_ns,
                hardware_clock,
                vm,
            } => {
                write_time(receive_ns, &mut to);
                requester.write(&mut to);
                if let Some(rx_report) = rx_report {
                    rx_report.write(sync_left_ns, &mut to);
                }
                if let Some(hardware_clock) = hardware_clock {
                    hardware_clock.write(&mut to);
                }
                if let Some(vm) = vm {
                    vm.write(&mut to);
                }
            }
            Body::Announce {
                origin_ns,
                utc_offset_s,
            } => {
                write_time(origin_ns, &mut to);
                to.put(&utc_offset_s.unwrap_or(0).to_be_bytes());
                // Class 248, the default (table 4).
                to.put(&[0, 128, 248, 0xfe, 0xff, 0xff, 128]);
                to.put(&self.source.clock.to_be_bytes());
                to.put(&[0, 0, INTERNAL_OSCILLATOR]);
            }
            Body::Signaling { target, tlvs } => {
                target.write(&mut to);
                tlvs.write(&mut to);
            }
        }
        let len = to.len;
        bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        len
    }
}

/// Refuse a message with an AUTHENTICATION TLV (16.14): this agent has no keys to verify it, and must not treat it as if it
/// had.
fn refuse_authentication(mut from: Reader<'_>) -> Result<(), Malformed> {
    while from.0.len() >= 4 {
        let (kind, length) = (from.u16()?, usize::from(from.u16()?));
        if kind == AUTHENTICATION {
            return Err(Malformed::Authentication);
        }
        let Some((_, rest)) = from.0.split_at_checked(length) else {
            break;
        };
        from = Reader(rest);
    }
    Ok(())
}

/// This agent's TLVs after a body.
#[derive(Default)]
struct Ours {
    /// With t1 if present.
    rx_report: Option<(RxReportTlv, Option<i64>)>,
    response_tlv: Option<ResponseTlv>,
    hardware_clock: Option<HardwareClockTlv>,
    vm: Option<VmTlv>,
    ecn: Option<EcnField>,
}

impl Ours {
    /// Read the TLVs (14.1): type, length, value. Skip unknown ones; the first one of each kind counts.
    fn find(mut from: Reader<'_>) -> Result<Self, Malformed> {
        let mut ours = Self::default();
        while from.0.len() >= 4 {
            let (kind, length) = (from.u16()?, usize::from(from.u16()?));
            let (value, rest) = from.0.split_at_checked(length).ok_or(Malformed::Tlv)?;
            if kind == TLV_TYPE {
                ours.rx_report = ours.rx_report.or(RxReportTlv::read(value)?);
                ours.response_tlv = ours.response_tlv.or(ResponseTlv::read(value)?);
                ours.hardware_clock = ours.hardware_clock.or(HardwareClockTlv::read(value)?);
                ours.vm = ours.vm.or(VmTlv::read(value)?);
                ours.ecn = ours.ecn.or(EcnField::read(value)?);
            }
            from = Reader(rest);
        }
        Ok(ours)
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
