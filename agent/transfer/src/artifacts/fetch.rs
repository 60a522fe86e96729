//! Fetching of one artifact from several peers at once, and from the backend what no peer has.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::index::{Entry, uuid};
use super::missing::Missing;
use super::peer_client::PeerClient;
use super::rate::RateLimit;
use super::store::BlockStore;
use super::work::{CopyReport, CopyState, PeerAddress};
use super::{hex, sha256};
use sinemora_agent::backend::Client;
use sinemora_agent::backoff::random;
use sinemora_agent::stop::Stop;

/// Connections at a time, to the nearest peers.
const CONNECTIONS: usize = 6;
/// Blocks that are requested ahead on a connection: so few that another peer can be asked for the rest, and on a fast
/// connection what arrives in a quarter of a second.
const AHEAD_RANGE: (usize, usize) = (2, 32);
const AHEAD_PART: usize = 4;
const RECENT: Duration = Duration::from_secs(1);
/// Time between two questions which blocks a peer holds.
const BITMAP_EVERY: Duration = Duration::from_millis(300);
/// Time after which the connection to a peer that holds nothing missing is given to the next one.
const USELESS: Duration = Duration::from_secs(2);
const IDLE: Duration = Duration::from_millis(50);
/// Time after which a requested block is requested elsewhere too, when no other is left.
const LATE: Duration = Duration::from_secs(2);
const LATE_FOR_BACKEND: Duration = Duration::from_secs(8);
/// Time for peers to say what they hold before the backend is asked.
const PEERS_FIRST: Duration = Duration::from_millis(1500);
const AGAIN_AFTER: Duration = Duration::from_secs(5);
const AVOIDED_FOR: Duration = Duration::from_secs(600);
const BLOCK_LIMIT: Duration = Duration::from_secs(60);
pub const BACKEND: &str = "backend";

/// State that all fetches of this agent share.
#[derive(Debug)]
pub struct Fetcher {
    pub client: Client,
    pub vm_key: u32,
    pub store: Arc<BlockStore>,
    pub rate: Arc<RateLimit>,
    /// The nearest first, as the backend gave them last.
    pub peers: Mutex<Vec<PeerAddress>>,
    pub reports: Mutex<BTreeMap<String, CopyReport>>,
    /// Peers by VM key that are not asked until then: they cannot be reached, or sent a corrupt block.
    pub avoided: Mutex<HashMap<u32, Instant>>,
    pub stop: Stop,
}

/// State of one fetch.
struct Run<'a> {
    fetcher: &'a Fetcher,
    entry: &'a Entry,
    id: [u8; 16],
    is_wanted: &'a (dyn Fn() -> bool + Sync),
    missing: Mutex<Missing>,
    /// Rank (0 is the nearest) and held blocks of each connected peer, by VM key.
    held: Mutex<HashMap<u32, (usize, Vec<bool>)>>,
    connected: Mutex<HashSet<u32>>,
}

impl Fetcher {
    /// Fetch the missing blocks until all are held, `is_wanted` returns false or the agent stops.
    pub fn fetch(&self, entry: &Entry, is_wanted: &(dyn Fn() -> bool + Sync)) {
        let Some(id) = uuid(&entry.document.artifact_id) else {
            return;
        };
        let run = Run {
            fetcher: self,
            entry,
            id,
            is_wanted,
            missing: Mutex::new(Missing::new(&entry.blocks, |digest| self.store.has(digest))),
            held: Mutex::default(),
            connected: Mutex::default(),
        };
        std::thread::scope(|scope| {
            let run = &run;
            let backend = std::thread::Builder::new().name("artifact-backend".to_owned());
            let _ = backend.spawn_scoped(scope, move || run.fetch_from_backend());
            while run.goes_on() {
                let free = CONNECTIONS.saturating_sub(lock(&run.connected).len());
                for (rank, peer) in run.next_peers(free) {
                    lock(&run.connected).insert(peer.vm_key);
                    let thread = std::thread::Builder::new().name("artifact-peer".to_owned());
                    let spawned = thread.spawn_scoped(scope, move || run.peer(rank, &peer));
                    if spawned.is_err() {
                        break;
                    }
                }
                self.stop.wait(IDLE);
            }
        });
    }

