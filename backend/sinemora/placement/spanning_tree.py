"""The basis of a network simplex, a tree on flat arrays: potentials. The native module hangs parts of it elsewhere."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
