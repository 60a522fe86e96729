//! A leaf-spine network: hosts, leaf and spine switches, and their output ports.

/// Most switches of a tier, hosts of a leaf, and ports: event codes have 15 bits for a port.
const COUNT_MAX: u32 = 1 << 10;
const PORTS_MAX: u64 = 1 << 15;

/// Two tiers of switches. Every leaf has a link to every spine. Hosts are numbered leaf by leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    pub leaves: u32,
    pub hosts_per_leaf: u32,
    pub spines: u32,
    /// Time of a byte on the link of a host, and on one between switches, ps.
    pub edge_byte_ps: u64,
    pub core_byte_ps: u64,
    /// Propagation delay of these links, ps.
    pub edge_delay_ps: u64,
    pub core_delay_ps: u64,
}

impl Topology {
    /// Return whether the numbers make a network that can be simulated.
    pub fn is_valid(&self) -> bool {
        let counts = [self.leaves, self.hosts_per_leaf, self.spines];
        let bytes = [self.edge_byte_ps, self.core_byte_ps];
        let delays = [self.edge_delay_ps, self.core_delay_ps];
        counts.iter().all(|count| (1..=COUNT_MAX).contains(count))
            && u64::from(self.leaves) * u64::from(self.hosts_per_leaf + self.spines) * 2
                <= PORTS_MAX
            && bytes.iter().all(|ps| (1..=1_000_000_000).contains(ps))
            && delays.iter().all(|ps| *ps <= 1_000_000_000_000)
    }

    pub fn hosts(&self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    /// Return the number of output ports: NICs of hosts, then ports from leaves to hosts, from leaves to spines, and
    /// from spines to leaves.
    pub(super) fn ports(&self) -> u32 {
        2 * (self.hosts() + self.leaves * self.spines)
    }

    fn leaf_of(&self, host: u32) -> u32 {
        host / self.hosts_per_leaf
    }

    fn first_up(&self) -> u32 {
        2 * self.hosts()
    }

    fn first_down(&self) -> u32 {
        self.first_up() + self.leaves * self.spines
    }

    /// Return the port from a leaf to a spine.
    pub(super) fn up(&self, leaf: u32, spine: u32) -> u32 {
        self.first_up() + leaf * self.spines + spine
    }

    /// Return the port from a spine to a leaf.
    pub(super) fn down(&self, spine: u32, leaf: u32) -> u32 {
        self.first_down() + spine * self.leaves + leaf
    }

    /// Return the port by which a packet that came through `port` goes on to host `to`; none at that host.
    pub(super) fn next_port(&self, port: u32, to: u32, spine: u32) -> Option<u32> {
        let hosts = self.hosts();
        if port < hosts {
            let leaf = self.leaf_of(port);
            let is_local = self.leaf_of(to) == leaf;
            Some(if is_local {
                hosts + to
            } else {
                self.up(leaf, spine)
            })
        } else if port < self.first_up() {
            None
        } else if port < self.first_down() {
            Some(self.down(spine, self.leaf_of(to)))
        } else {
            Some(hosts + to)
        }
    }

    pub(super) fn byte_ps(&self, port: u32) -> u64 {
        if port < self.first_up() {
            self.edge_byte_ps
        } else {
            self.core_byte_ps
        }
    }

    pub(super) fn delay_ps(&self, port: u32) -> u64 {
        if port < self.first_up() {
            self.edge_delay_ps
        } else {
            self.core_delay_ps
        }
    }

    /// Return the spine of all packets of a flow in one direction: ECMP, a hash of flow and direction (SplitMix64).
    pub(super) fn spine_of(&self, flow: u32, backward: bool, seed: u64) -> u32 {
        let key = (u64::from(flow) << 1) | u64::from(backward);
        let mixed = seed.wrapping_add((key + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(self.spines)) as u32
    }
}
