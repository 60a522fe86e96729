use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::document::{Document, verify};
use super::fetch::Fetcher;
use super::index::{self, Entry, Manifests, read_artifact};
use super::manifest::{Block, decode, root};
use super::missing::Missing;
use super::peer_client::PeerClient;
use super::rate::RateLimit;
use super::server::{BlockServer, Shared};
use super::store::BlockStore;
use super::work::{DocumentSignature, PeerAddress, Wanted};
use super::{access, hex, sha256, worker};
use sinemora_agent::backend::Client;
use sinemora_agent::config::{BackendUrl, Trust};
use sinemora_agent::stop::Stop;

const ID: &str = "00000000-0000-0000-0000-0000000000aa";
const FAST: u64 = 1 << 40;
const KEY: [u8; 32] = [7; 32];

fn content(blocks: usize) -> Vec<Vec<u8>> {
    (0..blocks)
        .map(|at| {
            (0..20_000u32)
                .map(|n| (n.wrapping_mul(31) ^ at as u32) as u8)
                .collect()
        })
        .collect()
}

fn entry(parts: &[Vec<u8>]) -> Entry {
    let manifest: Vec<u8> = parts
        .iter()
        .flat_map(|part| {
            [
                sha256(part).to_vec(),
                (part.len() as u32).to_le_bytes().to_vec(),
            ]
            .concat()
        })
        .collect();
    let blocks = decode(&manifest).unwrap();
    let document = Document {
        artifact_id: ID.to_owned(),
        name: "image".to_owned(),
        release: "1".to_owned(),
        size_bytes: blocks.iter().map(|block| u64::from(block.size)).sum(),
        blocks: blocks.len(),
        root: root(&blocks),
    };
    worker::verified(document, manifest).unwrap()
}

fn artifact(blocks: usize) -> (Vec<Vec<u8>>, Entry) {
    let parts = content(blocks);
    let entry = entry(&parts);
    (parts, entry)
}

/// An agent that serves the blocks `held` of an artifact, whole or with one bit wrong.
struct Peer {
    address: PeerAddress,
    _folder: tempfile::TempDir,
}

fn peer(vm_key: u32, entry: &Entry, parts: &[Vec<u8>], held: impl Fn(usize) -> bool) -> Peer {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(BlockStore::open(folder.path()).unwrap());
    for (at, block) in entry.blocks.iter().enumerate().filter(|(at, _)| held(*at)) {
        store.put(&block.digest, &parts[at]).unwrap();
    }
    let manifests = Arc::new(Manifests::default());
    manifests.replace(&[Arc::new(Entry {
        document: entry.document.clone(),
        blocks: entry.blocks.clone(),
        manifest: entry.manifest.clone(),
    })]);
    let shared = Arc::new(Shared::new(
        store,
        manifests,
        Arc::new(RateLimit::new(FAST)),
    ));
    shared.use_key(KEY.to_vec());
    let server = BlockServer::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, shared).unwrap();
    let port = server.port().unwrap();
    std::thread::spawn(move || server.run());
    Peer {
        address: address(vm_key, port),
        _folder: folder,
    }
}

fn address(vm_key: u32, port: u16) -> PeerAddress {
    let expires_s = super::server::now_s() + 60;
    PeerAddress {
        vm_key,
        name: format!("vm-{vm_key}"),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port,
        token: hex(&access::token(&KEY, 1, expires_s)),
        expires_s,
        artifacts: Some(vec![ID.to_owned()]),
    }
}

/// A backend that answers every block with 404, or with the blocks given.
fn backend(blocks: Vec<Vec<u8>>) -> BackendUrl {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, blocks) = (stream.unwrap(), blocks.clone());
            std::thread::spawn(move || {
                let mut request = vec![0; 8192];
                let length = stream.read(&mut request).unwrap();
                let text = String::from_utf8_lossy(&request[..length]).into_owned();
                let found = blocks
                    .iter()
                    .find(|block| text.contains(&hex(&sha256(block))));
                let (status, body) =
                    found.map_or(("404 Not Found", &[][..]), |block| ("200 OK", block));
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(body));
            });
        }
    });
    BackendUrl::parse(&format!("http://{at}"), false).unwrap()
}

