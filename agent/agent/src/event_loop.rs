//! The loop that sends, receives and stamps packets, and closes windows.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use sinemora_wire as wire;

use crate::counters::Counters;
use crate::plan::{BackendClock, Plan};

/// Where this agent receives packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
}

/// Why measuring stopped.
#[derive(Debug)]
pub enum LoopError {
    /// A socket could not be opened or used.
    Socket { at: String, source: std::io::Error },
}

impl std::fmt::Display for LoopError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket { at, source } => write!(f, "{at}: {source}"),
        }
    }
}

impl std::error::Error for LoopError {}

/// Measures by the newest plan until `stop` is set, then hands over what it has and returns.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the loop owns its ends of the channels"
)]
pub fn run(
    _listen: Listen,
    plans: mpsc::Receiver<Arc<Plan>>,
    _windows: mpsc::Sender<wire::MeshWindow>,
    _backend_clock: Arc<BackendClock>,
    _counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
) -> Result<(), LoopError> {
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let _ = plans.recv_timeout(std::time::Duration::from_millis(100));
    }
    Ok(())
}
