//! The signal that stops all threads and ends their pauses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Stop signal shared by all threads. It cannot be reset.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    // Separate from the mutex, because the packet loop reads it in each turn and must not wait for a lock.
    flag: Arc<AtomicBool>,
    pausing: Mutex<()>,
    changed: Condvar,
}

impl Stop {
    pub fn set(&self) {
        let _pausing = self
            .0
            .pausing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.0.flag.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
    }

    pub fn is_set(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Return the flag, which the packet loop reads without a lock.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.flag)
    }

    /// Wait for `pause` or until stopped. Return true if stopped.
    pub fn wait(&self, pause: Duration) -> bool {
        let pausing = self
            .0
            .pausing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .changed
            .wait_timeout_while(pausing, pause, |()| !self.is_set());
        drop(waited);
        self.is_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_the_stop() {
        let stop = Stop::default();
        assert!(!stop.wait(Duration::ZERO));
        let other = stop.clone();
        let thread = std::thread::spawn(move || other.wait(Duration::from_secs(3600)));
        stop.set();
        assert!(thread.join().unwrap());
        assert!(stop.flag().load(Ordering::Relaxed));
    }
}
