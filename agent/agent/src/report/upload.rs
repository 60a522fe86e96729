//! Upload of the spooled reports to the backend: oldest first, one at a time, with backoff.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ureq::http::Method;

use super::packed::halves;
use super::{RefusedReports, Spool, events};
use crate::backend::{Body, CallError, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::counters::{Counters, EventKind};
use crate::log_throttle::LogThrottle;
use crate::plan::{BackendClock, follow_clock};
use crate::stop::Stop;

const REPORT_LIMIT: Duration = Duration::from_secs(30);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Sends the spooled reports, and events.
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

/// Waiting times of the uploader.
#[derive(Debug, Clone)]
pub struct Pace {
    pub backoff: Backoff,
    /// Mean time between attempts while the backend refuses the credential.
    pub locked: Duration,
    /// Time from the end of a window to the departure of its report. It differs between agents, to spread the load.
    pub phase: Duration,
    /// Longest time between checks for events and the stop signal.
    pub idle: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(60)),
            locked: Duration::from_secs(60),
            phase: Duration::from_secs(1).mul_f64(random()),
            idle: Duration::from_secs(3),
        }
    }
}

/// Result of an attempt: settled, or the pause before the next one.
enum Outcome {
    Done,
    Pause(Duration),
}

impl Uploader {
    /// Send reports and events until stopped. Reports without an acknowledgement remain in the spool.
    pub fn run(mut self) {
        let mut failures = UploadLog {
            throttle: LogThrottle::new(LOG_INTERVAL),
            is_queued: false,
        };
        let mut behind = self.spool.size().1 > 0;
        while !self.stop.is_set() {
            if let Outcome::Pause(pause) = self.send_events(&mut failures) {
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
            if let Outcome::Pause(pause) = self.send_oldest(&mut failures) {
                self.stop.wait(pause);
            }
        }
    }

    fn send_oldest(&mut self, failures: &mut UploadLog) -> Outcome {
        let Some((sequence, report)) = self.spool.oldest() else {
            return Outcome::Done;
        };
        let outcome = self.send_report(sequence, &report, failures);
        if matches!(outcome, Outcome::Done) {
            self.spool.remove(sequence);
        }
        let (bytes, reports) = self.spool.size();
        self.counters.spool_bytes.store(bytes, Relaxed);
        self.counters.spool_reports.store(reports, Relaxed);
        outcome
    }

    /// Send a report, and in halves if it is too large for something on the way. Their windows are stored once, however
    /// often they arrive.
    fn send_report(&mut self, sequence: u64, report: &[u8], failures: &mut UploadLog) -> Outcome {
        let answer = self.client.send(
            &Method::POST,
            "/v1/agents/self/reports",
            Body::Report(report),
            REPORT_LIMIT,
        );
        let mut is_queued = false;
        if let Ok(answer) = &answer {
            follow_clock(&self.backend_clock, answer, answer.time_ns);
            is_queued = answer.acknowledged.as_deref() == Some("queued");
            if answer.verdict_on_report() == Verdict::Accepted {
                failures.acknowledged(is_queued);
            }
            if answer.status == 413
                && let Some(halves) = halves(report)
            {
                for half in halves {
                    let outcome = self.send_report(sequence, &half, failures);
                    if matches!(outcome, Outcome::Pause(_)) {
                        return outcome;
                    }
                }
                return Outcome::Done;
            }
        }
        self.apply_verdict(
            answer.map(|a| a.verdict_on_report()),
            failures,
            |uploader, refused| match refused {
                None => {
                    uploader.counters.reports_sent.fetch_add(1, Relaxed);
                    uploader
                        .counters
                        .reports_queued
                        .fetch_add(is_queued.into(), Relaxed);
                    uploader
                        .counters
                        .last_report_at_s
                        .store(calendar::now_s(), Relaxed);
                    tracing::debug!(sequence, is_queued, "report acknowledged");
                }
                Some(why) => uploader.set_aside(sequence, report, why),
            },
        )
    }

    fn send_events(&mut self, failures: &mut UploadLog) -> Outcome {
        let waiting = self.counters.events.take(events::MOST_AT_ONCE);
        if waiting.is_empty() {
            return Outcome::Done;
        }
        let verdict = events::send(&self.client, &waiting);
        let outcome = self.apply_verdict(verdict, failures, |_, refused| {
            if let Some(why) = refused {
                tracing::warn!(events = waiting.len(), "the backend refused events: {why}");
            }
        });
        if matches!(outcome, Outcome::Pause(_)) {
            self.counters.events.put_back(waiting);
        }
        outcome
    }

    /// Act on a verdict. Call `settle` if the backend has accepted or refused the request, with the reason of a refusal.
    fn apply_verdict(
        &mut self,
        verdict: Result<Verdict, CallError>,
        failures: &mut UploadLog,
        settle: impl FnOnce(&mut Self, Option<&str>),
    ) -> Outcome {
        let (retry_after, why) = match verdict {
            Ok(Verdict::Accepted) => {
                failures.recovered(&self.spool);
                self.pace.backoff.succeeded();
                settle(self, None);
                return Outcome::Done;
            }
            Ok(Verdict::Refused { why }) => {
                failures.recovered(&self.spool);
                self.pace.backoff.succeeded();
                settle(self, Some(&why));
                return Outcome::Done;
            }
            Ok(Verdict::Locked { code, why }) => {
                self.counters.upload_failures.fetch_add(1, Relaxed);
                // The thread that polls for the plan logs what to do.
                tracing::debug!(code, "reports are kept: {why}");
                return Outcome::Pause(self.pace.locked.mul_f64(0.75 + random() / 2.0));
            }
            Ok(Verdict::Later { retry_after, why }) => (retry_after, why),
            Err(error) => (None, error.to_string()),
        };
        self.counters.upload_failures.fetch_add(1, Relaxed);
        let pause = self.pace.backoff.failed(retry_after, random());
        failures.failed(&why, &self.spool);
        Outcome::Pause(pause)
    }

    fn set_aside(&self, sequence: u64, report: &[u8], why: &str) {
        self.counters.reports_refused.fetch_add(1, Relaxed);
        tracing::error!(
            sequence,
            "the backend refused a report, which is kept in refused/: {why}"
        );
        let detail = format!("report {sequence} was refused: {why}");
        self.counters
            .events
            .raise(EventKind::Error, self.backend_clock.now_ns(), detail);
        if let Err(error) = self.refused.keep(sequence, report, why) {
            tracing::error!(sequence, %error, "the refused report cannot be kept in refused/");
        }
    }
}

/// Log of uploads. Of failures it has the first one, then one per interval, and the recovery; of acknowledgements each
/// change of their meaning.
struct UploadLog {
    throttle: LogThrottle,
    is_queued: bool,
}

impl UploadLog {
    fn acknowledged(&mut self, is_queued: bool) {
        if is_queued != self.is_queued {
            self.is_queued = is_queued;
            if is_queued {
                tracing::info!("a gateway acknowledges reports once they are queued on its disk");
            } else {
                tracing::info!("reports are acknowledged once the backend has stored them");
            }
        }
    }

    fn failed(&mut self, why: &str, spool: &Spool) {
        if self.throttle.due(Instant::now()) {
            let (bytes, reports) = spool.size();
            tracing::warn!(reports, bytes, "reports wait in the spool: {why}");
        }
    }

    fn recovered(&mut self, spool: &Spool) {
        if self.throttle.reset() {
            tracing::info!(
                reports = spool.size().1,
                "the backend accepts reports again"
            );
        }
    }
}
