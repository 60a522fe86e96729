//! PTP hardware clocks of Linux, `/dev/ptp*` (include/uapi/linux/ptp_clock.h). They are read and never set.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use super::kernel_clocks::{RealTime, cross_timestamp};
use crate::clock::{PhcReading, RawTime};

const CLASS: &str = "/sys/class/ptp";

/// Comparisons in one call of the kernel, of which the narrowest counts.
const SAMPLES: usize = 9;
const MOST_SAMPLES: usize = 25;

/// `struct ptp_clock_caps`, 80 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Caps {
    max_adj: i32,
    n_alarm: i32,
    n_ext_ts: i32,
    n_per_out: i32,
    pps: i32,
    n_pins: i32,
    cross_timestamping: i32,
    reserved: [i32; 13],
}

/// `struct ptp_clock_time`, 16 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Time {
    sec: i64,
    nsec: u32,
    reserved: u32,
}

/// `struct ptp_sys_offset_precise`, 64 bytes: all three at one moment.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Precise {
    device: Time,
    sys_realtime: Time,
    sys_monoraw: Time,
    reserved: [u32; 4],
}

/// `struct ptp_sys_offset_extended`, 1216 bytes: the real-time clock, the device, the real-time clock again.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Extended {
    n_samples: u32,
    reserved: [u32; 3],
    samples: [[Time; 3]; MOST_SAMPLES],
}

/// `_IOR` is 2, `_IOWR` is 3 (include/uapi/asm-generic/ioctl.h); the type of PTP clocks is '='.
const fn request<T>(direction: u64, number: u64) -> u64 {
    direction << 30 | (size_of::<T>() as u64) << 16 | (b'=' as u64) << 8 | number
}
const GET_CAPS: u64 = request::<Caps>(2, 1);
const OFFSET_PRECISE: u64 = request::<Precise>(3, 8);
const OFFSET_EXTENDED: u64 = request::<Extended>(3, 9);

impl Time {
    /// Return nanoseconds; `None` for an invalid time.
    fn ns(self) -> Option<i64> {
        let ns = self.sec.checked_mul(1_000_000_000)?;
        ns.checked_add(i64::from(self.nsec))
    }
}

/// A hardware clock that could be opened.
#[derive(Debug)]
pub struct PtpClock {
    device: File,
    name: String,
    /// True if the hardware compares it with the system's clocks.
    is_precise: bool,
    /// File with the driver's error bound, ns (`phc_error_bound` of Amazon's ENA).
    bound_at: PathBuf,
}

/// A hardware clock of this machine: its device and the name of its driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtpDevice {
    pub path: PathBuf,
    pub name: String,
}

/// Return the hardware clocks of this machine, by number.
pub fn ptp_devices() -> Vec<PtpDevice> {
    devices_in(Path::new(CLASS))
}

fn devices_in(class: &Path) -> Vec<PtpDevice> {
    let entries = std::fs::read_dir(class).into_iter().flatten().flatten();
    let mut devices: Vec<_> = entries
        .filter_map(|entry| {
            let name = std::fs::read_to_string(entry.path().join("clock_name")).ok()?;
            let node = entry.file_name();
            let number: u32 = node.to_str()?.strip_prefix("ptp")?.parse().ok()?;
            let device = PtpDevice {
                path: Path::new("/dev").join(node),
                name: name.trim().to_owned(),
            };
            Some((number, device))
        })
        .collect();
    devices.sort_by_key(|(number, _)| *number);
    devices.into_iter().map(|(_, device)| device).collect()
}