fn fetcher(folder: &std::path::Path, peers: Vec<PeerAddress>, backend: BackendUrl) -> Fetcher {
    Fetcher {
        client: Client::new(backend, &Trust::default()).unwrap(),
        vm_key: 1,
        store: Arc::new(BlockStore::open(&folder.join("artifacts/blocks")).unwrap()),
        rate: Arc::new(RateLimit::new(FAST)),
        peers: Mutex::new(peers),
        reports: Mutex::default(),
        avoided: Mutex::default(),
        stop: Stop::default(),
    }
}

fn report(fetcher: &Fetcher) -> super::work::CopyReport {
    fetcher.reports.lock().unwrap()[ID].clone()
}

#[test]
fn a_file_comes_from_several_peers_and_the_rest_from_the_backend() {
    let (parts, entry) = artifact(60);
    let (even, odd) = (
        peer(2, &entry, &parts, |at| at % 2 == 0 && at < 50),
        peer(3, &entry, &parts, |at| at % 2 == 1 && at < 50),
    );
    let folder = tempfile::tempdir().unwrap();
    let peers = vec![even.address, odd.address];
    let fetcher = fetcher(folder.path(), peers, backend(parts[50..].to_vec()));
    fetcher.fetch(&entry, &|| true);
    let report = report(&fetcher);
    assert_eq!((report.blocks_held, report.corrupt.len()), (60, 0));
    assert_eq!(report.sources["2"], 25 * 20_000);
    assert_eq!(report.sources["3"], 25 * 20_000);
    assert_eq!(report.sources["backend"], 10 * 20_000);
    for (block, part) in entry.blocks.iter().zip(&parts) {
        assert_eq!(fetcher.store.get(&block.digest).as_ref(), Some(part));
    }
}

#[test]
fn peers_that_hold_nothing_make_room_for_one_that_does() {
    let (parts, entry) = artifact(30);
    let mut peers: Vec<Peer> = (2..8).map(|n| peer(n, &entry, &parts, |_| false)).collect();
    peers.push(peer(8, &entry, &parts, |_| true));
    let folder = tempfile::tempdir().unwrap();
    let mut addresses: Vec<_> = peers.iter().map(|one| one.address.clone()).collect();
    let mut elsewhere = address(9, 1);
    elsewhere.artifacts = Some(vec!["another".to_owned()]);
    addresses.insert(0, elsewhere);
    let fetcher = fetcher(folder.path(), addresses, backend(Vec::new()));
    fetcher.fetch(&entry, &|| true);
    assert_eq!(report(&fetcher).sources["8"], 30 * 20_000);
    let avoided = fetcher.avoided.lock().unwrap();
    assert!(!avoided.contains_key(&9), "it was not asked");
}

/// Answer every request for a block with bytes that are not its own.
fn lying_peer(vm_key: u32, blocks: usize) -> PeerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            std::thread::spawn(move || -> std::io::Result<()> {
                stream.write_all(b"SNB1")?;
                stream.write_all(&[0; 16])?;
                stream.read_exact(&mut [0; 44])?;
                loop {
                    let mut kind = [0];
                    stream.read_exact(&mut kind)?;
                    let answer = if kind[0] == super::server::BITMAP {
                        stream.read_exact(&mut [0; 16])?;
                        vec![0xff; blocks.div_ceil(8)]
                    } else {
                        stream.read_exact(&mut [0; 32])?;
                        vec![0x5a; 20_000]
                    };
                    stream.write_all(&(answer.len() as u32).to_le_bytes())?;
                    stream.write_all(&answer)?;
                }
            });
        }
    });
    address(vm_key, port)
}

