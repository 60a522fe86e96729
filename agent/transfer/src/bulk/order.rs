//! Orders of the bulk sender: bytes that this agent sends to, or receives from, other agents of a mesh.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Transfers that the backend orders from two agents. Each end has its part of it.
///
/// It is no part of the plan that is kept on disk: its secret is of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOrder {
    pub id: String,
    /// Shared by the agents of the order, 32 bytes as hexadecimal digits.
    pub secret: String,
    /// The backend's time (Unix ns) of the first connection, and of the end of whatever still runs.
    pub starts_at_ns: i64,
    pub ends_at_ns: i64,
    /// Certificate of receivers for TLS, DER as base64; senders accept no other.
    #[serde(default)]
    pub certificate: Option<String>,
    /// Private key of that certificate, PKCS #8 DER as base64; receivers only.
    #[serde(default)]
    pub certificate_key: Option<String>,
    pub steps: Vec<BulkStep>,
}

/// One transfer of an order, of which this agent is an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkStep {
    /// Number within the order, over all its agents.
    pub index: u16,
    /// Place in the order of its steps, of which one runs at a time.
    pub phase: u16,
    pub role: BulkRole,
    /// The other end; `port` is that of the receiver.
    pub address: IpAddr,
    pub port: u16,
    pub bytes: u64,
    /// Parallel connections that share the bytes evenly.
    pub connections: u16,
    /// Cap of all its connections together; `None`: that of this agent alone.
    #[serde(default)]
    pub rate_bytes_per_s: Option<u64>,
    /// Congestion control of the sender; `None` is the kernel's default.
    #[serde(default)]
    pub congestion: Option<String>,
    #[serde(default)]
    pub mptcp: bool,
    #[serde(default)]
    pub tls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BulkRole {
    Sender,
    Receiver,
}
