//! Long polls for the orders of the bulk sender, which are a part of the agent's plan.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use serde::Deserialize;
use sinemora_agent::backend::{Answer, Client, Verdict};
use sinemora_agent::backoff::{Backoff, random};
use sinemora_agent::log_throttle::LogThrottle;
use sinemora_agent::plan::{BackendClock, follow_clock};
use sinemora_agent::stop::Stop;

use super::order::BulkOrder;

/// This part alone: the backend counts who asks for the whole plan as one that measures by it.
const PATH: &str = "/v1/agents/self/plan?part=bulk";
/// Time that the backend holds a poll if nothing changes. Proxies commonly close connections after 60 s.
const WAIT: Duration = Duration::from_secs(25);
/// Additional time for the answer.
const GRACE: Duration = Duration::from_secs(15);
const GAP: Duration = Duration::from_secs(1);
/// Time between polls while the backend refuses the credential.
const LOCKED: Duration = Duration::from_secs(60);
/// Shortest time between polls without a wait that renew the bound of the clock.
const RENEW_CLOCK: Duration = Duration::from_secs(30);
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Polls for orders and passes each new list on. They are not kept on disk: a secret is of one run.
#[derive(Debug)]
pub struct OrderPoller {
    pub client: Client,
    pub orders: Sender<Vec<BulkOrder>>,
    pub clock: Arc<BackendClock>,
    pub stop: Stop,
}

/// Part of a plan. The other parts, which a backend of an earlier version sends, are ignored.
#[derive(Deserialize)]
struct Orders {
    #[serde(default)]
    bulk: Vec<BulkOrder>,
}

impl OrderPoller {
    /// Poll until stopped.
    pub fn run(self) {
        let mut etag = None;
        // The first answer includes the connection, so the clock is bounded by two.
        let mut quick_answers = 0;
        let mut renewal = LogThrottle::new(RENEW_CLOCK);
        let mut failures = LogThrottle::new(LOG_INTERVAL);
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
        while !self.stop.is_set() {
            let began = Instant::now();
            let is_quick =
                quick_answers < 2 || (self.clock.needs_answer() && renewal.due(Instant::now()));
            let wait = if is_quick { Duration::ZERO } else { WAIT };
            let path = format!("{PATH}&wait_s={}", wait.as_secs());
            let answer = self.client.get(&path, etag.as_deref(), wait + GRACE);
            let pause = match answer.map_err(|error| error.to_string()) {
                Ok(answer) if answer.status == 304 => {
                    follow_clock(&self.clock, &answer, answer.time_ns);
                    Ok(())
                }
                Ok(answer) => self.accept(&answer).map(|()| etag = answer.etag),
                Err(why) => Err((None, why)),
            };
            let pause = match pause {
                Ok(()) => {
                    quick_answers += u32::from(is_quick);
                    backoff.succeeded();
                    failures.reset();
                    GAP.saturating_sub(began.elapsed())
                }
                Err((pause, why)) => {
                    if failures.due(began) {
                        tracing::warn!("orders of the bulk sender cannot be fetched: {why}");
                    }
                    pause.unwrap_or_else(|| backoff.failed(None, random()))
                }
            };
            self.stop.wait(pause);
        }
    }

    /// Pass the orders of an answer on. The error has the pause until the next poll, if the answer decides it.
    fn accept(&self, answer: &Answer) -> Result<(), (Option<Duration>, String)> {
        match answer.verdict() {
            Verdict::Accepted => {}
            Verdict::Locked { why, .. } => {
                let _ = self.orders.send(Vec::new());
                return Err((Some(LOCKED), why));
            }
            Verdict::Later { retry_after, why } => return Err((retry_after, why)),
            Verdict::Refused { why } => return Err((None, why)),
        }
        follow_clock(&self.clock, answer, answer.time_ns);
        let orders: Orders = serde_json::from_slice(&answer.body)
            .map_err(|error| (None, format!("the answer is malformed: {error}")))?;
        // Without a receiver the thread has ended with the process.
        let _ = self.orders.send(orders.bulk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_orders_of_a_whole_plan_too() {
        let plan = r#"{"revision": "7", "meshes": [{"id": "m"}], "bulk": [{"id": "o", "secret": "00", "starts_at_ns": 1,
            "ends_at_ns": 2, "steps": []}]}"#;
        let orders: Orders = serde_json::from_str(plan).unwrap();
        assert_eq!(orders.bulk[0].id, "o");
        let orders: Orders = serde_json::from_str(r#"{"revision": "7"}"#).unwrap();
        assert!(orders.bulk.is_empty());
    }
}
