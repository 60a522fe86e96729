//! The certificates that the agent trusts.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

const SCHEME: &str = "sha256//";

/// The certificates that a client accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Authorities or self-signed certificates, in PEM.
    pub ca_file: Option<PathBuf>,
    /// Trust those alone: the backend's certificate is pinned to them.
    pub ca_only: bool,
    /// Trust the holder of this key alone.
    pub ca_pin: Option<Pin>,
}

/// SHA-256 of a public key (SubjectPublicKeyInfo, RFC 5280), written as curl's `--pinnedpubkey`: `sha256//` and base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin(String);

impl Pin {
    pub fn parse(text: &str) -> Result<Self, String> {
        let coded = text.trim().strip_prefix(SCHEME).unwrap_or_default();
        match STANDARD.decode(coded) {
            Ok(bytes) if bytes.len() == SHA256.output_len() => Ok(Self(coded.to_owned())),
            _ => Err(format!(
                "must be {SCHEME} and the SHA-256 of a public key in base64, as \"Add a VM\" shows it"
            )),
        }
    }

    /// Return the pin of the public key of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
        let key = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
        Ok(Self(STANDARD.encode(digest(&SHA256, &key))))
    }
}