#[test]
fn a_corrupt_block_is_never_accepted_and_its_peer_is_named_and_avoided() {
    let (parts, entry) = artifact(40);
    let honest = peer(3, &entry, &parts, |_| true);
    let folder = tempfile::tempdir().unwrap();
    let liar = lying_peer(2, 40);
    let fetcher = fetcher(folder.path(), vec![liar.clone()], backend(Vec::new()));
    let is_caught = || {
        let reports = fetcher.reports.lock().unwrap();
        reports.get(ID).is_some_and(|one| !one.corrupt.is_empty())
    };
    fetcher.fetch(&entry, &|| !is_caught());
    *fetcher.peers.lock().unwrap() = vec![liar, honest.address];
    fetcher.fetch(&entry, &|| true);
    let report = report(&fetcher);
    assert_eq!(report.corrupt["2"], 1, "it was not asked again");
    assert!(!report.sources.contains_key("2"));
    assert_eq!(report.sources["3"], 40 * 20_000);
    assert!(fetcher.avoided.lock().unwrap()[&2] > Instant::now() + Duration::from_secs(500));
    for (block, part) in entry.blocks.iter().zip(&parts) {
        assert_eq!(fetcher.store.get(&block.digest).as_ref(), Some(part));
    }
}

#[test]
fn a_fetch_resumes_with_what_it_holds() {
    let (parts, entry) = artifact(40);
    let source = peer(2, &entry, &parts, |_| true);
    let folder = tempfile::tempdir().unwrap();
    let first = fetcher(folder.path(), Vec::new(), backend(parts));
    let held = || {
        (0..40)
            .filter(|at| first.store.has(&entry.blocks[*at].digest))
            .count()
    };
    first.fetch(&entry, &|| held() < 15);
    let left = 40 - held();
    assert!((10..=25).contains(&left), "{left}");
    let second = fetcher(folder.path(), vec![source.address], backend(Vec::new()));
    second.fetch(&entry, &|| true);
    assert_eq!(
        report(&second).sources["2"],
        left as u64 * 20_000,
        "only what was missing"
    );
}

#[test]
fn nobody_fetches_without_a_valid_token() {
    let (parts, entry) = artifact(4);
    let source = peer(2, &entry, &parts, |_| true);
    let bitmap = |address: &PeerAddress, vm_key: u32| {
        PeerClient::connect(address, vm_key).and_then(|mut client| {
            client.request_bitmap(&index::uuid(ID).unwrap())?;
            client.receive_bitmap(4)
        })
    };
    let until = |expires_s: u64, key: [u8; 32]| PeerAddress {
        token: hex(&access::token(&key, 1, expires_s)),
        expires_s,
        ..source.address.clone()
    };
    assert_eq!(bitmap(&source.address, 1).unwrap(), vec![true; 4]);
    let now_s = super::server::now_s();
    let mut prolonged = source.address.clone();
    prolonged.expires_s += 1;
    for (address, vm_key) in [
        (&until(now_s + 60, [8; 32]), 1),
        (&prolonged, 1),
        (&until(now_s - 1, KEY), 1),
        (&source.address, 9),
    ] {
        assert!(bitmap(address, vm_key).is_err());
    }
    let mut client = PeerClient::connect(&until(now_s + 2, KEY), 1).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let asked = client.request_bitmap(&index::uuid(ID).unwrap());
    assert!(asked.and_then(|()| client.receive_bitmap(4)).is_err());
}

#[test]
fn only_a_document_of_a_pinned_key_for_this_tenant_is_accepted() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::signature::{Ed25519KeyPair, KeyPair};
    let pair = |seed: u8| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
    let key = |pair: &Ed25519KeyPair| STANDARD.encode(pair.public_key().as_ref());
    let (ours, other) = (pair(1), pair(2));
    let text = format!(
        r#"{{"artifact_id":"{ID}","blocks":0,"kind":"sinemora artifact 1","name":"n","release":"1","root":"{}","size_bytes":0,"tenant_id":"t"}}"#,
        hex(&sha256(&[]))
    );
    let wanted = |document: &str, by: &Ed25519KeyPair| Wanted {
        id: ID.to_owned(),
        document: document.to_owned(),
        signatures: vec![DocumentSignature {
            value: STANDARD.encode(by.sign(text.as_bytes()).as_ref()),
        }],
    };
    let keys = [key(&ours)];
    assert!(verify(&wanted(&text, &ours), &keys, "t").is_ok());
    assert!(verify(&wanted(&text, &other), &keys, "t").is_err());
    assert!(verify(&wanted(&text.replace("\"n\"", "\"m\""), &ours), &keys, "t").is_err());
    assert!(verify(&wanted(&text, &ours), &keys, "another").is_err());
    assert!(verify(&wanted(&text, &ours), &[], "t").is_err());
}

