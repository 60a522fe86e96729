//! The lead of the backend's clock over the local one: an interval that every answer narrows or contradicts.
//!
//! An answer proves that the backend's clock showed `backend_ns` after the request had left and had been held, and before
//! the answer arrived. The lead therefore lies in an interval as long as the time the answer took beyond the hold (the
//! correctness interval of NTP, RFC 5905, 11.2.1, after Marzullo and Owicki). Answers that agree are intersected. An
//! answer that was late proves little and changes nothing.

/// Rate by which the two clocks may differ, parts per million: those of computers are specified to some 50.
const DRIFT_PPM: i64 = 50;
/// Bound up to which the windows are followed without a correction, ns: each correction moves the edges of windows.
const TOLERANCE_NS: i64 = 20_000_000;
/// Bound from which an answer without a wait is asked for, ns.
const RENEW_NS: u64 = 25_000_000;
/// Bound that windows should keep, ns. Answers that prove less do not replace a contradicted estimate.
pub const LARGEST_ERROR_NS: u64 = 50_000_000;

/// The time of an answer by both clocks. Local times are of one clock that never steps, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedAnswer {
    /// Local time before the request left.
    pub sent_ns: i64,
    /// Local time after the answer had arrived.
    pub received_ns: i64,
    /// Time that the backend held the request before it read its clock; 0 if it does not report it.
    pub held_ns: i64,
    /// The backend's clock, Unix ns.
    pub backend_ns: i64,
}

/// A change of the estimated lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    pub step_ns: i64,
    /// Bound of the error after the step, ns.
    pub error_ns: u64,
}

/// The backend's clock minus the local clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackendLead {
    estimate: Option<Estimate>,
}

#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// Local time of the interval, ns.
    at_ns: i64,
    lead_ns: i64,
    low_ns: i64,
    high_ns: i64,
    /// An answer contradicted the estimate and proved too little to replace it.
    contradicted: bool,
    /// Local time since which the local clock may have stood still for an unknown time, ns: nothing bounds the error. Only
    /// answers to requests that left later do.
    doubted_ns: Option<i64>,
}

impl Estimate {
    fn width_ns(&self) -> i64 {
        self.high_ns.saturating_sub(self.low_ns)
    }

    /// Return the interval at `now_ns`: it widens by the drift of the clocks.
    fn interval(&self, now_ns: i64) -> (i64, i64) {
        let drift_ns = drift(now_ns.saturating_sub(self.at_ns));
        (
            self.low_ns.saturating_sub(drift_ns),
            self.high_ns.saturating_add(drift_ns),
        )
    }
}

impl BackendLead {
    /// Return the estimated lead, ns; `None` before the first answer.
    pub fn ns(&self) -> Option<i64> {
        self.estimate.map(|estimate| estimate.lead_ns)
    }

    /// Return the bound of its error at `now_ns` (local), ns; `None` while it is unknown.
    pub fn error_ns(&self, now_ns: i64) -> Option<u64> {
        let estimate = self
            .estimate
            .filter(|estimate| estimate.doubted_ns.is_none())?;
        let (low, high) = estimate.interval(now_ns);
        Some(error_in(estimate.lead_ns, low, high))
    }

