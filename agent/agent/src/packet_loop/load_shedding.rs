//! Load shedding: lowers the packet rate while this agent exceeds its cap on processor time or memory, and raises it again
//! when there is room.

use crate::clock::RawTime;
use crate::plan::Caps;
use crate::timestamp::cpu_time_ns;

/// Time over which the use of resources is averaged, ns: the compression of one report is no excess.
const PERIOD_NS: i64 = 5_000_000_000;

/// Share of a cap below which there is room for more.
const ROOM: f64 = 0.9;

/// Factor by which the rate rises while there is room.
const RISE: f64 = 1.25;

/// Smallest factor by which the rate falls at a time.
const FALL: f64 = 0.25;

/// Packets per second that are always allowed, so that the agent keeps measuring.
const LEAST: f64 = 10.0;

/// The resources that this process has used so far, and its memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub at: RawTime,
    /// Processor time of all threads.
    pub cpu_ns: i64,
    pub memory_bytes: u64,
    pub packets_sent: u64,
}

impl Usage {
    /// Read the kernel's counts.
    pub fn of_this_process(at: RawTime, packets_sent: u64) -> Self {
        Self {
            at,
            cpu_ns: cpu_time_ns(),
            memory_bytes: resident_bytes(),
            packets_sent,
        }
    }
}

/// Return the resident memory, bytes (proc_pid_statm(5), second number, in pages); 0 if unknown.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|n| n.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// The cap that is exceeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CapExceeded {
    /// Percent of one processor: used, allowed.
    Cpu(f64, u32),
    /// MiB: used, allowed.
    Memory(f64, u32),
}

/// The packet rate that this agent allows itself.
#[derive(Debug, Default)]
pub(super) struct LoadShedder {
    before: Option<Usage>,
    allowed: Option<f64>,
    excess: Option<CapExceeded>,
}

impl LoadShedder {
    /// Return true if the next measurement is due.
    pub fn due(&self, now: RawTime) -> bool {
        self.before
            .is_none_or(|before| now.since(before.at) >= PERIOD_NS)
    }

    /// Adjust the rate to the resources used since the last measurement. Return the processor time in percent; `None` for
    /// the first measurement.
    pub fn update(&mut self, usage: Usage, caps: &Caps) -> Option<f64> {
        let before = self.before.replace(usage)?;
        let passed_ns = usage.at.since(before.at).max(1) as f64;
        let cpu_percent = 100.0 * (usage.cpu_ns - before.cpu_ns) as f64 / passed_ns;
        let memory_mib = usage.memory_bytes as f64 / f64::from(1 << 20);
        let sent_hz = (usage.packets_sent - before.packets_sent) as f64 * 1e9 / passed_ns;
        let cpu = caps.cpu_percent.map(|cap| {
            let part = cpu_percent / f64::from(cap.max(1));
            (part, CapExceeded::Cpu(cpu_percent, cap))
        });
        let memory = caps.memory_mib.map(|cap| {
            let part = memory_mib / f64::from(cap.max(1));
            (part, CapExceeded::Memory(memory_mib, cap))
        });
        let worst = cpu
            .into_iter()
            .chain(memory)
            .max_by(|first, second| first.0.total_cmp(&second.0));
        match worst {
            Some((part, excess)) if part > 1.0 => {
                let now_hz = self.allowed.unwrap_or(sent_hz).min(sent_hz.max(LEAST));
                self.allowed = Some((now_hz * (ROOM / part).max(FALL)).max(LEAST));
                self.excess = Some(excess);
            }
            Some((part, _)) if part > ROOM => {}
            _ => {
                self.allowed = self.allowed.map(|hz| hz * RISE);
                let most = f64::from(caps.packets_per_s);
                if self.allowed.is_none_or(|hz| hz >= most) {
                    (self.allowed, self.excess) = (None, None);
                }
            }
        }
        Some(cpu_percent)
    }

    /// Return the packets per second that may leave, and the exceeded cap if that is less than the plan allows.
    pub fn packets_per_s(&self, caps: &Caps) -> (u32, Option<CapExceeded>) {
        match self.allowed {
            Some(hz) if hz < f64::from(caps.packets_per_s) => (hz as u32, self.excess),
            _ => (caps.packets_per_s, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps {
        packets_per_s: 20_000,
        peers: 2_000,
        cpu_percent: Some(5),
        memory_mib: Some(100),
    };

    /// An agent that takes 50 us for each packet and 0.5 % for itself.
    struct Simulated {
        load_shedder: LoadShedder,
        usage: Usage,
    }

    impl Simulated {
        fn new() -> Self {
            let usage = Usage {
                at: RawTime(0),
                cpu_ns: 0,
                memory_bytes: 20 << 20,
                packets_sent: 0,
            };
            let mut load_shedder = LoadShedder::default();
            assert_eq!(load_shedder.update(usage, &CAPS), None);
            Self {
                load_shedder,
                usage,
            }
        }

        /// Simulate five seconds with this demand in packets per second. Return the processor time used, percent.
        fn pass(&mut self, rate_hz: u64) -> f64 {
            let allowed = u64::from(self.load_shedder.packets_per_s(&CAPS).0);
            let packets = rate_hz.min(allowed) * 5;
            self.usage.at = self.usage.at.plus(PERIOD_NS);
            assert!(self.load_shedder.due(self.usage.at));
            self.usage.packets_sent += packets;
            self.usage.cpu_ns += 25_000_000 + 50_000 * packets as i64;
            self.load_shedder.update(self.usage, &CAPS).unwrap()
        }
    }

    #[test]
    fn over_its_cap_on_processor_time_it_sends_less_until_it_fits() {
        let mut agent = Simulated::new();
        assert!(agent.pass(4_000) > 20.0);
        let (allowed, excess) = agent.load_shedder.packets_per_s(&CAPS);
        assert!(allowed < 1_100, "{allowed}");
        assert!(matches!(excess, Some(CapExceeded::Cpu(_, 5))), "{excess:?}");
        let taken: Vec<f64> = (0..20).map(|_| agent.pass(4_000)).collect();
        assert!(taken[2..].iter().all(|taken| *taken <= 5.3), "{taken:?}");
        assert!(taken[2..].iter().all(|taken| *taken >= 3.5), "{taken:?}");
    }

    #[test]
    fn with_room_again_it_is_free_again() {
        let mut agent = Simulated::new();
        agent.pass(4_000);
        (0..30).for_each(|_| _ = agent.pass(100));
        assert_eq!(agent.load_shedder.packets_per_s(&CAPS), (20_000, None));
    }

    #[test]
    fn too_much_memory_halves_it_down_to_a_trickle() {
        let mut agent = Simulated::new();
        agent.usage.memory_bytes = 150 << 20;
        (0..40).for_each(|_| _ = agent.pass(1_000));
        let (allowed, excess) = agent.load_shedder.packets_per_s(&CAPS);
        assert_eq!(allowed, 10);
        assert_eq!(excess, Some(CapExceeded::Memory(150.0, 100)));
    }

    #[test]
    fn without_caps_nothing_is_held_back() {
        let caps = Caps {
            cpu_percent: None,
            memory_mib: None,
            ..CAPS
        };
        let mut agent = Simulated::new();
        agent.usage.cpu_ns += 1 << 40;
        agent.usage.at = agent.usage.at.plus(PERIOD_NS);
        agent.load_shedder.update(agent.usage, &caps);
        assert_eq!(agent.load_shedder.packets_per_s(&caps), (20_000, None));
    }
}
