"""Basis of a network simplex: a spanning tree on flat arrays, with potentials. The native module changes the tree."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]

LOWER, TREE, UPPER = 1, 0, -1
UNLIMITED = 1 << 40


class Arcs(NamedTuple):
    """Arcs by number; arrays may have spare capacity."""

    tail: Int32s
    head: Int32s
    cost: Int64s
    cap: Int64s
    state: Int8s
    """LOWER: no flow, UPPER: full, TREE: the tree stores the flow."""


class Tree(NamedTuple):
    """The basis by node: the arc to the parent, its flow, and potentials.

    Most nodes are leaves. A leaf stores its potential relative to its parent, so a pivot that reattaches a subtree
    updates only nodes with children.
    """

    parent: Int32s
    arc: Int32s
    up: Int8s
    """1: the arc leads from the node to its parent, 0: from the parent."""
    flow: Int64s
    children: Int32s
    """Their number."""
    anchor: Int32s
    """The node itself if it has children, else its parent."""
    offset: Int64s
    """Potential minus that of the anchor."""
    depth: Int32s
    """Only valid for nodes with children, like `potential`."""
    potential: Int64s
    first: Int32s
    """Children with children, as doubly linked lists."""
    after: Int32s
    before: Int32s


def no_arcs(room: int) -> Arcs:
    """Return arrays for `room` arcs."""
    return Arcs(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int8),
    )


def grown(old: Arcs, count: int, room: int) -> Arcs:
    """Return arrays for `room` arcs with the first `count` of `old`."""
    new = no_arcs(room)
    new.tail[:count], new.head[:count] = old.tail[:count], old.head[:count]
    new.cost[:count], new.cap[:count] = old.cost[:count], old.cap[:count]
    new.state[:count] = old.state[:count]
    return new


def no_tree(nodes: int) -> Tree:
    """Return nodes without parents."""

    def no_node() -> Int32s:
        return np.full(nodes, -1, np.int32)

    def nothing() -> Int64s:
        return np.zeros(nodes, np.int64)

    return Tree(
        parent=no_node(),
        arc=no_node(),
        up=np.zeros(nodes, np.int8),
        flow=nothing(),
        children=np.zeros(nodes, np.int32),
        anchor=np.arange(nodes, dtype=np.int32),
        offset=nothing(),
        depth=np.zeros(nodes, np.int32),
        potential=nothing(),
        first=no_node(),
        after=no_node(),
        before=no_node(),
    )


def potentials(tree: Tree) -> Int64s:
    """Return the potential of every node."""
    potential: Int64s = tree.potential[tree.anchor] + tree.offset
    return potential


def stand_in(arcs: Arcs, tree: Tree, heads: int, own: Int64s) -> None:
    """Move the flow of parallel arcs to the arcs `own`, which carry none; their heads are below `heads`.

    On the tree they replace the parallel arc. A full arc may do so only if it leads towards the root, else the basis
    would lose strong feasibility.
    """
    node = np.flatnonzero(tree.parent >= 0)
    keys = arcs.tail[tree.arc[node]].astype(np.int64) * heads + arcs.head[tree.arc[node]]
    order = np.argsort(keys)
    pair = arcs.tail[own].astype(np.int64) * heads + arcs.head[own]
    at = np.minimum(np.searchsorted(keys, pair, sorter=order), len(keys) - 1)
    same = keys[order[at]] == pair
    node, own, most = node[order[at[same]]], own[same], arcs.cap[own[same]]
    flow = tree.flow[node]
    full = (flow > most) | ((flow == most) & (tree.up[node] == 1))
    arcs.state[own[full]] = UPPER
    tree.flow[node[full]] -= most[full]
    part = ~full & (flow > 0)
    arcs.state[tree.arc[node[part]]] = LOWER
    arcs.state[own[part]] = TREE
    tree.arc[node[part]] = own[part]