    /// Return true if an answer contradicted the estimate and proved too little to replace it.
    pub fn is_contradicted(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate.contradicted)
    }

    /// Return true if the local clock may have stood still and no answer has shown yet for how long.
    pub fn is_doubted(&self) -> bool {
        self.estimate
            .is_some_and(|estimate| estimate.doubted_ns.is_some())
    }

    /// Give up the bound at `now_ns` (local), because the local clock may have stood still until then.
    pub fn doubt(&mut self, now_ns: i64) {
        if let Some(estimate) = &mut self.estimate {
            estimate.doubted_ns = Some(now_ns);
            estimate.contradicted = true;
        }
    }

    /// Move the estimate of a doubted clock by `by_ns`, as others show; its error stays unknown.
    pub fn advance(&mut self, by_ns: i64) {
        if let Some(estimate) = self.estimate.as_mut().filter(|e| e.doubted_ns.is_some()) {
            estimate.lead_ns = estimate.lead_ns.saturating_add(by_ns);
        }
    }

    /// Return true if the bound has grown, or an answer contradicts the estimate.
    pub fn needs_answer(&self, now_ns: i64) -> bool {
        self.estimate.is_none_or(|estimate| estimate.contradicted)
            || self.error_ns(now_ns).is_none_or(|error| error > RENEW_NS)
    }

    /// Add an answer. Return the correction, if the lead changed.
    pub fn observe(&mut self, answer: &TimedAnswer) -> Option<Correction> {
        let now_ns = answer.received_ns;
        let low = answer.backend_ns.saturating_sub(answer.received_ns);
        let held_ns = answer.held_ns.saturating_sub(drift(answer.held_ns));
        let high = answer
            .backend_ns
            .saturating_sub(answer.sent_ns.saturating_add(held_ns));
        let next = match self.estimate {
            Some(estimate) if low > high => stood_still(&estimate, low, now_ns),
            // Without an estimate this is a start: the next answer gives one.
            None if low > high => return None,
            None => narrowed(None, low, high, now_ns),
            Some(Estimate {
                doubted_ns: Some(since_ns),
                ..
            }) if answer.sent_ns < since_ns => return None,
            Some(estimate) if estimate.doubted_ns.is_some() => {
                // A late answer would only exchange one doubt for another.
                if !is_sharp(low, high) && high.saturating_sub(low) > estimate.width_ns() {
                    return None;
                }
                narrowed(Some(estimate.lead_ns), low, high, now_ns)
            }
            Some(estimate) => agreed_or_contradicted(estimate, low, high, now_ns),
        };
        let step_ns = next
            .lead_ns
            .saturating_sub(self.ns().unwrap_or(next.lead_ns));
        let is_first = self.estimate.is_none();
        self.estimate = Some(next);
        (is_first || step_ns != 0).then(|| Correction {
            step_ns,
            error_ns: error_in(next.lead_ns, next.low_ns, next.high_ns),
        })
    }
}

fn agreed_or_contradicted(old: Estimate, low: i64, high: i64, now_ns: i64) -> Estimate {
    let (old_low, old_high) = old.interval(now_ns);
    let (common_low, common_high) = (low.max(old_low), high.min(old_high));
    if common_low <= common_high {
        let mut next = narrowed(Some(old.lead_ns), common_low, common_high, now_ns);
        // The union of contradicting intervals is a bound, and its agreement with a late answer proves no more.
        next.contradicted = old.contradicted && !is_sharp(low, high);
        return next;
    }
    // The backend's clock was stepped, or the local one stood still. Only an answer that bounds the new lead is followed.
    if is_sharp(low, high) || high.saturating_sub(low) <= old_high.saturating_sub(old_low) {
        return narrowed(None, low, high, now_ns);
    }
    Estimate {
        at_ns: now_ns,
        lead_ns: old.lead_ns,
        low_ns: old_low.min(low),
        high_ns: old_high.max(high),
        contradicted: true,
        doubted_ns: None,
    }
}

/// Return the estimate after an answer that took less time by the local clock than the backend held it: the local clock
/// stood still, as in a machine that its hypervisor stopped. The lead is `low` at least.
fn stood_still(old: &Estimate, low: i64, now_ns: i64) -> Estimate {
    Estimate {
        at_ns: now_ns,
        lead_ns: old.lead_ns.max(low),
        contradicted: true,
        doubted_ns: Some(now_ns),
        ..*old
    }
}

/// Return the estimate within an interval, which keeps `lead_ns` if that is inside and its error is small.
fn narrowed(lead_ns: Option<i64>, low: i64, high: i64, now_ns: i64) -> Estimate {
    let middle = low + high.saturating_sub(low) / 2;
    let kept = lead_ns.filter(|lead| {
        let error_ns = error_in(*lead, low, high);
        let is_inside = (low..=high).contains(lead);
        // A narrow gain is not worth a step.
        let gain_ns = error_ns - error_in(middle, low, high);
        is_inside && (error_ns <= TOLERANCE_NS.unsigned_abs() || gain_ns < error_ns / 4)
    });
    Estimate {
        at_ns: now_ns,
        lead_ns: kept.unwrap_or(middle),
        low_ns: low,
        high_ns: high,
        contradicted: false,
        doubted_ns: None,
    }
}

fn is_sharp(low: i64, high: i64) -> bool {
    high.saturating_sub(low).unsigned_abs() / 2 <= LARGEST_ERROR_NS
}

fn error_in(lead_ns: i64, low: i64, high: i64) -> u64 {
    lead_ns
        .saturating_sub(low)
        .max(high.saturating_sub(lead_ns))
        .unsigned_abs()
}

fn drift(passed_ns: i64) -> i64 {
    passed_ns.max(0) / 1_000_000 * DRIFT_PPM
}

#[cfg(test)]
#[path = "backend_lead_tests.rs"]
mod tests;
