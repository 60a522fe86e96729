//! The certificate authorities that the agent trusts.

use std::path::PathBuf;

/// The certificates that a client accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Authorities or self-signed certificates, in PEM.
    pub ca_file: Option<PathBuf>,
    /// Trust those alone: the backend's certificate is pinned to them.
    pub ca_only: bool,
}
