//! Keeps the plan current: a long poll in a thread of its own, so that a change is in force within seconds.

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

/// The backend holds a poll this long when nothing changes; proxies commonly cut at 60 s.
const WAIT: Duration = Duration::from_secs(25);
/// For the answer beyond the wait.
const GRACE: Duration = Duration::from_secs(15);
/// A backend clock read this far from the one kept is taken over; less is noise of the network.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(20);
const TELL_EVERY: Duration = Duration::from_secs(600);

/// Polls for the plan and hands on each new one.
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

/// How often the poller asks.
#[derive(Debug, Clone)]
pub struct PollPace {
    pub backoff: Backoff,
    /// At least this long from one question to the next, whatever the backend answers.
    pub gap: Duration,
    /// Between attempts while the backend does not know this agent, about.
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

/// What the poller knows between two questions.
struct Progress {
    in_force: Option<Plan>,
    etag: Option<String>,
    /// The shortest time an answer took that had nothing to wait for. The first of them pays for the
    /// connection too, so two are asked for.
    round_trip: Option<Duration>,
    quick_answers: u32,
    locked: LogThrottle,
    trouble: LogThrottle,
}

impl Poller {
    /// Hands on the cached plan, then polls until stopped or until nobody takes plans any more.
    pub fn run(mut self) {
        let mut progress = Progress {
            in_force: None,
            etag: None,
            round_trip: None,
            quick_answers: 0,
            locked: LogThrottle::new(Duration::from_secs(3600)),
            trouble: LogThrottle::new(TELL_EVERY),
        };
        if let Some(plan) = self.cache.load(&self.agent_id) {
            tracing::info!(
                revision = plan.revision,
                "measuring by the plan of the last run until the backend answers"
            );
            self.put_in_force(plan, &mut progress);
        }
        while !self.stop.is_set() {
            let asked = Instant::now();
            let pause = self.ask(asked, &mut progress);
            // The second quick question follows at once, so that the clock is right before the first window.
            let gap = if progress.quick_answers == 1 {
                Duration::ZERO
            } else {
                self.pace.gap
            };
            self.stop
                .wait(pause.max(gap.saturating_sub(asked.elapsed())));
        }
    }

    /// One question and its consequences; returns how long to pause.
    fn ask(&mut self, asked: Instant, progress: &mut Progress) -> Duration {
        let is_quick = progress.quick_answers < 2;
        let wait = if is_quick { Duration::ZERO } else { WAIT };
        let etag = progress.etag.as_deref();
        let path = format!("/v1/agents/self/plan?wait_s={}", wait.as_secs());
        let answer = match self.client.get(&path, etag, wait + GRACE) {
            Ok(answer) => answer,
            Err(error) => return self.failed(None, &error.to_string(), progress),
        };
        if answer.status == 304 || answer.status == 200 {
            self.counters
                .last_plan_at_s
                .store(calendar::now_s(), Relaxed);
            self.counters.credential_refused.store(false, Relaxed);
            self.pace.backoff.succeeded();
            if is_quick {
                let took = asked.elapsed();
                progress.quick_answers += 1;
                progress.round_trip =
                    Some(progress.round_trip.map_or(took, |least| least.min(took)));
            }
            // The first answer of all says little about the round trip, and the second is a moment away.
            if let Some(time_ns) = answer.time_ns.filter(|_| progress.quick_answers > 1) {
                self.follow_clock(time_ns, progress);
            }
            let (was_locked, was_away) = (progress.locked.reset(), progress.trouble.reset());
            if was_locked || was_away {
                tracing::info!("the backend answers again");
            }
        }
        match answer.verdict() {
            _ if answer.status == 304 => Duration::ZERO,
            Verdict::Accepted => self.take(&answer, progress),
            Verdict::Locked { code, why } => self.locked(&code, &why, progress),
            Verdict::Later { retry_after, why } => self.failed(retry_after, &why, progress),
            Verdict::Refused { why } => self.failed(None, &why, progress),
        }
    }

    fn take(&mut self, answer: &Answer, progress: &mut Progress) -> Duration {
        let plan = match Plan::from_json(&answer.body) {
            Ok(plan) => plan,
            Err(error) => {
                return self.failed(None, &format!("{error}; the plan in force stays"), progress);
            }
        };
        if answer.time_ns.is_none() {
            self.follow_clock(plan.server_time_ns, progress);
        }
        progress.etag = answer
            .etag
            .clone()
            .or_else(|| Some(format!("\"{}\"", plan.revision)));
        if progress
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
            self.put_in_force(plan, progress);
        }
        Duration::ZERO
    }

    fn put_in_force(&self, plan: Plan, progress: &mut Progress) {
        if self.plans.send(Arc::new(plan.clone())).is_err() {
            self.stop.set();
        }
        progress.in_force = Some(plan);
    }

    fn locked(&mut self, code: &str, why: &str, progress: &mut Progress) -> Duration {
        self.counters.plan_failures.fetch_add(1, Relaxed);
        self.counters.credential_refused.store(true, Relaxed);
        if progress.locked.due(Instant::now()) {
            let what = if code == "agent_revoked" {
                "this agent was revoked"
            } else {
                "the backend does not know this agent"
            };
            tracing::error!(
                "{what}, so it measures nothing; reports not yet sent are kept. To let it in again: stop it, make a token \
                 on the page \"Add a VM\" and run `sinemora-agent enrol --force --token …` ({why})"
            );
        }
        progress.etag = None;
        self.cache.forget();
        if progress
            .in_force
            .as_ref()
            .is_none_or(|plan| !plan.meshes.is_empty())
        {
            self.put_in_force(Plan::idle(), progress);
        }
        self.pace.locked.mul_f64(0.75 + random() / 2.0)
    }

    fn failed(
        &mut self,
        retry_after: Option<Duration>,
        why: &str,
        progress: &mut Progress,
    ) -> Duration {
        self.counters.plan_failures.fetch_add(1, Relaxed);
        if progress.trouble.due(Instant::now()) {
            tracing::warn!("the plan cannot be fetched: {why}");
        }
        // The next answer shall show at once that the backend is back.
        progress.quick_answers = progress.quick_answers.min(1);
        self.pace.backoff.failed(retry_after, random())
    }

    /// The backend's clock was `time_ns` when the answer that just came set out: half a round trip ago.
    fn follow_clock(&self, time_ns: i64, progress: &Progress) {
        let half_way = progress.round_trip.unwrap_or_default() / 2;
        let set_out = Instant::now()
            .checked_sub(half_way)
            .unwrap_or_else(Instant::now);
        if let Some(step_ns) = self.backend_clock.follow(time_ns, set_out, CLOCK_TOLERANCE) {
            tracing::info!(
                step_ms = step_ns as f64 / 1e6,
                "windows follow the backend's clock"
            );
        }
    }
}
