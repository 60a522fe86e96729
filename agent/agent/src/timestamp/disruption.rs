//! Disruptions of this machine's own clock: suspension, and a move to another host.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::kernel_clocks::suspended_ns;

/// The device by which a hypervisor reports disruptions (Linux `include/uapi/linux/vmclock-abi.h`).
const VMCLOCK: &str = "/dev/vmclock0";

/// The start of its page, little-endian:
///
///  0  4  magic, "VCLK"
/// 16  8  disruption marker: changes when the counter behind the clock is disrupted
const MAGIC: [u8; 4] = *b"VCLK";
const MARKER_AT: usize = 16;
const READ: usize = 24;

/// Shortest suspension, ns. Smaller differences of the two clocks are due to reading one after the other.
const LEAST_SUSPENSION_NS: i64 = 1_000_000;

/// A disruption of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disruption {
    /// The hypervisor reports another counter: the machine has moved, or was restored.
    Moved,
    /// The machine was suspended for this time, ns.
    Suspended { for_ns: i64 },
}

/// Watches for disruptions.
#[derive(Debug)]
pub struct Disruptions {
    vmclock: Option<File>,
    marker: Option<u64>,
    suspended_ns: i64,
}

impl Disruptions {
    /// Start to watch, with the device if this machine has one that may be read.
    pub fn watch() -> Self {
        Self::with(Path::new(VMCLOCK), suspended_ns())
    }

    /// Return the disruption since the last call, if any.
    pub fn poll(&mut self) -> Option<Disruption> {
        self.poll_at(suspended_ns())
    }

    fn with(device: &Path, suspended_ns: i64) -> Self {
        let vmclock = File::open(device).ok();
        Self {
            marker: vmclock.as_ref().and_then(marker),
            vmclock,
            suspended_ns,
        }
    }

    fn poll_at(&mut self, suspended_ns: i64) -> Option<Disruption> {
        let passed_ns = suspended_ns - std::mem::replace(&mut self.suspended_ns, suspended_ns);
        let marker = self.vmclock.as_ref().and_then(marker).or(self.marker);
        let before = std::mem::replace(&mut self.marker, marker);
        if before != marker {
            return Some(Disruption::Moved);
        }
        (passed_ns >= LEAST_SUSPENSION_NS).then_some(Disruption::Suspended { for_ns: passed_ns })
    }
}

/// Read the disruption marker; return `None` if the page does not have the magic number.
fn marker(device: &File) -> Option<u64> {
    let mut page = [0; READ];
    device.read_exact_at(&mut page, 0).ok()?;
    let (magic, marker) = (page.first_chunk()?, page[MARKER_AT..].first_chunk()?);
    (*magic == MAGIC).then(|| u64::from_le_bytes(*marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(marker: u64) -> Vec<u8> {
        let mut page = vec![0; 4096];
        page[..4].copy_from_slice(&MAGIC);
        page[MARKER_AT..READ].copy_from_slice(&marker.to_le_bytes());
        page
    }

    #[test]
    fn a_new_marker_is_a_move_and_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("vmclock0");
        std::fs::write(&device, page(7)).unwrap();
        let mut disruptions = Disruptions::with(&device, 0);
        assert!(disruptions.marker.is_some());
        assert_eq!(disruptions.poll_at(0), None);
        std::fs::write(&device, page(8)).unwrap();
        assert_eq!(disruptions.poll_at(0), Some(Disruption::Moved));
        assert_eq!(disruptions.poll_at(0), None);
        std::fs::write(&device, b"short").unwrap();
        assert_eq!(disruptions.poll_at(0), None);
    }

    #[test]
    fn a_suspension_is_reported_and_jitter_is_not() {
        let mut disruptions = Disruptions::with(Path::new("/nowhere"), 100);
        assert!(disruptions.marker.is_none());
        assert_eq!(disruptions.poll_at(900), None);
        let for_ns = 5_000_000_000;
        assert_eq!(
            disruptions.poll_at(900 + for_ns),
            Some(Disruption::Suspended { for_ns })
        );
        assert_eq!(disruptions.poll_at(900 + for_ns), None);
    }

    #[test]
    fn this_machine_was_not_suspended_between_two_polls() {
        let mut disruptions = Disruptions::watch();
        assert_eq!(disruptions.poll(), None);
    }
}
