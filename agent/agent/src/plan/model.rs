//! The plan as the backend sends it (`GET /v1/agents/self/plan`), and its validation.

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Peers that this agent measures and answers. Unknown fields are ignored: the backend may be newer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Changes with any field except `server_time_ns`; sent back as `If-None-Match`.
    pub revision: String,
    pub agent_id: String,
    pub vm_key: u32,
    /// Time of the answer by the backend's clock, Unix ns.
    pub server_time_ns: i64,
    pub caps: Caps,
    /// Excess over a window's median from which delays are kept as evidence.
    pub spike_threshold_ns: u64,
    pub meshes: Vec<MeshPlan>,
}

/// Limits of this agent, whatever its meshes ask for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    pub packets_per_s: u32,
    pub peers: u32,
    /// Processor time, percent of one processor; `None` is no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u32>,
    /// Resident memory; `None` is no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u32>,
}

/// A mesh that this agent belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshPlan {
    pub id: String,
    pub key: u32,
    pub name: String,
    /// Length of a window, 1 to 60 s; windows start at multiples of it in backend time.
    pub window_s: u32,
    /// Exchanges per second and flow: 1, 2, 4 … 128.
    pub rate_hz: u32,
    /// Time after which an incomplete exchange counts as lost.
    pub loss_deadline_ms: u32,
    /// Windows until the turns of peers repeat, 1 to 60.
    #[serde(default = "one")]
    pub period_windows: u32,
    pub peers: Vec<Peer>,
}

/// A VM to measure or to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    pub vm_key: u32,
    pub name: String,
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// Role of *this* agent towards the peer.
    pub role: Role,
    /// Messages of the exchanges with the peer.
    #[serde(default)]
    pub protocol: Protocol,
    /// Source ports used towards the peer, 1 to 16; each samples another path of an ECMP fabric.
    pub flows: u32,
    /// Windows of a period in which it is measured, by number modulo the period; `None` is every window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<u32>>,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends Delay_Req and reports the windows of the pair.
    Client,
    /// Answers the peer's Delay_Req.
    Responder,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// The compact exchange between two agents: a Sync carries the whole response to a Delay_Req.
    #[default]
    #[serde(rename = "compact")]
    Compact,
    /// Unicast negotiation (IEEE 1588-2019, 16.1) with a standard responder, which has no agent.
    #[serde(rename = "ieee1588")]
    Ieee1588,
}

/// Defect of a plan; the plan before it stays in force.
#[derive(Debug, PartialEq, Eq)]
pub enum PlanError {
    /// It is not JSON of the agreed shape.
    Malformed(String),
    /// A value is outside its limits: its place, and the limits.
    Invalid { at: String, should_be: &'static str },
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "the plan is not readable: {why}"),
            Self::Invalid { at, should_be } => write!(f, "the plan's {at} {should_be}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Returns the plan without the peers beyond its own cap.
    pub fn within_caps(&self) -> Cow<'_, Self> {
        let count: usize = self.meshes.iter().map(|mesh| mesh.peers.len()).sum();
        let mut left = self.caps.peers as usize;
        if count <= left {
            return Cow::Borrowed(self);
        }
        tracing::warn!(
            peers = count,
            cap = left,
            "the plan has more peers than it allows; the others are left out"
        );
        let mut plan = self.clone();
        for mesh in &mut plan.meshes {
            mesh.peers.truncate(left);
            left -= mesh.peers.len();
        }
        Cow::Owned(plan)
    }

    /// Reads and validates the body of a plan answer.
    pub fn from_json(body: &[u8]) -> Result<Self, PlanError> {
        let plan: Self =
            serde_json::from_slice(body).map_err(|e| PlanError::Malformed(e.to_string()))?;
        plan.validate()?;
        Ok(plan)
    }

    /// Returns a plan without peers, which a revoked agent follows.
    pub fn idle() -> Self {
        Self {
            revision: String::new(),
            agent_id: String::new(),
            vm_key: 0,
            server_time_ns: 0,
            caps: Caps::default(),
            spike_threshold_ns: u64::MAX,
            meshes: Vec::new(),
        }
    }

