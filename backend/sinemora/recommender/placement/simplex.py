"""Network simplex on flat arrays, compiled: pivots of a minimum-cost flow from any basis, cold or warm.

The tree is a strongly feasible basis (Cunningham 1976): from every node some flow can reach the root, so the pivots
that move nothing cannot go round for ever. Arcs enter by block search; the leaving arc is the last that blocks, seen
from the top of the cycle. Sign of a reduced cost: cost + potential of the tail − potential of the head, 0 on the tree.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]

LOWER, TREE, UPPER = 1, 0, -1
UNLIMITED = 1 << 40


class Arcs(NamedTuple):
    """Arcs by number; arrays may be longer than there are arcs."""

    tail: Int32s
    head: Int32s
    cost: Int64s
    cap: Int64s
    state: Int8s
    """LOWER: no flow, UPPER: full, TREE: the flow stands with the tree."""


class Tree(NamedTuple):
    """The basis by node: the arc to the parent, its flow, potentials, and children as doubly linked lists."""

    parent: Int32s
    arc: Int32s
    up: Int8s
    """1: the arc leads from the node to its parent, 0: from the parent."""
    flow: Int64s
    depth: Int32s
    potential: Int64s
    first: Int32s
    after: Int32s
    before: Int32s


def no_arcs(room: int) -> Arcs:
    """Arrays for `room` arcs."""
    return Arcs(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int8),
    )


def no_tree(nodes: int) -> Tree:
    """Nodes that hang nowhere yet."""

    def nobody() -> Int32s:
        return np.full(nodes, -1, np.int32)

    return Tree(
        nobody(),
        nobody(),
        np.zeros(nodes, np.int8),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int64),
        nobody(),
        nobody(),
        nobody(),
    )


@compiled
def hang(tree: Tree, node: int, parent: int, arc: int, up: int, flow: int) -> None:
    """Make `node` a child of `parent` through `arc`. Depth and potential are left to `walk`."""
    tree.parent[node] = parent
    tree.arc[node] = arc
    tree.up[node] = up
    tree.flow[node] = flow
    tree.before[node] = -1
    tree.after[node] = tree.first[parent]
    if tree.first[parent] >= 0:
        tree.before[tree.first[parent]] = node
    tree.first[parent] = node


@compiled
def hang_all(tree: Tree, nodes: Int64s, parent: int, arcs: Int64s, up: int, flows: Int64s) -> None:
    """`hang` for many nodes under one parent."""
    for k in range(len(nodes)):
        hang(tree, nodes[k], parent, arcs[k], up, flows[k])


@compiled
def _unhang(tree: Tree, node: int) -> None:
    if tree.before[node] >= 0:
        tree.after[tree.before[node]] = tree.after[node]
    else:
        tree.first[tree.parent[node]] = tree.after[node]
    if tree.after[node] >= 0:
        tree.before[tree.after[node]] = tree.before[node]


@compiled
def walk(arcs: Arcs, tree: Tree, root: int) -> None:
    """Depths and potentials of everything under `root` from the costs of the tree's arcs."""
    node = root
    while True:
        if node != root:
            parent = tree.parent[node]
            tree.depth[node] = tree.depth[parent] + 1
            cost = arcs.cost[tree.arc[node]]
            tree.potential[node] = tree.potential[parent] + (-cost if tree.up[node] else cost)
        if tree.first[node] >= 0:
            node = tree.first[node]
            continue
        while node != root and tree.after[node] < 0:
            node = tree.parent[node]
        if node == root:
            return
        node = tree.after[node]


@compiled
def _shift(tree: Tree, root: int, change: int, stack: Int32s) -> None:
    """Add `change` to the potentials under `root` and renew depths. `stack` is room for nodes with children.

    Most nodes have no children and are done where they stand in their parent's list: here a pivot spends its time.
    """
    first, after, depth, potential = tree.first, tree.after, tree.depth, tree.potential
    depth[root] = depth[tree.parent[root]] + 1
    potential[root] += change
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        below = depth[node] + 1
        node = first[node]
        while node >= 0:
            depth[node] = below
            potential[node] += change
            if first[node] >= 0:
                stack[top] = node
                top += 1
            node = after[node]


