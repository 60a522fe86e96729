//! Counters of the kernel about waiting for processors and about received packets.

use std::path::{Path, PathBuf};

/// `/proc/stat` counts in hundredths of a second (`USER_HZ`) on every architecture of the agent.
const MS_PER_TICK: u64 = 10;

/// Counters since the start of the machine or of the control group. `None`: this kernel, or a container without the right
/// to read it, does not give it; that is not 0.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct HostCounters {
    pub processors: Option<u32>,
    /// Time that the hypervisor ran others while this VM had work, added up over processors.
    pub steal_ms: Option<u64>,
    /// Time in which some process waited for a processor.
    pub pressure_us: Option<u64>,
    /// Time that the control groups of this process were held back by their quota, and the groups that it is of.
    pub throttled_us: Option<u64>,
    pub(super) groups: Vec<PathBuf>,
    /// Times that the kernel stopped handling received packets early, and packets that it dropped because its queue was full.
    pub softirq_squeezed: Option<u64>,
    pub receive_drops: Option<u64>,
}

impl HostCounters {
    /// Read all counters.
    pub fn read() -> Self {
        Self::read_in(Path::new("/"))
    }

    /// Read the counters of a file system whose root is `root`.
    fn read_in(root: &Path) -> Self {
        let text = |path: &str| std::fs::read_to_string(root.join(path)).ok();
        let stat = text("proc/stat").as_deref().and_then(steal);
        let softnet = text("proc/net/softnet_stat").as_deref().and_then(softnet);
        let groups = text("proc/self/cgroup").map_or_else(Vec::new, |text| groups(&text, root));
        let throttled = groups.iter().filter_map(|folder| throttled_us(folder));
        Self {
            processors: stat.map(|stat| stat.0),
            steal_ms: stat.map(|stat| stat.1),
            pressure_us: text("proc/pressure/cpu").as_deref().and_then(pressure),
            throttled_us: throttled.reduce(u64::saturating_add),
            groups,
            receive_drops: softnet.map(|softnet| softnet.0),
            softirq_squeezed: softnet.map(|softnet| softnet.1),
        }
    }

    /// Return the counts after those of `before`. One that fell, or is of another control group, is not known.
    pub fn since(&self, before: &Self) -> Self {
        let passed = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let throttled = passed(self.throttled_us, before.throttled_us);
        Self {
            processors: self.processors,
            steal_ms: passed(self.steal_ms, before.steal_ms),
            pressure_us: passed(self.pressure_us, before.pressure_us),
            throttled_us: throttled.filter(|_| self.groups == before.groups),
            groups: Vec::new(),
            softirq_squeezed: passed(self.softirq_squeezed, before.softirq_squeezed),
            receive_drops: passed(self.receive_drops, before.receive_drops),
        }
    }
}

/// Return the number of processors and the stolen time, ms: the eighth number of the line `cpu` (proc(5)).
fn steal(text: &str) -> Option<(u32, u64)> {
    let lines = || text.lines().take_while(|line| line.starts_with("cpu"));
    let ticks: u64 = lines()
        .next()?
        .split_ascii_whitespace()
        .nth(8)?
        .parse()
        .ok()?;
    let processors = u32::try_from(lines().count() - 1).ok()?;
    Some((processors, ticks.checked_mul(MS_PER_TICK)?))
}

/// Return the total of the line `some` (`Documentation/accounting/psi.rst`), us.
fn pressure(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.rsplit_once("total=")?.1.trim().parse().ok()
}

/// Return dropped packets and early ends, the second and third hexadecimal number of each processor's line.
fn softnet(text: &str) -> Option<(u64, u64)> {
    let mut sums = (0, 0);
    for line in text.lines() {
        let mut numbers = line.split_ascii_whitespace().skip(1);
        let mut next = || u64::from_str_radix(numbers.next()?, 16).ok();
        sums = (sums.0 + next()?, sums.1 + next()?);
    }
    (!text.is_empty()).then_some(sums)
}

