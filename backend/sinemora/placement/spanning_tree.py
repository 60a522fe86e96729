"""The basis of a network simplex, a tree on flat arrays: potentials, and hanging parts of it elsewhere. Compiled."""

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
    """The basis by node: the arc to the parent, its flow, and potentials.

    Most nodes have no children. Those hold no potential of their own but how far it is from their parent's, so that a
    pivot, which hangs a part of the tree elsewhere, passes them by: it walks the nodes with children alone.
    """

    parent: Int32s
    arc: Int32s
    up: Int8s
    """1: the arc leads from the node to its parent, 0: from the parent."""
    flow: Int64s
    children: Int32s
    """How many there are."""
    anchor: Int32s
    """The node itself where it has children, else its parent."""
    offset: Int64s
    """Potential less that of the anchor."""
    depth: Int32s
    """Of nodes with children; so is `potential`."""
    potential: Int64s
    first: Int32s
    """Children that have children, as doubly linked lists."""
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


def grown(old: Arcs, count: int, room: int) -> Arcs:
    """Arrays of `room` arcs holding the first `count` of `old`."""
    new = no_arcs(room)
    new.tail[:count], new.head[:count] = old.tail[:count], old.head[:count]
    new.cost[:count], new.cap[:count] = old.cost[:count], old.cap[:count]
    new.state[:count] = old.state[:count]
    return new


def no_tree(nodes: int) -> Tree:
    """Nodes that hang nowhere yet."""

    def nobody() -> Int32s:
        return np.full(nodes, -1, np.int32)

    def nothing() -> Int64s:
        return np.zeros(nodes, np.int64)

    return Tree(
        parent=nobody(),
        arc=nobody(),
        up=np.zeros(nodes, np.int8),
        flow=nothing(),
        children=np.zeros(nodes, np.int32),
        anchor=np.arange(nodes, dtype=np.int32),
        offset=nothing(),
        depth=np.zeros(nodes, np.int32),
        potential=nothing(),
        first=nobody(),
        after=nobody(),
        before=nobody(),
    )


def potentials(tree: Tree) -> Int64s:
    """Return the potential of every node."""
    found: Int64s = tree.potential[tree.anchor] + tree.offset
    return found


@compiled
def _list(tree: Tree, node: int) -> None:
    """Enter a node among those of its parent's children that have children."""
    parent = tree.parent[node]
    if parent < 0:
        return
    tree.before[node] = -1
    tree.after[node] = tree.first[parent]
    if tree.first[parent] >= 0:
        tree.before[tree.first[parent]] = node
    tree.first[parent] = node


@compiled
def _strike(tree: Tree, node: int) -> None:
    parent = tree.parent[node]
    if parent < 0:
        return
    if tree.before[node] >= 0:
        tree.after[tree.before[node]] = tree.after[node]
    else:
        tree.first[parent] = tree.after[node]
    if tree.after[node] >= 0:
        tree.before[tree.after[node]] = tree.before[node]


@compiled
def hang(tree: Tree, node: int, parent: int, arc: int, up: int, flow: int) -> None:
    """Make `node` a child of `parent` through `arc`. Depths and potentials are left to `walk`."""
    tree.parent[node] = parent
    tree.arc[node] = arc
    tree.up[node] = up
    tree.flow[node] = flow
    if tree.children[node] > 0:
        _list(tree, node)
    tree.children[parent] += 1
    if tree.children[parent] == 1:
        _list(tree, parent)


@compiled
def hang_all(tree: Tree, nodes: Int64s, parent: int, arcs: Int64s, up: int, flows: Int64s) -> None:
    """`hang` for many nodes under one parent."""
    for k in range(len(nodes)):
        hang(tree, nodes[k], parent, arcs[k], up, flows[k])


@compiled
def unhang(tree: Tree, node: int) -> None:
    """Take `node` from its parent."""
    if tree.children[node] > 0:
        _strike(tree, node)
    parent = tree.parent[node]
    tree.children[parent] -= 1
    if tree.children[parent] == 0:
        _strike(tree, parent)


@compiled
def anchor(arcs: Arcs, tree: Tree, node: int) -> None:
    """Where a node's potential stands, from whether it has children."""
    parent = tree.parent[node]
    if tree.children[node] > 0 or parent < 0:
        tree.anchor[node] = node
        tree.offset[node] = 0
    else:
        tree.anchor[node] = parent
        cost = arcs.cost[tree.arc[node]]
        tree.offset[node] = -cost if tree.up[node] else cost


@compiled
def settle(tree: Tree, node: int) -> None:
    """Write down depth and potential of a node that may be about to have a child."""
    if tree.children[node] == 0:
        tree.depth[node] = tree.depth[tree.parent[node]] + 1
        tree.potential[node] = tree.potential[tree.anchor[node]] + tree.offset[node]


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
            break
        node = tree.after[node]
    for each in range(len(tree.parent)):
        anchor(arcs, tree, each)


@compiled
def shift(tree: Tree, root: int, change: int, stack: Int32s) -> None:
    """Add `change` to the potentials under `root` and renew depths. `stack` is room for nodes with children."""
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


def stand_in(arcs: Arcs, tree: Tree, heads: int, own: Int64s) -> None:
    """Let arcs `own`, which carry nothing, take over the flow of the arcs beside them; their heads are below `heads`.

    On the tree they stand where the other arc was; a full one may only do so where it leads to the root's side, else
    the basis were not strongly feasible any more.
    """
    node = np.flatnonzero(tree.parent >= 0)
    keys = arcs.tail[tree.arc[node]].astype(np.int64) * heads + arcs.head[tree.arc[node]]
    order = np.argsort(keys)
    wanted = arcs.tail[own].astype(np.int64) * heads + arcs.head[own]
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    same = keys[order[at]] == wanted
    node, own, most = node[order[at[same]]], own[same], arcs.cap[own[same]]
    flow = tree.flow[node]
    full = (flow > most) | ((flow == most) & (tree.up[node] == 1))
    arcs.state[own[full]] = UPPER
    tree.flow[node[full]] -= most[full]
    part = ~full & (flow > 0)
    arcs.state[tree.arc[node[part]]] = LOWER
    arcs.state[own[part]] = TREE
    tree.arc[node[part]] = own[part]
