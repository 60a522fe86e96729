//! Limits of this VM for what a plan may ask of it.

use std::ops::RangeInclusive;

/// Limits that settings raise. The defaults are the caps of the backend's plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalLimits {
    pub packets_per_s: u32,
    /// Peers of all meshes together.
    pub peers: u32,
    /// VMs that one address may stand for.
    pub peers_per_address: u32,
    /// UDP ports that packets are sent to.
    pub ports: Vec<RangeInclusive<u16>>,
}

impl Default for LocalLimits {
    fn default() -> Self {
        Self {
            packets_per_s: 20_000,
            peers: 2_000,
            peers_per_address: 16,
            ports: vec![319..=320, 1024..=u16::MAX],
        }
    }
}
