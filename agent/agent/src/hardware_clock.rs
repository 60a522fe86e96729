//! The hardware clock that delays are measured with, if there is one with a known error.
//!
//! One-way delays need no assumption about routes if the clocks of both ends show the same time. The driver identifies the
//! source of a clock's time, its domain, and the driver or the operator gives its error. Clocks of different domains are not
//! compared: one may smear a leap second that the other steps.

use std::io;
use std::path::PathBuf;

use crate::clock::PhcReading;
use crate::timestamp::{PtpClock, PtpDevice, ptp_devices};

/// The source of a clock's time, as coded in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ClockDomain {
    /// Amazon Time Sync, through the clock of an ENA network card.
    Amazon = 1,
    /// The host of a virtual machine, through `ptp_kvm`.
    Kvm = 2,
    /// The host, through Hyper-V.
    HyperV = 3,
    /// The host, through `vmclock`.
    VmClock = 4,
    /// A source that the operator knows: the clock of a network card that a PTP daemon steers.
    Operator = 9,
}

/// A hardware clock that delays can be measured with.
pub trait HardwareClock: Send {
    /// Return the name of its driver.
    fn name(&self) -> &str;
    fn clock_domain(&self) -> ClockDomain;
    /// Read the clock. The error is its whole offset from the time of its domain.
    fn read(&mut self) -> io::Result<PhcReading>;
}

/// The hardware clock that the settings select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockChoice {
    Any,
    None,
    Device(PathBuf),
}

impl ClockDomain {
    /// Return the domain of a driver's clock.
    fn of(name: &str) -> Self {
        match name {
            "KVM virtual PTP" => Self::Kvm,
            "hyperv" => Self::HyperV,
            _ if name.starts_with("ena") => Self::Amazon,
            _ if name.contains("vmclock") => Self::VmClock,
            _ => Self::Operator,
        }
    }
}

/// Select a clock of this machine that the settings allow and whose error is known. Prefers that of a cloud or a host.
fn choose<T>(
    clocks: Vec<(T, PtpDevice, Option<u64>)>,
    choice: &ClockChoice,
    stated_ns: Option<u64>,
) -> Option<(T, ClockDomain)> {
    let known = clocks.into_iter().filter_map(|(clock, device, bound_ns)| {
        let is_chosen = match choice {
            ClockChoice::Any => true,
            ClockChoice::None => false,
            ClockChoice::Device(path) => *path == device.path,
        };
        let clock_domain = ClockDomain::of(&device.name);
        if is_chosen && stated_ns.or(bound_ns).is_none() {
            tracing::info!(
                device = %device.path.display(),
                driver = device.name,
                "a hardware clock is not used because its error bound is unknown; set hardware_clock_error"
            );
            return None;
        }
        is_chosen.then_some((clock, clock_domain))
    });
    known.min_by_key(|(_, clock_domain)| *clock_domain)
}

/// A device with an error bound.
struct BoundedClock {
    clock: PtpClock,
    clock_domain: ClockDomain,
    stated_ns: Option<u64>,
}

impl HardwareClock for BoundedClock {
    fn name(&self) -> &str {
        self.clock.name()
    }

    fn clock_domain(&self) -> ClockDomain {
        self.clock_domain
    }

    fn read(&mut self) -> io::Result<PhcReading> {
        let reading = self.clock.read()?;
        let bound_ns = self.stated_ns.or_else(|| self.clock.bound_ns());
        let bound_ns = bound_ns
            .ok_or_else(|| io::Error::other("its driver has no error bound at the moment"))?;
        Ok(PhcReading {
            error_ns: reading.error_ns.saturating_add(bound_ns),
            ..reading
        })
    }
}