@compiled
def _entering(arcs: Arcs, potential: Int64s, count: int, start: int, block: int) -> tuple[int, int]:
    """(best arc of the first block that has one, where to look next); arc −1 when none anywhere can enter."""
    best, worst = -1, 0
    left = block
    at = start
    for _ in range(count):
        state = arcs.state[at]
        if state != TREE:
            reduced = state * (arcs.cost[at] + potential[arcs.tail[at]] - potential[arcs.head[at]])
            if reduced < worst:
                worst, best = reduced, at
        at += 1
        if at == count:
            at = 0
        left -= 1
        if left == 0:
            if best >= 0:
                return best, at
            left = block
    return best, at


@compiled
def pivot(arcs: Arcs, tree: Tree, count: int, most: int) -> int:
    """Pivot among the first `count` arcs until none can enter, at most `most` times; how many it took."""
    parent, flow, up, depth = tree.parent, tree.flow, tree.up, tree.depth
    block = max(20, int(np.sqrt(count)))
    look = 0
    stack = np.empty(len(parent), np.int32)
    for pivots in range(most):
        entering, look = _entering(arcs, tree.potential, count, look, block)
        if entering < 0:
            return pivots
        was_lower = arcs.state[entering] == LOWER
        source = arcs.tail[entering] if was_lower else arcs.head[entering]
        target = arcs.head[entering] if was_lower else arcs.tail[entering]
        # The top of the cycle.
        a, b = source, target
        while a != b:
            if depth[a] >= depth[b]:
                a = parent[a]
            else:
                b = parent[b]
        top = a
        # Flow goes source → target → top → source; who blocks last?
        delta = arcs.cap[entering]
        leaving, side = -1, 0
        node = source
        while node != top:
            room = flow[node] if up[node] else arcs.cap[tree.arc[node]] - flow[node]
            if room < delta:
                delta, leaving, side = room, node, 1
            node = parent[node]
        node = target
        while node != top:
            room = arcs.cap[tree.arc[node]] - flow[node] if up[node] else flow[node]
            if room <= delta:
                delta, leaving, side = room, node, 2
            node = parent[node]
        if delta > 0:
            node = source
            while node != top:
                flow[node] += -delta if up[node] else delta
                node = parent[node]
            node = target
            while node != top:
                flow[node] += delta if up[node] else -delta
                node = parent[node]
        if leaving < 0:  # the entering arc itself goes from one bound to the other
            arcs.state[entering] = -arcs.state[entering]
            continue
        _exchange(arcs, tree, entering, was_lower, delta, leaving, source if side == 1 else target, stack)
    return most


@compiled
def _exchange(
    arcs: Arcs, tree: Tree, entering: int, was_lower: bool, delta: int, leaving: int, inner: int, stack: Int32s
) -> None:
    """Hang the subtree of node `leaving` by `entering`, whose end inside the subtree is `inner`."""
    outer = arcs.head[entering] if arcs.tail[entering] == inner else arcs.tail[entering]
    reduced = arcs.cost[entering] + tree.potential[arcs.tail[entering]] - tree.potential[arcs.head[entering]]
    change = -reduced if arcs.tail[entering] == inner else reduced
    arcs.state[tree.arc[leaving]] = LOWER if tree.flow[leaving] == 0 else UPPER
    arcs.state[entering] = TREE
    node, new_parent, new_arc = inner, outer, entering
    new_up = 1 if arcs.tail[entering] == inner else 0
    new_flow = delta if was_lower else arcs.cap[entering] - delta
    while True:
        old_parent, old_arc, old_up, old_flow = tree.parent[node], tree.arc[node], tree.up[node], tree.flow[node]
        _unhang(tree, node)
        hang(tree, node, new_parent, new_arc, new_up, new_flow)
        if node == leaving:
            break
        new_parent, new_arc, new_up, new_flow = node, old_arc, 1 - old_up, old_flow
        node = old_parent
    _shift(tree, inner, change, stack)
