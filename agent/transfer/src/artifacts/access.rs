//! Access between agents: the backend gives a token to each that may fetch; no secret goes over the wire.
//!
//! token = HMAC-SHA-256(serving key, VM key as u32 | expiry as u64, both little-endian); proof = HMAC-SHA-256(token,
//! nonce). The server computes both again from the VM key and the expiry that the client names.

use ring::hmac;

pub const NONCE_BYTES: usize = 16;

/// Return the token of a VM until `expires_s` (Unix s).
pub fn token(serving_key: &[u8], vm_key: u32, expires_s: u64) -> [u8; 32] {
    let mut named = [0; 12];
    named[..4].copy_from_slice(&vm_key.to_le_bytes());
    named[4..].copy_from_slice(&expires_s.to_le_bytes());
    tag(serving_key, &named)
}

/// Return the proof that the holder of a token sends for a nonce.
pub fn proof(token: &[u8; 32], nonce: &[u8; NONCE_BYTES]) -> [u8; 32] {
    tag(token, nonce)
}

/// Return true if `proof` is that of the token of this VM, and the token is valid at `now_s` (Unix s).
pub fn admits(
    serving_key: &[u8],
    vm_key: u32,
    expires_s: u64,
    nonce: &[u8; NONCE_BYTES],
    proof: &[u8; 32],
    now_s: u64,
) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &token(serving_key, vm_key, expires_s));
    expires_s > now_s && hmac::verify(&key, nonce, proof).is_ok()
}

fn tag(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut tag = [0; 32];
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    tag.copy_from_slice(hmac::sign(&key, message).as_ref());
    tag
}
