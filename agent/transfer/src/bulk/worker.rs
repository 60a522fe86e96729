//! Thread of the bulk sender: runs one order at a time, ends it with the plan, and reports its progress.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use ureq::http::Method;

use super::execution::Execution;
use super::limits::Limits;
use super::order::BulkOrder;
use super::progress::{Abort, Progress, Report};
use sinemora_agent::backend::{Body, Client};
use sinemora_agent::plan::BackendClock;
use sinemora_agent::stop::Stop;

const PATH: &str = "/v1/agents/self/bulk-reports";
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
const REPORT_EVERY: Duration = Duration::from_millis(500);
const IDLE: Duration = Duration::from_secs(1);
/// Attempts to send the last report of an order.
const LAST_ATTEMPTS: u32 = 5;

/// Follows the orders of plans.
#[derive(Debug)]
pub struct BulkWorker {
    pub client: Client,
    /// Orders of each new plan.
    pub orders: Receiver<Vec<BulkOrder>>,
    pub limits: Limits,
    /// Address that peers send to, and the one that this agent listens at.
    pub addresses: [IpAddr; 2],
    pub clock: Arc<BackendClock>,
    pub stop: Stop,
}

/// The order that runs.
struct Running {
    id: String,
    ends_at_ns: i64,
    progress: Arc<Progress>,
    abort: Abort,
    thread: JoinHandle<()>,
}

impl BulkWorker {
    /// Work until stopped, or until no plan can come.
    pub fn run(self) {
        let mut running: Option<Running> = None;
        let mut wanted: Vec<BulkOrder> = Vec::new();
        let mut begun: HashSet<String> = HashSet::new();
        while !self.stop.is_set() {
            let pause = if running.is_some() {
                REPORT_EVERY
            } else {
                IDLE
            };
            match self.orders.recv_timeout(pause) {
                Ok(orders) => wanted = orders,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            begun.retain(|id| wanted.iter().any(|order| order.id == *id));
            running = running.and_then(|one| self.attend(one, &wanted));
            if running.is_none() {
                let next = wanted.iter().find(|order| !begun.contains(&order.id));
                if let Some(order) = next {
                    begun.insert(order.id.clone());
                    running = self.begin(order);
                }
            }
        }
        if let Some(one) = running {
            one.abort.set();
            let _ = one.thread.join();
        }
    }

    fn begin(&self, order: &BulkOrder) -> Option<Running> {
        let progress = Arc::new(Progress::new(order));
        let abort = Abort::default();
        let execution = Execution {
            order: order.clone(),
            limits: self.limits,
            listen: self
                .addresses
                .map(|address| SocketAddr::new(address, self.limits.port)),
            clock: Arc::clone(&self.clock),
            progress: Arc::clone(&progress),
            abort: abort.clone(),
        };
        tracing::info!(order = order.id, steps = order.steps.len(), "bulk sender");
        let thread = std::thread::Builder::new()
            .name("bulk-order".to_owned())
            .spawn(move || execution.run());
        match thread {
            Ok(thread) => Some(Running {
                id: order.id.clone(),
                ends_at_ns: order.ends_at_ns,
                progress,
                abort,
                thread,
            }),
            Err(error) => {
                progress.fail(format!("no thread for the order: {error}"));
                self.send(&progress.report());
                None
            }
        }
    }

    /// Report an order; end it if it is not in the plan any more, or its time is over. Return it while it runs.
    fn attend(&self, one: Running, wanted: &[BulkOrder]) -> Option<Running> {
        if !wanted.iter().any(|order| order.id == one.id) {
            one.abort.set();
        } else if self.clock.now_ns() >= one.ends_at_ns && !one.abort.is_set() {
            one.progress.fail("its time was over".to_owned());
            one.abort.set();
        }
        let is_over = one.thread.is_finished();
        let sent = self.send(&one.progress.report());
        if !is_over {
            return Some(one);
        }
        let _ = one.thread.join();
        let mut left = if sent { 0 } else { LAST_ATTEMPTS };
        while left > 0 && !self.stop.wait(IDLE) && !self.send(&one.progress.report()) {
            left -= 1;
        }
        None
    }

    /// Send a report. Return false if it may arrive later.
    fn send(&self, report: &Report) -> bool {
        let Ok(body) = serde_json::to_vec(report) else {
            return true;
        };
        let answer = self
            .client
            .send(&Method::POST, PATH, Body::Json(&body), REQUEST_LIMIT);
        match answer {
            Ok(answer) => answer.status < 500,
            Err(error) => {
                tracing::debug!("a report of the bulk sender did not arrive: {error}");
                false
            }
        }
    }
}