#[test]
fn a_manifest_that_differs_from_the_signed_root_is_refused() {
    let parts = content(5);
    let good = entry(&parts);
    let mut other = good.manifest.clone();
    other.swap(0, 36);
    assert!(worker::verified(good.document.clone(), other).is_err());
    assert!(worker::verified(good.document.clone(), good.manifest[..36].to_vec()).is_err());
    assert!(worker::verified(good.document.clone(), good.manifest).is_ok());
}

/// The vectors are computed by the backend too (`tests/artifacts/test_core.py`).
#[test]
fn the_root_is_that_of_the_backend() {
    let blocks: Vec<Block> = (0..5u8)
        .map(|n| Block {
            digest: sha256(&[n]),
            size: u32::from(n) + 1,
        })
        .collect();
    for (count, expected) in [
        (0, "e3b0c44298fc1c14"),
        (1, "91db3e51519f0975"),
        (2, "c10ad0293b678fcb"),
        (5, "8ab942a4c29579fd"),
    ] {
        assert_eq!(hex(&root(&blocks[..count]))[..16], *expected);
    }
    let token = access::token(&KEY, 1, 1_700_000_000);
    let proof = hex(&access::proof(&token, &[9; 16]));
    assert_eq!(proof[..16], *"ce024fc353d6c610");
}

#[test]
fn reading_begins_before_the_last_block() {
    let (parts, entry) = artifact(6);
    let folder = tempfile::tempdir().unwrap();
    let artifacts = folder.path().join(index::FOLDER);
    let store = BlockStore::open(&artifacts.join(index::BLOCKS)).unwrap();
    let blocks = entry.blocks.clone();
    index::write(&artifacts, &[Arc::new(entry)]).unwrap();
    store.put(&blocks[0].digest, &parts[0]).unwrap();
    let (mut reader, mut writer) = std::os::unix::net::UnixStream::pair().unwrap();
    let path = folder.path().to_owned();
    let reading = std::thread::spawn(move || {
        read_artifact(&path, "image", None, Duration::from_secs(10), &mut writer)
    });
    let mut first = vec![0; parts[0].len()];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(first, parts[0], "five blocks are missing");
    for (block, part) in blocks.iter().zip(&parts).skip(1) {
        store.put(&block.digest, part).unwrap();
    }
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, parts[1..].concat());
    assert_eq!(reading.join().unwrap().unwrap(), 6 * 20_000);
    let path = folder.path();
    let other = read_artifact(path, "other", None, Duration::ZERO, &mut Vec::new());
    let error = other.unwrap_err().to_string();
    assert!(error.contains("this agent has image 1"), "{error}");
}

#[test]
fn a_damaged_or_unused_file_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = BlockStore::open(folder.path()).unwrap();
    let (one, two) = (sha256(b"one"), sha256(b"two"));
    store.put(&one, b"one").unwrap();
    store.put(&two, b"two").unwrap();
    std::fs::write(super::store::block_path(folder.path(), &one), b"onE").unwrap();
    assert_eq!(store.get(&one), None);
    assert!(!store.has(&one));
    assert_eq!(store.keep_only(&HashSet::new()), 3);
    assert_eq!(store.size_bytes(), 0);
}

