//! Long polls for the plan in a separate thread, so that a change is in force within seconds.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::{
    BackendClock, Correction, LARGEST_ERROR_NS, PassedPlan, PeerAddresses, Plan, PlanCache,
    PlanTag, TimedAnswer,
};
use crate::backend::{Answer, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::config::LocalLimits;
use crate::counters::{Counters, EventKind};
use crate::log_throttle::LogThrottle;
use crate::stop::Stop;

/// Time that the backend holds a poll if nothing changes. Proxies commonly close connections after 60 s.
const WAIT: Duration = Duration::from_secs(25);
/// Additional time for the answer.
const GRACE: Duration = Duration::from_secs(15);
/// Shortest time between polls without a wait that renew the bound of the clock. An answer that contradicts the clock is
/// followed by one at once.
const RENEW_CLOCK: Duration = Duration::from_secs(30);
/// Least time after which a poll counts as cut and not as failed, and how much two cuts may differ.
const LEAST_CUT: Duration = Duration::from_secs(2);
const CUT_SPREAD: Duration = Duration::from_millis(1500);
/// Least step back of the backend's clock that is reported, s: corrections of its estimate are smaller.
const SET_BACK_S: f64 = 2.0;
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Polls for the plan and passes each new one on.
#[derive(Debug)]
pub struct Poller {
    pub client: Client,
    pub agent_id: String,
    pub cache: PlanCache,
    pub limits: LocalLimits,
    pub plans: Sender<PassedPlan>,
    pub peers: Arc<PeerAddresses>,
    pub backend_clock: Arc<BackendClock>,
    pub plan_tag: PlanTag,
    pub counters: Arc<Counters>,
    pub pace: PollPace,
    pub stop: Stop,
}

/// Intervals of the poller.
#[derive(Debug, Clone)]
pub struct PollPace {
    pub backoff: Backoff,
    /// Least time from one poll to the next, whatever the backend answers.
    pub gap: Duration,
    /// Mean time between polls while the backend refuses the credential.
    pub locked: Duration,
}

impl Default for PollPace {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(60)),
            gap: Duration::from_secs(1),
            locked: Duration::from_secs(60),
        }
    }
}

/// State of the poller between two polls.
struct PollState {
    in_force: Option<Plan>,
    etag: Option<String>,
    /// Answers without a wait since the start or the last failure. The first includes the connection, so there are two.
    quick_answers: u32,
    /// Time that the backend is asked to hold a poll, and after which the last one was cut.
    wait: Duration,
    cut_after: Option<Duration>,
    /// The backend's time after the last answer, Unix ns, and when that was.
    shown: Option<(i64, Instant)>,
    clock_renewal: LogThrottle,
    clock_throttle: LogThrottle,
    locked_throttle: LogThrottle,
    failure_throttle: LogThrottle,
}

impl PollState {
    /// Return true if a poll that failed after `elapsed` was cut, as the one before it, by something that ends requests after a
    /// fixed time, such as a load balancer. Later polls are shorter.
    fn is_cut(&mut self, elapsed: Duration, wait: Duration) -> bool {
        if elapsed < LEAST_CUT || elapsed >= wait {
            return false;
        }
        let before = self.cut_after.replace(elapsed);
        let is_repeated = before.is_some_and(|before| before.abs_diff(elapsed) < CUT_SPREAD);
        if is_repeated {
            self.wait = Duration::from_secs((elapsed.mul_f64(0.8).as_secs()).max(1));
            tracing::info!(
                "something on the way to the backend ends requests after {:.0} s, as a load balancer does; polls for the plan \
                 wait {} s from now on",
                elapsed.as_secs_f64(),
                self.wait.as_secs()
            );
        }
        is_repeated
    }
}

impl Poller {
    /// Pass the cached plan on, then poll until stopped or until the receiver of plans is gone.
    pub fn run(mut self) {
        let mut state = PollState {
            in_force: None,
            etag: None,
            quick_answers: 0,
            wait: WAIT,
            cut_after: None,
            shown: None,
            clock_renewal: LogThrottle::new(RENEW_CLOCK),
            clock_throttle: LogThrottle::new(Duration::from_secs(3600)),
            locked_throttle: LogThrottle::new(Duration::from_secs(3600)),
            failure_throttle: LogThrottle::new(LOG_INTERVAL),
        };
        if let Some(plan) = self.cache.load(&self.agent_id) {
            tracing::info!(
                revision = plan.revision,
                "measuring by the plan of the last run until the backend answers"
            );
            self.put_in_force(plan, &mut state);
        }
        while !self.stop.is_set() {
            let began = Instant::now();
            let pause = self.poll(began, &mut state);
            // The second quick poll follows at once, so that the clock is right before the first window.
            let gap = if state.quick_answers == 1 {
                Duration::ZERO
            } else {
                self.pace.gap
            };
            self.stop
                .wait(pause.max(gap.saturating_sub(began.elapsed())));
        }
    }

