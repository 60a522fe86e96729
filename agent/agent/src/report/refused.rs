//! Reports the backend will never take: set aside with its reason, for people to look at.
//!
//! `refused/<sequence>.report` beside `refused/<sequence>.why`; the oldest go when there are more than the limit.

use std::io;
use std::path::{Path, PathBuf};

use crate::state_dir::write_atomically;

#[derive(Debug)]
pub struct RefusedReports {
    folder: PathBuf,
    limit: usize,
}

impl RefusedReports {
    /// Keeps at most `limit` reports in `folder`.
    pub fn new(folder: &Path, limit: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            limit,
        }
    }

    /// Sets a report aside with the reason it was refused for.
    pub fn keep(&self, sequence: u64, report: &[u8], why: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{sequence:020}.report"));
        write_atomically(&path.with_extension("why"), format!("{why}\n").as_bytes())?;
        write_atomically(&path, report)?;
        let mut kept: Vec<PathBuf> = std::fs::read_dir(&self.folder)?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "report"))
            .collect();
        kept.sort();
        for path in &kept[..kept.len().saturating_sub(self.limit)] {
            std::fs::remove_file(path)?;
            std::fs::remove_file(path.with_extension("why"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_with_their_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let refused = RefusedReports::new(&folder.path().join("refused"), 2);
        for sequence in 1..=4 {
            refused.keep(sequence, b"report", "HTTP 422").unwrap();
        }
        let mut names: Vec<_> = std::fs::read_dir(folder.path().join("refused"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = ["3.report", "3.why", "4.report", "4.why"]
            .map(|end| format!("0000000000000000000{end}"));
        assert_eq!(names, expected);
    }
}
