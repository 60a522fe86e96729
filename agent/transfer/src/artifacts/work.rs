//! Artifacts that this agent holds by order of the backend, and the report of them (`POST /v1/agents/self/artifacts`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Answer of the backend. Unknown fields are ignored: the backend may be newer.
#[derive(Debug, Clone, Deserialize)]
pub struct Work {
    pub enabled: bool,
    pub rate_bytes_per_s: u64,
    pub budget_bytes: u64,
    /// Hexadecimal; with it this agent checks the tokens of others.
    pub serving_key: String,
    pub artifacts: Vec<Wanted>,
    /// Agents to fetch from, the nearest first.
    pub peers: Vec<PeerAddress>,
    pub again_s: f64,
}

/// An artifact to hold: its signed document.
#[derive(Debug, Clone, Deserialize)]
pub struct Wanted {
    pub id: String,
    pub document: String,
    pub signatures: Vec<DocumentSignature>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DocumentSignature {
    pub value: String,
}

/// An agent to fetch from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PeerAddress {
    pub vm_key: u32,
    pub name: String,
    pub address: std::net::IpAddr,
    pub port: u16,
    /// Hexadecimal.
    pub token: String,
    pub expires_s: u64,
    /// Artifacts, of those that this agent fetches, of which the peer holds blocks or soon will; an earlier version of
    /// the backend does not say.
    #[serde(default)]
    pub artifacts: Option<Vec<String>>,
}

/// State of this agent.
#[derive(Debug, Serialize)]
pub struct Exchange<'a> {
    pub port: u16,
    pub copies: Vec<&'a CopyReport>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CopyState {
    Waiting,
    Fetching,
    Complete,
    Refused,
}

/// A copy on this VM. Bytes by VM key of the source, `backend` for the backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    pub artifact_id: String,
    pub state: CopyState,
    pub note: String,
    pub blocks_held: usize,
    pub sources: BTreeMap<String, u64>,
    pub corrupt: BTreeMap<String, u64>,
}

impl CopyReport {
    pub fn new(artifact_id: &str) -> Self {
        Self {
            artifact_id: artifact_id.to_owned(),
            state: CopyState::Waiting,
            note: String::new(),
            blocks_held: 0,
            sources: BTreeMap::new(),
            corrupt: BTreeMap::new(),
        }
    }
}
