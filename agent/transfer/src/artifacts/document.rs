//! Signed document of an artifact: its name, its tenant and the Merkle root of its blocks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::Deserialize;

use super::work::Wanted;
use super::{Digest, unhex};

const KIND: &str = "sinemora artifact 1";

/// Verified content of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub artifact_id: String,
    pub name: String,
    pub release: String,
    pub size_bytes: u64,
    pub blocks: usize,
    pub root: Digest,
}

/// Verify and read a document. The error says what is wrong with it.
pub fn verify(wanted: &Wanted, keys: &[String], tenant_id: &str) -> Result<Document, String> {
    #[derive(Deserialize)]
    struct Signed {
        kind: String,
        artifact_id: String,
        tenant_id: String,
        name: String,
        release: String,
        size_bytes: u64,
        blocks: usize,
        root: String,
    }
    if !is_signed(wanted, keys) {
        return Err("no pinned key of the installation signed it; enrol this agent again if the installation has a new \
             SINEMORA_SECRET_KEY"
            .to_owned());
    }
    let signed: Signed = serde_json::from_str(&wanted.document)
        .map_err(|e| format!("its document is malformed: {e}"))?;
    if signed.kind != KIND {
        return Err(format!("its kind is {:?}, not {KIND:?}", signed.kind));
    }
    if signed.tenant_id != tenant_id || signed.artifact_id != wanted.id {
        return Err("it was signed for another tenant or artifact".to_owned());
    }
    Ok(Document {
        root: unhex(&signed.root).ok_or("its root is no SHA-256")?,
        artifact_id: signed.artifact_id,
        name: signed.name,
        release: signed.release,
        size_bytes: signed.size_bytes,
        blocks: signed.blocks,
    })
}

fn is_signed(wanted: &Wanted, keys: &[String]) -> bool {
    let decoded = |text: &str| STANDARD.decode(text).unwrap_or_default();
    keys.iter().map(|key| decoded(key)).any(|key| {
        wanted.signatures.iter().any(|signature| {
            UnparsedPublicKey::new(&ED25519, &key)
                .verify(wanted.document.as_bytes(), &decoded(&signature.value))
                .is_ok()
        })
    })
}
