//! Server of blocks to other agents. A connection:
//!
//! ```text
//! server  "SNB1", nonce (16)
//! client  VM key (u32), expiry (u64, Unix s), proof (32)            see `access`; all numbers little-endian
//! client  1, artifact id (16)        server  length (u32), bitmap: bit n % 8 of byte n / 8 is block n
//! client  2, SHA-256 (32)            server  length (u32), block; length 0: not held
//! ```

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::rand::{SecureRandom, SystemRandom};

use super::access::{self, NONCE_BYTES};
use super::index::Manifests;
use super::rate::RateLimit;
use super::store::BlockStore;
use sinemora_agent::timestamp::pace;

pub const GREETING: [u8; 4] = *b"SNB1";
pub const BITMAP: u8 = 1;
pub const BLOCK: u8 = 2;
const CONNECTIONS_MAX: usize = 64;
const SILENT_LIMIT: Duration = Duration::from_secs(60);
const GREETING_LIMIT: Duration = Duration::from_secs(10);

/// Listening socket of blocks. It answers nobody until the backend has given a serving key.
#[derive(Debug)]
pub struct BlockServer {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// State that all connections share.
#[derive(Debug)]
pub struct Shared {
    pub store: Arc<BlockStore>,
    pub manifests: Arc<Manifests>,
    pub rate: Arc<RateLimit>,
    pub serving_key: Mutex<Vec<u8>>,
    connections: AtomicUsize,
}

impl Shared {
    pub fn new(store: Arc<BlockStore>, manifests: Arc<Manifests>, rate: Arc<RateLimit>) -> Self {
        Self {
            store,
            manifests,
            rate,
            serving_key: Mutex::default(),
            connections: AtomicUsize::new(0),
        }
    }

    pub fn use_key(&self, key: Vec<u8>) {
        *self
            .serving_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = key;
    }
}

impl BlockServer {
    pub fn bind(address: IpAddr, port: u16, shared: Arc<Shared>) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(address, port))?;
        Ok(Self { listener, shared })
    }

    pub fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Serve until the process ends.
    pub fn run(self) {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.shared.connections.load(Relaxed) >= CONNECTIONS_MAX {
                continue;
            }
            self.shared.connections.fetch_add(1, Relaxed);
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new()
                .name("blocks".to_owned())
                .spawn(move || {
                    super::priority::lower_priority();
                    if let Err(error) = serve(stream, &shared) {
                        tracing::debug!("a connection for blocks ended: {error}");
                    }
                    shared.connections.fetch_sub(1, Relaxed);
                });
            if spawned.is_err() {
                self.shared.connections.fetch_sub(1, Relaxed);
            }
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned());
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING_LIMIT))?;
    stream.set_write_timeout(Some(SILENT_LIMIT))?;
    let mut nonce = [0; NONCE_BYTES];
    SystemRandom::new()
        .fill(&mut nonce)
        .map_err(|_| refused("no random numbers"))?;
    stream.write_all(&GREETING)?;
    stream.write_all(&nonce)?;
    let mut hello = [0; 44];
    stream.read_exact(&mut hello)?;
    let vm_key = u32::from_le_bytes(fixed(&hello[..4]));
    let expires_s = u64::from_le_bytes(fixed(&hello[4..12]));
    let key = shared
        .serving_key
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let admitted = !key.is_empty()
        && access::admits(
            &key,
            vm_key,
            expires_s,
            &nonce,
            &fixed(&hello[12..]),
            now_s(),
        );
    if !admitted {
        return Err(refused("no valid token"));
    }
    stream.set_read_timeout(Some(SILENT_LIMIT))?;
    let mut kind = [0];
    let mut paced = 0;
    loop {
        let rate = shared.rate.bytes_per_s();
        if rate != paced {
            pace(&stream, rate)?;
            paced = rate;
        }
        if stream.read(&mut kind)? == 0 {
            return Ok(());
        }
        match kind[0] {
            BITMAP => {
                let mut id = [0; 16];
                stream.read_exact(&mut id)?;
                send(
                    &mut stream,
                    &shared.manifests.bitmap(&id, &shared.store),
                    shared,
                )?;
            }
            BLOCK => {
                let mut digest = [0; 32];
                stream.read_exact(&mut digest)?;
                let data = shared.store.get(&digest).unwrap_or_default();
                send(&mut stream, &data, shared)?;
            }
            other => return Err(refused(&format!("unknown request {other}"))),
        }
    }
}

fn send(stream: &mut TcpStream, data: &[u8], shared: &Shared) -> io::Result<()> {
    let length = u32::try_from(data.len()).unwrap_or(0);
    stream.write_all(&length.to_le_bytes())?;
    for piece in data.chunks(shared.rate.piece_bytes()) {
        shared.rate.pass(piece.len());
        stream.write_all(piece)?;
    }
    Ok(())
}

/// Return a slice of known length as an array.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

/// Return the time, Unix s.
pub fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
