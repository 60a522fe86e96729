//! Artifacts that this agent knows: for peers that ask which blocks it holds, and on disk for programs that read them.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::document::Document;
use super::manifest::{Block, decode};
use super::store::{BlockStore, block_path};
use super::{sha256, unhex};
use sinemora_agent::state_dir::write_atomically;

/// Folder of artifacts in the state folder, and its parts.
pub const FOLDER: &str = "artifacts";
pub const BLOCKS: &str = "blocks";
const MANIFESTS: &str = "manifests";
const INDEX: &str = "index.json";
const LOOK: Duration = Duration::from_millis(50);

/// A verified artifact with its blocks.
#[derive(Debug)]
pub struct Entry {
    pub document: Document,
    pub blocks: Vec<Block>,
    pub manifest: Vec<u8>,
}

/// Known artifacts by UUID.
#[derive(Debug, Default)]
pub struct Manifests(Mutex<HashMap<[u8; 16], Arc<Entry>>>);

impl Manifests {
    pub fn replace(&self, entries: &[Arc<Entry>]) {
        let known = entries
            .iter()
            .filter_map(|entry| Some((uuid(&entry.document.artifact_id)?, Arc::clone(entry))));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known.collect();
    }

    /// Return which blocks of an artifact are held: bit n % 8 of byte n / 8 is block n. Empty for an unknown artifact.
    pub fn bitmap(&self, id: &[u8; 16], store: &BlockStore) -> Vec<u8> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = known.get(id).map(Arc::clone) else {
            return Vec::new();
        };
        drop(known);
        let mut bits = vec![0; entry.blocks.len().div_ceil(8)];
        for (at, block) in entry.blocks.iter().enumerate() {
            if store.has(&block.digest) {
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bits
    }
}

/// Return the bytes of a UUID in its usual form.
pub fn uuid(text: &str) -> Option<[u8; 16]> {
    unhex(&text.replace('-', ""))
}

#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    name: String,
    release: String,
    artifact_id: String,
}

/// Write the known artifacts to `folder`, the oldest first, so that other programs find them.
pub fn write(folder: &Path, entries: &[Arc<Entry>]) -> io::Result<()> {
    let manifests = folder.join(MANIFESTS);
    std::fs::create_dir_all(&manifests)?;
    for entry in entries {
        let path = manifests.join(&entry.document.artifact_id);
        if !path.exists() {
            write_atomically(&path, &entry.manifest)?;
        }
    }
    let listed: Vec<Listed> = entries
        .iter()
        .map(|entry| Listed {
            name: entry.document.name.clone(),
            release: entry.document.release.clone(),
            artifact_id: entry.document.artifact_id.clone(),
        })
        .collect();
    write_atomically(&folder.join(INDEX), &serde_json::to_vec_pretty(&listed)?)?;
    for file in std::fs::read_dir(&manifests)? {
        let file = file?;
        let name = file.file_name();
        let is_ours = name.to_str().is_some_and(|name| uuid(name).is_some());
        if is_ours && !listed.iter().any(|one| *one.artifact_id == *name) {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

/// Failure to read an artifact.
#[derive(Debug)]
pub enum ReadError {
    Unknown { name: String, known: Vec<String> },
    Stalled { held: usize, blocks: usize },
    Io { path: PathBuf, why: String },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } if known.is_empty() => {
                write!(
                    f,
                    "{name} is unknown: this agent has no artifacts; are they on in its settings and in its mesh?"
                )
            }
            Self::Unknown { name, known } => {
                write!(f, "{name} is unknown: this agent has {}", known.join(", "))
            }
            Self::Stalled { held, blocks } => write!(
                f,
                "the next block does not arrive ({held} of {blocks} blocks were read): is the agent running?"
            ),
            Self::Io { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for ReadError {}

/// Write the bytes of an artifact to `out` in order, each as soon as its block is here. Without `release` the newest.
///
/// Wait at most `patience` for a block.
pub fn read_artifact(
    state_dir: &Path,
    name: &str,
    release: Option<&str>,
    patience: Duration,
    out: &mut dyn Write,
) -> Result<u64, ReadError> {
    let folder = state_dir.join(FOLDER);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |e: io::Error| ReadError::Io {
            path,
            why: e.to_string(),
        }
    };
    let listed: Vec<Listed> = std::fs::read(folder.join(INDEX))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let found = listed
        .iter()
        .rev()
        .find(|one| one.name == name && release.is_none_or(|release| one.release == release))
        .ok_or_else(|| ReadError::Unknown {
            name: release.map_or(name.to_owned(), |release| format!("{name} {release}")),
            known: listed
                .iter()
                .map(|one| format!("{} {}", one.name, one.release))
                .collect(),
        })?;
    let path = folder.join(MANIFESTS).join(&found.artifact_id);
    let manifest = std::fs::read(&path).map_err(failed(&path))?;
    let blocks = decode(&manifest).ok_or_else(|| ReadError::Io {
        path: path.clone(),
        why: "is damaged".to_owned(),
    })?;
    let mut written = 0;
    for (at, block) in blocks.iter().enumerate() {
        let path = block_path(&folder.join(BLOCKS), &block.digest);
        let since = Instant::now();
        let data = loop {
            match std::fs::read(&path) {
                Ok(data) if sha256(&data) == block.digest => break data,
                _ if since.elapsed() > patience => {
                    return Err(ReadError::Stalled {
                        held: at,
                        blocks: blocks.len(),
                    });
                }
                _ => std::thread::sleep(LOOK),
            }
        };
        out.write_all(&data).map_err(failed(Path::new("output")))?;
        written += data.len() as u64;
    }
    out.flush().map_err(failed(Path::new("output")))?;
    Ok(written)
}
