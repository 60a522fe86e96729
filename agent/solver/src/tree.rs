//! The basis of a network simplex, a tree on flat arrays: potentials, and hanging parts of it elsewhere.

/// No flow on the arc.
pub const LOWER: i8 = 1;
/// The arc belongs to the tree, which holds its flow.
pub const TREE: i8 = 0;
/// The arc is full.
pub const UPPER: i8 = -1;

/// Arcs by number; slices may be longer than there are arcs.
pub struct Arcs<'a> {
    /// Node each arc leaves.
    pub tail: &'a mut [i32],
    /// Node each arc enters.
    pub head: &'a mut [i32],
    /// Cost of a unit of flow.
    pub cost: &'a mut [i64],
    /// Largest flow.
    pub cap: &'a mut [i64],
    /// `LOWER`, `TREE` or `UPPER`.
    pub state: &'a mut [i8],
}

/// The basis by node: the arc to the parent, its flow, and potentials. -1 is none.
///
/// Most nodes have no children. Those hold no potential of their own but how far it is from their parent's, so that a
/// pivot, which hangs a part of the tree elsewhere, passes them by: it walks the nodes with children alone.
pub struct Tree<'a> {
    /// Parent of each node.
    pub parent: &'a mut [i32],
    /// Arc to the parent.
    pub arc: &'a mut [i32],
    /// 1: the arc leads from the node to its parent, 0: from the parent.
    pub up: &'a mut [i8],
    /// Flow of the arc.
    pub flow: &'a mut [i64],
    /// Number of children.
    pub children: &'a mut [i32],
    /// The node itself where it has children, else its parent.
    pub anchor: &'a mut [i32],
    /// Potential less that of the anchor.
    pub offset: &'a mut [i64],
    /// Depth of nodes with children; so is `potential`.
    pub depth: &'a mut [i32],
    /// Potential of nodes with children.
    pub potential: &'a mut [i64],
    /// First child that has children, of doubly linked lists.
    pub first: &'a mut [i32],
    /// Next node of the list.
    pub after: &'a mut [i32],
    /// Previous node of the list.
    pub before: &'a mut [i32],
}

impl Arcs<'_> {
    /// Return whether the arrays have room for `count` arcs.
    pub(super) fn is_whole(&self, count: usize) -> bool {
        let sizes = [
            self.tail.len(),
            self.head.len(),
            self.cost.len(),
            self.cap.len(),
            self.state.len(),
        ];
        sizes.iter().all(|size| *size >= count)
    }
}

impl Tree<'_> {
    /// Enter a node among those of its parent's children that have children.
    fn list(&mut self, node: usize) {
        let parent = self.parent[node];
        if parent < 0 {
            return;
        }
        let first = self.first[parent as usize];
        self.before[node] = -1;
        self.after[node] = first;
        if first >= 0 {
            self.before[first as usize] = node as i32;
        }
        self.first[parent as usize] = node as i32;
    }

    fn strike(&mut self, node: usize) {
        let parent = self.parent[node];
        if parent < 0 {
            return;
        }
        let (before, after) = (self.before[node], self.after[node]);
        if before >= 0 {
            self.after[before as usize] = after;
        } else {
            self.first[parent as usize] = after;
        }
        if after >= 0 {
            self.before[after as usize] = before;
        }
    }

    /// Make `node` a child of `parent` through `arc`. Depths and potentials are left to `walk`.
    pub fn hang(&mut self, node: usize, parent: usize, arc: i32, up: i8, flow: i64) {
        self.parent[node] = parent as i32;
        self.arc[node] = arc;
        self.up[node] = up;
        self.flow[node] = flow;
        if self.children[node] > 0 {
            self.list(node);
        }
        self.children[parent] += 1;
        if self.children[parent] == 1 {
            self.list(parent);
        }
    }

    /// Take `node` from its parent.
    pub(super) fn unhang(&mut self, node: usize) {
        if self.children[node] > 0 {
            self.strike(node);
        }
        let parent = self.parent[node] as usize;
        self.children[parent] -= 1;
        if self.children[parent] == 0 {
            self.strike(parent);
        }
    }

    /// Set the anchor of a node's potential, by whether it has children.
    pub(super) fn anchor(&mut self, arcs: &Arcs<'_>, node: usize) {
        let parent = self.parent[node];
        if self.children[node] > 0 || parent < 0 {
            self.anchor[node] = node as i32;
            self.offset[node] = 0;
        } else {
            self.anchor[node] = parent;
            let cost = arcs.cost[self.arc[node] as usize];
            self.offset[node] = if self.up[node] != 0 { -cost } else { cost };
        }
    }

    /// Write down depth and potential of a node that may be about to have a child.
    pub(super) fn settle(&mut self, node: usize) {
        if self.children[node] == 0 {
            self.depth[node] = self.depth[self.parent[node] as usize] + 1;
            self.potential[node] = self.potential[self.anchor[node] as usize] + self.offset[node];
        }
    }

    /// Compute depths and potentials of everything under `root` from the costs of the tree's arcs.
    pub fn walk(&mut self, arcs: &Arcs<'_>, root: usize) {
        let mut node = root;
        loop {
            if node != root {
                let parent = self.parent[node] as usize;
                self.depth[node] = self.depth[parent] + 1;
                let cost = arcs.cost[self.arc[node] as usize];
                self.potential[node] =
                    self.potential[parent] + if self.up[node] != 0 { -cost } else { cost };
            }
            if self.first[node] >= 0 {
                node = self.first[node] as usize;
                continue;
            }
            while node != root && self.after[node] < 0 {
                node = self.parent[node] as usize;
            }
            if node == root {
                break;
            }
            node = self.after[node] as usize;
        }
        for each in 0..self.parent.len() {
            self.anchor(arcs, each);
        }
    }

    /// Add `change` to the potentials under `root` and renew depths. `stack` is room for nodes with children.
    pub(super) fn shift(&mut self, root: usize, change: i64, stack: &mut Vec<i32>) {
        self.depth[root] = self.depth[self.parent[root] as usize] + 1;
        self.potential[root] += change;
        stack.clear();
        stack.push(root as i32);
        while let Some(node) = stack.pop() {
            let below = self.depth[node as usize] + 1;
            let mut child = self.first[node as usize];
            while child >= 0 {
                let at = child as usize;
                self.depth[at] = below;
                self.potential[at] += change;
                if self.first[at] >= 0 {
                    stack.push(child);
                }
                child = self.after[at];
            }
        }
    }
}
