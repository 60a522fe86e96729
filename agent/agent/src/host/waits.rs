//! Waits of the packet loop since they were last taken.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::distribution::Distribution;

/// Wait for a processor, ns, from which it counts as a stall. On an idle VM timers are late by a tenth of it.
const STALL_NS: i64 = 1_000_000;
/// Largest number of stalls that are kept with their times; the longest ones.
pub const STALLS: usize = 32;

/// A moment in which the packet loop waited for a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Start, ns in the backend's time.
    pub at_ns: i64,
    pub length_ns: i64,
}

/// Waits of this process and of its packets.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    /// From the moment that a timer or a packet should have woken the packet loop.
    pub wake: Distribution,
    /// From a packet's arrival at the kernel to its reading, without the time that the packet loop chose to sleep.
    pub receive: Distribution,
    /// From the call that sends a packet to its departure from the driver.
    pub send: Distribution,
    /// Part of it in the queue of the interface: from the packet scheduler to the driver. Of some packets.
    pub queue: Distribution,
    stalls: Vec<Stall>,
    stalled_ns: i64,
}

impl Waits {
    /// Record a wake-up of the packet loop that was due at `due_ns`, in the backend's time, and came `late_ns` later.
    pub fn woke(&mut self, due_ns: i64, late_ns: i64) {
        self.wake.record(late_ns);
        if late_ns < STALL_NS {
            return;
        }
        self.stalled_ns = self.stalled_ns.saturating_add(late_ns);
        let stall = Stall {
            at_ns: due_ns,
            length_ns: late_ns,
        };
        if self.stalls.len() < STALLS {
            self.stalls.push(stall);
        } else if let Some(shortest) = self.stalls.iter_mut().min_by_key(|one| one.length_ns)
            && shortest.length_ns < late_ns
        {
            *shortest = stall;
        }
    }

    /// Return the longest stalls, oldest first, and the sum of all, ns.
    pub fn stalls(&self) -> (Vec<Stall>, i64) {
        let mut stalls = self.stalls.clone();
        stalls.sort_by_key(|stall| stall.at_ns);
        (stalls, self.stalled_ns)
    }
}

/// Waits that the packet loop records and the thread of windows takes.
#[derive(Debug, Default)]
pub struct SharedWaits(Mutex<Waits>);

impl SharedWaits {
    /// Return the waits, to record more. Held for a few packets at most.
    pub fn lock(&self) -> MutexGuard<'_, Waits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remove and return the waits.
    pub fn take(&self) -> Waits {
        std::mem::take(&mut *self.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn the_longest_stalls_are_kept_and_all_are_added_up() {
        let shared = SharedWaits::default();
        for n in (1..=40).rev() {
            shared.lock().woke(n * 1_000 * MS, n * MS);
        }
        shared.lock().woke(5, MS - 1);
        let waits = shared.take();
        let (stalls, sum_ns) = waits.stalls();
        let lengths: Vec<i64> = stalls.iter().map(|stall| stall.length_ns / MS).collect();
        assert_eq!(lengths, (9..=40).collect::<Vec<_>>());
        assert_eq!(sum_ns, (1..=40).sum::<i64>() * MS);
        assert_eq!(waits.wake.summary().unwrap().count, 41);
        assert!(shared.take().wake.summary().is_none());
    }
}
