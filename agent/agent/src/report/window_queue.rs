//! Windows of traffic that wait for the next report.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::wire::TrafficWindow;

/// Windows kept while no report is made: an hour of them. Beyond, the oldest is dropped.
const LIMIT: usize = 360;

/// Bounded queue between the thread that counts and the one that makes reports.
#[derive(Debug, Default)]
pub struct TrafficQueue(Mutex<VecDeque<TrafficWindow>>);

impl TrafficQueue {
    pub fn push(&self, window: TrafficWindow) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == LIMIT {
            waiting.pop_front();
        }
        waiting.push_back(window);
    }

    /// Removes and returns all windows, oldest first.
    pub fn take(&self) -> Vec<TrafficWindow> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_newest_hour() {
        let queue = TrafficQueue::default();
        for started_at_s in (0..4_000).step_by(10) {
            queue.push(TrafficWindow {
                started_at_s,
                ..TrafficWindow::default()
            });
        }
        let taken = queue.take();
        assert_eq!(
            (taken.len(), taken[0].started_at_s, taken[359].started_at_s),
            (360, 400, 3_990)
        );
        assert!(queue.take().is_empty());
    }
}
