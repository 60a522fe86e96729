//! The spool empties towards the backend: oldest first, one at a time, patient with a backend that is away.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ureq::http::Method;

use super::{RefusedReports, Spool, events};
use crate::backend::{Body, CallError, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::counters::{Counters, EventKind};
use crate::log_throttle::LogThrottle;
use crate::plan::BackendClock;
use crate::stop::Stop;

const REPORT_LIMIT: Duration = Duration::from_secs(30);
const TELL_EVERY: Duration = Duration::from_secs(600);

/// Sends what the spool holds.
#[derive(Debug)]
pub struct Uploader {
    pub client: Client,
    pub spool: Arc<Spool>,
    pub refused: RefusedReports,
    pub backend_clock: Arc<BackendClock>,
    pub counters: Arc<Counters>,
    pub pace: Pace,
    pub stop: Stop,
}

/// How long the uploader waits for what.
#[derive(Debug, Clone)]
pub struct Pace {
    pub backoff: Backoff,
    /// Between attempts while the backend does not know this agent, about.
    pub locked: Duration,
    /// After a window ended, before its report leaves: each agent its own, so that they do not all come at once.
    pub phase: Duration,
    /// Longest time without a look at events and the stop signal.
    pub idle: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(60)),
            locked: Duration::from_secs(60),
            phase: Duration::from_secs(1).mul_f64(random()),
            idle: Duration::from_secs(1),
        }
    }
}

/// What an attempt came to.
enum Outcome {
    Done,
    Pause(Duration),
}

impl Uploader {
    /// Works until stopped; what is not acknowledged by then stays in the spool.
    pub fn run(mut self) {
        let mut trouble = Trouble::default();
        let mut behind = self.spool.size().1 > 0;
        while !self.stop.is_set() {
            if let Outcome::Pause(pause) = self.send_events(&mut trouble) {
                self.stop.wait(pause);
                continue;
            }
            if !self.spool.wait(self.pace.idle) {
                behind = false;
                continue;
            }
            if !behind && self.stop.wait(self.pace.phase) {
                break;
            }
            behind = true;
            if let Outcome::Pause(pause) = self.send_oldest(&mut trouble) {
                self.stop.wait(pause);
            }
        }
    }

    fn send_oldest(&mut self, trouble: &mut Trouble) -> Outcome {
        let Some((sequence, report)) = self.spool.oldest() else {
            return Outcome::Done;
        };
        let answer = self.client.send(
            &Method::POST,
            "/v1/agents/self/reports",
            Body::Report(&report),
            REPORT_LIMIT,
        );
        let outcome =
            self.weigh(
                answer.map(|a| a.verdict()),
                trouble,
                |uploader, refused| match refused {
                    None => {
                        uploader.counters.reports_sent.fetch_add(1, Relaxed);
                        uploader
                            .counters
                            .last_report_at_s
                            .store(calendar::now_s(), Relaxed);
                        tracing::debug!(sequence, "report acknowledged");
                    }
                    Some(why) => uploader.set_aside(sequence, &report, why),
                },
            );
        if matches!(outcome, Outcome::Done) {
            self.spool.forget(sequence);
        }
        let (bytes, reports) = self.spool.size();
        self.counters.spool_bytes.store(bytes, Relaxed);
        self.counters.spool_reports.store(reports, Relaxed);
        outcome
    }

    fn send_events(&mut self, trouble: &mut Trouble) -> Outcome {
        let waiting = self.counters.events.take(events::MOST_AT_ONCE);
        if waiting.is_empty() {
            return Outcome::Done;
        }
        let verdict = events::send(&self.client, &waiting);
        let outcome = self.weigh(verdict, trouble, |_, refused| {
            if let Some(why) = refused {
                tracing::warn!(events = waiting.len(), "the backend refused events: {why}");
            }
        });
        if matches!(outcome, Outcome::Pause(_)) {
            self.counters.events.put_back(waiting);
        }
        outcome
    }

    /// Acts on a verdict; `settle` is called when the thing sent is done with, with the reason if it was refused.
    fn weigh(
        &mut self,
        verdict: Result<Verdict, CallError>,
        trouble: &mut Trouble,
        settle: impl FnOnce(&mut Self, Option<&str>),
    ) -> Outcome {
        let (retry_after, why) = match verdict {
            Ok(Verdict::Accepted) => {
                trouble.over(&self.spool);
                self.pace.backoff.succeeded();
                settle(self, None);
                return Outcome::Done;
            }
            Ok(Verdict::Refused { why }) => {
                trouble.over(&self.spool);
                self.pace.backoff.succeeded();
                settle(self, Some(&why));
                return Outcome::Done;
            }
            Ok(Verdict::Locked { code, why }) => {
                self.counters.upload_failures.fetch_add(1, Relaxed);
                // The plan's thread tells what to do about it.
                tracing::debug!(code, "reports are kept: {why}");
                return Outcome::Pause(self.pace.locked.mul_f64(0.75 + random() / 2.0));
            }
            Ok(Verdict::Later { retry_after, why }) => (retry_after, why),
            Err(error) => (None, error.to_string()),
        };
        self.counters.upload_failures.fetch_add(1, Relaxed);
        let pause = self.pace.backoff.failed(retry_after, random());
        trouble.tell(&why, &self.spool);
        Outcome::Pause(pause)
    }

    fn set_aside(&self, sequence: u64, report: &[u8], why: &str) {
        self.counters.reports_refused.fetch_add(1, Relaxed);
        tracing::error!(
            sequence,
            "the backend refused a report; it is set aside in refused/: {why}"
        );
        let detail = format!("report {sequence} was refused: {why}");
        self.counters
            .events
            .raise(EventKind::Error, self.backend_clock.now_ns(), detail);
        if let Err(error) = self.refused.keep(sequence, report, why) {
            tracing::error!(sequence, %error, "the refused report cannot be kept either");
        }
    }
}

/// A backend that is away is told about at once, then now and again, and once when it is back.
struct Trouble {
    throttle: LogThrottle,
}

impl Default for Trouble {
    fn default() -> Self {
        Self {
            throttle: LogThrottle::new(TELL_EVERY),
        }
    }
}

impl Trouble {
    fn tell(&mut self, why: &str, spool: &Spool) {
        if self.throttle.due(Instant::now()) {
            let (bytes, reports) = spool.size();
            tracing::warn!(reports, bytes, "reports wait in the spool: {why}");
        }
    }

    fn over(&mut self, spool: &Spool) {
        if self.throttle.reset() {
            tracing::info!(reports = spool.size().1, "the backend takes reports again");
        }
    }
}
