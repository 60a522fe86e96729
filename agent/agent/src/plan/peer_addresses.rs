//! The addresses of the plan in force.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use super::Plan;

/// VMs with which connections are counted, whatever the plan says; the others count as no VM.
const MOST_VMS: usize = 20_000;

/// VM keys by address, shared by the thread that follows the plan and those that look an address up.
#[derive(Debug, Default)]
pub struct PeerAddresses(RwLock<Addresses>);

/// VM keys by address: of peers, and of all VMs with which connections are counted; `None` if none are.
#[derive(Debug, Default)]
pub struct Addresses {
    pub peers: HashMap<IpAddr, u32>,
    pub services: Option<HashMap<IpAddr, u32>>,
}

impl PeerAddresses {
    /// Replace the addresses by those of a plan.
    pub fn follow(&self, plan: &Plan) {
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let addresses = Addresses {
            peers: peers.map(|peer| (peer.address, peer.vm_key)).collect(),
            services: (plan.service_traffic.as_ref()).map(|vms| {
                vms.iter()
                    .take(MOST_VMS)
                    .map(|(at, key)| (*at, *key))
                    .collect()
            }),
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = addresses;
    }

    /// Call `f` with the VM keys by address.
    pub fn with<R>(&self, f: impl FnOnce(&Addresses) -> R) -> R {
        f(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
