//! The dating of exchanges while it is uncertain whether this machine's clocks have run.
//!
//! A hypervisor that pauses a machine may pause all of its clocks, so that nothing inside counts the pause. Exchanges with
//! peers show it, and answers of the backend do. An outcome is therefore filed into its window once something that started
//! later has shown that our clock ran: usually the exchange itself, as soon as it is answered. After a standstill the
//! exchanges that started since are dated again, and unanswered ones that may have left before or after it are in no window.

use std::net::SocketAddr;

use super::exchange_tag::ExchangeTag;
use crate::clock::{RawTime, Standstill, TOLERATED_NS};
use crate::plan::BackendTime;
use crate::ptp::Outcome;

/// Time that an outcome waits, ns. Then it is filed as dated, and the reports say that the error is unknown.
pub(crate) const MOST_WAIT_NS: i64 = 15_000_000_000;
/// Least time between two questions for the backend's time, ns.
const ASK_NS: i64 = 1_000_000_000;
/// Peers that must agree before their clocks are followed without the backend.
const WITNESSES: usize = 2;

/// A wish to the clock of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockWish {
    /// Give up the bound and ask the backend: our clock may have stood still.
    Doubt,
    /// Ask the backend: nothing shows that our clock runs.
    Ask,
    /// Follow the peers, because the backend does not answer, ns.
    Advance(i64),
    /// Report that the error is unknown: windows are closed although nothing shows that our clock ran.
    ReportUnknown,
}

/// The state of the dating.
#[derive(Debug)]
pub(crate) struct Dating {
    time: Option<BackendTime>,
    /// Start of the newest exchange, or question to the backend, that shows that our clock ran until then.
    seen: RawTime,
    doubt: Option<Doubt>,
    found: Option<Found>,
    /// A correction by the backend that an exchange has proved.
    confirmed: Option<Found>,
    asked_at: RawTime,
    /// Outcomes that wait, in order of their settlement.
    undated: Vec<Outcome<ExchangeTag>>,
    wishes: Vec<ClockWish>,
}

/// A standstill that is possible.
#[derive(Debug)]
struct Doubt {
    /// It was later than this ...
    since: RawTime,
    /// ... and earlier than the start of this exchange.
    from: RawTime,
    /// Backend time minus raw clock before it, and its error, ns.
    ahead_ns: i64,
    error_ns: i64,
    /// Its length as each peer shows it, ns.
    shown: Vec<(SocketAddr, i64)>,
    /// A peer shows that our clock ran.
    is_refuted: bool,
    /// The machine was suspended: it knows for how long, to a second.
    is_suspension: bool,
    is_given_up: bool,
}

/// The last standstill, between the starts of two exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    since: RawTime,
    pub from: RawTime,
    /// Its length, ns; after a suspension the error of what the machine took for its length.
    pub for_ns: i64,
    /// Lower end of the interval of its length, ns.
    least_ns: i64,
    pub shown_by: ShownBy,
}

impl Found {
    /// Return true if its length is more than the error of the clocks that show it: a pause may be claimed.
    pub fn is_certain(&self) -> bool {
        self.least_ns > TOLERATED_NS
    }
}

/// Evidence of a standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownBy {
    /// The backend's time, after a doubt.
    Backend,
    /// A correction by the backend without a doubt. Its own clock may have been stepped instead.
    Correction,
    /// The clocks of several peers.
    Peers,
    /// The machine knows of it, and not exactly how long it was.
    Suspension,
}

/// Place of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the window of its slot.
    Window,
    /// In none: it started before or after a standstill, and nothing shows which.
    Nowhere,
    /// Unknown until the clock is known to have run.
    Waits,
}

impl Default for Dating {
    fn default() -> Self {
        Self {
            time: None,
            seen: RawTime(i64::MIN),
            doubt: None,
            found: None,
            confirmed: None,
            asked_at: RawTime(i64::MIN),
            undated: Vec::new(),
            wishes: Vec::new(),
        }
    }
}