    /// Return the report of an artifact, changed by `change`.
    pub fn report(&self, artifact_id: &str, change: impl FnOnce(&mut CopyReport)) {
        let mut reports = lock(&self.reports);
        change(
            reports
                .entry(artifact_id.to_owned())
                .or_insert_with(|| CopyReport::new(artifact_id)),
        );
    }
}

impl Run<'_> {
    fn goes_on(&self) -> bool {
        lock(&self.missing).left() > 0 && !self.fetcher.stop.is_set() && (self.is_wanted)()
    }

    /// Return at most `most` of the nearest peers that are neither connected nor avoided, with their ranks.
    fn next_peers(&self, most: usize) -> Vec<(usize, PeerAddress)> {
        let id = &self.entry.document.artifact_id;
        let connected = lock(&self.connected);
        let avoided = lock(&self.fetcher.avoided);
        let now = Instant::now();
        let peers = lock(&self.fetcher.peers);
        let usable = peers.iter().enumerate().filter(|(_, peer)| {
            !connected.contains(&peer.vm_key)
                && avoided.get(&peer.vm_key).is_none_or(|until| *until <= now)
                && peer.artifacts.as_ref().is_none_or(|of| of.contains(id))
        });
        usable
            .take(most)
            .map(|(rank, peer)| (rank, peer.clone()))
            .collect()
    }

    fn peer(&self, rank: usize, peer: &PeerAddress) {
        super::priority::lower_priority();
        if let Err(error) = self.fetch_from_peer(rank, peer) {
            tracing::debug!(
                peer = peer.name,
                "no blocks from this peer for now: {error}"
            );
            self.avoid(peer, AGAIN_AFTER);
        }
        lock(&self.held).remove(&peer.vm_key);
        lock(&self.connected).remove(&peer.vm_key);
    }

    fn avoid(&self, peer: &PeerAddress, time: Duration) {
        let mut avoided = lock(&self.fetcher.avoided);
        let until = Instant::now() + time;
        let known = avoided.entry(peer.vm_key).or_insert(until);
        *known = until.max(*known);
    }

    fn fetch_from_peer(&self, rank: usize, peer: &PeerAddress) -> io::Result<()> {
        let mut client = PeerClient::connect(peer, self.fetcher.vm_key)?;
        let mut requested = VecDeque::new();
        let result = self.exchange(rank, peer, &mut client, &mut requested);
        let mut missing = lock(&self.missing);
        for at in requested.into_iter().flatten() {
            missing.give_back(at);
        }
        result
    }

    /// Request blocks and receive them. `requested` has the places of requested blocks, and `None` for a question which
    /// blocks the peer holds, in the order of the answers.
    fn exchange(
        &self,
        rank: usize,
        peer: &PeerAddress,
        client: &mut PeerClient,
        requested: &mut VecDeque<Option<usize>>,
    ) -> io::Result<()> {
        let mut asked_at: Option<Instant> = None;
        let mut useful_at = Instant::now();
        let mut arrived: VecDeque<Instant> = VecDeque::new();
        while self.goes_on() {
            if !requested.contains(&None) && asked_at.is_none_or(|at| at.elapsed() > BITMAP_EVERY) {
                client.request_bitmap(&self.id)?;
                requested.push_back(None);
                asked_at = Some(Instant::now());
            }
            while arrived.front().is_some_and(|at| at.elapsed() > RECENT) {
                arrived.pop_front();
            }
            let (least, most) = AHEAD_RANGE;
            let ahead = (least + arrived.len() / AHEAD_PART).min(most);
            while requested.iter().flatten().count() < ahead {
                let Some(at) = self.choose(rank, peer.vm_key) else {
                    break;
                };
                client.request_block(&self.entry.blocks[at].digest)?;
                requested.push_back(Some(at));
                useful_at = Instant::now();
            }
            match requested.front() {
                None => {
                    if useful_at.elapsed() > USELESS && !self.next_peers(1).is_empty() {
                        return Err(io::Error::other("it holds nothing that is missing"));
                    }
                    self.fetcher.stop.wait(IDLE);
                }
                Some(None) => {
                    let bits = client.receive_bitmap(self.entry.blocks.len())?;
                    requested.pop_front();
                    lock(&self.held).insert(peer.vm_key, (rank, bits));
                }
                Some(Some(at)) => {
                    let at = *at;
                    let data = client.receive_block(&self.fetcher.rate)?;
                    requested.pop_front();
                    arrived.push_back(Instant::now());
                    self.take(at, &data, peer)?;
                }
            }
        }
        Ok(())
    }

    /// Store a block that arrived from a peer. An empty one says that the peer does not hold it any more.
    fn take(&self, at: usize, data: &[u8], peer: &PeerAddress) -> io::Result<()> {
        if data.is_empty() {
            lock(&self.missing).give_back(at);
            if let Some((_, bits)) = lock(&self.held).get_mut(&peer.vm_key) {
                bits[at] = false;
            }
            return Ok(());
        }
        if self.accept(at, data, &peer.vm_key.to_string())? {
            return Ok(());
        }
        tracing::warn!(
            peer = peer.name,
            block = hex(&self.entry.blocks[at].digest),
            "this peer sent a corrupt block; it is dropped and the peer is avoided"
        );
        self.avoid(peer, AVOIDED_FOR);
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a corrupt block",
        ))
    }

    fn choose(&self, rank: usize, vm_key: u32) -> Option<usize> {
        let held = lock(&self.held);
        let (_, own) = held.get(&vm_key)?;
        let nearer = |at: usize| held.values().any(|(other, bits)| *other < rank && bits[at]);
        lock(&self.missing).choose(|at| own[at], nearer, random(), Instant::now(), LATE)
    }

    /// Verify and store a block. Return false if it is corrupt.
    fn accept(&self, at: usize, data: &[u8], source: &str) -> io::Result<bool> {
        let block = self.entry.blocks[at];
        let id = &self.entry.document.artifact_id;
        if sha256(data) != block.digest {
            lock(&self.missing).give_back(at);
            self.fetcher.report(id, |report| {
                *report.corrupt.entry(source.to_owned()).or_default() += 1;
            });
            return Ok(false);
        }
        if let Err(error) = self.fetcher.store.put(&block.digest, data) {
            lock(&self.missing).give_back(at);
            self.fetcher.report(id, |report| {
                report.note = format!("a block cannot be stored: {error}");
            });
            return Err(error);
        }
        let mut missing = lock(&self.missing);
        if missing.arrived(&block.digest) {
            let held = self.entry.blocks.len() - missing.left();
            drop(missing);
            self.fetcher.report(id, |report| {
                report.state = CopyState::Fetching;
                report.blocks_held = held;
                *report.sources.entry(source.to_owned()).or_default() += data.len() as u64;
            });
        }
        Ok(true)
    }

    /// Fetch from the backend what no connected peer has.
    fn fetch_from_backend(&self) {
        super::priority::lower_priority();
        let since = Instant::now();
        while self.goes_on() {
            let waits = !lock(&self.fetcher.peers).is_empty() && since.elapsed() < PEERS_FIRST;
            let chosen = if waits {
                None
            } else {
                self.choose_for_backend()
            };
            let Some(at) = chosen else {
                self.fetcher.stop.wait(IDLE);
                continue;
            };
            if let Err(why) = self.block_from_backend(at) {
                tracing::debug!("no block from the backend for now: {why}");
                lock(&self.missing).give_back(at);
                self.fetcher.stop.wait(AGAIN_AFTER);
            }
        }
    }

    fn choose_for_backend(&self) -> Option<usize> {
        let held = lock(&self.held);
        let someone = |at: usize| held.values().any(|(_, bits)| bits[at]);
        let mut missing = lock(&self.missing);
        let now = Instant::now();
        missing
            .choose(|at| !someone(at), |_| false, random(), now, LATE)
            .or_else(|| {
                // Open blocks stay for peers; those that came from none for long do not.
                missing.choose_late(now, LATE_FOR_BACKEND)
            })
    }

    fn block_from_backend(&self, at: usize) -> Result<(), String> {
        let block = self.entry.blocks[at];
        self.fetcher.rate.pass(block.size as usize);
        let path = format!("/v1/agents/self/artifact-blocks/{}", hex(&block.digest));
        let answer = self
            .fetcher
            .client
            .get(&path, None, BLOCK_LIMIT)
            .map_err(|e| e.to_string())?;
        if answer.status != 200 {
            return Err(answer.describe());
        }
        match self.accept(at, &answer.body, BACKEND) {
            Ok(true) => Ok(()),
            Ok(false) => Err("the backend sent a corrupt block".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
