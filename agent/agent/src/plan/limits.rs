//! Limits of this VM applied to a plan: a stolen backend must not turn agents into a source of packets.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::{Peer, Plan};
use crate::config::LocalLimits;

/// Meshes are at most a quarter of the peers: each costs as much as some of them.
const PEERS_OF_A_MESH: u32 = 4;

impl LocalLimits {
    /// Return what is followed of a plan, and a sentence about what is left out.
    pub fn applied(&self, mut plan: Plan) -> (Plan, Option<String>) {
        let asked = size(&plan);
        let mut of_address: HashMap<IpAddr, HashSet<u32>> = HashMap::new();
        let mut is_allowed = |peer: &Peer| {
            let is_port = |port| self.ports.iter().any(|range| range.contains(&port));
            let vms = of_address.entry(peer.address).or_default();
            let fits = vms.contains(&peer.vm_key) || vms.len() < self.peers_per_address as usize;
            let allowed = fits && is_port(peer.event_port) && is_port(peer.general_port);
            if allowed {
                vms.insert(peer.vm_key);
            }
            allowed
        };
        plan.meshes
            .truncate((self.peers / PEERS_OF_A_MESH).max(1) as usize);
        for mesh in &mut plan.meshes {
            mesh.peers.retain(&mut is_allowed);
        }
        plan.on_demand.retain(|one| is_allowed(&one.peer));
        plan.caps.peers = plan.caps.peers.min(self.peers);
        plan.caps.packets_per_s = plan.caps.packets_per_s.min(self.packets_per_s);
        let followed = size(&plan);
        let left_out = (followed != asked).then(|| {
            format!(
                "{} meshes and {} peers of the plan are left out: they exceed max_peers, max_peers_per_address or \
                 probe_ports of this VM",
                asked.0 - followed.0,
                asked.1 - followed.1
            )
        });
        (plan, left_out)
    }
}

/// Return the number of meshes and of peers, those of measurements on demand included.
fn size(plan: &Plan) -> (usize, usize) {
    let peers: usize = plan.meshes.iter().map(|mesh| mesh.peers.len()).sum();
    (plan.meshes.len(), peers + plan.on_demand.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(meshes: impl Iterator<Item = Vec<Value>>) -> Plan {
        let mesh = |(key, peers): (usize, Vec<Value>)| {
            json!({"id": "m", "key": key + 1, "name": "m", "window_s": 1, "rate_hz": 1, "loss_deadline_ms": 1000,
                   "peers": peers})
        };
        let plan = json!({
            "revision": "r", "agent_id": "a", "vm_key": 1, "server_time_ns": 1, "spike_threshold_ns": 1,
            "caps": {"packets_per_s": 4_000_000_000_u32, "peers": 4_000_000_000_u32},
            "meshes": meshes.enumerate().map(mesh).collect::<Vec<_>>(),
        });
        Plan::from_json(plan.to_string().as_bytes()).unwrap()
    }

    fn peer(key: usize, address: &str, port: u16) -> Value {
        json!({"vm_key": key, "name": "b", "address": address, "event_port": port, "general_port": port + 1,
               "role": "client", "flows": 1})
    }

    #[test]
    fn a_plan_that_makes_a_source_of_packets_is_followed_in_part() {
        let limits = LocalLimits::default();
        let victim = (2..202).map(|key| peer(key, "10.0.0.9", 319)).collect();
        let (followed, left_out) = limits.applied(plan([victim].into_iter()));
        let start = "0 meshes and 184 peers of the plan are left out";
        assert!(left_out.unwrap().starts_with(start));
        assert_eq!(followed.meshes[0].peers.len(), 16);
        assert_eq!(followed.caps.packets_per_s, 20_000);
        assert_eq!(followed.caps.peers, 2_000);

        let name_server = vec![peer(2, "10.0.0.9", 53), peer(3, "10.0.0.8", 319)];
        let followed = limits.applied(plan([name_server].into_iter())).0;
        assert_eq!(followed.meshes[0].peers[0].vm_key, 3);
        assert_eq!(followed.meshes[0].peers.len(), 1);

        let many = (0..20_000).map(|_| vec![peer(2, "10.0.0.9", 319)]);
        let followed = limits.applied(plan(many)).0;
        assert_eq!(followed.meshes.len(), 500);
        // One VM in many meshes.
        assert!(followed.meshes.iter().all(|mesh| mesh.peers.len() == 1));
    }

    #[test]
    fn what_the_backend_plans_by_itself_is_followed() {
        let mesh =
            (2..1_000).map(|key| peer(key, &format!("10.0.{}.{}", key / 250, key % 250), 319));
        let peers: Vec<Value> = mesh.collect();
        let asked = plan([peers.clone(), peers].into_iter());
        let (followed, left_out) = LocalLimits::default().applied(asked.clone());
        assert_eq!((followed.meshes, left_out), (asked.meshes, None));
    }
}
