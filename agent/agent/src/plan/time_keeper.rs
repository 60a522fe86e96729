//! Questions for the backend's time in a separate thread: the poll for the plan may be held just then.

use std::sync::Arc;
use std::time::Duration;

use super::{BackendClock, PlanTag, follow_clock};
use crate::backend::Client;
use crate::backoff::{Backoff, random};
use crate::stop::Stop;

/// Time limit of an answer: a late one bounds nothing.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Least time between two questions.
const GAP: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(60);

/// Asks the backend for its time whenever the clock wants an answer.
#[derive(Debug)]
pub struct TimeKeeper {
    pub client: Client,
    pub plan_tag: PlanTag,
    pub backend_clock: Arc<BackendClock>,
    pub stop: Stop,
}

impl TimeKeeper {
    /// Ask until stopped.
    pub fn run(self) {
        let mut backoff = Backoff::new(GAP, 30 * GAP);
        while !self.stop.is_set() {
            if !self.backend_clock.await_wish(IDLE) && !self.backend_clock.time().is_doubted {
                continue;
            }
            // The first answer includes the connection, and a second one bounds the time better.
            let is_answered = self.ask() && (!self.backend_clock.time().is_doubted || self.ask());
            let pause = if is_answered && !self.backend_clock.time().is_doubted {
                backoff.succeeded();
                GAP
            } else {
                self.backend_clock.ask();
                backoff.failed(None, random())
            };
            self.stop.wait(pause);
        }
    }

    /// Ask once. Return true if there was an answer.
    fn ask(&self) -> bool {
        let etag = self.plan_tag.get();
        let path = "/v1/agents/self/plan?wait_s=0";
        match self.client.get(path, etag.as_deref(), ANSWER_LIMIT) {
            Ok(answer) => {
                follow_clock(&self.backend_clock, &answer, answer.time_ns);
                true
            }
            Err(error) => {
                tracing::debug!("the backend's time cannot be asked for: {error}");
                false
            }
        }
    }
}
