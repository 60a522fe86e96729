//! Windows that wait for the next report, besides those of meshes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Windows kept while no report is made. Beyond, the oldest is dropped.
const LIMIT: usize = 360;

/// Bounded queue between a thread that counts and the one that makes reports.
#[derive(Debug)]
pub struct WindowQueue<W>(Mutex<VecDeque<W>>);

impl<W> Default for WindowQueue<W> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<W> WindowQueue<W> {
    pub fn push(&self, window: W) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == LIMIT {
            waiting.pop_front();
        }
        waiting.push_back(window);
    }

    /// Remove and return all windows, oldest first.
    pub fn take(&self) -> Vec<W> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_newest_windows() {
        let queue = WindowQueue::default();
        for started_at_s in (0..4_000).step_by(10) {
            queue.push(started_at_s);
        }
        let taken = queue.take();
        assert_eq!((taken.len(), taken[0], taken[359]), (360, 400, 3_990));
        assert!(queue.take().is_empty());
    }
}