/// Return the folders of the control groups that `/proc/self/cgroup` names, with those above them: a quota of any holds this
/// process back. Of version 1 that of the controller `cpu`.
fn groups(text: &str, root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let mount = if controllers.is_empty() {
            root.join("sys/fs/cgroup")
        } else if controllers.split(',').any(|one| one == "cpu") {
            root.join("sys/fs/cgroup").join(controllers)
        } else {
            continue;
        };
        let path = Path::new(path.trim_start_matches('/'));
        folders.extend(path.ancestors().map(|part| mount.join(part)));
    }
    folders
}

/// Return the throttled time of one control group, us: `throttled_usec` of version 2, `throttled_time` (ns) of version 1.
fn throttled_us(folder: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join("cpu.stat")).ok()?;
    text.lines().find_map(|line| {
        let (name, number) = line.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match name {
            "throttled_usec" => Some(number),
            "throttled_time" => Some(number / 1_000),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> (tempfile::TempDir, HostCounters) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let read = HostCounters::read_in(folder.path());
        (folder, read)
    }

    const STAT: &str = "cpu  9 8 7 6 5 4 3 21 0 0\ncpu0 9 8 7 6 5 4 3 20 0 0\ncpu1 0 0 0 0 0 0 0 1 0 0\nintr 5 0\n";

    #[test]
    fn counters_are_those_of_the_kernels_files() {
        let (_folder, read) = files(&[
            ("proc/stat", STAT),
            (
                "proc/pressure/cpu",
                "some avg10=1.00 avg60=0.50 avg300=0.00 total=1234\nfull avg10=0.00 total=0\n",
            ),
            (
                "proc/net/softnet_stat",
                "0000000a 00000002 0000000f 0\n000000ff 00000001 00000010 0\n",
            ),
            ("proc/self/cgroup", "2:cpu,cpuacct:/a/b\n1:pids:/x\n0::/c\n"),
            (
                "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat",
                "nr_periods 3\nnr_throttled 2\nthrottled_time 5000000\n",
            ),
            (
                "sys/fs/cgroup/c/cpu.stat",
                "usage_usec 9\nthrottled_usec 70\n",
            ),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
        ]);
        assert_eq!((read.processors, read.steal_ms), (Some(2), Some(210)));
        assert_eq!(read.receive_drops, Some(3));
        assert_eq!(read.softirq_squeezed, Some(31));
        assert_eq!(read.pressure_us, Some(1_234));
        assert_eq!(read.throttled_us, Some(5_070));
    }

    #[test]
    fn an_absent_file_is_not_known_and_no_zero() {
        let (_folder, none) = files(&[]);
        assert_eq!(none, HostCounters::default());
        let (_folder, broken) = files(&[
            ("proc/stat", "cpu 1 2\n"),
            ("proc/pressure/cpu", "full total=3\n"),
            ("proc/net/softnet_stat", ""),
            ("proc/self/cgroup", "0::/c\n"),
            ("sys/fs/cgroup/c/cpu.stat", "usage_usec 9\n"),
        ]);
        let counts = HostCounters {
            groups: vec![],
            ..broken
        };
        assert_eq!(counts, HostCounters::default());
    }

    #[test]
    fn a_count_that_fell_or_of_another_group_is_not_known() {
        let at = |steal_ms, throttled_us, group: &str| HostCounters {
            steal_ms: Some(steal_ms),
            throttled_us: Some(throttled_us),
            groups: vec![group.into()],
            ..HostCounters::default()
        };
        let since = at(50, 9, "a").since(&at(20, 2, "a"));
        assert_eq!(
            (since.steal_ms, since.throttled_us, since.pressure_us),
            (Some(30), Some(7), None)
        );
        let since = at(10, 9, "b").since(&at(20, 2, "a"));
        assert_eq!((since.steal_ms, since.throttled_us), (None, None));
    }

    #[test]
    fn this_machine_counts_processors() {
        assert!(HostCounters::read().processors.unwrap() > 0);
    }
}
