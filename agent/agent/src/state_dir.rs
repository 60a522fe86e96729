//! The agent's folder on disk: locked by one agent, readable by no other user, written atomically.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// File of the last report's number, created at the first start.
pub const SEQUENCE_FILE: &str = "sequence";

/// Size of an identity, a plan of a few peers and a number on disk, bytes.
const NEEDED_BYTES: usize = 16 << 10;

/// State folder, locked by this process until it ends.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    // The kernel releases the lock however the process ends.
    _lock: File,
}

/// Failure to use the folder.
#[derive(Debug)]
pub enum StateError {
    InUse(PathBuf),
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl std::fmt::Display for StateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InUse(path) => write!(
                f,
                "state_dir {} is in use by another agent: stop that one, or set another folder for this one",
                path.display()
            ),
            Self::Io {
                doing,
                path,
                source,
            } => {
                write!(f, "state_dir: cannot {doing} {}: {source}", path.display())?;
                if source.kind() == io::ErrorKind::StorageFull {
                    f.write_str(
                        ": free space on that disk, or set state_dir to a folder on another one",
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for StateError {}

impl StateDir {
    /// Create the folder (0700) if it does not exist, and locks it. At the first start, also checks that the disk has space
    /// for an identity, before a token is used up. An agent that was here before continues on a full disk.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let failed = |doing| {
            move |source| StateError::Io {
                doing,
                path: path.to_owned(),
                source,
            }
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(failed("create"))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(failed("write to"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let held = Self {
                    path: path.to_owned(),
                    _lock: lock,
                };
                if !held.join(SEQUENCE_FILE).exists() {
                    held.check_space().map_err(failed("write to"))?;
                }
                Ok(held)
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::InUse(path.to_owned())),
            Err(e) => Err(failed("lock")(e.into())),
        }
    }

    /// Check that the disk has space, by writing some bytes: a full disk accepts empty files too.
    pub fn check_space(&self) -> io::Result<()> {
        let path = self.join("room");
        write_atomically(&path, &[1; NEEDED_BYTES])?;
        std::fs::remove_file(path)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Replace `path` atomically and syncs it: after a crash the file holds the old bytes or the new ones. Mode 0600.
///
/// Leave no partial file after a failure.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let temporary = path.with_extension("tmp");
    let written = write_new(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // Report the first error. If the removal fails too, the next start removes the file.
        let _ = std::fs::remove_file(&temporary);
        return written;
    }
    // Without this a power failure can undo the rename.
    File::open(folder)?.sync_all()
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    // A file that a crash has left keeps its mode.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_a_folder_that_cannot_be_created() {
        let error = StateDir::open(Path::new("/proc/nothing"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("state_dir: cannot create /proc/nothing"),
            "{error}"
        );
    }

    #[test]
    fn files_are_replaced_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        std::fs::write(path.with_extension("tmp"), "half of someth").unwrap();
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(!path.with_extension("tmp").exists());
    }
}
