//! Artifacts: files of the tenant, which agents bring each other as blocks named by their SHA-256.
//!
//! Off unless the setting `artifacts` is on and a mesh of this VM distributes artifacts. Its threads have a lower
//! priority than the packet loop, an own TCP port, and a limit of bytes per second from the backend.
//!
//! A block is accepted if its SHA-256 is that of the manifest, a manifest if its Merkle root is that of a document that
//! a pinned key of the installation signed. So neither a peer nor the way to it needs to be trusted.

mod access;
mod document;
mod fetch;
mod index;
mod manifest;
mod missing;
mod peer_client;
mod priority;
mod rate;
mod server;
mod store;
mod work;
mod worker;

pub use index::{ReadError, read_artifact};
pub(crate) use priority::lower_priority;
pub(crate) use rate::RateLimit;
pub use server::BlockServer;
pub use worker::{ArtifactWorker, Limits};

/// SHA-256 of a block.
pub type Digest = [u8; 32];

/// Return bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Return the bytes of hexadecimal digits; `None` for other text or another length.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Return the SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    let mut digest = [0; 32];
    digest.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    digest
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
