//! The backend's time on this machine, so that the windows of all agents start at the same moments.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backend_lead::{BackendLead, Correction, LARGEST_ERROR_NS, TimedAnswer};
use crate::clock::RawTime;
use crate::timestamp::{boot_now_ns, raw_now};

/// Attempts to read two clocks at one moment, of which the shortest counts: the process may be stopped between two reads.
const TRIES: usize = 5;

/// Backend time as a lead over `CLOCK_BOOTTIME`, with a bound of its error.
///
/// Neither a step of the local wall clock nor a suspension of this machine moves it. Until the first answer of the
/// backend it shows the wall clock, and its error is unknown.
#[derive(Debug)]
pub struct BackendClock {
    state: Mutex<State>,
    asked: Condvar,
}

/// The backend's time at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendTime {
    /// Backend time minus the raw clock, ns.
    pub ahead_ns: i64,
    /// Bound of its error, ns; 0 while it is unknown.
    pub error_ns: i64,
    /// Time that this machine was suspended, as far as it knows, plus a constant, ns.
    pub suspended_ns: i64,
    /// Up to when this clock is known to have run, by the newest answer: it bounds the error of the time before.
    pub confirmed: RawTime,
    /// False before the first answer: it is the time of the wall clock.
    pub is_known: bool,
    /// True if this machine's clocks may have stood still, and no answer has shown yet for how long.
    pub is_doubted: bool,
}

#[derive(Debug)]
struct State {
    /// Wall clock minus boot time when the process started, ns.
    wall_lead_ns: i64,
    lead: BackendLead,
    /// Largest bound since it was last taken; `None` while some time since then had an unknown error.
    largest_error_ns: Option<u64>,
    /// Boot time at which the newest answer's request left, if it bounds the error, ns.
    confirmed_ns: Option<i64>,
    /// An answer without a wait is wanted at once.
    is_asked: bool,
}

impl State {
    fn at(&self, boot_ns: i64) -> i64 {
        boot_ns.saturating_add(self.lead.ns().unwrap_or(self.wall_lead_ns))
    }

    /// Add the bound at `boot_ns` to the largest one. Windows wait while the clock is doubted.
    fn note_error(&mut self, boot_ns: i64) {
        if self.lead.is_doubted() {
            return;
        }
        let error_ns = self.lead.error_ns(boot_ns);
        self.largest_error_ns = self
            .largest_error_ns
            .zip(error_ns)
            .map(|(largest, error)| largest.max(error));
    }
}

