//! Measurements on demand: one path for at most a minute, with every exchange reported.

use serde::{Deserialize, Serialize};

use super::peer::{Peer, PlanError, Protocol, check};
use crate::calendar::LATEST_NS;

/// Longest measurement, ns.
const LONGEST_NS: i64 = 60_000_000_000;
/// Largest number of measurements of one agent at a time, and of exchanges per second of one.
pub(super) const MOST: usize = 8;
const MOST_HZ: u32 = 128;
/// Largest number of source ports.
const MOST_FLOWS: u32 = 64;
/// Set in the mesh key under which a measurement is scheduled. Keys of meshes are smaller.
pub(super) const MARK: u32 = 1 << 31;

/// Probes on the exchanges of a measurement: ECN marks and the order of packets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PathProbes {
    /// Event messages leave with ECT(0) (RFC 3168), and both ends report the field that they arrive with.
    pub ecn: bool,
    /// Requests leave in pairs, back to back, and the order of both packets is compared at both ends.
    pub reordering: bool,
}

/// A measurement of one path in addition to the meshes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnDemand {
    pub id: String,
    /// Its number in the backend, below 2^31.
    pub key: u32,
    /// Exchanges per second and flow: 1, 2, 4 … 128; all flows together at most 128.
    pub rate_hz: u32,
    pub loss_deadline_ms: u32,
    /// The backend's time (Unix ns) of the first request and after the last one; at most 60 s apart.
    pub starts_at_ns: i64,
    pub ends_at_ns: i64,
    #[serde(flatten)]
    pub probes: PathProbes,
    pub peer: Peer,
}

/// Return the number of the measurement that is scheduled under a mesh key; `None` for a mesh.
pub(crate) fn on_demand_key(mesh_key: u32) -> Option<u32> {
    (mesh_key & MARK != 0).then_some(mesh_key & !MARK)
}

impl OnDemand {
    pub(super) fn validate(&self, at: &str, own_key: u32) -> Result<(), PlanError> {
        let field = |name: &str| format!("{at}.{name}");
        check(
            self.key & MARK == 0,
            || field("key"),
            "must be below 2147483648",
        )?;
        check(
            self.rate_hz.is_power_of_two() && self.rate_hz <= MOST_HZ,
            || field("rate_hz"),
            "must be 1, 2, 4 … 128",
        )?;
        check(
            (1..=60_000).contains(&self.loss_deadline_ms),
            || field("loss_deadline_ms"),
            "must be 1 to 60000",
        )?;
        check(
            !self.probes.reordering || self.rate_hz >= 2,
            || field("rate_hz"),
            "must be at least 2 for reordering, whose packets leave in pairs",
        )?;
        check(
            (0..=LATEST_NS).contains(&self.ends_at_ns),
            || field("ends_at_ns"),
            "must be a time between 1970 and 2116",
        )?;
        let length_ns = self.ends_at_ns.saturating_sub(self.starts_at_ns);
        check(
            (1..=LONGEST_NS).contains(&length_ns),
            || field("ends_at_ns"),
            "must be after starts_at_ns, by at most 60 s",
        )?;
        check(
            self.peer.protocol == Protocol::Compact && self.peer.turns.is_none(),
            || field("peer"),
            "must have an agent, and no turns",
        )?;
        check(
            self.peer.vm_key != own_key,
            || field("peer.vm_key"),
            "must not be this agent's own",
        )?;
        self.peer.validate(&field("peer"), MOST_FLOWS)?;
        check(
            self.peer.flows.saturating_mul(self.rate_hz) <= MOST_HZ,
            || field("rate_hz"),
            "must not exceed 128 exchanges per second over all flows",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use serde_json::{Value, json};

    fn plan(changed: &str, to: Value) -> Result<Plan, PlanError> {
        let mut one = json!({
            "id": "o", "key": 5, "rate_hz": 2, "loss_deadline_ms": 1000, "starts_at_ns": 1_000_000_000_i64,
            "ends_at_ns": 61_000_000_000_i64, "reordering": true,
            "peer": {"vm_key": 3, "name": "b", "address": "127.20.0.3", "event_port": 319, "general_port": 320,
                     "role": "client", "flows": 64},
        });
        *one.pointer_mut(changed).unwrap() = to;
        let plan = json!({
            "revision": "r", "agent_id": "a", "vm_key": 7, "server_time_ns": 1, "spike_threshold_ns": 500_000,
            "caps": {"packets_per_s": 20000, "peers": 2000}, "meshes": [], "on_demand": [one],
        });
        Plan::from_json(plan.to_string().as_bytes())
    }

    #[test]
    fn is_scheduled_as_a_mesh_of_seconds() {
        let plan = plan("/id", json!("o")).unwrap();
        let with = plan.with_on_demand();
        let mesh = &with.meshes[0];
        assert_eq!((mesh.window_s, mesh.rate_hz), (1, 2));
        assert_eq!(mesh.span_ns, Some((1_000_000_000, 61_000_000_000)));
        assert!(mesh.probes.reordering && !mesh.probes.ecn);
        assert_eq!(on_demand_key(mesh.key), Some(5));
        assert_eq!(on_demand_key(5), None);
    }

    #[test]
    fn refuses_what_is_longer_or_faster_than_a_measurement_may_be() {
        let cases = [
            ("/ends_at_ns", json!(61_000_000_001_i64), "at most 60 s"),
            ("/ends_at_ns", json!(1_000_000_000), "after starts_at_ns"),
            ("/rate_hz", json!(4), "128 exchanges per second over all"),
            ("/rate_hz", json!(3), "1, 2, 4"),
            ("/rate_hz", json!(1), "in pairs"),
            ("/key", json!(2_147_483_648_u32), "below 2147483648"),
            ("/loss_deadline_ms", json!(0), "1 to 60000"),
            ("/peer/vm_key", json!(7), "this agent's own"),
            ("/peer/flows", json!(65), "1 to 64"),
            ("/peer/address", json!("224.0.1.129"), "one host"),
        ];
        for (at, value, expected) in cases {
            let error = plan(at, value).unwrap_err().to_string();
            assert!(error.contains("on_demand[0]"), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }
}
