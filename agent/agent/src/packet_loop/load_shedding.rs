//! Keeps this agent to its share of the machine: over its cap on processor time or memory it allows itself fewer
//! packets, and more again when there is room.

use crate::clock::RawTime;
use crate::plan::Caps;
use crate::timestamp::cpu_time_ns;

/// Use is judged over so long, ns: one report that is compressed is no excess.
const OVER_NS: i64 = 5_000_000_000;

/// Under this part of a cap there is room for more.
const ROOM: f64 = 0.9;

/// How much more is allowed at a time when there is room.
const RISE: f64 = 1.25;

/// And at most so much less when there is not.
const FALL: f64 = 0.25;

/// Packets per second that are always allowed: an agent that measures nothing says nothing about the network.
const LEAST: f64 = 10.0;

/// What this process has taken so far, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub at: RawTime,
    /// Processor time of all threads.
    pub cpu_ns: i64,
    pub memory_bytes: u64,
    pub packets_sent: u64,
}

impl Usage {
    /// As the kernel counts it.
    pub fn of_this_process(at: RawTime, packets_sent: u64) -> Self {
        Self {
            at,
            cpu_ns: cpu_time_ns(),
            memory_bytes: resident_bytes(),
            packets_sent,
        }
    }
}

/// Memory in use, bytes (proc_pid_statm(5), second number, in pages); 0 where nobody tells.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|n| n.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Why fewer packets leave than the plan allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Excess {
    /// Percent of one processor: taken, allowed.
    Cpu(f64, u32),
    /// MiB: held, allowed.
    Memory(f64, u32),
}

/// The packets an agent allows itself.
#[derive(Debug, Default)]
pub(super) struct Restraint {
    before: Option<Usage>,
    allowed: Option<f64>,
    excess: Option<Excess>,
}

impl Restraint {
    /// Whether it is time for another look at what this process uses.
    pub fn due(&self, now: RawTime) -> bool {
        self.before
            .is_none_or(|before| now.since(before.at) >= OVER_NS)
    }

    /// Judges what was used since the last time. Percent of one processor, once there is a last time.
    pub fn judge(&mut self, usage: Usage, caps: &Caps) -> Option<f64> {
        let before = self.before.replace(usage)?;
        let passed_ns = usage.at.since(before.at).max(1) as f64;
        let cpu_percent = 100.0 * (usage.cpu_ns - before.cpu_ns) as f64 / passed_ns;
        let memory_mib = usage.memory_bytes as f64 / f64::from(1 << 20);
        let sent_hz = (usage.packets_sent - before.packets_sent) as f64 * 1e9 / passed_ns;
        let cpu = caps.cpu_percent.map(|cap| {
            let part = cpu_percent / f64::from(cap.max(1));
            (part, Excess::Cpu(cpu_percent, cap))
        });
        let memory = caps.memory_mib.map(|cap| {
            let part = memory_mib / f64::from(cap.max(1));
            (part, Excess::Memory(memory_mib, cap))
        });
        let worst = cpu
            .into_iter()
            .chain(memory)
            .max_by(|one, other| one.0.total_cmp(&other.0));
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

    /// How many packets may leave per second, and why that is less than the plan allows if it is.
    pub fn packets_per_s(&self, caps: &Caps) -> (u32, Option<Excess>) {
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
        restraint: Restraint,
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
            let mut restraint = Restraint::default();
            assert_eq!(restraint.judge(usage, &CAPS), None);
            Self { restraint, usage }
        }

        /// Lets five seconds pass in which it wants to send so many packets per second; percent it took.
        fn pass(&mut self, wanted_hz: u64) -> f64 {
            let allowed = u64::from(self.restraint.packets_per_s(&CAPS).0);
            let packets = wanted_hz.min(allowed) * 5;
            self.usage.at = self.usage.at.plus(OVER_NS);
            assert!(self.restraint.due(self.usage.at));
            self.usage.packets_sent += packets;
            self.usage.cpu_ns += 25_000_000 + 50_000 * packets as i64;
            self.restraint.judge(self.usage, &CAPS).unwrap()
        }
    }

    #[test]
    fn over_its_cap_on_processor_time_it_sends_less_until_it_fits() {
        let mut agent = Simulated::new();
        assert!(agent.pass(4_000) > 20.0);
        let (allowed, excess) = agent.restraint.packets_per_s(&CAPS);
        assert!(allowed < 1_100, "{allowed}");
        assert!(matches!(excess, Some(Excess::Cpu(_, 5))), "{excess:?}");
        let taken: Vec<f64> = (0..20).map(|_| agent.pass(4_000)).collect();
        assert!(taken[2..].iter().all(|taken| *taken <= 5.3), "{taken:?}");
        assert!(taken[2..].iter().all(|taken| *taken >= 3.5), "{taken:?}");
    }

    #[test]
    fn with_room_again_it_is_free_again() {
        let mut agent = Simulated::new();
        agent.pass(4_000);
        (0..30).for_each(|_| _ = agent.pass(100));
        assert_eq!(agent.restraint.packets_per_s(&CAPS), (20_000, None));
    }

    #[test]
    fn too_much_memory_halves_it_down_to_a_trickle() {
        let mut agent = Simulated::new();
        agent.usage.memory_bytes = 150 << 20;
        (0..40).for_each(|_| _ = agent.pass(1_000));
        let (allowed, excess) = agent.restraint.packets_per_s(&CAPS);
        assert_eq!((allowed, excess), (10, Some(Excess::Memory(150.0, 100))));
    }

    #[test]
    fn the_kernel_tells_what_this_process_uses() {
        let usage = Usage::of_this_process(RawTime(0), 7);
        assert!(usage.cpu_ns > 0 && usage.packets_sent == 7);
        assert!(
            (1 << 20..1 << 34).contains(&usage.memory_bytes),
            "{usage:?}"
        );
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
        agent.usage.at = agent.usage.at.plus(OVER_NS);
        agent.restraint.judge(agent.usage, &caps);
        assert_eq!(agent.restraint.packets_per_s(&caps), (20_000, None));
    }
}
