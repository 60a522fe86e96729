//! Network cards that timestamp packets: what they can do, and what they are set to
//! (`Documentation/networking/timestamping.rst`, 3; include/uapi/linux/net_tstamp.h, ethtool.h, sockios.h).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::ptp_device::{PtpClock, ptp_devices};
use super::stamp_clocks::CardClock;
use crate::clock::PhcReading;

const SIOCETHTOOL: u64 = 0x8946;
const SIOCSHWTSTAMP: u64 = 0x89b0;
const SIOCGHWTSTAMP: u64 = 0x89b1;
const ETHTOOL_GET_TS_INFO: u32 = 0x41;

/// Longest name of an interface with its final zero (IFNAMSIZ).
const NAME: usize = 16;

/// `struct ethtool_ts_info`, 44 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct TsInfo {
    cmd: u32,
    so_timestamping: u32,
    phc_index: i32,
    tx_types: u32,
    tx_reserved: [u32; 3],
    rx_filters: u32,
    rx_reserved: [u32; 3],
}

/// `struct hwtstamp_config`, 12 bytes: the packets that a card timestamps.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardSetting {
    pub flags: i32,
    /// `enum hwtstamp_tx_types`.
    pub tx_type: i32,
    /// `enum hwtstamp_rx_filters`.
    pub rx_filter: i32,
}

/// `struct ifreq` with a pointer in its union, 40 bytes on 64-bit Linux.
#[repr(C)]
struct Request<T> {
    name: [u8; NAME],
    data: *mut T,
    rest: [u64; 2],
}

/// The abilities of a card and its driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardAbilities {
    /// Bits of `SOF_TIMESTAMPING_*`.
    pub timestamping: u32,
    /// Number of its clock: `/dev/ptp0` is 0.
    pub clock: Option<u32>,
    /// Bits `1 << tx_type` and `1 << rx_filter` that [`CardSetting`] may have.
    pub tx_types: u32,
    pub rx_filters: u32,
}

/// A network card as far as timestamps are concerned.
pub trait Card: Send {
    /// Return the name of its interface.
    fn name(&self) -> &str;
    fn abilities(&self) -> io::Result<CardAbilities>;
    fn setting(&self) -> io::Result<CardSetting>;
    /// Change the setting. Return the one in force, which may include further packets.
    fn set(&self, setting: CardSetting) -> io::Result<CardSetting>;
    /// Open its clock.
    fn clock(&self, number: u32) -> io::Result<Box<dyn CardClock>>;
}

/// The card of an interface of this machine.
#[derive(Debug)]
pub struct NetworkCard {
    name: String,
    /// Any socket; the kernel takes these calls by the name of the interface.
    socket: UdpSocket,
}

impl NetworkCard {
    pub fn open(name: &str) -> io::Result<Self> {
        if name.is_empty() || name.len() >= NAME || name.contains('\0') {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "no name of a network interface",
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            socket: UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"))?,
        })
    }

    /// Call an ioctl that reads and writes `data`, the structure that `request` is defined for.
    fn call<T: Copy>(&self, request: u64, data: &mut T) -> io::Result<()> {
        let mut argument = Request {
            name: [0; NAME],
            data: std::ptr::from_mut(data),
            rest: [0; 2],
        };
        argument.name[..self.name.len()].copy_from_slice(self.name.as_bytes());
        // SAFETY: these requests read an ifreq, as large as `argument`, with a name that ends with a zero, and read and
        // write the structure it points to. Each caller passes the structure of its request; it lives for the call.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), request as _, &raw mut argument) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

impl Card for NetworkCard {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> io::Result<CardAbilities> {
        let mut info = TsInfo {
            cmd: ETHTOOL_GET_TS_INFO,
            phc_index: -1,
            ..TsInfo::default()
        };
        self.call(SIOCETHTOOL, &mut info)?;
        Ok(CardAbilities {
            timestamping: info.so_timestamping,
            clock: u32::try_from(info.phc_index).ok(),
            tx_types: info.tx_types,
            rx_filters: info.rx_filters,
        })
    }

    fn setting(&self) -> io::Result<CardSetting> {
        let mut setting = CardSetting::default();
        self.call(SIOCGHWTSTAMP, &mut setting)?;
        Ok(setting)
    }

    fn set(&self, setting: CardSetting) -> io::Result<CardSetting> {
        let mut in_force = setting;
        self.call(SIOCSHWTSTAMP, &mut in_force)?;
        Ok(in_force)
    }

    fn clock(&self, number: u32) -> io::Result<Box<dyn CardClock>> {
        let path = format!("/dev/ptp{number}");
        let device = ptp_devices()
            .into_iter()
            .find(|device| device.path.as_os_str() == path.as_str());
        let Some(device) = device else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{path} is not in /sys/class/ptp"),
            ));
        };
        Ok(Box::new(PtpClock::open(&device)?))
    }
}

impl CardClock for PtpClock {
    fn read(&mut self) -> io::Result<PhcReading> {
        PtpClock::read(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and offsets as a C compiler makes them of the kernel's headers.
    #[test]
    fn structures_are_those_of_the_kernel() {
        assert_eq!(size_of::<TsInfo>(), 44);
        assert_eq!(std::mem::offset_of!(TsInfo, rx_filters), 28);
        assert_eq!(size_of::<CardSetting>(), 12);
        assert_eq!(size_of::<Request<u8>>(), size_of::<libc::ifreq>());
        assert_eq!(std::mem::offset_of!(Request<u8>, data), 16);
    }

    #[test]
    fn loopback_timestamps_in_software_and_has_no_setting_and_no_clock() {
        let card = NetworkCard::open("lo").unwrap();
        let abilities = card.abilities().unwrap();
        assert_ne!(abilities.timestamping & libc::SOF_TIMESTAMPING_SOFTWARE, 0);
        assert_eq!(
            abilities.timestamping & libc::SOF_TIMESTAMPING_RAW_HARDWARE,
            0
        );
        assert_eq!(abilities.clock, None);
        for refused in [card.setting(), card.set(CardSetting::default())] {
            let error = refused.unwrap_err().raw_os_error();
            let expected = [libc::EOPNOTSUPP, libc::ENOTTY, libc::EINVAL, libc::EPERM];
            assert!(
                error.is_some_and(|code| expected.contains(&code)),
                "{error:?}"
            );
        }
    }

    #[test]
    fn what_is_no_interface_is_refused() {
        for name in ["", "a-name-that-is-too-long", "zero\0"] {
            assert!(NetworkCard::open(name).is_err(), "{name:?}");
        }
        let missing = NetworkCard::open("not-there0").unwrap();
        let error = missing.abilities().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
