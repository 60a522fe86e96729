//! Network simplex on flat arrays: pivots of a minimum-cost flow from any basis, cold or warm.
//!
//! The basis is strongly feasible (Cunningham 1976): from every node some flow can reach the root, so the pivots that
//! move nothing cannot go round for ever. The best arcs of some blocks are listed and the best of the list enters, until
//! none of it may; the leaving arc is the last that blocks, seen from the top of the cycle. Sign of a reduced cost:
//! cost + potential of the tail − potential of the head, 0 on the tree.

use super::tree::{Arcs, LOWER, TREE, Tree, UPPER};
use super::vectorized;

/// Arcs of which only the best is considered closely.
const BLOCK: usize = 128;
/// Number of such arcs that are listed at a time.
const LIST: usize = 64;

vectorized! {
    /// Return the lowest reduced cost of a block of arcs, those at their upper bound with the sign turned; at most 0.
    fn lowest(tail: &[i32], head: &[i32], cost: &[i64], state: &[i8], potential: &[i64]) -> i64 {
        let mut low = 0;
        for (((tail, head), cost), state) in tail.iter().zip(head).zip(cost).zip(state) {
            let reduced = cost + potential[*tail as usize] - potential[*head as usize];
            low = low.min(i64::from(*state) * reduced);
        }
        low
    }
}

/// Arcs that may enter, and where to look for more.
struct List {
    arcs: [usize; LIST],
    count: usize,
    look: usize,
    /// Potentials of all nodes when the list was written.
    potential: Vec<i64>,
}

impl List {
    /// List the best arc of each block that has one that may enter, until the list is full or all blocks are seen.
    fn fill(&mut self, arcs: &Arcs<'_>, tree: &Tree<'_>, count: usize) {
        for ((potential, anchor), offset) in self
            .potential
            .iter_mut()
            .zip(&*tree.anchor)
            .zip(&*tree.offset)
        {
            *potential = tree.potential[*anchor as usize] + offset;
        }
        let potential = &self.potential;
        self.count = 0;
        let (mut seen, mut at) = (0, self.look);
        while seen < count && self.count < LIST {
            if at >= count {
                at = 0;
            }
            let end = count.min(at + BLOCK);
            let low = lowest(
                &arcs.tail[at..end],
                &arcs.head[at..end],
                &arcs.cost[at..end],
                &arcs.state[at..end],
                potential,
            );
            if low < 0 {
                for arc in at..end {
                    let reduced = arcs.cost[arc] + potential[arcs.tail[arc] as usize]
                        - potential[arcs.head[arc] as usize];
                    if i64::from(arcs.state[arc]) * reduced == low {
                        self.arcs[self.count] = arc;
                        self.count += 1;
                        break;
                    }
                }
            }
            seen += end - at;
            at = end;
        }
        self.look = at;
    }

    /// Take the best arc off the list, with all that may not enter any more.
    fn best(&mut self, arcs: &Arcs<'_>, tree: &Tree<'_>) -> Option<usize> {
        let price = |node: i32| {
            tree.potential[tree.anchor[node as usize] as usize] + tree.offset[node as usize]
        };
        let (mut best, mut lowest) = (None, 0);
        let mut at = 0;
        while at < self.count {
            let arc = self.arcs[at];
            let reduced = i64::from(arcs.state[arc])
                * (arcs.cost[arc] + price(arcs.tail[arc]) - price(arcs.head[arc]));
            if reduced >= 0 {
                self.count -= 1;
                self.arcs[at] = self.arcs[self.count];
                continue;
            }
            if reduced < lowest {
                (best, lowest) = (Some(at), reduced);
            }
            at += 1;
        }
        let Some(best) = best else {
            self.count = 0;
            return None;
        };
        self.count -= 1;
        let arc = self.arcs[best];
        self.arcs[best] = self.arcs[self.count];
        Some(arc)
    }
}

