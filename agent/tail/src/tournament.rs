//! The waiting flow of the highest priority, as priorities grow with time: a kinetic tournament.
//!
//! A node of a binary tree keeps the winner of its leaves and the time until which that holds. Basch, Guibas and
//! Hershberger, "Data structures for mobile data", 1999.

use super::priority::{Waiting, Weight, compare};

const NONE: u32 = u32::MAX;
const LEAVES_MIN: usize = 8;

/// Flows that wait.
pub(super) struct Tournament {
    leaves: Vec<Waiting>,
    /// Leaf that wins each node; node 1 is the root, the children of n are 2n and 2n + 1.
    winner: Vec<u32>,
    holds_until_ps: Vec<u64>,
    free: Vec<u32>,
    waiting: usize,
}

impl Tournament {
    pub(super) fn new() -> Self {
        let mut tournament = Self {
            leaves: Vec::new(),
            winner: Vec::new(),
            holds_until_ps: Vec::new(),
            free: Vec::new(),
            waiting: 0,
        };
        tournament.clear(LEAVES_MIN);
        tournament
    }

    fn clear(&mut self, leaves: usize) {
        let none = Waiting {
            flow: NONE,
            born_ps: 0,
            weight: Weight::new(1.0, 0.0),
        };
        self.leaves.clear();
        self.leaves.resize(leaves, none);
        self.winner.clear();
        self.winner.resize(2 * leaves, NONE);
        self.holds_until_ps.clear();
        self.holds_until_ps.resize(2 * leaves, u64::MAX);
        // Low leaves first, so that a part of the tree is used while few flows wait.
        self.free.clear();
        self.free.extend((0..leaves as u32).rev());
        self.waiting = 0;
    }

    /// Add a flow.
    pub(super) fn insert(&mut self, flow: Waiting, now_ps: u64) {
        if self.free.is_empty() {
            self.resize(2 * self.leaves.len(), now_ps);
        }
        let Some(leaf) = self.free.pop() else { return };
        self.waiting += 1;
        self.winner[self.leaves.len() + leaf as usize] = leaf;
        self.replace(leaf, flow, now_ps);
    }

    fn resize(&mut self, leaves: usize, now_ps: u64) {
        let flows: Vec<Waiting> = self.flows().collect();
        self.clear(leaves);
        let first = self.leaves.len();
        for flow in flows {
            let Some(leaf) = self.free.pop() else { return };
            self.leaves[leaf as usize] = flow;
            self.winner[first + leaf as usize] = leaf;
            self.waiting += 1;
        }
        for node in (1..first).rev() {
            self.play(node, now_ps);
        }
    }

    fn flows(&self) -> impl Iterator<Item = Waiting> + '_ {
        let leaves = self.leaves.len();
        let here = move |leaf: &usize| self.winner[leaves + *leaf] != NONE;
        (0..leaves).filter(here).map(|leaf| self.leaves[leaf])
    }

    /// Return the leaf and the flow of the highest priority.
    pub(super) fn best(&mut self, now_ps: u64) -> Option<(u32, Waiting)> {
        if self.holds_until_ps[1] <= now_ps {
            self.renew(1, now_ps);
        }
        let leaf = self.winner[1];
        (leaf != NONE).then(|| (leaf, self.leaves[leaf as usize]))
    }

    /// Put another flow into a leaf.
    pub(super) fn replace(&mut self, leaf: u32, flow: Waiting, now_ps: u64) {
        self.leaves[leaf as usize] = flow;
        self.walk(leaf, now_ps);
    }

    /// Take the flow out of a leaf.
    pub(super) fn remove(&mut self, leaf: u32, now_ps: u64) {
        let node = self.leaves.len() + leaf as usize;
        self.winner[node] = NONE;
        self.free.push(leaf);
        self.waiting -= 1;
        self.walk(leaf, now_ps);
        if self.leaves.len() > LEAVES_MIN && self.waiting < self.leaves.len() / 8 {
            self.resize(self.leaves.len() / 4, now_ps);
        }
    }

    fn walk(&mut self, leaf: u32, now_ps: u64) {
        let mut node = (self.leaves.len() + leaf as usize) / 2;
        while node > 0 {
            let before = (self.winner[node], self.holds_until_ps[node]);
            self.play(node, now_ps);
            let after = (self.winner[node], self.holds_until_ps[node]);
            // Those above have seen this winner with this certificate.
            if before == after && after.0 != leaf {
                break;
            }
            node /= 2;
        }
    }

    /// Play again below a node where results may have changed.
    fn renew(&mut self, node: usize, now_ps: u64) {
        if node < self.leaves.len() && self.holds_until_ps[node] <= now_ps {
            self.renew(2 * node, now_ps);
            self.renew(2 * node + 1, now_ps);
            self.play(node, now_ps);
        }
    }

    fn play(&mut self, node: usize, now_ps: u64) {
        let (left, right) = (self.winner[2 * node], self.winner[2 * node + 1]);
        let mut until = self.holds_until_ps[2 * node].min(self.holds_until_ps[2 * node + 1]);
        self.winner[node] = if left == NONE {
            right
        } else if right == NONE {
            left
        } else {
            let (a, b) = (&self.leaves[left as usize], &self.leaves[right as usize]);
            let result = compare(a, b, now_ps);
            until = until.min(result.holds_until_ps);
            if result.first_wins { left } else { right }
        };
        self.holds_until_ps[node] = until;
    }
}
