//! A plan on its way from the poller to the packet loop.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::Plan;
use crate::stop::Stop;

/// Time between looks for the order to stop while the packet loop takes over a plan.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// A plan passed to the packet loop, which answers once it follows it.
#[derive(Debug)]
pub struct PassedPlan {
    pub plan: Arc<Plan>,
    followed: Sender<()>,
}

/// The answer to a passed plan.
#[derive(Debug)]
pub struct Followed(Receiver<()>);

impl PassedPlan {
    pub fn new(plan: Plan) -> (Self, Followed) {
        let (followed, answer) = channel();
        let plan = Arc::new(plan);
        (Self { plan, followed }, Followed(answer))
    }

    /// Answer that the plan is in force.
    pub fn followed(self) {
        // Without a receiver the agent stops.
        let _ = self.followed.send(());
    }
}

impl Followed {
    /// Wait until the plan is in force. Return false if the agent stops before, or the packet loop has ended.
    pub fn wait(&self, stop: &Stop) -> bool {
        loop {
            match self.0.recv_timeout(STOP_CHECK) {
                Ok(()) => return true,
                Err(RecvTimeoutError::Timeout) if !stop.is_set() => {}
                Err(_) => return false,
            }
        }
    }
}
