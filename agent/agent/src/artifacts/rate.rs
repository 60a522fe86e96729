//! Limit of bytes per second, kept by waiting. Pieces are small, so that no burst queues in front of probe packets.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are read or written between two waits.
pub const PIECE_BYTES: usize = 16 << 10;
/// Debt that a pause pays at most, so that a change of the rate takes effect soon.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Limiter shared by the connections of one direction.
#[derive(Debug)]
pub struct RateLimit(Mutex<State>);

#[derive(Debug)]
struct State {
    bytes_per_s: f64,
    free_at: Instant,
}

impl RateLimit {
    pub fn new(bytes_per_s: u64) -> Self {
        Self(Mutex::new(State {
            bytes_per_s: bytes_per_s as f64,
            free_at: Instant::now(),
        }))
    }

    pub fn set(&self, bytes_per_s: u64) {
        self.state().bytes_per_s = bytes_per_s as f64;
    }

    /// Waits until `bytes` may pass.
    pub fn pass(&self, bytes: usize) {
        let pause = {
            let mut state = self.state();
            let now = Instant::now();
            let start = state.free_at.max(now);
            let rate = state.bytes_per_s.max(1.0);
            state.free_at = start + Duration::from_secs_f64((bytes as f64 / rate).min(60.0));
            start - now
        };
        let until = Instant::now() + pause;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(LONGEST_PAUSE));
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
