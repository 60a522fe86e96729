//! Upload of measurements on demand, second by second. They are worth nothing late, so they are not spooled.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use ureq::http::Method;

use crate::backend::{Body, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::stop::Stop;
use crate::window::OnDemandWindow;

const PATH: &str = "/v1/agents/self/on-demand-windows";
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Time after which a window that could not be sent is dropped.
const KEPT: Duration = Duration::from_secs(60);

/// Sends the windows of measurements on demand.
#[derive(Debug)]
pub struct OnDemandUploader {
    pub client: Client,
    pub windows: Receiver<OnDemandWindow>,
    pub stop: Stop,
}

impl OnDemandUploader {
    /// Send windows until their sender is gone, which ends with the measurement.
    pub fn run(self) {
        self.windows.iter().for_each(|window| self.send(&window));
    }

    fn send(&self, window: &OnDemandWindow) {
        let Ok(body) = serde_json::to_vec(window) else {
            return;
        };
        let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(8));
        let since = Instant::now();
        loop {
            let body = Body::Json(&body);
            let answer = self.client.send(&Method::POST, PATH, body, REQUEST_LIMIT);
            let (retry_after, why) = match answer.map(|answer| answer.verdict()) {
                Ok(Verdict::Accepted) => return,
                Ok(Verdict::Refused { why }) => {
                    return tracing::debug!(key = window.key, "window on demand refused: {why}");
                }
                Ok(Verdict::Locked { why, .. }) => (Some(KEPT), why),
                Ok(Verdict::Later { retry_after, why }) => (retry_after, why),
                Err(error) => (None, error.to_string()),
            };
            let pause = backoff.failed(retry_after, random());
            if since.elapsed() + pause > KEPT || self.stop.wait(pause) {
                let key = window.key;
                return tracing::warn!(key, "a second measured on demand is dropped: {why}");
            }
        }
    }
}
