//! The paths that a plan asks for, and what becomes of those that it no longer does.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::peer_session::Conversation;
use super::schedule::{FlowKey, PathKey, Slots};
use crate::clock::RawTime;
use crate::packet_loop::client::Client;
use crate::plan::{MeshPlan, Plan, Protocol, Role};
use crate::ptp::PortIdentity;
use crate::window::WindowAggregator;

/// The answer to the next request takes along what this one cannot tell, if it is there and read so soon after that
/// request, ns, beyond the round trip ...
const READ_NS: i64 = 250_000_000;
/// ... and if that makes no window wait longer than this beyond the deadline of its exchanges, ns.
const LONGER_NS: i64 = 300_000_000;

/// A path that this agent measures.
pub(crate) struct Path {
    pub peer: SocketAddr,
    /// One for each source port.
    pub slots: Vec<Slots>,
    pub deadline_ns: i64,
}

impl Path {
    /// Whether its slots are those that a plan asks for.
    fn keeps(&self, mesh: &MeshPlan, flows: u8) -> bool {
        self.slots.len() == usize::from(flows)
            && self.slots.iter().all(|slots| slots.are_of(mesh.rate_hz))
    }

    /// When the answer to its next request will have told what the one to a request that leaves `now` cannot; `None` when
    /// that is too late to wait for.
    pub fn t1_deadline(&self, now: RawTime) -> Option<RawTime> {
        let next = self.slots.iter().map(Slots::next).min()?;
        let t1_deadline = next.max(now).plus(READ_NS);
        (t1_deadline <= now.plus(self.deadline_ns + LONGER_NS)).then_some(t1_deadline)
    }
}

impl Client {
    /// Follows a new plan with at most `most_flows` source ports per path. Paths that stay as they were keep their
    /// slots, open exchanges and clocks.
    pub fn follow(&mut self, plan: &Plan, most_flows: u8, now: RawTime) {
        self.spike_threshold_ns = plan.spike_threshold_ns;
        let mut before = std::mem::take(&mut self.paths);
        self.senders.clear();
        for mesh in &plan.meshes {
            let aggregator = self.aggregators.0.entry(mesh.key);
            aggregator
                .or_insert_with(|| WindowAggregator::new(mesh.key, mesh.window_s))
                .set_window_s(mesh.window_s);
            for peer in mesh.peers.iter().filter(|peer| peer.role == Role::Client) {
                let key = (mesh.key, peer.vm_key);
                let address = peer.event_address();
                self.senders.insert(address, address);
                self.senders.insert(peer.general_address(), address);
                let flows = match peer.protocol {
                    Protocol::Compact => most_flows.min(peer.flows.try_into().unwrap_or(u8::MAX)),
                    // Its Syncs set the pace, not slots of ours.
                    Protocol::Ieee1588 => 0,
                };
                let kept = before.get(&key).filter(|path| path.keeps(mesh, flows));
                let slots = kept.map(|path| path.slots.clone());
                let slots = slots.unwrap_or_else(|| {
                    let add = |flow| {
                        let key = FlowKey { path: key, flow };
                        self.schedule
                            .add(key, flows, plan.vm_key, mesh.rate_hz, now)
                    };
                    (0..flows).map(add).collect()
                });
                let deadline_ns = i64::from(mesh.loss_deadline_ms) * 1_000_000;
                self.paths.insert(
                    key,
                    Path {
                        peer: address,
                        slots,
                        deadline_ns,
                    },
                );
                if before.get(&key).is_some_and(|path| path.peer == address) {
                    before.remove(&key);
                }
            }
        }
        self.part_from(&before, now);
        for path in self.paths.values() {
            let (identity, made) = (self.clock_identity, &mut self.sessions_opened);
            self.conversations.entry(path.peer).or_insert_with(|| {
                *made = made.wrapping_add(1);
                Conversation::new(PortIdentity {
                    clock: identity,
                    port: *made,
                })
            });
        }
        self.follow_stocks(plan, now);
    }

    /// Ends what belonged to paths that are gone or lead elsewhere now.
    fn part_from(&mut self, gone: &HashMap<PathKey, Path>, now: RawTime) {
        for (&(mesh_key, vm_key), path) in gone {
            let Some(conversation) = self.conversations.get_mut(&path.peer) else {
                continue;
            };
            // Exchanges still open with an old address must not be read against the clock of the new one.
            conversation.end(now, &mut self.aggregators, |tag| {
                tag.key.path == (mesh_key, vm_key)
            });
            conversation.clock.refresh();
            if let Some(aggregator) = self.aggregators.0.get_mut(&mesh_key) {
                aggregator.resolve_delays(vm_key, &conversation.clock);
            }
            if self.senders.get(&path.peer) != Some(&path.peer) {
                self.conversations.remove(&path.peer);
            }
        }
    }
}