#[test]
fn the_rate_is_kept() {
    let rate = RateLimit::new(10_000_000);
    let piece = rate.piece_bytes();
    assert_eq!(piece, 5_000, "half a millisecond");
    let times = [(); 3].map(|()| {
        let since = Instant::now();
        for _ in 0..400 {
            rate.pass(piece);
        }
        since.elapsed().as_secs_f64()
    });
    // 2 MB at 10 MB/s: late timers are made up for, unless the machine stalls.
    assert!(times.iter().all(|&took| took > 0.195), "{times:?} s");
    assert!(times.iter().any(|&took| took < 0.4), "{times:?} s");
}

#[test]
fn blocks_without_a_nearer_holder_are_preferred_and_late_ones_asked_for_again() {
    let (_, entry) = artifact(4);
    let mut missing = Missing::new(&entry.blocks, |_| false);
    let now = Instant::now();
    let late = Duration::from_secs(2);
    let nearer = |at: usize| at < 2;
    let mut choose = |at| missing.choose(|_| true, nearer, 0.0, at, late);
    let chosen = [now; 5].map(&mut choose);
    assert_eq!(chosen, [Some(2), Some(3), Some(0), Some(1), None]);
    assert_eq!(choose(now + 2 * late), Some(0));
    assert!(missing.arrived(&entry.blocks[0].digest));
    assert!(!missing.arrived(&entry.blocks[0].digest));
    assert_eq!(missing.left(), 3);
    missing.give_back(1);
    let again = missing.choose(|at| at < 2, |_| false, 0.9, now, late);
    assert_eq!(again, Some(1));
}

#[test]
fn connections_that_drip_give_their_places_back_to_others() {
    let (parts, entry) = artifact(1);
    let server = peer(2, &entry, &parts, |_| true);
    let at = (server.address.address, server.address.port);
    let began = Instant::now();
    let mut dripping: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(at).unwrap()).collect();
    while began.elapsed() < Duration::from_secs(6) {
        for stream in &mut dripping {
            let _ = stream.write_all(&[0]);
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    let mut client = PeerClient::connect(&server.address, 1).unwrap();
    client.request_block(&entry.blocks[0].digest).unwrap();
    let block = client.receive_block(&RateLimit::new(FAST)).unwrap();
    assert_eq!(sha256(&block), entry.blocks[0].digest);
}

#[test]
fn one_address_does_not_take_all_places() {
    let parts = content(1);
    let server = peer(2, &entry(&parts), &parts, |_| true);
    let at = (server.address.address, server.address.port);
    let streams: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(at).unwrap()).collect();
    let is_greeted = |stream: &&TcpStream| {
        let mut stream: &TcpStream = stream;
        stream
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        stream.read_exact(&mut [0; 4]).is_ok()
    };
    // All stay open: one that is closed gives its place to the next.
    assert_eq!(streams.iter().filter(is_greeted).count(), 8);
}

#[test]
fn files_of_others_stay_and_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let important = elsewhere.path().join("important.txt");
    std::fs::write(&important, "mine").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("aa")).unwrap();
    std::fs::create_dir(folder.path().join("bb")).unwrap();
    let note = folder.path().join("bb").join("note.txt");
    std::fs::write(&note, "mine").unwrap();
    std::fs::write(folder.path().join("readme"), "mine").unwrap();
    let block = vec![1; 100];
    let store = BlockStore::open(folder.path()).unwrap();
    store.put(&sha256(&block), &block).unwrap();
    let interrupted =
        super::store::block_path(folder.path(), &sha256(&block)).with_extension("new");
    std::fs::write(&interrupted, "half").unwrap();

    let store = BlockStore::open(folder.path()).unwrap();

    assert_eq!(store.get(&sha256(&block)), Some(block));
    assert!(important.exists() && note.exists());
    assert!(!interrupted.exists());

    let manifests = folder.path().join("manifests");
    std::fs::create_dir(&manifests).unwrap();
    let old = manifests.join("01989e7a-0000-7000-8000-000000000000");
    for file in [&old, &manifests.join("note.txt")] {
        std::fs::write(file, "mine").unwrap();
    }
    super::index::write(folder.path(), &[]).unwrap();
    assert!(!old.exists() && manifests.join("note.txt").exists());
}