impl BackendClock {
    /// Create a clock that shows the local wall clock until the first answer.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State {
                wall_lead_ns: realtime_ns() - boot_now_ns(),
                lead: BackendLead::default(),
                largest_error_ns: Some(0),
                confirmed_ns: None,
                is_asked: false,
            }),
            asked: Condvar::new(),
        }
    }

    /// Return the current backend time, Unix ns.
    pub fn now_ns(&self) -> i64 {
        self.state().at(boot_now_ns())
    }

    /// Return the current backend time against the raw clock.
    pub fn time(&self) -> BackendTime {
        let mut narrowest = (i64::MAX, 0, 0);
        for _ in 0..TRIES {
            let before = raw_now();
            let boot_ns = boot_now_ns();
            let bracket_ns = raw_now().since(before);
            if bracket_ns < narrowest.0 {
                let raw: RawTime = before.plus(bracket_ns / 2);
                narrowest = (bracket_ns, boot_ns - raw.0, boot_ns);
            }
            if bracket_ns < 100_000 {
                break;
            }
        }
        let (_, boot_ahead_ns, boot_ns) = narrowest;
        let state = self.state();
        let confirmed_ns = state.confirmed_ns.unwrap_or(i64::MIN);
        let error_ns = state.lead.error_ns(boot_ns);
        BackendTime {
            ahead_ns: state.at(boot_ahead_ns),
            error_ns: error_ns.map_or(0, |ns| i64::try_from(ns).unwrap_or(i64::MAX)),
            suspended_ns: boot_ahead_ns,
            confirmed: RawTime(confirmed_ns.saturating_sub(boot_ahead_ns)),
            is_known: state.lead.ns().is_some(),
            is_doubted: state.lead.is_doubted(),
        }
    }

    /// Give up the bound and ask the backend at once, because this machine's clocks may have stood still until now.
    pub fn doubt(&self) {
        let mut state = self.state();
        let now_ns = boot_now_ns();
        state.note_error(now_ns);
        state.lead.doubt(now_ns);
        state.is_asked = true;
        self.asked.notify_all();
    }

    /// Ask the backend at once, because nothing has shown for a while that this machine's clocks run.
    pub fn ask(&self) {
        self.state().is_asked = true;
        self.asked.notify_all();
    }

    /// Move the doubted clock by `by_ns`, as several peers show. Its error stays unknown.
    pub fn advance(&self, by_ns: i64) {
        self.state().lead.advance(by_ns);
    }

    /// Record that windows are reported although nothing shows that this machine's clocks ran: their error is unknown.
    pub fn report_unknown(&self) {
        self.state().largest_error_ns = None;
    }

    /// Wait up to `limit` until an answer without a wait is wanted. Return true if it is, once for each wish.
    pub fn await_wish(&self, limit: Duration) -> bool {
        let waited = self
            .asked
            .wait_timeout_while(self.state(), limit, |state| !state.is_asked);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.is_asked)
    }

    /// Return the current backend time minus the local `CLOCK_REALTIME`, ns.
    pub fn lead_ns(&self) -> i64 {
        self.now_ns().saturating_sub(realtime_ns())
    }

    /// Return true if the backend has reported its time since the start of the process.
    pub fn is_known(&self) -> bool {
        self.state().lead.ns().is_some()
    }

    /// Return the current bound of the error, ns; `None` while it is unknown.
    pub fn error_ns(&self) -> Option<u64> {
        self.state().lead.error_ns(boot_now_ns())
    }

    /// Return the largest bound since the last call, ns; `None` if it was unknown for some of that time.
    pub fn take_largest_error_ns(&self) -> Option<u64> {
        let mut state = self.state();
        state.note_error(boot_now_ns());
        state.largest_error_ns.replace(0)
    }

    /// Return true if an answer contradicted this clock and proved too little to correct it.
    pub fn is_contradicted(&self) -> bool {
        self.state().lead.is_contradicted()
    }

    /// Return true if an answer without a wait is needed, because the bound has grown or an answer contradicts it.
    pub fn needs_answer(&self) -> bool {
        self.state().lead.needs_answer(boot_now_ns())
    }

    /// Follow the backend's time as far as an answer proves it. Return the correction, if there was one.
    pub fn observe(&self, answer: &TimedAnswer) -> Option<Correction> {
        let mut state = self.state();
        state.note_error(answer.received_ns);
        let was_known = state.lead.ns().is_some();
        let shown_ns = state.at(answer.received_ns);
        let correction = state.lead.observe(answer);
        state.note_error(answer.received_ns);
        // A late answer agrees with everything.
        let took_ns = answer
            .received_ns
            .saturating_sub(answer.sent_ns)
            .saturating_sub(answer.held_ns);
        let error_ns = state.lead.error_ns(answer.received_ns).unwrap_or(0);
        let proves = took_ns.unsigned_abs() <= 2 * error_ns.max(LARGEST_ERROR_NS);
        if proves && !state.lead.is_contradicted() {
            state.confirmed_ns = state.confirmed_ns.max(Some(answer.sent_ns));
        }
        if was_known {
            return correction;
        }
        // The first correction is against the wall clock that was shown until now.
        correction.map(|first| Correction {
            step_ns: state.at(answer.received_ns).saturating_sub(shown_ns),
            ..first
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for BackendClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Return the local wall clock, Unix ns; 0 if it shows a time before 1970.
fn realtime_ns() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: i64 = 3_600_000_000_000;
    const MS: i64 = 1_000_000;

    fn answer(backend_ns: i64, took_ns: i64) -> TimedAnswer {
        let received_ns = boot_now_ns();
        TimedAnswer {
            sent_ns: received_ns - took_ns,
            received_ns,
            held_ns: 0,
            backend_ns,
        }
    }

    #[test]
    fn shows_the_wall_clock_until_the_first_answer() {
        let clock = BackendClock::new();
        assert!(!clock.is_known());
        assert_eq!(clock.error_ns(), None);
        assert!(clock.lead_ns().abs() < 1_000_000_000);
        assert_eq!(clock.take_largest_error_ns(), None);
    }

    #[test]
    fn the_first_answer_is_followed_with_its_bound() {
        let clock = BackendClock::new();
        let correction = clock.observe(&answer(realtime_ns() + HOUR_NS, 8 * MS));
        let step_ns = correction.unwrap().step_ns;
        assert!((step_ns - HOUR_NS).abs() < 1_000 * MS, "{step_ns}");
        assert!((clock.lead_ns() - HOUR_NS).abs() < 1_000 * MS);
        let error_ns = clock.error_ns().unwrap();
        assert!((4_000_000..5_000_000).contains(&error_ns), "{error_ns}");
        assert_eq!(clock.take_largest_error_ns(), None, "unknown before");
        assert!(clock.take_largest_error_ns().unwrap() < 5_000_000);
    }

    #[test]
    fn a_doubted_clock_asks_once_and_has_no_bound_until_an_answer_to_a_later_request() {
        let clock = BackendClock::new();
        clock.observe(&answer(HOUR_NS, 0));
        clock.take_largest_error_ns();
        clock.take_largest_error_ns();
        let sent_before = answer(HOUR_NS, MS);
        clock.doubt();
        assert!(clock.time().is_doubted);
        assert_eq!(clock.error_ns(), None);
        assert!(clock.await_wish(Duration::ZERO));
        assert!(!clock.await_wish(Duration::ZERO));
        clock.observe(&sent_before);
        // It may have arrived during the pause.
        assert!(clock.time().is_doubted);
        let confirmed = clock.time().confirmed;
        clock.observe(&answer(2 * HOUR_NS, 0));
        let time = clock.time();
        assert!(!time.is_doubted);
        assert!(time.confirmed > confirmed);
        assert!((clock.now_ns() - 2 * HOUR_NS).abs() < 1_000 * MS);
        // Windows have waited.
        assert!(clock.take_largest_error_ns().is_some());
        clock.report_unknown();
        assert_eq!(clock.take_largest_error_ns(), None);
    }

    #[test]
    fn the_raw_clock_converts_to_the_same_time() {
        let clock = BackendClock::new();
        clock.observe(&answer(HOUR_NS, 0));
        let by_raw = raw_now().0 + clock.time().ahead_ns;
        assert!((clock.now_ns() - by_raw).abs() < 100 * MS);
    }
}
