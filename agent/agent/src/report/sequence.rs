//! Report numbers that only increase, even after a failure of the process, the disk or the clock.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Digits of the largest `u64`, so that the file never changes its length.
const WIDTH: usize = 20;

/// The last number used, kept in a file.
///
/// The file is overwritten in place. Its 21 bytes fit in one disk sector, and an existing block can be written on a full
/// disk, unlike a new file.
#[derive(Debug)]
pub struct Sequence {
    file: File,
    last: u64,
}

impl Sequence {
    /// Continue after the number in `path` and after `newest_spooled`, whichever is larger.
    ///
    /// If the file exists and is not readable, it continues after `unix_s`. An agent uses less than one number per second,
    /// so that is greater than all numbers used.
    pub fn open(path: &Path, newest_spooled: u64, unix_s: u64) -> io::Result<Self> {
        let is_new = !path.exists();
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(path)?;
        let mut text = String::new();
        let stored = file
            .read_to_string(&mut text)
            .ok()
            .and_then(|_| text.trim().parse::<u64>().ok());
        let last = match stored {
            Some(last) => last.max(newest_spooled),
            None if is_new => newest_spooled,
            None => newest_spooled.max(unix_s),
        };
        file.write_all_at(line(last).as_bytes(), 0)?;
        file.set_len(WIDTH as u64 + 1)?;
        file.sync_all()?;
        Ok(Self { file, last })
    }

    /// Return the next number, even if it cannot be stored: the measurement must not stop for a full disk.
    pub fn advance(&mut self) -> (u64, io::Result<()>) {
        self.last += 1;
        let stored = self
            .file
            .write_all_at(line(self.last).as_bytes(), 0)
            .and_then(|()| self.file.sync_data());
        (self.last, stored)
    }
}

fn line(number: u64) -> String {
    format!("{number:0WIDTH$}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_does_not_turn_numbers_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sequence");
        std::fs::write(&path, b"\xff\xfe??").unwrap();
        assert_eq!(
            Sequence::open(&path, 7, 1_795_000_000).unwrap().advance().0,
            1_795_000_001
        );
        assert_eq!(
            Sequence::open(&path, 0, 0).unwrap().advance().0,
            1_795_000_002
        );
    }

    #[test]
    fn a_first_start_begins_at_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            Sequence::open(&folder.path().join("sequence"), 0, 1_795_000_000)
                .unwrap()
                .advance()
                .0,
            1
        );
    }
}
