//! The plan as the backend sends it (`GET /v1/agents/self/plan`), and its validation.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::on_demand::{MARK, MOST as MOST_ON_DEMAND, OnDemand, PathProbes, on_demand_key};
use super::peer::{MOST_FLOWS, Peer, PlanError, check};
use crate::calendar::LATEST_NS;

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
    /// Measurements on demand, each of one path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_demand: Vec<OnDemand>,
    /// Keys of VMs by address, with which TCP connections are counted; `None`: none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_traffic: Option<HashMap<IpAddr, u32>>,
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
    /// Span in which it is measured, the backend's time (Unix ns); `None` is always. Set for measurements on demand.
    #[serde(skip)]
    pub span_ns: Option<(i64, i64)>,
    /// Probes on its exchanges; only measurements on demand have any.
    #[serde(skip)]
    pub probes: PathProbes,
    pub peers: Vec<Peer>,
}

fn one() -> u32 {
    1
}

impl Plan {
    /// Return the plan without the peers beyond its own cap.
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

    /// Read and validate the body of a plan answer.
    pub fn from_json(body: &[u8]) -> Result<Self, PlanError> {
        let plan: Self =
            serde_json::from_slice(body).map_err(|e| PlanError::Malformed(e.to_string()))?;
        plan.validate()?;
        Ok(plan)
    }

    /// Return a plan without peers, which a revoked agent follows.
    pub fn idle() -> Self {
        Self {
            revision: String::new(),
            agent_id: String::new(),
            vm_key: 0,
            server_time_ns: 0,
            caps: Caps::default(),
            spike_threshold_ns: u64::MAX,
            meshes: Vec::new(),
            on_demand: Vec::new(),
            service_traffic: None,
        }
    }

    /// Return true if both plans differ in nothing but the time of the answer.
    pub fn same_work(&self, other: &Self) -> bool {
        let without_time = |plan: &Self| Self {
            server_time_ns: 0,
            ..plan.clone()
        };
        without_time(self) == without_time(other)
    }

    fn validate(&self) -> Result<(), PlanError> {
        check(
            (0..=LATEST_NS).contains(&self.server_time_ns),
            || "server_time_ns".into(),
            "must be a time between 1970 and 2116",
        )?;
        let mut keys = HashSet::new();
        for (m, mesh) in self.meshes.iter().enumerate() {
            mesh.validate(&format!("meshes[{m}]"), self.vm_key)?;
            check(
                keys.insert(mesh.key),
                || format!("meshes[{m}].key"),
                "must differ from mesh to mesh",
            )?;
            check(
                on_demand_key(mesh.key).is_none(),
                || format!("meshes[{m}].key"),
                "must be below 2147483648",
            )?;
        }
        self.validate_on_demand()
    }
}

impl Plan {
    /// Return the plan with a mesh of windows of a second for each measurement on demand.
    pub(crate) fn with_on_demand(&self) -> Cow<'_, Self> {
        if self.on_demand.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut plan = self.clone();
        plan.meshes
            .extend(self.on_demand.iter().map(|one| MeshPlan {
                id: one.id.clone(),
                key: one.key | MARK,
                name: String::new(),
                window_s: 1,
                rate_hz: one.rate_hz,
                loss_deadline_ms: one.loss_deadline_ms,
                period_windows: 1,
                span_ns: Some((one.starts_at_ns, one.ends_at_ns)),
                probes: one.probes,
                peers: vec![one.peer.clone()],
            }));
        Cow::Owned(plan)
    }

    fn validate_on_demand(&self) -> Result<(), PlanError> {
        check(
            self.on_demand.len() <= MOST_ON_DEMAND,
            || "on_demand".into(),
            "must be at most 8",
        )?;
        for (i, one) in self.on_demand.iter().enumerate() {
            one.validate(&format!("on_demand[{i}]"), self.vm_key)?;
            check(
                self.on_demand[..i].iter().all(|other| other.key != one.key),
                || format!("on_demand[{i}].key"),
                "must differ from measurement to measurement",
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
            peer.validate(&at, MOST_FLOWS)?;
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

#[cfg(test)]
mod tests;
