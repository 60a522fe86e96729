//! Windows that end together become one report.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use prost::Message;

use super::{Sequence, Spool};
use crate::counters::{Counters, EventKind};
use crate::log_throttle::LogThrottle;
use crate::plan::BackendClock;
use crate::wire::{Health, MeshWindow, Report};

/// Windows of several meshes end at the same moment; what closes this soon after the first travels with it.
const GATHER: Duration = Duration::from_millis(200);
/// An agent without windows (no peers yet) shows this often that it lives; the backend expects a report every 10 s
/// of it and calls it silent after three are missing.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Beyond this a report is closed early: the backend bounds what it takes at once.
const REPORT_LIMIT_BYTES: usize = 2 << 20;
/// Level 3 halves a report against level 1 at 50 µs each; more brings nothing on such small blocks.
const ZSTD_LEVEL: i32 = 3;
const TELL_EVERY: Duration = Duration::from_secs(600);

/// Turns windows into numbered reports in the spool.
#[derive(Debug)]
pub struct Batcher {
    pub spool: Arc<Spool>,
    pub sequence: Sequence,
    pub backend_clock: Arc<BackendClock>,
    pub counters: Arc<Counters>,
}

impl Batcher {
    /// Works until all senders of `windows` are gone, then returns with everything spooled.
    pub fn run(mut self, windows: &Receiver<MeshWindow>) {
        let started_at_ns = self.backend_clock.now_ns();
        let mut drops = Drops::default();
        loop {
            let gathered = match windows.recv_timeout(HEARTBEAT) {
                Ok(first) => gather(first, windows),
                Err(RecvTimeoutError::Timeout) if self.spool.size().1 == 0 => Vec::new(),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.spool_report(gathered, started_at_ns, &mut drops);
        }
        match self.spool.save() {
            0 => {}
            lost => tracing::error!(
                reports = lost,
                "the disk takes no reports; these are lost with the process"
            ),
        }
    }

    fn spool_report(&mut self, windows: Vec<MeshWindow>, started_at_ns: i64, drops: &mut Drops) {
        let (sequence, noted) = self.sequence.advance();
        if let Err(error) = noted {
            tracing::debug!(%error, sequence, "the report's number cannot be noted");
        }
        let report = Report {
            sequence,
            made_at_ns: self.backend_clock.now_ns(),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            windows,
            health: Some(self.health(started_at_ns)),
        };
        let bytes = match zstd::bulk::compress(&report.encode_to_vec(), ZSTD_LEVEL) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::error!(%error, sequence, "the report cannot be compressed; it is given up");
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
                "the spool cannot be written ({error}); reports wait in memory, fewer of them"
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
        if let Some(dropped) = drops.tell(pushed.dropped, Instant::now()) {
            let detail = format!("the spool is full: {dropped} of the oldest reports were dropped");
            tracing::error!(
                "{detail}; raise spool_cap, or find out why the backend takes no reports"
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
        }
    }
}

fn gather(first: MeshWindow, windows: &Receiver<MeshWindow>) -> Vec<MeshWindow> {
    let until = Instant::now() + GATHER;
    let mut bytes = first.encoded_len();
    let mut gathered = vec![first];
    while bytes < REPORT_LIMIT_BYTES {
        // A sender that is gone ends the wait at once: the process is about to finish.
        match windows.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(window) => {
                bytes += window.encoded_len();
                gathered.push(window);
            }
            Err(_) => break,
        }
    }
    gathered
}

/// Dropped reports not yet told about: a full spool drops one with every report.
#[derive(Debug)]
struct Drops {
    untold: u64,
    throttle: LogThrottle,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            untold: 0,
            throttle: LogThrottle::new(TELL_EVERY),
        }
    }
}

impl Drops {
    fn tell(&mut self, dropped: u64, now: Instant) -> Option<u64> {
        self.untold += dropped;
        (self.untold > 0 && self.throttle.due(now)).then(|| std::mem::take(&mut self.untold))
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

    /// Runs the windows through a batcher whose senders are gone already, as after SIGTERM.
    fn batched(
        folder: &std::path::Path,
        windows: Vec<MeshWindow>,
        counters: &Arc<Counters>,
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
        }
        .run(&receiver);
        std::iter::from_fn(|| {
            let (sequence, bytes) = spool.oldest()?;
            spool.forget(sequence);
            let bytes = zstd::bulk::decompress(&bytes, 64 << 20).unwrap();
            Some(Report::decode(bytes.as_slice()).unwrap())
        })
        .collect()
    }

    #[test]
    fn windows_that_end_together_travel_together_and_nothing_is_left_at_the_end() {
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
    fn a_large_batch_is_split() {
        let folder = tempfile::tempdir().unwrap();
        let large = MeshWindow {
            peer_keys: (0..400_000).collect(),
            ..window(1, 100)
        };
        let windows = vec![large.clone(), large.clone(), large];
        let reports = batched(folder.path(), windows.clone(), &Arc::default());
        assert_eq!(
            reports.iter().map(|r| r.windows.len()).collect::<Vec<_>>(),
            [2, 1]
        );
        assert!(reports.into_iter().flat_map(|r| r.windows).eq(windows));
    }

    #[test]
    fn drops_are_told_now_and_again_and_add_up() {
        let start = Instant::now();
        let mut drops = Drops::default();
        let told: Vec<Option<u64>> = [(0, 0), (1, 1), (2, 1), (3, 1), (601, 1)]
            .map(|(s, n)| drops.tell(n, start + Duration::from_secs(s)))
            .into();
        assert_eq!(told, [None, Some(1), None, None, Some(3)]);
    }
}