    /// Poll once and act on the answer. Return the pause until the next poll.
    fn poll(&mut self, began: Instant, state: &mut PollState) -> Duration {
        self.report_clock_error(began, state);
        let is_quick = state.quick_answers < 2 || self.clock_needs_answer(began, state);
        let wait = if is_quick { Duration::ZERO } else { state.wait };
        let etag = state.etag.as_deref();
        let path = format!("/v1/agents/self/plan?wait_s={}", wait.as_secs());
        let answer = match self.client.get(&path, etag, wait + GRACE) {
            Ok(answer) => answer,
            Err(error) => {
                if state.is_cut(began.elapsed(), wait) {
                    return Duration::ZERO;
                }
                return self.failed(None, &error.to_string(), state);
            }
        };
        let is_gateway = matches!(answer.status, 408 | 502 | 504);
        if is_gateway && state.is_cut(began.elapsed(), wait) {
            return Duration::ZERO;
        }
        if answer.status == 304 || answer.status == 200 {
            self.counters
                .last_plan_at_s
                .store(calendar::now_s(), Relaxed);
            self.counters.credential_refused.store(false, Relaxed);
            self.pace.backoff.succeeded();
            state.quick_answers += u32::from(is_quick);
            follow_clock(&self.backend_clock, &answer, answer.time_ns);
            self.report_set_back(Instant::now(), state);
            let (was_locked, had_failed) = (
                state.locked_throttle.reset(),
                state.failure_throttle.reset(),
            );
            if was_locked || had_failed {
                tracing::info!("the backend answers again");
            }
        }
        match answer.verdict() {
            _ if answer.status == 304 => Duration::ZERO,
            Verdict::Accepted => self.accept(&answer, state),
            Verdict::Locked { code, why } => self.locked(&code, &why, state),
            Verdict::Later { retry_after, why } => self.failed(retry_after, &why, state),
            Verdict::Refused { why } => self.failed(None, &why, state),
        }
    }

    fn accept(&mut self, answer: &Answer, state: &mut PollState) -> Duration {
        let plan = match Plan::from_json(&answer.body) {
            Ok(plan) => plan,
            Err(error) => {
                return self.failed(None, &format!("{error}; the plan in force stays"), state);
            }
        };
        // A proxy may drop headers that it does not know.
        if answer.time_ns.is_none() {
            follow_clock(&self.backend_clock, answer, Some(plan.server_time_ns));
        }
        let etag = answer
            .etag
            .clone()
            .unwrap_or_else(|| format!("\"{}\"", plan.revision));
        if state
            .in_force
            .as_ref()
            .is_none_or(|old| !old.same_work(&plan))
        {
            self.cache.store(&plan);
            let peers: usize = plan.meshes.iter().map(|m| m.peers.len()).sum();
            tracing::info!(
                revision = plan.revision,
                meshes = plan.meshes.len(),
                peers,
                "new plan"
            );
            if !self.put_in_force(plan, state) {
                return Duration::ZERO;
            }
        }
        // Not before: the backend counts an agent that names a plan as one that follows it.
        self.plan_tag.set(Some(&etag));
        state.etag = Some(etag);
        Duration::ZERO
    }

    /// Pass on what is followed of a plan, and wait until the packet loop does. Return false if the agent stops before.
    fn put_in_force(&self, plan: Plan, state: &mut PollState) -> bool {
        let (limited, left_out) = self.limits.applied(plan.clone());
        if let Some(detail) = left_out {
            self.raise(EventKind::PlanLimited, detail);
        }
        self.peers.follow(&limited);
        let (passed, followed) = PassedPlan::new(limited);
        if self.plans.send(passed).is_err() {
            self.stop.set();
        }
        if !followed.wait(&self.stop) {
            self.stop.set();
            return false;
        }
        state.in_force = Some(plan);
        true
    }

