//! Execution of an order: its steps one after another, within the limits of this agent.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::access;
use super::channel::Tls;
use super::limits::Limits;
use super::order::{BulkOrder, BulkRole};
use super::progress::{Abort, Progress};
use super::receive::{Receiver, Shared};
use super::send::Sender;
use crate::artifacts::RateLimit;
use sinemora_agent::plan::BackendClock;

/// An order, and what it runs with.
#[derive(Debug)]
pub struct Execution {
    pub order: BulkOrder,
    pub limits: Limits,
    /// Addresses of the receiver: it listens at the first that is of this machine. Behind a translation of addresses,
    /// that which peers send to is not.
    pub listen: [SocketAddr; 2],
    pub clock: Arc<BackendClock>,
    pub progress: Arc<Progress>,
    pub abort: Abort,
}

impl Execution {
    /// Run the order to its end, and record why it failed.
    pub fn run(&self) {
        if let Err(why) = self.try_run() {
            tracing::warn!(order = self.order.id, "bulk sender: {why}");
            self.progress.fail(why);
        }
    }

    fn try_run(&self) -> Result<(), String> {
        self.limits
            .refuse(&self.order)
            .map_err(|why| format!("the order is refused: {why}"))?;
        let key = access::key(&self.order.secret).ok_or("the order has no secret")?;
        let tls = Tls::of(&self.order)?;
        let (sending, receiving) = (
            RateLimit::new(self.limits.bytes_per_s),
            RateLimit::new(self.limits.bytes_per_s),
        );
        let has = |role| self.order.steps.iter().any(|step| step.role == role);
        let receiver = if has(BulkRole::Receiver) {
            Some(self.receiver()?)
        } else {
            None
        };
        let shared = Shared {
            order: &self.order,
            key: &key,
            tls: &tls,
            limit: &receiving,
            progress: &self.progress,
            abort: &self.abort,
        };
        std::thread::scope(|scope| {
            let shared = &shared;
            if let Some(receiver) = &receiver {
                scope.spawn(move || receiver.run(shared));
            }
            let sender = Sender {
                key: &key,
                tls: &tls,
                limit: &sending,
                abort: &self.abort,
                clock: &self.clock,
            };
            self.send(&sender);
        });
        Ok(())
    }

    fn receiver(&self) -> Result<Receiver, String> {
        let [first, second] = self.listen;
        Receiver::bind(first)
            .or_else(|error| match error.kind() {
                io::ErrorKind::AddrNotAvailable => Receiver::bind(second),
                _ => Err(error),
            })
            .map_err(|error| format!("bulk_port: {first} cannot be opened: {error}"))
    }

    /// Send step after step. One that fails ends the order, since later ones would be compared with it.
    fn send(&self, sender: &Sender<'_>) {
        let until_ns = self.order.starts_at_ns - self.clock.now_ns();
        let start = Instant::now() + Duration::from_nanos(u64::try_from(until_ns).unwrap_or(0));
        if self.abort.wait_until(start) {
            return;
        }
        let steps = self.order.steps.iter();
        let mut sent: Vec<_> = steps.filter(|step| step.role == BulkRole::Sender).collect();
        sent.sort_unstable_by_key(|step| step.phase);
        for step in sent {
            let Some(progress) = self.progress.step(step.index, BulkRole::Sender) else {
                return;
            };
            sender.run(step, progress);
            if !progress.is_complete() {
                return;
            }
        }
    }
}
