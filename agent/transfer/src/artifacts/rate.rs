//! Limit of bytes per second, kept by waiting. Pieces are small, so that no burst queues in front of probe packets.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A piece takes half a millisecond at the limit: as long as a probe packet may have to wait behind it.
const PIECE_S: f64 = 0.5e-3;
/// Two full TCP segments, and the data of one TCP packet before the kernel cuts it.
const PIECE_BYTES_RANGE: (usize, usize) = (2 * 1448, 64 << 10);
/// Debt that a pause pays at most, so that a change of the rate takes effect soon.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// Time that a pause may have been too long and is made up for: timers are late.
const MADE_UP: Duration = Duration::from_millis(2);

/// Limiter shared by the connections of one direction.
#[derive(Debug)]
pub struct RateLimit(Mutex<State>);

#[derive(Debug)]
struct State {
    bytes_per_s: u64,
    free_at: Instant,
}

impl RateLimit {
    pub fn new(bytes_per_s: u64) -> Self {
        Self(Mutex::new(State {
            bytes_per_s,
            free_at: Instant::now(),
        }))
    }

    pub fn set(&self, bytes_per_s: u64) {
        self.state().bytes_per_s = bytes_per_s;
    }

    pub fn bytes_per_s(&self) -> u64 {
        self.state().bytes_per_s
    }

    /// Return the bytes that are read or written between two waits.
    pub fn piece_bytes(&self) -> usize {
        let (least, most) = PIECE_BYTES_RANGE;
        ((self.bytes_per_s() as f64 * PIECE_S) as usize).clamp(least, most)
    }

    /// Wait until `bytes` may pass.
    pub fn pass(&self, bytes: usize) {
        let pause = {
            let mut state = self.state();
            let now = Instant::now();
            let earliest = now.checked_sub(MADE_UP).unwrap_or(now);
            let start = state.free_at.max(earliest);
            let rate = state.bytes_per_s.max(1) as f64;
            state.free_at = start + Duration::from_secs_f64((bytes as f64 / rate).min(60.0));
            start.saturating_duration_since(now)
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