    fn locked(&mut self, code: &str, why: &str, state: &mut PollState) -> Duration {
        self.counters.plan_failures.fetch_add(1, Relaxed);
        self.counters.credential_refused.store(true, Relaxed);
        if state.locked_throttle.due(Instant::now()) {
            let cause = match code {
                "agent_revoked" => "this agent was revoked",
                "identity_copied" => {
                    "another machine has the identity of this agent, as after a copy of its disk or of state_dir"
                }
                _ => "the backend does not know this agent",
            };
            tracing::error!(
                "{cause}, so it measures nothing and keeps its unsent reports. To admit it again: stop it, create a token \
                 on the page \"Add a VM\" and run `sinemora-agent enrol --force --token …` ({why})"
            );
        }
        state.etag = None;
        self.plan_tag.set(None);
        self.cache.remove();
        if state
            .in_force
            .as_ref()
            .is_none_or(|plan| !plan.meshes.is_empty())
        {
            self.put_in_force(Plan::idle(), state);
        }
        self.pace.locked.mul_f64(0.75 + random() / 2.0)
    }

    fn failed(
        &mut self,
        retry_after: Option<Duration>,
        why: &str,
        state: &mut PollState,
    ) -> Duration {
        self.counters.plan_failures.fetch_add(1, Relaxed);
        if state.failure_throttle.due(Instant::now()) {
            tracing::warn!("the plan cannot be fetched: {why}");
        }
        // Poll without waiting, so that the next answer shows at once that the backend is reachable again.
        state.quick_answers = state.quick_answers.min(1);
        self.pace.backoff.failed(retry_after, random())
    }

    /// Return true if this poll should not wait, so that its answer bounds the error of the clock.
    fn clock_needs_answer(&self, now: Instant, state: &mut PollState) -> bool {
        self.backend_clock.is_known()
            && self.backend_clock.needs_answer()
            && (self.backend_clock.is_contradicted() || state.clock_renewal.due(now))
    }

    /// Report that the backend's clock was set back: windows that would repeat a time are left out, so this agent seems silent.
    fn report_set_back(&self, now: Instant, state: &mut PollState) {
        let shown_ns = self.backend_clock.now_ns();
        // Until an answer has a time, this machine's own is shown.
        let shown = self.backend_clock.is_known().then_some((shown_ns, now));
        let Some((before_ns, at)) = std::mem::replace(&mut state.shown, shown) else {
            return;
        };
        let expected_ns = before_ns.saturating_add((now - at).as_nanos() as i64);
        let back_s = expected_ns.saturating_sub(shown_ns) as f64 / 1e9;
        if back_s >= SET_BACK_S {
            let detail = format!(
                "the backend's clock was set back by {back_s:.0} s: until it shows {}, windows would repeat a time and are left out",
                calendar::rfc3339(expected_ns)
            );
            self.raise(EventKind::ClockStep, detail);
        }
    }

    /// Report once that the windows may be misdated by more than they should be, and once that they no longer are.
    fn report_clock_error(&self, now: Instant, state: &mut PollState) {
        let Some(error_ns) = self.backend_clock.error_ns() else {
            return;
        };
        let error_ms = error_ns as f64 / 1e6;
        if error_ns <= LARGEST_ERROR_NS {
            if state.clock_throttle.reset() {
                tracing::info!("windows are right within {error_ms:.0} ms again");
            }
        } else if state.clock_throttle.due(now) {
            let detail = format!(
                "the time of windows may differ from the backend's clock by up to {error_ms:.0} ms: the backend has not \
                 answered quickly enough to bound it better"
            );
            self.raise(EventKind::WindowTime, detail);
        }
    }

    fn raise(&self, kind: EventKind, detail: String) {
        tracing::warn!("{detail}");
        let at_ns = self.backend_clock.now_ns();
        self.counters.events.raise(kind, at_ns, detail);
    }
}

/// Follow the backend's time `backend_ns` (Unix ns) of an answer as far as the answer proves it, and log a correction.
pub fn follow_clock(backend_clock: &BackendClock, answer: &Answer, backend_ns: Option<i64>) {
    let Some(backend_ns) = backend_ns else { return };
    let timing = answer.timing;
    let timed = TimedAnswer {
        sent_ns: timing.sent_ns,
        received_ns: timing.received_ns,
        held_ns: timing.held_ns,
        backend_ns,
    };
    if let Some(Correction { step_ns, error_ns }) = backend_clock.observe(&timed) {
        tracing::info!(
            step_ms = step_ns as f64 / 1e6,
            error_ms = error_ns as f64 / 1e6,
            "windows follow the backend's clock"
        );
    }
}
