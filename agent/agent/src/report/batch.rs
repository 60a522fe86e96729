//! Batching of windows that end together into one report.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use prost::Message;

use super::packed::pack;
use super::{EarlierParts, Sequence, Spool, WindowQueue};
use crate::counters::{Counters, EventKind};
use crate::log_throttle::LogThrottle;
use crate::plan::BackendClock;
use crate::wire::{
    ConnectionWindow, Health, HostWindow, MeshWindow, Report, ServiceWindow, TrafficWindow,
};

/// Time after the first closed window in which others join its report: windows of several meshes end together.
const GATHER: Duration = Duration::from_millis(200);
/// Interval of reports without windows, as of an agent without peers. The backend expects a report every 10 s of it and
/// reports it as silent after three are missing.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Size from which no more windows join a report: the backend limits the size of requests.
const REPORT_LIMIT_BYTES: usize = 2 << 20;
const LOG_INTERVAL: Duration = Duration::from_secs(600);

/// Writes windows as numbered reports to the spool.
#[derive(Debug)]
pub struct Batcher {
    pub spool: Arc<Spool>,
    pub sequence: Sequence,
    pub backend_clock: Arc<BackendClock>,
    pub counters: Arc<Counters>,
    /// Windows of traffic, which join the next report.
    pub traffic: Arc<WindowQueue<TrafficWindow>>,
    /// Windows of connections, likewise.
    pub connections: Arc<WindowQueue<ConnectionWindow>>,
    /// Windows of services, likewise.
    pub services: Arc<WindowQueue<ServiceWindow>>,
    /// Windows of waits on this VM, likewise.
    pub host: Arc<WindowQueue<HostWindow>>,
    /// Parts of windows that the processes before this one have measured.
    pub earlier: EarlierParts,
}

impl Batcher {
    /// Batches windows until all their senders are gone, and returns when all reports are spooled.
    pub fn run(mut self, windows: &Receiver<MeshWindow>) {
        let started_at_ns = self.backend_clock.now_ns();
        let mut drops = DropLog::default();
        loop {
            let mut batch = match windows.recv_timeout(HEARTBEAT) {
                Ok(first) => gather(first, windows),
                Err(RecvTimeoutError::Timeout) if !self.spool.wait(Duration::ZERO) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let now_s = self.backend_clock.now_ns() / 1_000_000_000;
            self.earlier.join(&self.spool, &mut batch, now_s);
            self.spool_report(batch, started_at_ns, &mut drops);
        }
        match self.spool.flush() {
            0 => {}
            lost => tracing::error!(
                reports = lost,
                "the disk cannot be written; the reports in memory are lost with the process"
            ),
        }
    }

    fn spool_report(&mut self, windows: Vec<MeshWindow>, started_at_ns: i64, drops: &mut DropLog) {
        let (sequence, stored) = self.sequence.advance();
        if let Err(error) = stored {
            tracing::debug!(%error, sequence, "the report's number cannot be stored");
        }
        let report = Report {
            sequence,
            made_at_ns: self.backend_clock.now_ns(),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            windows,
            health: Some(self.health(started_at_ns)),
            traffic: self.traffic.take(),
            connections: self.connections.take(),
            services: self.services.take(),
            host: self.host.take(),
        };
        let bytes = match pack(&report) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::error!(%error, sequence, "the report cannot be compressed and is dropped");
                self.counters.reports_dropped.fetch_add(1, Relaxed);
                return;
            }
        };
        tracing::debug!(
            sequence,
            windows = report.windows.len(),
            bytes = bytes.len(),
            "report spooled"
        );
        let pushed = self.spool.push(sequence, bytes);
        if let Some(error) = pushed.disk_failed {
            let detail = format!(
                "the spool cannot be written ({error}); a smaller number of reports waits in memory"
            );
            tracing::error!("{detail}: free some space in state_dir");
            self.raise(EventKind::Error, detail);
        }
        if pushed.disk_recovered {
            tracing::info!("the spool can be written again");
        }
        self.counters
            .reports_dropped
            .fetch_add(pushed.dropped, Relaxed);
        if let Some(dropped) = drops.add(pushed.dropped, Instant::now()) {
            let detail = format!("the spool is full: {dropped} of the oldest reports were dropped");
            tracing::error!(
                "{detail}; raise spool_cap, or find out why the backend accepts no reports"
            );
            self.raise(EventKind::ReportsDropped, detail);
        }
        self.note_size();
    }

    fn raise(&self, kind: EventKind, detail: String) {
        self.counters
            .events
            .raise(kind, self.backend_clock.now_ns(), detail);
    }

    fn note_size(&self) {
        let (bytes, reports) = self.spool.size();
        self.counters.spool_bytes.store(bytes, Relaxed);
        self.counters.spool_reports.store(reports, Relaxed);
    }

    fn health(&self, started_at_ns: i64) -> Health {
        let c = &self.counters;
        let (spool_bytes, spool_reports) = self.spool.size();
        Health {
            started_at_ns,
            spool_bytes,
            spool_reports,
            reports_dropped: c.reports_dropped.load(Relaxed),
            reports_refused: c.reports_refused.load(Relaxed),
            packets_sent: c.packets_sent.load(Relaxed),
            packets_received: c.packets_received.load(Relaxed),
            transmit_stamps_missing: c.transmit_stamps_missing.load(Relaxed),
            receive_queue_overflows: c.receive_queue_overflows.load(Relaxed),
            packets_rejected: c.packets_rejected.load(Relaxed),
            timestamp_source: c.timestamp_source().to_owned(),
            clock_source: c.clock_source(),
            window_time_error_ns: self.backend_clock.take_largest_error_ns().unwrap_or(0),
        }
    }
}

