//! Thread of artifacts: asks the backend what to hold, verifies it, and has it fetched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::http::Method;

use super::document::{Document, verify};
use super::fetch::Fetcher;
use super::index::{self, Entry, Manifests};
use super::manifest::{decode, root};
use super::priority::lower_priority;
use super::rate::RateLimit;
use super::server::{BlockServer, Shared};
use super::store::BlockStore;
use super::work::{CopyReport, CopyState, Exchange, Wanted, Work};
use sinemora_agent::backend::{Body, Client};
use sinemora_agent::identity::Identity;
use sinemora_agent::stop::Stop;

const PATH: &str = "/v1/agents/self/artifacts";
const LIMIT: Duration = Duration::from_secs(30);
/// Artifacts that are fetched at a time: a slow source of one does not hold up the others.
const FETCHED_AT_ONCE: usize = 3;
const STEP: Duration = Duration::from_millis(100);
const AGAIN_RANGE_S: (f64, f64) = (0.5, 300.0);

/// Settings of this agent for artifacts.
#[derive(Debug, Clone)]
pub struct Limits {
    pub address: std::net::IpAddr,
    pub port: u16,
    /// Folder of the agent's state, in which artifacts have one of their own.
    pub state_dir: PathBuf,
}

/// The thread, and what it shares with server and fetches.
#[derive(Debug)]
pub struct ArtifactWorker {
    client: Client,
    /// With the pinned keys of the installation.
    identity: Identity,
    folder: PathBuf,
    port: u16,
    fetcher: Arc<Fetcher>,
    shared: Arc<Shared>,
    manifests: Arc<Manifests>,
    targets: Arc<Targets>,
    stop: Stop,
}

/// Artifacts to fetch, the oldest first, which of them are being fetched, and whether a fetch has just ended.
#[derive(Debug, Default)]
struct Targets {
    open: Mutex<Vec<Arc<Entry>>>,
    taken: Mutex<HashSet<String>>,
    ended: AtomicBool,
}

impl Targets {
    /// Return the first artifact that no thread fetches; it is this thread's until `release`.
    fn take(&self) -> Option<Arc<Entry>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = open
            .iter()
            .filter(|one| !taken.contains(&one.document.artifact_id));
        let entry = Arc::clone(free.next()?);
        taken.insert(entry.document.artifact_id.clone());
        Some(entry)
    }

    fn release(&self, artifact_id: &str) {
        self.taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(artifact_id);
    }
}

impl ArtifactWorker {
    /// Open the folder and the port. Return the worker and the server, each to be run in a thread.
    pub fn new(
        client: Client,
        identity: &Identity,
        limits: &Limits,
        stop: Stop,
    ) -> std::io::Result<(Self, BlockServer)> {
        let folder = limits.state_dir.join(index::FOLDER);
        let store = Arc::new(BlockStore::open(&folder.join(index::BLOCKS))?);
        let manifests = Arc::new(Manifests::default());
        let sending = Arc::new(RateLimit::new(0));
        let shared = Arc::new(Shared::new(
            Arc::clone(&store),
            Arc::clone(&manifests),
            sending,
        ));
        let server = BlockServer::bind(limits.address, limits.port, Arc::clone(&shared))?;
        let fetcher = Arc::new(Fetcher {
            client: client.clone(),
            vm_key: identity.vm_key,
            store,
            rate: Arc::new(RateLimit::new(0)),
            peers: Mutex::default(),
            reports: Mutex::default(),
            avoided: Mutex::default(),
            stop: stop.clone(),
        });
        let worker = Self {
            client,
            identity: identity.clone(),
            folder,
            port: server.port()?,
            fetcher,
            shared,
            manifests,
            targets: Arc::default(),
            stop,
        };
        Ok((worker, server))
    }

