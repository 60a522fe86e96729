//! Server of blocks to other agents. A connection:
//!
//! ```text
//! server  "SNB1", nonce (16)
//! client  VM key (u32), expiry (u64, Unix s), proof (32)            see `access`; all numbers little-endian
//! client  1, artifact id (16)        server  length (u32), bitmap: bit n % 8 of byte n / 8 is block n
//! client  2, SHA-256 (32)            server  length (u32), block; length 0: not held
//! ```

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
/// Connections from one address: a peer opens one, and a few VMs may share an address.
const CONNECTIONS_PER_ADDRESS: usize = 8;
const SILENT_LIMIT: Duration = Duration::from_secs(60);
/// Time for a whole message of a peer, from its first awaited byte to its last: a slow sender does not keep a place.
const MESSAGE_LIMIT: Duration = Duration::from_secs(5);

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
    /// Open connections by the address of the peer.
    connections: Mutex<HashMap<IpAddr, usize>>,
}

impl Shared {
    pub fn new(store: Arc<BlockStore>, manifests: Arc<Manifests>, rate: Arc<RateLimit>) -> Self {
        Self {
            store,
            manifests,
            rate,
            serving_key: Mutex::default(),
            connections: Mutex::default(),
        }
    }

    pub fn use_key(&self, key: Vec<u8>) {
        *lock(&self.serving_key) = key;
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
            let Some(place) = stream
                .peer_addr()
                .ok()
                .and_then(|peer| Place::take(&self.shared, peer.ip()))
            else {
                continue;
            };
            // Without a thread the place is given back when the closure is dropped.
            let _ = std::thread::Builder::new()
                .name("blocks".to_owned())
                .spawn(move || {
                    super::priority::lower_priority();
                    if let Err(error) = serve(stream, &place.shared) {
                        tracing::debug!("a connection for blocks ended: {error}");
                    }
                });
        }
    }
}

/// One of the places for connections; it is given back when it is dropped.
struct Place {
    shared: Arc<Shared>,
    address: IpAddr,
}

impl Place {
    /// Take a place for a connection from an address; `None` when all places, or those of the address, are taken.
    fn take(shared: &Arc<Shared>, address: IpAddr) -> Option<Self> {
        let mut open = lock(&shared.connections);
        let of_address = open.get(&address).copied().unwrap_or(0);
        if of_address >= CONNECTIONS_PER_ADDRESS || open.values().sum::<usize>() >= CONNECTIONS_MAX
        {
            return None;
        }
        open.insert(address, of_address + 1);
        Some(Self {
            shared: Arc::clone(shared),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.shared.connections);
        let left = open.get(&self.address).map_or(0, |count| count - 1);
        if left == 0 {
            open.remove(&self.address);
        } else {
            open.insert(self.address, left);
        }
    }
}

/// Read `bytes` whole by `deadline`, however slowly they come.
fn read_by(stream: &mut TcpStream, mut bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => bytes = &mut bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned());
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SILENT_LIMIT))?;
    let mut nonce = [0; NONCE_BYTES];
    SystemRandom::new()
        .fill(&mut nonce)
        .map_err(|_| refused("no random numbers"))?;
    stream.write_all(&GREETING)?;
    stream.write_all(&nonce)?;
    let mut hello = [0; 44];
    read_by(&mut stream, &mut hello, Instant::now() + MESSAGE_LIMIT)?;
    let vm_key = u32::from_le_bytes(fixed(&hello[..4]));
    let expires_s = u64::from_le_bytes(fixed(&hello[4..12]));
    let key = lock(&shared.serving_key).clone();
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
    let mut kind = [0];
    let mut paced = 0;
    loop {
        let rate = shared.rate.bytes_per_s();
        if rate != paced {
            pace(&stream, rate)?;
            paced = rate;
        }
        stream.set_read_timeout(Some(SILENT_LIMIT))?;
        if stream.read(&mut kind)? == 0 {
            return Ok(());
        }
        if expires_s <= now_s() {
            return Err(refused("the token has expired"));
        }
        let deadline = Instant::now() + MESSAGE_LIMIT;
        match kind[0] {
            BITMAP => {
                let mut id = [0; 16];
                read_by(&mut stream, &mut id, deadline)?;
                send(
                    &mut stream,
                    &shared.manifests.bitmap(&id, &shared.store),
                    shared,
                )?;
            }
            BLOCK => {
                let mut digest = [0; 32];
                read_by(&mut stream, &mut digest, deadline)?;
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
