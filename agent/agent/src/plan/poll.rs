//! Long polls for the plan in a separate thread, so that a change is in force within seconds.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::{BackendClock, Plan, PlanCache};
use crate::backend::{Answer, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::counters::Counters;
use crate::log_throttle::LogThrottle;
use crate::stop::Stop;

/// Time that the backend holds a poll if nothing changes. Proxies commonly close connections after 60 s.
const WAIT: Duration = Duration::from_secs(25);
/// Additional time for the answer.
const GRACE: Duration = Duration::from_secs(15);
/// Difference of a new backend time from the one kept up to which it is network noise.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(20);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Polls for the plan and passes each new one on.
#[derive(Debug)]
pub struct Poller {
    pub client: Client,
    pub agent_id: String,
    pub cache: PlanCache,
    pub plans: Sender<Arc<Plan>>,
    pub backend_clock: Arc<BackendClock>,
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
    /// Shortest time of a poll without waiting. The first of them includes the connection, so there are two.
    round_trip: Option<Duration>,
    quick_answers: u32,
    locked_throttle: LogThrottle,
    failure_throttle: LogThrottle,
}

impl Poller {
    /// Passes the cached plan on, then polls until stopped or until the receiver of plans is gone.
    pub fn run(mut self) {
        let mut state = PollState {
            in_force: None,
            etag: None,
            round_trip: None,
            quick_answers: 0,
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

    /// Polls once and acts on the answer. Returns the pause until the next poll.
    fn poll(&mut self, began: Instant, state: &mut PollState) -> Duration {
        let is_quick = state.quick_answers < 2;
        let wait = if is_quick { Duration::ZERO } else { WAIT };
        let etag = state.etag.as_deref();
        let path = format!("/v1/agents/self/plan?wait_s={}", wait.as_secs());
        let answer = match self.client.get(&path, etag, wait + GRACE) {
            Ok(answer) => answer,
            Err(error) => return self.failed(None, &error.to_string(), state),
        };
        if answer.status == 304 || answer.status == 200 {
            self.counters
                .last_plan_at_s
                .store(calendar::now_s(), Relaxed);
            self.counters.credential_refused.store(false, Relaxed);
            self.pace.backoff.succeeded();
            if is_quick {
                let took = began.elapsed();
                state.quick_answers += 1;
                state.round_trip = Some(state.round_trip.map_or(took, |least| least.min(took)));
            }
            // The first answer measures the round trip badly, and the second one follows at once.
            if let Some(time_ns) = answer.time_ns.filter(|_| state.quick_answers > 1) {
                self.follow_clock(time_ns, state);
            }
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
        if answer.time_ns.is_none() {
            self.follow_clock(plan.server_time_ns, state);
        }
        state.etag = answer
            .etag
            .clone()
            .or_else(|| Some(format!("\"{}\"", plan.revision)));
        if state
            .in_force
            .as_ref()
            .is_none_or(|old| !old.same_work(&plan))
        {
            let peers: usize = plan.meshes.iter().map(|m| m.peers.len()).sum();
            tracing::info!(
                revision = plan.revision,
                meshes = plan.meshes.len(),
                peers,
                "new plan"
            );
            self.cache.store(&plan);
            self.put_in_force(plan, state);
        }
        Duration::ZERO
    }

    fn put_in_force(&self, plan: Plan, state: &mut PollState) {
        if self.plans.send(Arc::new(plan.clone())).is_err() {
            self.stop.set();
        }
        state.in_force = Some(plan);
    }

    fn locked(&mut self, code: &str, why: &str, state: &mut PollState) -> Duration {
        self.counters.plan_failures.fetch_add(1, Relaxed);
        self.counters.credential_refused.store(true, Relaxed);
        if state.locked_throttle.due(Instant::now()) {
            let cause = if code == "agent_revoked" {
                "this agent was revoked"
            } else {
                "the backend does not know this agent"
            };
            tracing::error!(
                "{cause}, so it measures nothing and keeps its unsent reports. To admit it again: stop it, create a token \
                 on the page \"Add a VM\" and run `sinemora-agent enrol --force --token …` ({why})"
            );
        }
        state.etag = None;
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

    /// Sets the backend's time to `time_ns` at the departure of the latest answer, half a round trip ago.
    fn follow_clock(&self, time_ns: i64, state: &PollState) {
        let delay = state.round_trip.unwrap_or_default() / 2;
        let departed_at = Instant::now()
            .checked_sub(delay)
            .unwrap_or_else(Instant::now);
        let step_ns = self
            .backend_clock
            .follow(time_ns, departed_at, CLOCK_TOLERANCE);
        if let Some(step_ns) = step_ns {
            tracing::info!(
                step_ms = step_ns as f64 / 1e6,
                "windows follow the backend's clock"
            );
        }
    }
}