impl Dating {
    /// Return the place of an outcome.
    pub(super) fn place(&self, outcome: &Outcome<ExchangeTag>) -> Place {
        let at = outcome.tag.at;
        let is_between = |found: &Found| found.since < at && at < found.from;
        if !outcome.answered && self.found.as_ref().is_some_and(is_between) {
            return Place::Nowhere;
        }
        let is_dated = match &self.doubt {
            Some(doubt) => doubt.is_given_up || at <= doubt.since,
            None => at <= self.seen,
        };
        if is_dated {
            Place::Window
        } else {
            Place::Waits
        }
    }

    /// Keep an outcome that waits.
    pub(super) fn keep(&mut self, outcome: Outcome<ExchangeTag>) {
        self.undated.push(outcome);
    }

    /// Take the outcomes that wait, each to be recorded again.
    pub(super) fn take_undated(&mut self) -> Vec<Outcome<ExchangeTag>> {
        std::mem::take(&mut self.undated)
    }

    /// Take the wishes to the clock of windows.
    pub fn take_wishes(&mut self) -> Vec<ClockWish> {
        std::mem::take(&mut self.wishes)
    }

    /// Return the backend's time at `at`, Unix ns; `None` before it was first read.
    pub(super) fn backend_ns(&self, at: RawTime) -> Option<i64> {
        self.time.map(|time| at.0.saturating_add(time.ahead_ns))
    }

    /// Follow the backend's time, read at `now`. Return the standstill that is over and was found with it.
    pub fn follow(&mut self, time: BackendTime, now: RawTime) -> Option<Found> {
        let before = self.time.replace(time).unwrap_or(time);
        let Some(doubt) = &self.doubt else {
            // The time of a suspension is known to a second on many machines.
            let suspended_ns = time.suspended_ns.saturating_sub(before.suspended_ns);
            let step_ns = time.ahead_ns.saturating_sub(before.ahead_ns);
            if suspended_ns > TOLERATED_NS {
                self.begin(now, &time, true);
                return None;
            }
            if time.is_doubted {
                self.begin(now, &before, false);
                return None;
            }
            let error_ns = before.error_ns.saturating_add(time.error_ns);
            if before.is_known && step_ns > TOLERATED_NS {
                self.found = Some(Found {
                    since: self.seen,
                    from: now,
                    for_ns: step_ns,
                    least_ns: step_ns.saturating_sub(error_ns),
                    shown_by: ShownBy::Correction,
                });
            }
            self.seen = self.seen.max(time.confirmed);
            return self.found.filter(|found| found.from == now);
        };
        if time.is_doubted || self.wishes.contains(&ClockWish::Doubt) {
            return None;
        }
        let for_ns = time.ahead_ns.saturating_sub(doubt.ahead_ns);
        let error_ns = doubt.error_ns.saturating_add(time.error_ns);
        let found = Found {
            since: doubt.since,
            from: doubt.from,
            for_ns,
            least_ns: for_ns.saturating_sub(error_ns),
            shown_by: if doubt.is_suspension {
                ShownBy::Suspension
            } else {
                ShownBy::Backend
            },
        };
        // The backend's clock may have been stepped back: then ours has run.
        let is_found = for_ns > TOLERATED_NS || doubt.is_suspension && for_ns < -TOLERATED_NS;
        self.seen = self.seen.max(time.confirmed);
        self.doubt = None;
        if is_found {
            self.found = Some(found);
        }
        is_found.then_some(found)
    }

    /// Note what an exchange with `peer` that started at `start` shows about our clock. Return the last standstill, if it
    /// turns out to have been earlier.
    pub fn note(&mut self, peer: SocketAddr, start: RawTime, shows: Standstill) -> Option<Found> {
        self.confirm(start, shows);
        if let Some(doubt) = &mut self.doubt {
            if shows.is_shown() && start > doubt.since {
                doubt.from = doubt.from.min(start);
                let for_ns = shows.least_ns / 2 + shows.most_ns / 2;
                match doubt.shown.iter_mut().find(|(known, _)| *known == peer) {
                    Some((_, known_ns)) => *known_ns = for_ns,
                    None => doubt.shown.push((peer, for_ns)),
                }
            }
            // A peer that has shown it begins a new epoch after a few exchanges.
            let is_witness = doubt.shown.iter().any(|(known, _)| *known == peer);
            doubt.is_refuted |= shows.is_refuted() && start >= doubt.from && !is_witness;
            return None;
        }
        if shows.is_refuted() {
            self.seen = self.seen.max(start);
        }
        if !shows.is_shown() {
            return None;
        }
        if let Some(found) = &mut self.found {
            if found.since < start && start < found.from {
                found.from = start;
                return Some(*found);
            }
        }
        if start <= self.seen {
            return None;
        }
        if let Some(time) = self.time {
            self.begin(start, &time, false);
            self.note(peer, start, shows);
        }
        None
    }

