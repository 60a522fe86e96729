//! The addresses of the peers of the plan in force.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use super::Plan;

/// VM keys of peers by address, shared by the thread that follows the plan and those that look an address up.
#[derive(Debug, Default)]
pub struct PeerAddresses(RwLock<HashMap<IpAddr, u32>>);

impl PeerAddresses {
    /// Replace the addresses by those of a plan.
    pub fn follow(&self, plan: &Plan) {
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let addresses = peers.map(|peer| (peer.address, peer.vm_key)).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = addresses;
    }

    /// Call `f` with the VM keys by address.
    pub fn with<R>(&self, f: impl FnOnce(&HashMap<IpAddr, u32>) -> R) -> R {
        f(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
