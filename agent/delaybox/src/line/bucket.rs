//! Rate limit: a token bucket with a bounded queue behind it, in virtual time.

use std::collections::VecDeque;

const NS_PER_S: u128 = 1_000_000_000;

/// Parameters of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub bits_per_s: u64,
    /// Bytes that may leave at once after a pause.
    pub burst_bytes: u64,
    /// Bytes that may wait; what does not fit is dropped at its arrival.
    pub queue_bytes: u64,
}

/// Bucket that computes when packets may leave under a [`Rate`].
#[derive(Debug, Clone)]
pub struct Bucket {
    rate: Rate,
    /// Time at which the bucket is full again if nothing more arrives.
    full_at_ns: i64,
    last_leaves_ns: i64,
    waiting: VecDeque<(i64, u64)>,
    waiting_bytes: u64,
}

impl Bucket {
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            full_at_ns: i64::MIN / 2,
            last_leaves_ns: i64::MIN / 2,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Return when a packet of `bytes` that arrives at `now_ns` leaves the bucket; `None`: the queue is full.
    pub fn admit(&mut self, now_ns: i64, bytes: u64) -> Option<i64> {
        while let Some((leaves_ns, size)) = self.waiting.front().copied() {
            if leaves_ns > now_ns {
                break;
            }
            self.waiting_bytes -= size;
            self.waiting.pop_front();
        }
        let cost_ns = self.worth_ns(bytes);
        // A packet larger than the burst leaves from a full bucket, as `tc tbf` would never let it.
        let credit_ns = self.worth_ns(self.rate.burst_bytes).max(cost_ns);
        let leaves_ns = now_ns
            .max(self.last_leaves_ns)
            .max(self.full_at_ns + cost_ns - credit_ns);
        if leaves_ns > now_ns {
            if self.waiting_bytes + bytes > self.rate.queue_bytes {
                return None;
            }
            self.waiting_bytes += bytes;
            self.waiting.push_back((leaves_ns, bytes));
        }
        self.full_at_ns = self.full_at_ns.max(leaves_ns) + cost_ns;
        self.last_leaves_ns = leaves_ns;
        Some(leaves_ns)
    }

    /// Return the nanoseconds in which tokens for `bytes` accumulate.
    fn worth_ns(&self, bytes: u64) -> i64 {
        let ns = (u128::from(bytes) * 8 * NS_PER_S).div_ceil(u128::from(self.rate.bits_per_s));
        i64::try_from(ns).unwrap_or(i64::MAX / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(burst_bytes: u64, queue_bytes: u64) -> Bucket {
        // 8 Mbit/s: a byte a microsecond.
        Bucket::new(Rate {
            bits_per_s: 8_000_000,
            burst_bytes,
            queue_bytes,
        })
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let mut bucket = bucket(3_000, 1_000_000);
        let leaves: Vec<i64> = (0..6)
            .map(|_| bucket.admit(0, 1_000).unwrap() / 1_000)
            .collect();
        assert_eq!(leaves, [0, 0, 0, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn tokens_return_in_a_pause_but_not_beyond_the_burst() {
        let mut bucket = bucket(2_000, 1_000_000);
        for _ in 0..2 {
            assert_eq!(bucket.admit(0, 1_000), Some(0));
        }
        let later = 1_000_000_000;
        let leaves: Vec<i64> = (0..3)
            .map(|_| bucket.admit(later, 1_000).unwrap() - later)
            .collect();
        assert_eq!(leaves, [0, 0, 1_000_000]);
    }

    #[test]
    fn the_queue_holds_so_many_bytes_and_no_more() {
        let mut bucket = bucket(1_000, 2_500);
        let admitted: Vec<bool> = (0..5).map(|_| bucket.admit(0, 1_000).is_some()).collect();
        assert_eq!(admitted, [true, true, true, false, false]);
        // One has left after a millisecond: there is room again.
        assert!(bucket.admit(1_000_000, 1_000).is_some());
    }

    #[test]
    fn over_a_long_time_the_rate_is_exact() {
        let mut bucket = bucket(1_500, 10_000);
        let mut sent = 0;
        for at in (0..1_000_000_000).step_by(700_000) {
            if bucket.admit(at, 1_500).is_some() {
                sent += 1_500;
            }
        }
        // A megabyte in a second, within the burst and the queue.
        assert!((988_000..=1_012_000).contains(&sent), "{sent}");
    }
}
