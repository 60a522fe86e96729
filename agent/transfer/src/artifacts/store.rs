//! Blocks on disk, each in a file named by its SHA-256. A file appears only when it is whole.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Digest, hex, sha256, unhex};

/// End of the name of a file that is being written.
const UNFINISHED: &str = ".new";

/// Blocks of this VM.
#[derive(Debug)]
pub struct BlockStore {
    folder: PathBuf,
    held: Mutex<HashMap<Digest, u32>>,
}

impl BlockStore {
    /// Open the folder; what an interrupted write left is removed. Files that are not ours stay, and links are not
    /// followed: they may lead to what belongs to somebody else.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut held = HashMap::new();
        for part in fs::read_dir(folder)? {
            let part = part?;
            if !part.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(part.path())? {
                let file = file?;
                if !file.file_type()?.is_file() {
                    continue;
                }
                let name = file.file_name().to_string_lossy().into_owned();
                let Some(digest) = unhex(name.strip_suffix(UNFINISHED).unwrap_or(&name)) else {
                    continue;
                };
                let size = u32::try_from(file.metadata()?.len()).unwrap_or(0);
                if file.path() != block_path(folder, &digest) {
                    if name.ends_with(UNFINISHED) {
                        fs::remove_file(file.path())?;
                    }
                } else if size > 0 {
                    held.insert(digest, size);
                } else {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            held: Mutex::new(held),
        })
    }

    pub fn has(&self, digest: &Digest) -> bool {
        self.held().contains_key(digest)
    }

    /// Return the bytes of all blocks.
    pub fn size_bytes(&self) -> u64 {
        self.held().values().map(|size| u64::from(*size)).sum()
    }

    /// Store a block whose hash the caller has verified.
    pub fn put(&self, digest: &Digest, data: &[u8]) -> io::Result<()> {
        let path = self.path(digest);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut new = path.clone().into_os_string();
        new.push(UNFINISHED);
        fs::write(&new, data)?;
        fs::rename(&new, &path)?;
        let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
        self.held().insert(*digest, size);
        Ok(())
    }

    /// Read a block; `None` if it is not held. A damaged file is dropped, so that it is fetched again.
    pub fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        if !self.has(digest) {
            return None;
        }
        let data = fs::read(self.path(digest)).unwrap_or_default();
        if sha256(&data) == *digest {
            return Some(data);
        }
        tracing::warn!(
            block = hex(digest),
            "a block on this disk is damaged; it is dropped and fetched again"
        );
        self.remove(digest);
        None
    }

    /// Remove every block that is not in `kept`. Return the bytes that were freed.
    pub fn keep_only(&self, kept: &HashSet<Digest>) -> u64 {
        let unused: Vec<(Digest, u32)> = {
            let held = self.held();
            let rest = held.iter().filter(|(digest, _)| !kept.contains(*digest));
            rest.map(|(digest, size)| (*digest, *size)).collect()
        };
        for (digest, _) in &unused {
            self.remove(digest);
        }
        unused.iter().map(|(_, size)| u64::from(*size)).sum()
    }

    fn remove(&self, digest: &Digest) {
        self.held().remove(digest);
        let _ = fs::remove_file(self.path(digest));
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        block_path(&self.folder, digest)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, u32>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Return the file of a block in a folder of blocks.
pub fn block_path(folder: &Path, digest: &Digest) -> PathBuf {
    let name = hex(digest);
    folder.join(&name[..2]).join(name)
}
