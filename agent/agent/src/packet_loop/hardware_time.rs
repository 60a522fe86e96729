//! The offset of this agent's timestamps from its hardware clock, if it has one.

use crate::clock::{PhcTracker, RawTime};
use crate::hardware_clock::HardwareClock;
use crate::ptp::HardwareClockTlv;

/// Time between readings, ns.
const READ_NS: i64 = 1_000_000_000;

/// A hardware clock, if there is one, and its latest readings.
#[derive(Default)]
pub(super) struct HardwareTime {
    clock: Option<Box<dyn HardwareClock>>,
    phc: PhcTracker,
    next: Option<RawTime>,
    refused: bool,
}

impl HardwareTime {
    pub fn new(clock: Option<Box<dyn HardwareClock>>) -> Self {
        Self {
            clock,
            ..Self::default()
        }
    }

    /// Return the name of its driver.
    pub fn name(&self) -> Option<&str> {
        self.clock.as_deref().map(HardwareClock::name)
    }

    /// Read the clock if a reading is due.
    pub fn read(&mut self, now: RawTime) {
        let Some(clock) = &mut self.clock else { return };
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        self.next = Some(now.plus(READ_NS));
        match clock.read() {
            Ok(reading) => {
                self.phc.add(reading);
                self.refused = false;
            }
            Err(error) if !self.refused => {
                self.refused = true;
                let name = clock.name();
                tracing::warn!(%error, "the hardware clock {name} cannot be read; until it can, delays are based on exchanges alone");
            }
            Err(_) => {}
        }
    }

    /// Discard the readings, because this machine was disrupted.
    pub fn reset(&mut self) {
        self.phc.reset();
        self.next = None;
    }

    /// Return the current error of the clock, ns; `None` while it is unknown.
    pub fn error_ns(&self, now: RawTime) -> Option<u64> {
        self.phc.at(now).map(|ahead| ahead.error_ns)
    }

    /// Return the TLV for a client whose request arrived at `at`, which is `wire_ns` in messages.
    pub fn hardware_clock(&self, at: RawTime, wire_ns: i64) -> Option<HardwareClockTlv> {
        let ahead = self.phc.at(at)?;
        let shows_ns = at.0.saturating_add(ahead.ahead_ns);
        Some(HardwareClockTlv {
            clock_domain: self.clock.as_deref()?.clock_domain() as u8,
            ahead_ns: shows_ns.saturating_sub(wire_ns),
            error_ns: u32::try_from(ahead.error_ns).ok()?,
        })
    }

    /// Return the time on our raw clock at which a peer received a packet with its timestamp `wire_ns`, and the sum of both
    /// clocks' errors. `None` if the clocks are of different domains, or an offset is unknown.
    pub fn moment_of(
        &self,
        hardware_clock: &HardwareClockTlv,
        wire_ns: i64,
    ) -> Option<(RawTime, u64)> {
        if self.clock.as_deref()?.clock_domain() as u8 != hardware_clock.clock_domain {
            return None;
        }
        let shows_ns = wire_ns.checked_add(hardware_clock.ahead_ns)?;
        let (at, error_ns) = self.phc.moment_of(shows_ns)?;
        Some((at, error_ns.saturating_add(hardware_clock.error_ns.into())))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::clock::PhcReading;
    use crate::hardware_clock::ClockDomain;

    const S: i64 = 1_000_000_000;

    /// Shows the raw clock of its machine, which runs `skew_ppm` fast and is `ahead_ns` ahead, in true time.
    struct True {
        ahead_ns: i64,
        skew_ppm: i64,
        now_ns: i64,
        clock_domain: ClockDomain,
    }

    fn raw(ahead_ns: i64, skew_ppm: i64, true_ns: i64) -> RawTime {
        RawTime(true_ns + ahead_ns + true_ns / 1_000_000 * skew_ppm)
    }

    impl HardwareClock for True {
        fn name(&self) -> &'static str {
            "true"
        }

        fn clock_domain(&self) -> ClockDomain {
            self.clock_domain
        }

        fn read(&mut self) -> io::Result<PhcReading> {
            let reading = PhcReading {
                at: raw(self.ahead_ns, self.skew_ppm, self.now_ns),
                shows_ns: self.now_ns,
                error_ns: 500,
            };
            self.now_ns += S;
            Ok(reading)
        }
    }

    fn hardware_time(ahead_ns: i64, skew_ppm: i64, clock_domain: ClockDomain) -> HardwareTime {
        let mut hardware_time = HardwareTime::new(Some(Box::new(True {
            ahead_ns,
            skew_ppm,
            now_ns: 0,
            clock_domain,
        })));
        (0..10).for_each(|second| hardware_time.read(raw(ahead_ns, skew_ppm, second * S)));
        hardware_time
    }

    #[test]
    fn two_ends_agree_on_the_moment_a_packet_arrived() {
        let (ours, theirs) = (
            hardware_time(40 * S, 30, ClockDomain::Amazon),
            hardware_time(-7 * S, -20, ClockDomain::Amazon),
        );
        // It arrived there 9.4 s into true time; their stamps are 5 s ahead of their raw clock.
        let arrived = 9 * S + 400_000_000;
        let there = raw(-7 * S, -20, arrived);
        let wire_ns = there.0 + 5 * S;
        let hardware_clock = theirs.hardware_clock(there, wire_ns).unwrap();
        let (moment, error_ns) = ours.moment_of(&hardware_clock, wire_ns).unwrap();
        let off_ns = moment.since(raw(40 * S, 30, arrived));
        assert!(
            off_ns.unsigned_abs() <= error_ns && error_ns < 5_000,
            "{off_ns} of {error_ns}"
        );
    }

    #[test]
    fn clocks_of_different_domains_are_not_compared() {
        let (ours, theirs) = (
            hardware_time(0, 0, ClockDomain::Kvm),
            hardware_time(0, 0, ClockDomain::Amazon),
        );
        let hardware_clock = theirs.hardware_clock(RawTime(9 * S), 9 * S).unwrap();
        assert_eq!(ours.moment_of(&hardware_clock, 9 * S), None);
        let nothing = HardwareTime::default();
        assert_eq!(nothing.hardware_clock(RawTime(0), 0), None);
        assert_eq!(nothing.moment_of(&hardware_clock, 9 * S), None);
    }
}