/// Return each hardware clock of this machine, and in words whether it can be used.
pub fn survey(choice: &ClockChoice, stated_ns: Option<u64>) -> Vec<(PtpDevice, String)> {
    let describe = |device: &PtpDevice| {
        let read = PtpClock::open(device).and_then(|clock| Ok((clock.read()?, clock.bound_ns())));
        let (reading, bound_ns) = match read {
            Ok(read) => read,
            Err(error) => {
                return format!("cannot be read ({error}); a udev rule can make it readable");
            }
        };
        let read_ns = reading.error_ns;
        let use_of = match (choice, stated_ns.or(bound_ns)) {
            (ClockChoice::None, _) => "not used, because hardware_clock is off".to_owned(),
            (ClockChoice::Device(path), _) if *path != device.path => {
                format!("not used, because hardware_clock is {}", path.display())
            }
            (_, None) => {
                "not used, because its error bound is unknown; set hardware_clock_error".to_owned()
            }
            (_, Some(bound_ns)) => format!("can be used, error bound {bound_ns} ns"),
        };
        format!(
            "({:?}): read to {read_ns} ns; {use_of}",
            ClockDomain::of(&device.name)
        )
    };
    let described = |device: PtpDevice| (describe(&device), device);
    let devices = ptp_devices().into_iter().map(described);
    devices.map(|(state, device)| (device, state)).collect()
}

/// Open the hardware clock to use. `stated_ns` is the error bound stated by the operator.
pub fn find(choice: &ClockChoice, stated_ns: Option<u64>) -> Option<Box<dyn HardwareClock>> {
    let devices = match choice {
        ClockChoice::None => Vec::new(),
        _ => ptp_devices(),
    };
    let open = |device: PtpDevice| match PtpClock::open(&device) {
        Ok(clock) => {
            let bound_ns = clock.bound_ns();
            Some((clock, device, bound_ns))
        }
        Err(error) => {
            tracing::info!(device = %device.path.display(), %error, "a hardware clock cannot be read");
            None
        }
    };
    let clocks = devices.into_iter().filter_map(open).collect();
    let (clock, clock_domain) = choose(clocks, choice, stated_ns)?;
    tracing::info!(
        driver = clock.name(),
        ?clock_domain,
        "using a hardware clock"
    );
    Some(Box::new(BoundedClock {
        clock,
        clock_domain,
        stated_ns,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(all: &[(&'static str, Option<u64>)]) -> Vec<(&'static str, PtpDevice, Option<u64>)> {
        let device = |(number, (name, bound)): (usize, &(&'static str, Option<u64>))| {
            let device = PtpDevice {
                path: format!("/dev/ptp{number}").into(),
                name: (*name).to_owned(),
            };
            (*name, device, *bound)
        };
        all.iter().enumerate().map(device).collect()
    }

    #[test]
    fn a_clock_is_used_only_with_a_known_error_bound() {
        let kvm = [("KVM virtual PTP", None)];
        assert_eq!(choose(clocks(&kvm), &ClockChoice::Any, None), None);
        assert_eq!(
            choose(clocks(&kvm), &ClockChoice::Any, Some(50_000)),
            Some(("KVM virtual PTP", ClockDomain::Kvm))
        );
        let ena = [("ena-ptp-05", Some(20_000))];
        assert_eq!(
            choose(clocks(&ena), &ClockChoice::Any, None),
            Some(("ena-ptp-05", ClockDomain::Amazon))
        );
        assert_eq!(choose(clocks(&ena), &ClockChoice::None, None), None);
    }

    #[test]
    fn the_clock_of_a_cloud_is_preferred_unless_another_is_selected() {
        let all = [
            ("mlx5_ptp", None),
            ("KVM virtual PTP", None),
            ("ena-ptp-05", Some(20_000)),
        ];
        let chosen = |choice, stated| choose(clocks(&all), &choice, stated).map(|clock| clock.1);
        assert_eq!(
            chosen(ClockChoice::Any, Some(1_000)),
            Some(ClockDomain::Amazon)
        );
        let first = ClockChoice::Device("/dev/ptp0".into());
        assert_eq!(
            chosen(first.clone(), Some(1_000)),
            Some(ClockDomain::Operator)
        );
        assert_eq!(chosen(first, None), None);
    }
}
