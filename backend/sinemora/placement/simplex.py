"""Network simplex on flat arrays, compiled: pivots of a minimum-cost flow from any basis, cold or warm.

The basis is strongly feasible (Cunningham 1976): from every node some flow can reach the root, so the pivots that move
nothing cannot go round for ever. The best arcs of some blocks are listed and the best of the list enters, until none of
it may; the leaving arc is the last that blocks, seen from the top of the cycle. Sign of a reduced cost: cost +
potential of the tail − potential of the head, 0 on the tree.
"""

import numpy as np

from sinemora.compiled import compiled
from sinemora.placement.spanning_tree import (
    LOWER,
    TREE,
    UPPER,
    Arcs,
    Int8s,
    Int32s,
    Int64s,
    Tree,
    anchor,
    hang,
    settle,
    shift,
    unhang,
)

_BLOCK, _LIST = 128, 64
"""Arcs of which only the best is looked at closely, and how many such arcs are listed at a time."""


@compiled
def _lowest(tail: Int32s, head: Int32s, cost: Int64s, state: Int8s, potential: Int64s) -> int:
    """Return the lowest reduced cost of a block of arcs, those at their upper bound with the sign turned; at most 0.

    A loop of its own over slices, so that the compiler makes vector instructions of it: four times as fast.
    """
    low = np.int64(0)
    for at in range(len(tail)):
        low = min(low, np.int64(state[at]) * (cost[at] + potential[tail[at]] - potential[head[at]]))
    return int(low)


@compiled
def _eligible(arcs: Arcs, tree: Tree, count: int, start: int, potential: Int64s, listed: Int64s) -> tuple[int, int]:
    """List the best arc of each block that has one that may enter, from `start` on, until the list is full or all seen.

    (How many there are, where to look next.) `potential` is room for all nodes'.
    """
    for node in range(len(potential)):
        potential[node] = tree.potential[tree.anchor[node]] + tree.offset[node]
    found, seen, at = 0, 0, start
    while seen < count and found < len(listed):
        if at >= count:
            at = 0
        end = min(count, at + _BLOCK)
        low = _lowest(arcs.tail[at:end], arcs.head[at:end], arcs.cost[at:end], arcs.state[at:end], potential)
        if low < 0:
            for arc in range(at, end):
                reduced = arcs.cost[arc] + potential[arcs.tail[arc]] - potential[arcs.head[arc]]
                if arcs.state[arc] * reduced == low:
                    listed[found] = arc
                    found += 1
                    break
        seen += end - at
        at = end
    return found, at


@compiled
def _best(arcs: Arcs, tree: Tree, listed: Int64s, count: int) -> tuple[int, int]:
    """Take the best of the first `count` arcs off the list, with all that may not enter any more: (arc or −1, left)."""
    potential, base, offset = tree.potential, tree.anchor, tree.offset
    best, lowest = -1, 0
    at = 0
    while at < count:
        arc = listed[at]
        tail, head = arcs.tail[arc], arcs.head[arc]
        price = potential[base[tail]] + offset[tail] - potential[base[head]] - offset[head]
        reduced = arcs.state[arc] * (arcs.cost[arc] + price)
        if reduced >= 0:
            count -= 1
            listed[at] = listed[count]
            continue
        if reduced < lowest:
            best, lowest = at, reduced
        at += 1
    if best < 0:
        return -1, 0
    arc = listed[best]
    listed[best] = listed[count - 1]
    return arc, count - 1


@compiled
def pivot(arcs: Arcs, tree: Tree, count: int, most: int) -> int:
    """Pivot among the first `count` arcs until none can enter, at most `most` times; how many it took."""
    parent, flow, up, depth = tree.parent, tree.flow, tree.up, tree.depth
    look = left = 0
    stack = np.empty(len(parent), np.int32)
    potential = np.empty(len(parent), np.int64)
    listed = np.empty(_LIST, np.int64)
    pivots = 0
    while pivots < most:
        entering, left = _best(arcs, tree, listed, left)
        if entering < 0:
            left, look = _eligible(arcs, tree, count, look, potential, listed)
            if left == 0:
                return pivots
            continue
        pivots += 1
        was_lower = arcs.state[entering] == LOWER
        source = arcs.tail[entering] if was_lower else arcs.head[entering]
        target = arcs.head[entering] if was_lower else arcs.tail[entering]
        settle(tree, source)
        settle(tree, target)
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
        unhang(tree, node)
        hang(tree, node, new_parent, new_arc, new_up, new_flow)
        if node == leaving:
            break
        new_parent, new_arc, new_up, new_flow = node, old_arc, 1 - old_up, old_flow
        node = old_parent
    anchor(arcs, tree, leaving)
    anchor(arcs, tree, inner)
    anchor(arcs, tree, outer)
    anchor(arcs, tree, old_parent)
    if tree.children[inner] > 0:
        shift(tree, inner, change, stack)