impl PtpClock {
    /// Open a device. Fails if it is no hardware clock.
    pub fn open(device: &PtpDevice) -> io::Result<Self> {
        let file = File::open(&device.path)?;
        let mut caps = Caps::default();
        call(&file, GET_CAPS, &mut caps)?;
        let node = device.path.file_name().unwrap_or_default();
        Ok(Self {
            device: file,
            name: device.name.clone(),
            is_precise: caps.cross_timestamping != 0,
            bound_at: Path::new(CLASS).join(node).join("device/phc_error_bound"),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Return the driver's error bound, ns; `None` if the driver has none at the moment.
    pub fn bound_ns(&self) -> Option<u64> {
        bound(&std::fs::read_to_string(&self.bound_at).ok()?)
    }

    /// Read the clock. `error_ns` is the error of the reading alone.
    pub fn read(&self) -> io::Result<PhcReading> {
        if self.is_precise {
            let mut precise = Precise::default();
            call(&self.device, OFFSET_PRECISE, &mut precise)?;
            return of_precise(&precise).ok_or_else(no_time);
        }
        let mut extended = Extended {
            n_samples: SAMPLES as u32,
            reserved: [0; 3],
            samples: [[Time::default(); 3]; MOST_SAMPLES],
        };
        call(&self.device, OFFSET_EXTENDED, &mut extended)?;
        let now = cross_timestamp();
        let raw = |real: RealTime| now.raw.plus(real.0.saturating_sub(now.real.0));
        of_extended(&extended, raw).ok_or_else(no_time)
    }
}

fn no_time() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the device shows no time")
}

/// Parse `phc_error_bound`: a number of ns, or all ones while the device has no bound.
fn bound(text: &str) -> Option<u64> {
    let ns: u64 = text.trim().parse().ok()?;
    (ns < u64::from(u32::MAX)).then_some(ns)
}

fn of_precise(precise: &Precise) -> Option<PhcReading> {
    Some(PhcReading {
        at: RawTime(precise.sys_monoraw.ns()?),
        shows_ns: precise.device.ns()?,
        error_ns: 0,
    })
}

/// Return the narrowest of the samples; the device was read in its middle.
fn of_extended(extended: &Extended, raw: impl Fn(RealTime) -> RawTime) -> Option<PhcReading> {
    let count = (extended.n_samples as usize).min(MOST_SAMPLES);
    let readings = extended.samples[..count].iter().filter_map(|sample| {
        let [before, device, after] = sample.map(Time::ns);
        let (before, after) = (before?, after?);
        let width = u64::try_from(after.checked_sub(before)?).ok()?;
        Some(PhcReading {
            at: raw(RealTime(before + width as i64 / 2)),
            shows_ns: device?,
            error_ns: width.div_ceil(2),
        })
    });
    readings.min_by_key(|reading| reading.error_ns)
}

/// Call an ioctl that fills or exchanges a structure; `request` must be the one made for `T`.
fn call<T>(device: &File, request: u64, argument: &mut T) -> io::Result<()> {
    // SAFETY: ioctl(2) with a request made by `request::<T>` reads and writes as many bytes as `T` has, which is
    // laid out as the kernel's structure and lives for the call; a device of another kind refuses it (ENOTTY).
    let result = unsafe {
        libc::ioctl(
            device.as_raw_fd(),
            request as _,
            std::ptr::from_mut(argument),
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(ns: i64) -> Time {
        Time {
            sec: ns.div_euclid(1_000_000_000),
            nsec: ns.rem_euclid(1_000_000_000) as u32,
            reserved: 0,
        }
    }

    /// Sizes and requests as a C compiler makes them of the kernel's header.
    #[test]
    fn structures_are_those_of_the_kernel() {
        assert_eq!(size_of::<Caps>(), 80);
        assert_eq!(size_of::<Precise>(), 64);
        assert_eq!(size_of::<Extended>(), 1216);
        assert_eq!(GET_CAPS, 0x8050_3d01);
        assert_eq!(OFFSET_PRECISE, 0xc040_3d08);
        assert_eq!(OFFSET_EXTENDED, 0xc4c0_3d09);
        assert_eq!(std::mem::offset_of!(Caps, cross_timestamping), 24);
        assert_eq!(std::mem::offset_of!(Precise, sys_monoraw), 32);
        assert_eq!(std::mem::offset_of!(Extended, samples), 16);
    }

    #[test]
    fn the_narrowest_sample_counts_and_the_device_is_read_in_its_middle() {
        let mut extended = Extended {
            n_samples: 3,
            reserved: [0; 3],
            samples: [[Time::default(); 3]; MOST_SAMPLES],
        };
        // Before, by the device and after.
        extended.samples[0] = [0, 900, 1_000].map(time);
        extended.samples[1] = [2_000, 2_555, 2_100].map(time);
        extended.samples[2] = [3_000, 9, 3_500].map(time);
        let reading = of_extended(&extended, |real| RawTime(real.0 + 7)).unwrap();
        assert_eq!(reading.at, RawTime(2_057));
        assert_eq!((reading.shows_ns, reading.error_ns), (2_555, 50));
        extended.n_samples = 0;
        assert!(of_extended(&extended, |real| RawTime(real.0)).is_none());
    }

    #[test]
    fn a_precise_comparison_is_against_the_raw_clock() {
        let precise = Precise {
            device: time(5_000_000_123),
            sys_realtime: time(77),
            sys_monoraw: time(1_000_000_001),
            reserved: [0; 4],
        };
        let reading = of_precise(&precise).unwrap();
        assert_eq!(reading.at, RawTime(1_000_000_001));
        assert_eq!(reading.shows_ns, 5_000_000_123);
    }

    #[test]
    fn a_bound_that_is_not_known_is_none() {
        assert_eq!(bound("21500\n"), Some(21_500));
        assert_eq!(bound("4294967295\n"), None);
        assert_eq!(bound(""), None);
    }

    #[test]
    fn devices_are_found_by_number_and_named_by_their_driver() {
        let class = tempfile::tempdir().unwrap();
        for (node, name) in [("ptp10", "ena-ptp-00\n"), ("ptp2", "KVM virtual PTP\n")] {
            std::fs::create_dir(class.path().join(node)).unwrap();
            std::fs::write(class.path().join(node).join("clock_name"), name).unwrap();
        }
        let [virtual_one, of_the_card] = &devices_in(class.path())[..] else {
            panic!("not two");
        };
        assert_eq!(virtual_one.path, Path::new("/dev/ptp2"));
        assert_eq!(virtual_one.name, "KVM virtual PTP");
        assert_eq!(of_the_card.path, Path::new("/dev/ptp10"));
        assert_eq!(of_the_card.name, "ena-ptp-00");
    }

    #[test]
    fn what_is_no_hardware_clock_is_refused_and_those_of_this_machine_are_read() {
        let null = PtpDevice {
            path: "/dev/null".into(),
            name: "null".into(),
        };
        assert!(PtpClock::open(&null).is_err());
        for device in ptp_devices() {
            // Those of this machine may need rights that a test has not.
            let Ok(clock) = PtpClock::open(&device) else {
                continue;
            };
            let reading = clock.read().unwrap();
            assert!(reading.error_ns < 1_000_000_000, "{device:?}: {reading:?}");
        }
    }
}
