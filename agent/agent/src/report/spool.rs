//! Queue of reports that the backend has not acknowledged: one file each, oldest first, within a cap.
//!
//! `spool/<sequence>.report` is a report (protobuf, zstd). It is written to a temporary file, synced and renamed, so that a
//! crash leaves no partial report. If the disk cannot be written, a smaller number of reports waits in memory. Beyond a cap
//! the oldest report is dropped and counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::state_dir::write_atomically;

/// Largest size of the reports in memory while the disk cannot be written: over an hour of a mesh of 100 VMs.
const MEMORY_CAP_BYTES: u64 = 8 << 20;
/// Size of a disk block. A file occupies whole blocks, and the cap limits disk space.
const BLOCK_BYTES: u64 = 4096;
const SUFFIX: &str = "report";

#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    cap_bytes: u64,
    memory_cap_bytes: u64,
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    reports: BTreeMap<u64, Storage>,
    /// Reports that are not to be sent yet.
    held: BTreeSet<u64>,
    disk_bytes: u64,
    memory_bytes: u64,
    disk_refuses: bool,
}

/// Storage of a report that waits.
#[derive(Debug)]
enum Storage {
    Disk { bytes: u64 },
    Memory(Vec<u8>),
}

/// Effects of pushing a report, for counters and the log.
#[derive(Debug, Default)]
pub struct PushResult {
    /// Number of older reports dropped.
    pub dropped: u64,
    /// First failure to write to the disk since it last succeeded.
    pub disk_failed: Option<io::Error>,
    /// True if the disk can be written again after failures.
    pub disk_recovered: bool,
}

