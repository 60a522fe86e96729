//! Reports that the backend has refused, kept with the reason for people to look at.
//!
//! A report is `refused/<sequence>.report`, its reason `refused/<sequence>.why`. Beyond the limit the oldest are deleted.

use std::io;
use std::path::{Path, PathBuf};

use super::spool::sequence_of;
use crate::state_dir::write_atomically;

#[derive(Debug)]
pub struct RefusedReports {
    folder: PathBuf,
    limit: usize,
    limit_bytes: u64,
}

impl RefusedReports {
    /// Keep at most `limit` reports in `folder`, `limit_bytes` altogether, and always the newest one.
    pub fn new(folder: &Path, limit: usize, limit_bytes: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            limit,
            limit_bytes,
        }
    }

    /// Store a report and the reason of its refusal.
    pub fn keep(&self, sequence: u64, report: &[u8], why: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{sequence:020}.report"));
        write_atomically(&path.with_extension("why"), format!("{why}\n").as_bytes())?;
        write_atomically(&path, report)?;
        let kept: Vec<PathBuf> = std::fs::read_dir(&self.folder)?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| {
                sequence_of(path).is_some() && path.extension().is_some_and(|e| e == "report")
            })
            .collect();
        for path in self.beyond_limits(kept) {
            std::fs::remove_file(&path)?;
            // Its reason may be gone already.
            let _ = std::fs::remove_file(path.with_extension("why"));
        }
        Ok(())
    }

    /// Return the oldest reports, those beyond a limit.
    fn beyond_limits(&self, mut kept: Vec<PathBuf>) -> Vec<PathBuf> {
        kept.sort_unstable_by(|a, b| b.cmp(a));
        let mut bytes = 0;
        let fits = |path: &&PathBuf| {
            bytes += std::fs::metadata(path).map_or(0, |about| about.len());
            bytes <= self.limit_bytes
        };
        let fitting = kept.iter().take(self.limit).take_while(fits).count();
        kept.split_off(fitting.max(1).min(kept.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_with_their_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let refused =
            |limit, bytes| RefusedReports::new(&folder.path().join("refused"), limit, bytes);
        std::fs::create_dir(folder.path().join("refused")).unwrap();
        let note = folder.path().join("refused").join("0.report");
        std::fs::write(&note, "not ours").unwrap();
        for sequence in 1..=4 {
            refused(2, 1 << 20)
                .keep(sequence, b"report", "HTTP 422")
                .unwrap();
        }
        std::fs::remove_file(note).unwrap();
        let mut names: Vec<_> = std::fs::read_dir(folder.path().join("refused"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = ["3.report", "3.why", "4.report", "4.why"]
            .map(|end| format!("0000000000000000000{end}"));
        assert_eq!(names, expected);

        let reports = || {
            let entries = std::fs::read_dir(folder.path().join("refused")).unwrap();
            entries.count() / 2
        };
        refused(100, 12).keep(5, b"report", "HTTP 422").unwrap();
        assert_eq!(reports(), 2, "two times six bytes");
        refused(100, 12)
            .keep(6, b"a longer report", "HTTP 422")
            .unwrap();
        assert_eq!(reports(), 1, "the newest, however long");
    }
}