    /// Returns true if both plans differ in nothing but the time of the answer.
    pub fn same_work(&self, other: &Self) -> bool {
        let without_time = |plan: &Self| Self {
            server_time_ns: 0,
            ..plan.clone()
        };
        without_time(self) == without_time(other)
    }

    fn validate(&self) -> Result<(), PlanError> {
        let mut keys = HashSet::new();
        for (m, mesh) in self.meshes.iter().enumerate() {
            mesh.validate(&format!("meshes[{m}]"), self.vm_key)?;
            check(
                keys.insert(mesh.key),
                || format!("meshes[{m}].key"),
                "must differ from mesh to mesh",
            )?;
        }
        Ok(())
    }
}

impl MeshPlan {
    fn validate(&self, at: &str, own_key: u32) -> Result<(), PlanError> {
        let field = |name: &str| format!("{at}.{name}");
        check(
            (1..=60).contains(&self.window_s),
            || field("window_s"),
            "must be 1 to 60",
        )?;
        let rate_ok = self.rate_hz.is_power_of_two() && self.rate_hz <= 128;
        check(rate_ok, || field("rate_hz"), "must be 1, 2, 4 … 128")?;
        let deadline_ok = (1..=60_000).contains(&self.loss_deadline_ms);
        check(
            deadline_ok,
            || field("loss_deadline_ms"),
            "must be 1 to 60000",
        )?;
        check(
            (1..=60).contains(&self.period_windows),
            || field("period_windows"),
            "must be 1 to 60",
        )?;
        let mut keys = HashSet::new();
        for (p, peer) in self.peers.iter().enumerate() {
            let at = format!("{at}.peers[{p}]");
            peer.validate(&at)?;
            check(
                peer.takes_turns_of(self.period_windows),
                || format!("{at}.turns"),
                "must be different numbers below period_windows, in order",
            )?;
            check(
                peer.vm_key != own_key,
                || format!("{at}.vm_key"),
                "must not be this agent's own",
            )?;
            check(
                keys.insert(peer.vm_key),
                || format!("{at}.vm_key"),
                "must differ from peer to peer",
            )?;
        }
        Ok(())
    }
}

impl Peer {
    /// Returns the address at which the peer receives event messages (Sync, Delay_Req).
    pub fn event_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.event_port)
    }

    /// Returns the address at which the peer receives general messages (Follow_Up, Delay_Resp).
    pub fn general_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.general_port)
    }

    /// Returns true if its turns are some of a period, ascending.
    fn takes_turns_of(&self, period: u32) -> bool {
        let Some(turns) = &self.turns else {
            return true;
        };
        let ascending = turns.windows(2).all(|pair| pair[0] < pair[1]);
        ascending && turns.last().is_some_and(|last| *last < period)
    }

    fn validate(&self, at: &str) -> Result<(), PlanError> {
        let field = |name: &str| format!("{at}.{name}");
        check(
            self.event_port != 0,
            || field("event_port"),
            "must not be 0",
        )?;
        check(
            self.general_port != 0,
            || field("general_port"),
            "must not be 0",
        )?;
        check(
            self.event_port != self.general_port,
            || field("general_port"),
            "must differ from event_port",
        )?;
        check(
            (1..=16).contains(&self.flows),
            || field("flows"),
            "must be 1 to 16",
        )?;
        // A multicast or broadcast datagram would reach hosts that never agreed to be measured.
        let one_host = match self.address {
            IpAddr::V4(a) => !(a.is_unspecified() || a.is_multicast() || a.is_broadcast()),
            IpAddr::V6(a) => !(a.is_unspecified() || a.is_multicast()),
        };
        check(
            one_host,
            || field("address"),
            "must be the address of one host",
        )
    }
}

fn check(
    holds: bool,
    at: impl FnOnce() -> String,
    should_be: &'static str,
) -> Result<(), PlanError> {
    if holds {
        Ok(())
    } else {
        Err(PlanError::Invalid {
            at: at(),
            should_be,
        })
    }
}

#[cfg(test)]
mod tests;