    /// Work until stopped.
    pub fn run(mut self) {
        lower_priority();
        for _ in 0..FETCHED_AT_ONCE {
            let (fetcher, targets, stop) = (
                Arc::clone(&self.fetcher),
                Arc::clone(&self.targets),
                self.stop.clone(),
            );
            let fetching = std::thread::Builder::new()
                .name("artifact-fetch".to_owned())
                .spawn(move || fetch_targets(&fetcher, &targets, &stop));
            if let Err(error) = fetching {
                tracing::error!("artifacts are not fetched: {error}");
                return;
            }
        }
        let mut known: HashMap<String, Arc<Entry>> = HashMap::new();
        let mut sent: BTreeMap<String, CopyReport> = BTreeMap::new();
        let mut listed: Vec<String> = Vec::new();
        let mut last_error = String::new();
        while !self.stop.is_set() {
            self.targets.ended.store(false, Relaxed);
            let pause = match self.exchange(&mut sent) {
                Ok(work) => {
                    last_error.clear();
                    self.follow(&work, &mut known, &mut listed);
                    work.again_s.clamp(AGAIN_RANGE_S.0, AGAIN_RANGE_S.1)
                }
                Err(why) => {
                    if why != last_error {
                        tracing::warn!("artifacts: {why}");
                        last_error = why;
                    }
                    10.0
                }
            };
            let until = Instant::now() + Duration::from_secs_f64(pause);
            while Instant::now() < until && !self.targets.ended.load(Relaxed) {
                if self.stop.wait(STEP) {
                    return;
                }
            }
        }
    }

    /// Send the reports that changed, and return the answer.
    fn exchange(&self, sent: &mut BTreeMap<String, CopyReport>) -> Result<Work, String> {
        let reports = self
            .fetcher
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let changed = reports
            .values()
            .filter(|one| sent.get(&one.artifact_id) != Some(*one));
        let body = serde_json::to_vec(&Exchange {
            port: self.port,
            copies: changed.collect(),
        })
        .map_err(|e| e.to_string())?;
        let answer = self
            .client
            .send(&Method::POST, PATH, Body::Json(&body), LIMIT)
            .map_err(|e| e.to_string())?;
        if answer.status != 200 {
            return Err(answer.describe());
        }
        *sent = reports;
        serde_json::from_slice(&answer.body).map_err(|e| format!("the answer is malformed: {e}"))
    }