fn gather(first: MeshWindow, windows: &Receiver<MeshWindow>) -> Vec<MeshWindow> {
    let until = Instant::now() + GATHER;
    let mut bytes = first.encoded_len();
    let mut batch = vec![first];
    while bytes < REPORT_LIMIT_BYTES {
        // If all senders are gone, the wait ends at once: the process is about to end.
        match windows.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(window) => {
                bytes += window.encoded_len();
                batch.push(window);
            }
            Err(_) => break,
        }
    }
    batch
}

/// Dropped reports that are not logged yet: a full spool drops one with every report.
#[derive(Debug)]
struct DropLog {
    unreported: u64,
    throttle: LogThrottle,
}

impl Default for DropLog {
    fn default() -> Self {
        Self {
            unreported: 0,
            throttle: LogThrottle::new(LOG_INTERVAL),
        }
    }
}

impl DropLog {
    /// Add dropped reports. Return the number to log now, if a message is due.
    fn add(&mut self, dropped: u64, now: Instant) -> Option<u64> {
        self.unreported += dropped;
        (self.unreported > 0 && self.throttle.due(now))
            .then(|| std::mem::take(&mut self.unreported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn window(mesh_key: u32, started_at_s: i64) -> MeshWindow {
        MeshWindow {
            mesh_key,
            started_at_s,
            window_s: 10,
            ..MeshWindow::default()
        }
    }

    /// Return the reports of a batcher whose senders are gone already, as after SIGTERM.
    fn batched(
        folder: &std::path::Path,
        windows: Vec<MeshWindow>,
        counters: &Arc<Counters>,
    ) -> Vec<Report> {
        batched_with(folder, windows, counters, &Arc::default())
    }

    fn batched_with(
        folder: &std::path::Path,
        windows: Vec<MeshWindow>,
        counters: &Arc<Counters>,
        traffic: &Arc<WindowQueue<TrafficWindow>>,
    ) -> Vec<Report> {
        let spool = Arc::new(Spool::open(&folder.join("spool"), 64 << 20).unwrap());
        let sequence = Sequence::open(&folder.join("sequence"), spool.newest(), 0).unwrap();
        let (sender, receiver) = mpsc::channel();
        windows.into_iter().for_each(|w| sender.send(w).unwrap());
        drop(sender);
        let backend_clock = Arc::new(BackendClock::new());
        Batcher {
            spool: Arc::clone(&spool),
            sequence,
            backend_clock,
            counters: Arc::clone(counters),
            traffic: Arc::clone(traffic),
            connections: Arc::default(),
            services: Arc::default(),
            host: Arc::default(),
            earlier: EarlierParts::hold(&spool, 105),
        }
        .run(&receiver);
        std::iter::from_fn(|| {
            let (sequence, bytes) = spool.oldest()?;
            spool.remove(sequence);
            let bytes = zstd::bulk::decompress(&bytes, 64 << 20).unwrap();
            Some(Report::decode(bytes.as_slice()).unwrap())
        })
        .collect()
    }

    #[test]
    fn windows_that_end_together_share_a_report_and_none_is_left_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let counters = Arc::new(Counters::default());
        counters.packets_sent.store(7, Relaxed);
        let windows = vec![window(1, 100), window(2, 100)];
        let reports = batched(folder.path(), windows.clone(), &counters);
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].sequence, 1);
        assert_eq!(reports[0].windows, windows);
        assert_eq!(reports[0].health.as_ref().unwrap().packets_sent, 7);
        let again = batched(folder.path(), vec![window(1, 110)], &counters);
        assert_eq!(again[0].sequence, 2, "numbers rise over restarts");
    }

    #[test]
    fn windows_of_traffic_join_one_report_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let traffic = Arc::new(WindowQueue::default());
        let counted = TrafficWindow {
            started_at_s: 90,
            bytes_sent: 1_500,
            ..TrafficWindow::default()
        };
        traffic.push(counted.clone());
        let reported = || {
            let windows = vec![window(1, 100)];
            batched_with(folder.path(), windows, &Arc::default(), &traffic).remove(0)
        };
        assert_eq!(reported().traffic, [counted]);
        assert!(reported().traffic.is_empty());
    }

    #[test]
    fn a_large_batch_is_split() {
        let folder = tempfile::tempdir().unwrap();
        let large = MeshWindow {
            peer_keys: (0..400_000).collect(),
            ..window(1, 100)
        };
        let windows = vec![large.clone(), large.clone(), large];
        let reports = batched(folder.path(), windows.clone(), &Arc::default());
        assert!(reports.iter().map(|r| r.windows.len()).eq([2, 1]));
        assert!(reports.into_iter().flat_map(|r| r.windows).eq(windows));
    }

    #[test]
    fn drops_are_logged_at_intervals_and_add_up() {
        let start = Instant::now();
        let mut drops = DropLog::default();
        let logged: Vec<Option<u64>> = [(0, 0), (1, 1), (2, 1), (3, 1), (601, 1)]
            .map(|(s, n)| drops.add(n, start + Duration::from_secs(s)))
            .into();
        assert_eq!(logged, [None, Some(1), None, None, Some(3)]);
    }
}
