//! A first plan for the network simplex: slots are filled in the order of their cost.

use super::tree::{Arcs, LOWER, TREE, Tree};

/// Give tasks that wait under `out` slots that are free under `free`, along the arcs `first..count`, cheapest first.
///
/// Each step hangs a machine that is now full under the job that fills it, or a job that waits no more under its last
/// machine, so the basis stays a strongly feasible tree. Potentials are left to `walk`. Return false when the arrays are
/// too short for the arcs.
pub fn fill_cheapest(
    arcs: &mut Arcs<'_>,
    tree: &mut Tree<'_>,
    first: usize,
    count: usize,
    free: usize,
    out: usize,
) -> bool {
    let nodes = tree.parent.len();
    if !arcs.is_whole(count) || free >= nodes || out >= nodes {
        return false;
    }
    let mut order: Vec<u32> = (first as u32..count as u32).collect();
    order.sort_by_key(|arc| arcs.cost[*arc as usize]);
    for arc in order {
        let at = arc as usize;
        let (job, machine) = (arcs.tail[at] as usize, arcs.head[at] as usize);
        if tree.parent[job] != out as i32 || tree.parent[machine] != free as i32 {
            continue;
        }
        let (tasks, slots) = (tree.flow[job], tree.flow[machine]);
        if tasks == 0 || slots == 0 {
            continue;
        }
        // A slot is filled by a task instead of the rest that FREE sends to OUT.
        let placed = tasks.min(slots);
        tree.flow[out] += placed;
        if slots <= tasks {
            arcs.state[tree.arc[machine] as usize] = LOWER;
            tree.unhang(machine);
            tree.hang(machine, job, arc as i32, 0, slots);
            tree.flow[job] -= slots;
        } else {
            arcs.state[tree.arc[job] as usize] = LOWER;
            tree.unhang(job);
            tree.hang(job, machine, arc as i32, 1, tasks);
            tree.flow[machine] -= tasks;
        }
        arcs.state[at] = TREE;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::tree::UPPER;
    use super::*;

    /// Two machines of two slots, jobs of three tasks and one: nodes 0, 1, OUT 2, FREE 3, jobs 4, 5.
    #[test]
    fn cheapest_slots_are_filled_first_and_the_tree_stays_whole() {
        let mut tail = [3, 3, 3, 4, 5, 4, 4, 5, 5];
        let mut head = [0, 1, 2, 2, 2, 0, 1, 0, 1];
        let mut cost = [0, 0, 0, 1000, 1000, 5, 7, 6, 9];
        let mut cap = [1 << 40; 9];
        let mut state = [TREE, TREE, TREE, TREE, TREE, LOWER, LOWER, LOWER, LOWER];
        let mut arcs = Arcs {
            tail: &mut tail,
            head: &mut head,
            cost: &mut cost,
            cap: &mut cap,
            state: &mut state,
        };
        let (mut parent, mut arc, mut up) = ([-1; 6], [-1; 6], [0; 6]);
        let (mut flow, mut children, mut anchor) = ([0; 6], [0; 6], [0, 1, 2, 3, 4, 5]);
        let (mut offset, mut depth, mut potential) = ([0; 6], [0; 6], [0; 6]);
        let (mut first, mut after, mut before) = ([-1; 6], [-1; 6], [-1; 6]);
        let mut tree = Tree {
            parent: &mut parent,
            arc: &mut arc,
            up: &mut up,
            flow: &mut flow,
            children: &mut children,
            anchor: &mut anchor,
            offset: &mut offset,
            depth: &mut depth,
            potential: &mut potential,
            first: &mut first,
            after: &mut after,
            before: &mut before,
        };
        for (node, at, slots) in [(0, 0, 2), (1, 1, 2), (2, 2, 1)] {
            tree.hang(node, 3, at, 0, slots);
        }
        tree.hang(4, 2, 3, 1, 3);
        tree.hang(5, 2, 4, 1, 1);
        assert!(fill_cheapest(&mut arcs, &mut tree, 5, 9, 3, 2));
        // The first machine is full of tasks of the first job, which ends on the second; the other job follows it there.
        assert_eq!(tree.parent[..], [4, 5, 3, -1, 1, 2]);
        assert_eq!(tree.flow[..], [2, 1, 5, 0, 1, 0]);
        assert_eq!(tree.children.iter().sum::<i32>(), 5);
        assert_eq!(
            arcs.state[..],
            [LOWER, LOWER, TREE, LOWER, TREE, TREE, TREE, LOWER, TREE]
        );
        assert!(!arcs.state.contains(&UPPER));
        assert!(!fill_cheapest(&mut arcs, &mut tree, 5, 10, 3, 2));
    }
}