    /// Note that an exchange proves a correction by the backend: our clock stood still, and the backend's was not stepped.
    fn confirm(&mut self, start: RawTime, shows: Standstill) {
        let is_correction = |found: &&mut Found| found.shown_by == ShownBy::Correction;
        let Some(found) = self.found.as_mut().filter(is_correction) else {
            return;
        };
        let is_proof = if start >= found.from {
            shows.is_accounted && shows.is_refuted()
        } else {
            shows.is_shown() && start > found.since
        };
        if is_proof {
            found.shown_by = ShownBy::Backend;
            self.confirmed = Some(*found);
        }
    }

    /// Take the correction by the backend that an exchange has proved since the last call.
    pub fn take_confirmed(&mut self) -> Option<Found> {
        self.confirmed.take()
    }

    /// Doubt our clock, because this machine was disrupted before `now`.
    pub fn disrupted(&mut self, now: RawTime) {
        if let (None, Some(time)) = (&self.doubt, self.time) {
            self.begin(now, &time, true);
        }
    }

    /// Return the length of a standstill that the peers' clocks show, if the backend has been silent for too long `now`;
    /// asks it before that.
    pub fn wait(&mut self, now: RawTime) -> Option<Found> {
        let oldest = self.undated.iter().map(|outcome| outcome.tag.at).min()?;
        let is_over = |outcome: &Outcome<ExchangeTag>| {
            let tag = outcome.tag;
            tag.at.plus(tag.slot.left_ns) <= now
        };
        let Some(doubt) = &mut self.doubt else {
            if now.since(oldest) > MOST_WAIT_NS {
                self.seen = self.seen.max(oldest);
                self.wishes.push(ClockWish::ReportUnknown);
            } else if now.since(self.asked_at) >= ASK_NS && self.undated.iter().any(is_over) {
                self.asked_at = now;
                self.wishes.push(ClockWish::Ask);
            }
            return None;
        };
        if now.since(oldest) <= MOST_WAIT_NS || doubt.is_given_up {
            return None;
        }
        doubt.is_given_up = true;
        self.wishes.push(ClockWish::ReportUnknown);
        if doubt.shown.len() < WITNESSES || doubt.is_refuted {
            return None;
        }
        let mut lengths: Vec<i64> = doubt.shown.iter().map(|(_, ns)| *ns).collect();
        lengths.sort_unstable();
        let for_ns = lengths[lengths.len() / 2];
        let agree = |ns: &i64| ns.abs_diff(for_ns) <= TOLERATED_NS.unsigned_abs();
        if !lengths.iter().all(agree) {
            return None;
        }
        doubt.ahead_ns = doubt.ahead_ns.saturating_add(for_ns);
        if let Some(time) = &mut self.time {
            time.ahead_ns = time.ahead_ns.saturating_add(for_ns);
        }
        self.wishes.push(ClockWish::Advance(for_ns));
        let found = Found {
            since: doubt.since,
            from: doubt.from,
            for_ns,
            // Each of them shows more than what is tolerated.
            least_ns: for_ns,
            shown_by: ShownBy::Peers,
        };
        self.found = Some(found);
        Some(found)
    }

    /// File everything from now on as dated: the agent stops.
    pub fn end(&mut self) {
        self.doubt = None;
        self.seen = RawTime(i64::MAX);
    }

    /// Begin a doubt; `before` is the backend's time before it.
    fn begin(&mut self, from: RawTime, before: &BackendTime, is_suspension: bool) {
        self.doubt = Some(Doubt {
            since: self.seen,
            from,
            ahead_ns: before.ahead_ns,
            error_ns: before.error_ns,
            shown: Vec::new(),
            is_refuted: false,
            is_suspension,
            is_given_up: false,
        });
        self.wishes.push(ClockWish::Doubt);
    }
}