    /// Verify what is wanted and have it fetched; delete what is not wanted any more.
    fn follow(
        &mut self,
        work: &Work,
        known: &mut HashMap<String, Arc<Entry>>,
        listed: &mut Vec<String>,
    ) {
        if !work.enabled {
            self.shared.use_key(Vec::new());
            self.targets_are(Vec::new());
            return;
        }
        self.shared.rate.set(work.rate_bytes_per_s);
        self.fetcher.rate.set(work.rate_bytes_per_s);
        self.shared
            .use_key(super::unhex::<32>(&work.serving_key).map_or_else(Vec::new, Vec::from));
        self.fetcher
            .peers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&work.peers);
        known.retain(|id, _| work.artifacts.iter().any(|one| one.id == *id));
        self.fetcher
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|id, _| work.artifacts.iter().any(|one| one.id == *id));
        for wanted in &work.artifacts {
            if known.contains_key(&wanted.id) {
                continue;
            }
            match self.entry(wanted) {
                Ok(entry) => {
                    known.insert(wanted.id.clone(), Arc::new(entry));
                }
                Err(why) => self.refuse(&wanted.id, &why),
            }
        }
        let kept = self.within_budget(work, known);
        self.manifests.replace(&kept);
        let ids: Vec<String> = kept
            .iter()
            .map(|one| one.document.artifact_id.clone())
            .collect();
        if ids != *listed {
            match index::write(&self.folder, &kept) {
                Ok(()) => *listed = ids,
                Err(error) => tracing::warn!("the list of artifacts cannot be written: {error}"),
            }
            let blocks = kept.iter().flat_map(|one| one.blocks.iter());
            let freed = self
                .fetcher
                .store
                .keep_only(&blocks.map(|block| block.digest).collect());
            if freed > 0 {
                tracing::info!(
                    freed_bytes = freed,
                    "blocks of deleted artifacts are removed"
                );
            }
        }
        self.targets_are(kept);
    }

    /// Return the artifacts that fit into the budget, the newest preferred, in the order of the work.
    fn within_budget(&self, work: &Work, known: &HashMap<String, Arc<Entry>>) -> Vec<Arc<Entry>> {
        let mut counted = HashSet::new();
        let mut size = 0;
        let mut kept = Vec::new();
        for entry in work
            .artifacts
            .iter()
            .rev()
            .filter_map(|one| known.get(&one.id))
        {
            let added: HashMap<_, _> = entry
                .blocks
                .iter()
                .filter(|block| !counted.contains(&block.digest))
                .map(|block| (block.digest, u64::from(block.size)))
                .collect();
            let bytes: u64 = added.values().sum();
            if size + bytes > work.budget_bytes {
                let why = format!(
                    "needs {} MiB more than the budget of {} MiB leaves; newer artifacts come first",
                    (size + bytes - work.budget_bytes).div_ceil(1 << 20),
                    work.budget_bytes >> 20
                );
                self.refuse(&entry.document.artifact_id, &why);
                continue;
            }
            size += bytes;
            counted.extend(added.into_keys());
            kept.push(Arc::clone(entry));
        }
        kept.reverse();
        kept
    }

    /// Split the artifacts into complete and open ones, and hand the open ones to the fetching thread.
    fn targets_are(&self, entries: Vec<Arc<Entry>>) {
        let mut open = Vec::new();
        for entry in entries {
            let store = &self.fetcher.store;
            let held = entry
                .blocks
                .iter()
                .filter(|block| store.has(&block.digest))
                .count();
            let is_complete = held == entry.blocks.len();
            self.fetcher.report(&entry.document.artifact_id, |report| {
                report.blocks_held = held;
                report.state = match (is_complete, report.state) {
                    (true, _) => CopyState::Complete,
                    (false, CopyState::Refused | CopyState::Complete) => CopyState::Waiting,
                    (false, state) => state,
                };
                if report.state == CopyState::Complete {
                    report.note.clear();
                }
            });
            if !is_complete {
                open.push(entry);
            }
        }
        *self
            .targets
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = open;
    }

    fn entry(&self, wanted: &Wanted) -> Result<Entry, String> {
        let document = verify(wanted, &self.identity.keys, &self.identity.tenant_id)?;
        let path = format!("{PATH}/{}/manifest", wanted.id);
        let answer = self
            .client
            .get(&path, None, LIMIT)
            .map_err(|e| e.to_string())?;
        if answer.status != 200 {
            return Err(format!("no manifest: {}", answer.describe()));
        }
        verified(document, answer.body)
    }

    fn refuse(&self, artifact_id: &str, why: &str) {
        self.fetcher.report(artifact_id, |report| {
            if report.state != CopyState::Refused || report.note != why {
                tracing::warn!(artifact = artifact_id, "an artifact is refused: {why}");
            }
            report.state = CopyState::Refused;
            report.note = why.to_owned();
        });
    }
}

/// Return an entry if the manifest is that of the document.
pub(super) fn verified(document: Document, manifest: Vec<u8>) -> Result<Entry, String> {
    let blocks = decode(&manifest).ok_or("its manifest is malformed")?;
    let size: u64 = blocks.iter().map(|block| u64::from(block.size)).sum();
    if root(&blocks) != document.root
        || blocks.len() != document.blocks
        || size != document.size_bytes
    {
        return Err("its manifest is not the one that the installation signed".to_owned());
    }
    Ok(Entry {
        document,
        blocks,
        manifest,
    })
}

fn fetch_targets(fetcher: &Fetcher, targets: &Targets, stop: &Stop) {
    lower_priority();
    let open = || {
        targets
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    };
    while !stop.is_set() {
        let Some(entry) = targets.take() else {
            stop.wait(STEP);
            continue;
        };
        let id = entry.document.artifact_id.clone();
        fetcher.report(&id, |report| report.state = CopyState::Fetching);
        targets.ended.store(true, Relaxed);
        let is_wanted = || open().iter().any(|one| one.document.artifact_id == id);
        fetcher.fetch(&entry, &is_wanted);
        let is_complete = entry
            .blocks
            .iter()
            .all(|block| fetcher.store.has(&block.digest));
        if is_complete {
            let done = |one: &Arc<Entry>| one.document.artifact_id == id;
            targets
                .open
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .retain(|one| !done(one));
            fetcher.report(&id, |report| {
                report.state = CopyState::Complete;
                report.blocks_held = entry.blocks.len();
                report.note.clear();
            });
            tracing::info!(
                artifact = entry.document.name,
                release = entry.document.release,
                "an artifact is complete"
            );
            targets.ended.store(true, Relaxed);
        }
        targets.release(&id);
    }
}