impl Spool {
    /// Open `folder`, or create it. Read the list of reports of an earlier run and delete partial files of a crash.
    pub fn open(folder: &Path, cap_bytes: u64) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut waiting = Waiting::default();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            match (
                sequence_of(&path),
                path.extension().and_then(|e| e.to_str()),
            ) {
                (Some(sequence), Some(SUFFIX)) => {
                    let bytes = on_disk(entry.metadata()?.len());
                    waiting.disk_bytes += bytes;
                    waiting.reports.insert(sequence, Storage::Disk { bytes });
                }
                (Some(_), Some("tmp")) => std::fs::remove_file(&path)?,
                _ => {}
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            cap_bytes,
            memory_cap_bytes: MEMORY_CAP_BYTES.min(cap_bytes),
            waiting: Mutex::new(waiting),
            arrived: Condvar::new(),
        })
    }

    /// Store `report` until it is acknowledged: on disk, or in memory if the disk cannot be written. It takes the place of one
    /// of the same number.
    pub fn push(&self, sequence: u64, report: Vec<u8>) -> PushResult {
        let mut waiting = self.lock();
        waiting.forget(sequence);
        let mut pushed = PushResult::default();
        let bytes = on_disk(report.len() as u64);
        while waiting.disk_bytes + bytes > self.cap_bytes
            && self.drop_oldest(&mut waiting, on_disk_only)
        {
            pushed.dropped += 1;
        }
        match write_atomically(&self.path(sequence), &report) {
            Ok(()) => {
                waiting.reports.insert(sequence, Storage::Disk { bytes });
                waiting.disk_bytes += bytes;
                pushed.disk_recovered = std::mem::take(&mut waiting.disk_refuses);
                self.move_to_disk(&mut waiting);
            }
            Err(error) => {
                let bytes = report.len() as u64;
                waiting.reports.insert(sequence, Storage::Memory(report));
                waiting.memory_bytes += bytes;
                while waiting.memory_bytes > self.memory_cap_bytes
                    && self.drop_oldest(&mut waiting, in_memory_only)
                {
                    pushed.dropped += 1;
                }
                if !std::mem::replace(&mut waiting.disk_refuses, true) {
                    pushed.disk_failed = Some(error);
                }
            }
        }
        self.arrived.notify_all();
        pushed
    }

    /// Hold a report back, or let it be sent.
    pub fn hold(&self, sequence: u64, is_held: bool) {
        let held = &mut self.lock().held;
        if is_held {
            held.insert(sequence);
        } else if held.remove(&sequence) {
            self.arrived.notify_all();
        }
    }

    /// Return the numbers of the reports that wait, oldest first.
    pub fn sequences(&self) -> Vec<u64> {
        self.lock().reports.keys().copied().collect()
    }

    /// Return the bytes of a report, if it waits and can be read.
    pub fn read(&self, sequence: u64) -> Option<Vec<u8>> {
        let waiting = self.lock();
        self.bytes(sequence, waiting.reports.get(&sequence)?).ok()
    }

    /// Return the number and bytes of the oldest report that is not held back, if any. Drop reports whose file cannot be read.
    pub fn oldest(&self) -> Option<(u64, Vec<u8>)> {
        loop {
            let mut waiting = self.lock();
            let (&sequence, storage) = waiting.to_send().next()?;
            match self.bytes(sequence, storage) {
                Ok(report) => return Some((sequence, report)),
                Err(error) => {
                    tracing::error!(sequence, %error, "a spooled report cannot be read and is dropped");
                    self.delete(&mut waiting, sequence);
                }
            }
        }
    }

    /// Remove a report that was acknowledged or refused. Return false if there is none with this number.
    pub fn remove(&self, sequence: u64) -> bool {
        self.delete(&mut self.lock(), sequence)
    }

    /// Wait for a report to send, at most `limit`. Return true if there is one.
    pub fn wait(&self, limit: Duration) -> bool {
        let is_idle = |waiting: &mut Waiting| waiting.to_send().next().is_none();
        let waited = self.arrived.wait_timeout_while(self.lock(), limit, is_idle);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        !is_idle(&mut waiting)
    }

    /// Return the size, bytes, and number of the reports that wait.
    pub fn size(&self) -> (u64, u64) {
        let waiting = self.lock();
        (
            waiting.disk_bytes + waiting.memory_bytes,
            waiting.reports.len() as u64,
        )
    }

    /// Return the largest number of a report that waits; 0 if there is none.
    pub fn newest(&self) -> u64 {
        self.lock().reports.keys().next_back().copied().unwrap_or(0)
    }

    /// Write the reports in memory to disk. Return how many remain in memory, and would be lost with the process.
    pub fn flush(&self) -> u64 {
        let mut waiting = self.lock();
        self.move_to_disk(&mut waiting);
        waiting
            .reports
            .values()
            .filter(|storage| in_memory_only(storage))
            .count() as u64
    }

    fn bytes(&self, sequence: u64, storage: &Storage) -> io::Result<Vec<u8>> {
        match storage {
            Storage::Memory(report) => Ok(report.clone()),
            Storage::Disk { .. } => std::fs::read(self.path(sequence)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, sequence: u64) -> PathBuf {
        self.folder.join(format!("{sequence:020}.{SUFFIX}"))
    }

    fn drop_oldest(&self, waiting: &mut Waiting, which: fn(&Storage) -> bool) -> bool {
        let oldest = waiting
            .reports
            .iter()
            .find(|(_, storage)| which(storage))
            .map(|(sequence, _)| *sequence);
        oldest.is_some_and(|sequence| self.delete(waiting, sequence))
    }

    fn delete(&self, waiting: &mut Waiting, sequence: u64) -> bool {
        waiting.held.remove(&sequence);
        let removed = waiting.forget(sequence);
        // If the file remains, the next start sends it again, and the backend ignores the duplicate.
        if let Some(Storage::Disk { .. }) = removed
            && let Err(error) = std::fs::remove_file(self.path(sequence))
        {
            tracing::warn!(sequence, %error, "an acknowledged or refused report cannot be deleted from the spool");
        }
        removed.is_some()
    }

    fn move_to_disk(&self, waiting: &mut Waiting) {
        for (&sequence, storage) in &mut waiting.reports {
            let Storage::Memory(report) = storage else {
                continue;
            };
            let bytes = on_disk(report.len() as u64);
            if waiting.disk_bytes + bytes > self.cap_bytes
                || write_atomically(&self.path(sequence), report).is_err()
            {
                break;
            }
            waiting.memory_bytes -= report.len() as u64;
            waiting.disk_bytes += bytes;
            *storage = Storage::Disk { bytes };
        }
    }
}

impl Waiting {
    /// Return the reports that are not held back, oldest first.
    fn to_send(&self) -> impl Iterator<Item = (&u64, &Storage)> {
        let reports = self.reports.iter();
        reports.filter(|(sequence, _)| !self.held.contains(sequence))
    }

    /// Take a report off the list, and its size off the sums. A file remains.
    fn forget(&mut self, sequence: u64) -> Option<Storage> {
        let removed = self.reports.remove(&sequence)?;
        match &removed {
            Storage::Memory(report) => self.memory_bytes -= report.len() as u64,
            Storage::Disk { bytes } => self.disk_bytes -= bytes,
        }
        Some(removed)
    }
}

fn on_disk_only(storage: &Storage) -> bool {
    matches!(storage, Storage::Disk { .. })
}

fn in_memory_only(storage: &Storage) -> bool {
    matches!(storage, Storage::Memory(_))
}

fn on_disk(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

pub(super) fn sequence_of(path: &Path) -> Option<u64> {
    path.file_stem()?
        .to_str()
        .filter(|stem| stem.len() == 20)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests;
