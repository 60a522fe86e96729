//! The one signal to finish, which also ends every pause at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Shared by all threads; once set it stays set.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    // Apart, because the packet loop reads it each tick and must not meet a lock.
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

    /// The flag alone, for the packet loop.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.flag)
    }

    /// Waits for `pause` or until stopped; `true` if stopped.
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