/// Pivot among the first `count` arcs until none can enter, at most `most` times; return the number of pivots.
///
/// `None` when the arrays are too short for the arcs.
pub fn pivot(arcs: &mut Arcs<'_>, tree: &mut Tree<'_>, count: usize, most: usize) -> Option<usize> {
    if !arcs.is_whole(count) {
        return None;
    }
    let potential = vec![0; tree.parent.len()];
    let mut list = List {
        arcs: [0; LIST],
        count: 0,
        look: 0,
        potential,
    };
    let mut stack = Vec::new();
    let mut pivots = 0;
    while pivots < most {
        let Some(entering) = list.best(arcs, tree) else {
            list.fill(arcs, tree, count);
            if list.count == 0 {
                return Some(pivots);
            }
            continue;
        };
        pivots += 1;
        let was_lower = arcs.state[entering] == LOWER;
        let (tail, head) = (arcs.tail[entering] as usize, arcs.head[entering] as usize);
        let (source, target) = if was_lower {
            (tail, head)
        } else {
            (head, tail)
        };
        tree.settle(source);
        tree.settle(target);
        let top = top_of(tree, source, target);
        // Flow goes source → target → top → source; who blocks last?
        let mut delta = arcs.cap[entering];
        let mut leaving = None;
        let mut node = source;
        while node != top {
            let flow = tree.flow[node];
            let room = if tree.up[node] != 0 {
                flow
            } else {
                arcs.cap[tree.arc[node] as usize] - flow
            };
            if room < delta {
                (delta, leaving) = (room, Some((node, source)));
            }
            node = tree.parent[node] as usize;
        }
        node = target;
        while node != top {
            let flow = tree.flow[node];
            let room = if tree.up[node] != 0 {
                arcs.cap[tree.arc[node] as usize] - flow
            } else {
                flow
            };
            if room <= delta {
                (delta, leaving) = (room, Some((node, target)));
            }
            node = tree.parent[node] as usize;
        }
        if delta > 0 {
            for (from, sign) in [(source, -delta), (target, delta)] {
                node = from;
                while node != top {
                    tree.flow[node] += if tree.up[node] != 0 { sign } else { -sign };
                    node = tree.parent[node] as usize;
                }
            }
        }
        match leaving {
            Some((leaving, inner)) => {
                exchange(arcs, tree, entering, delta, leaving, inner, &mut stack);
            }
            // The entering arc itself goes from one bound to the other.
            None => arcs.state[entering] = -arcs.state[entering],
        }
    }
    Some(most)
}

/// Return the node at which the ways from two nodes to the root meet.
fn top_of(tree: &Tree<'_>, mut a: usize, mut b: usize) -> usize {
    while a != b {
        if tree.depth[a] >= tree.depth[b] {
            a = tree.parent[a] as usize;
        } else {
            b = tree.parent[b] as usize;
        }
    }
    a
}

/// Hang the subtree of node `leaving` by `entering`, whose end inside the subtree is `inner`.
fn exchange(
    arcs: &mut Arcs<'_>,
    tree: &mut Tree<'_>,
    entering: usize,
    delta: i64,
    leaving: usize,
    inner: usize,
    stack: &mut Vec<i32>,
) {
    let (tail, head) = (arcs.tail[entering] as usize, arcs.head[entering] as usize);
    let is_up = tail == inner;
    let outer = if is_up { head } else { tail };
    let reduced = arcs.cost[entering] + tree.potential[tail] - tree.potential[head];
    let change = if is_up { -reduced } else { reduced };
    let was_lower = arcs.state[entering] == LOWER;
    arcs.state[tree.arc[leaving] as usize] = if tree.flow[leaving] == 0 {
        LOWER
    } else {
        UPPER
    };
    arcs.state[entering] = TREE;
    let mut node = inner;
    let (mut parent, mut arc, mut up) = (outer, entering as i32, i8::from(is_up));
    let mut flow = if was_lower {
        delta
    } else {
        arcs.cap[entering] - delta
    };
    let mut old_parent;
    loop {
        old_parent = tree.parent[node] as usize;
        let (old_arc, old_up, old_flow) = (tree.arc[node], tree.up[node], tree.flow[node]);
        tree.unhang(node);
        tree.hang(node, parent, arc, up, flow);
        if node == leaving {
            break;
        }
        (parent, arc, up, flow) = (node, old_arc, 1 - old_up, old_flow);
        node = old_parent;
    }
    for each in [leaving, inner, outer, old_parent] {
        tree.anchor(arcs, each);
    }
    if tree.children[inner] > 0 {
        tree.shift(inner, change, stack);
    }
}
