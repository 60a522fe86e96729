//! Progress of an order: bytes and times of its steps, written by connections and read by reports.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::order::{BulkOrder, BulkRole};

const STEP: Duration = Duration::from_millis(20);

/// Signal that ends an order: it closes its connections, so that nothing waits for the network.
#[derive(Debug, Clone, Default)]
pub struct Abort(Arc<AbortState>);

#[derive(Debug, Default)]
struct AbortState {
    flag: AtomicBool,
    /// Connections that are open, by number.
    streams: Mutex<HashMap<u64, TcpStream>>,
    opened: AtomicU64,
}

impl Abort {
    pub fn set(&self) {
        self.0.flag.store(true, Relaxed);
        let mut streams = self
            .0
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (_, stream) in streams.drain() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn is_set(&self) -> bool {
        self.0.flag.load(Relaxed)
    }

    /// Close a connection with the order, or before it by the value that this returns.
    pub fn watch(&self, stream: &TcpStream) -> std::io::Result<Closing> {
        let clone = stream.try_clone()?;
        let number = self.0.opened.fetch_add(1, Relaxed);
        let mut streams = self
            .0
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_set() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        streams.insert(number, clone);
        Ok(Closing {
            abort: self.clone(),
            number,
        })
    }

    /// Wait until `until` or the abort. Return true if aborted.
    pub fn wait_until(&self, until: Instant) -> bool {
        while !self.is_set() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(left.min(STEP));
        }
        true
    }
}

/// Closes one connection.
#[derive(Debug)]
pub struct Closing {
    abort: Abort,
    number: u64,
}

impl Closing {
    pub fn close(self) {
        let streams = &self.abort.0.streams;
        let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = streams.remove(&self.number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Progress of the steps that this agent sends or receives.
#[derive(Debug)]
pub struct Progress {
    order_id: String,
    pub steps: Vec<StepProgress>,
    error: Mutex<Option<String>>,
}

/// Progress of one step. Times of a receiver are not reported.
#[derive(Debug)]
pub struct StepProgress {
    pub index: u16,
    pub role: BulkRole,
    started_at_ns: AtomicI64,
    began: Mutex<Option<Instant>>,
    elapsed_us: AtomicU64,
    pub connections: Vec<ConnectionProgress>,
    error: Mutex<Option<String>>,
}

/// Bytes of a connection so far, and the time at which the receiver had acknowledged all of them, µs; 0 is not yet.
#[derive(Debug, Default)]
pub struct ConnectionProgress {
    claimed: AtomicBool,
    pub bytes: AtomicU64,
    pub elapsed_us: AtomicU64,
}

/// Progress as the backend reads it.
#[derive(Debug, Serialize)]
pub struct Report {
    order_id: String,
    error: Option<String>,
    steps: Vec<StepReport>,
}

#[derive(Debug, Serialize)]
struct StepReport {
    index: u16,
    /// 0 before the first connection.
    started_at_ns: i64,
    /// 0 until all of its bytes are acknowledged.
    elapsed_us: u64,
    connections: Vec<ConnectionReport>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct ConnectionReport {
    bytes: u64,
    elapsed_us: u64,
}

impl Progress {
    pub fn new(order: &BulkOrder) -> Self {
        let step = |index, role, connections| StepProgress {
            index,
            role,
            started_at_ns: AtomicI64::new(0),
            began: Mutex::new(None),
            elapsed_us: AtomicU64::new(0),
            connections: (0..connections)
                .map(|_| ConnectionProgress::default())
                .collect(),
            error: Mutex::new(None),
        };
        Self {
            order_id: order.id.clone(),
            steps: order
                .steps
                .iter()
                .map(|one| step(one.index, one.role, one.connections))
                .collect(),
            error: Mutex::new(None),
        }
    }

    /// Record why the order ended early; the first reason counts.
    pub fn fail(&self, why: String) {
        set_first(&self.error, why);
    }

    pub fn step(&self, index: u16, role: BulkRole) -> Option<&StepProgress> {
        self.steps
            .iter()
            .find(|step| step.index == index && step.role == role)
    }

    /// Return the progress of the steps that this agent sends.
    pub fn report(&self) -> Report {
        let sent = self
            .steps
            .iter()
            .filter(|step| step.role == BulkRole::Sender);
        Report {
            order_id: self.order_id.clone(),
            error: copy(&self.error),
            steps: sent.map(StepProgress::report).collect(),
        }
    }
}

impl ConnectionProgress {
    /// Return true for the first caller.
    pub fn claim(&self) -> bool {
        !self.claimed.swap(true, Relaxed)
    }
}

impl StepProgress {
    /// Record the start of a connection, at `at_ns` by the backend's clock (Unix ns). Return that of the first one.
    pub fn begin(&self, at_ns: i64, at: Instant) -> Instant {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        *began.get_or_insert_with(|| {
            self.started_at_ns.store(at_ns, Relaxed);
            at
        })
    }

    /// Record the end of a connection, and that of the step with the last one.
    pub fn end_connection(&self, connection: usize, began: Instant) {
        let elapsed = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.connections[connection]
            .elapsed_us
            .store(elapsed.max(1), Relaxed);
        let ends = || {
            self.connections
                .iter()
                .map(|one| one.elapsed_us.load(Relaxed))
        };
        if ends().all(|end| end > 0) {
            self.elapsed_us.store(ends().max().unwrap_or(0), Relaxed);
        }
    }

    pub fn is_complete(&self) -> bool {
        self.elapsed_us.load(Relaxed) > 0
    }

    pub fn fail(&self, why: String) {
        set_first(&self.error, why);
    }

    fn report(&self) -> StepReport {
        StepReport {
            index: self.index,
            started_at_ns: self.started_at_ns.load(Relaxed),
            elapsed_us: self.elapsed_us.load(Relaxed),
            connections: self
                .connections
                .iter()
                .map(|one| ConnectionReport {
                    bytes: one.bytes.load(Relaxed),
                    elapsed_us: one.elapsed_us.load(Relaxed),
                })
                .collect(),
            error: copy(&self.error),
        }
    }
}

fn set_first(error: &Mutex<Option<String>>, why: String) {
    error
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert(why);
}

fn copy(error: &Mutex<Option<String>>) -> Option<String> {
    error.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
