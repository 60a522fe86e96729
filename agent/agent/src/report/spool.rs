//! Reports that the backend has not acknowledged yet: one file each, oldest first, within a cap.
//!
//! `spool/<sequence>.report` is a whole report (protobuf, zstd): it is written beside, synced and renamed, so a crash
//! at any moment leaves it there or not, never half. When the disk takes no more, reports wait in memory, fewer of
//! them. What has to go is the oldest, and it is counted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::state_dir::write_atomically;

/// Most bytes of reports held in memory while the disk takes none: over an hour of a mesh of 100 VMs.
const MEMORY_CAP_BYTES: u64 = 8 << 20;
/// A file occupies whole blocks, and the cap is about disk space.
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
    reports: BTreeMap<u64, Place>,
    disk_bytes: u64,
    memory_bytes: u64,
    disk_refuses: bool,
}

#[derive(Debug)]
enum Place {
    Disk { bytes: u64 },
    Memory(Vec<u8>),
}

/// What became of a pushed report, for counting and telling.
#[derive(Debug, Default)]
pub struct Pushed {
    /// Older reports that had to go.
    pub dropped: u64,
    /// The disk began to refuse: told once, not with every report.
    pub disk_failed: Option<io::Error>,
    /// The disk takes reports again after it had refused.
    pub disk_recovered: bool,
}

impl Spool {
    /// Opens `folder`, making it if need be; finds the reports of an earlier run and clears what a crash left half.
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
                    waiting.reports.insert(sequence, Place::Disk { bytes });
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

    /// Keeps `report` until it is acknowledged; on disk when this returns, or in memory if the disk refuses.
    pub fn push(&self, sequence: u64, report: Vec<u8>) -> Pushed {
        let mut waiting = self.lock();
        let mut pushed = Pushed::default();
        let bytes = on_disk(report.len() as u64);
        while waiting.disk_bytes + bytes > self.cap_bytes
            && self.drop_oldest(&mut waiting, on_disk_only)
        {
            pushed.dropped += 1;
        }
        match write_atomically(&self.path(sequence), &report) {
            Ok(()) => {
                waiting.reports.insert(sequence, Place::Disk { bytes });
                waiting.disk_bytes += bytes;
                pushed.disk_recovered = std::mem::take(&mut waiting.disk_refuses);
                self.move_to_disk(&mut waiting);
            }
            Err(error) => {
                let bytes = report.len() as u64;
                waiting.reports.insert(sequence, Place::Memory(report));
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

    /// The oldest report and its number, if any. A file that cannot be read is passed over and given up.
    pub fn oldest(&self) -> Option<(u64, Vec<u8>)> {
        loop {
            let mut waiting = self.lock();
            let (&sequence, place) = waiting.reports.iter().next()?;
            if let Place::Memory(report) = place {
                return Some((sequence, report.clone()));
            }
            match std::fs::read(self.path(sequence)) {
                Ok(report) => return Some((sequence, report)),
                Err(error) => {
                    tracing::error!(sequence, %error, "a spooled report cannot be read; it is given up");
                    self.remove(&mut waiting, sequence);
                }
            }
        }
    }

    /// Forgets a report that was acknowledged or refused; `false` if it is not here any more.
    pub fn forget(&self, sequence: u64) -> bool {
        self.remove(&mut self.lock(), sequence)
    }

    /// Waits until a report is here, at most `limit`; `true` if one is.
    pub fn wait(&self, limit: Duration) -> bool {
        let waited = self
            .arrived
            .wait_timeout_while(self.lock(), limit, |waiting| waiting.reports.is_empty());
        !waited
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .reports
            .is_empty()
    }

    /// Bytes and reports that wait.
    pub fn size(&self) -> (u64, u64) {
        let waiting = self.lock();
        (
            waiting.disk_bytes + waiting.memory_bytes,
            waiting.reports.len() as u64,
        )
    }

    /// The largest number that waits; 0 if none does.
    pub fn newest(&self) -> u64 {
        self.lock().reports.keys().next_back().copied().unwrap_or(0)
    }

    /// Reports that wait in memory only and would not survive the process; tries the disk once more first.
    pub fn save(&self) -> u64 {
        let mut waiting = self.lock();
        self.move_to_disk(&mut waiting);
        waiting
            .reports
            .values()
            .filter(|place| in_memory_only(place))
            .count() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, sequence: u64) -> PathBuf {
        self.folder.join(format!("{sequence:020}.{SUFFIX}"))
    }

    fn drop_oldest(&self, waiting: &mut Waiting, which: fn(&Place) -> bool) -> bool {
        let oldest = waiting
            .reports
            .iter()
            .find(|(_, place)| which(place))
            .map(|(sequence, _)| *sequence);
        oldest.is_some_and(|sequence| self.remove(waiting, sequence))
    }

    fn remove(&self, waiting: &mut Waiting, sequence: u64) -> bool {
        match waiting.reports.remove(&sequence) {
            None => return false,
            Some(Place::Memory(report)) => waiting.memory_bytes -= report.len() as u64,
            Some(Place::Disk { bytes }) => {
                waiting.disk_bytes -= bytes;
                // Should it stay behind, the next start sends it again, and the backend stores it once.
                if let Err(error) = std::fs::remove_file(self.path(sequence)) {
                    tracing::warn!(sequence, %error, "a report that is done with cannot be deleted from the spool");
                }
            }
        }
        true
    }

    fn move_to_disk(&self, waiting: &mut Waiting) {
        for (&sequence, place) in &mut waiting.reports {
            let Place::Memory(report) = place else {
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
            *place = Place::Disk { bytes };
        }
    }
}

fn on_disk_only(place: &Place) -> bool {
    matches!(place, Place::Disk { .. })
}

fn in_memory_only(place: &Place) -> bool {
    matches!(place, Place::Memory(_))
}

fn on_disk(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

fn sequence_of(path: &Path) -> Option<u64> {
    path.file_stem()?
        .to_str()
        .filter(|stem| stem.len() == 20)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests;
