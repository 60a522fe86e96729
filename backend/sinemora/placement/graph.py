"""Policy `graph`: roles that talk to one another in any pattern, each on a VM of its own.

This is a quadratic assignment problem: beyond about ten roles nobody proves an optimum, so plans are called best found
and carry a bound. Stars are the exception: trying every VM as the hub and giving the leaves the cheapest of the rest is
exact. Everything else is annealed by swaps of two roles, or of a role and a spare VM, with a fixed number of proposals,
so that the same question has the same answer; for the longest link, CP-SAT then tightens the threshold.
"""

import time
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.placement.longest_link import tighten
from sinemora.placement.problem import Ints, ProblemError
from sinemora.placement.swaps import anneal_path, anneal_sum, longest_path

Costs = npt.NDArray[np.int32]
# A small graph freezes in the first valley: several short runs find more than a long one.
_FEW_ROLES, _STARTS = 20, 8


class Aim(StrEnum):
    """What a graph's plan minimises."""

    sum = "sum"
    """Cost of every edge times its weight."""
    longest_link = "longest_link"
    """Cost of the dearest edge."""
    longest_path = "longest_path"
    """Cost of the dearest way along edges from a role nobody calls."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Roles and what they cost one another on VMs."""

    roles: int
    source: Ints
    """Role at the start of each edge."""
    target: Ints
    weight: Ints
    """How much each edge counts, whole numbers above 0."""
    costs: Costs
    """Cost points of a link between two VMs, symmetric, shape (VMs, VMs)."""


@dataclass(frozen=True, slots=True, eq=False)
class GraphPlan:
    """VM of each role; `proven` says that `bound` was reached, else the plan is the best found."""

    vm: Ints
    cost: int
    bound: int
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether no assignment can be better."""
        return self.cost <= self.bound


def solve(
    graph: Graph, aim: Aim = Aim.sum, proposals: int = 10_000_000, seed: int = 0, tighten_s: float = 0.0
) -> GraphPlan:
    """Best VM of each role found in `proposals` swaps; CP-SAT spends up to `tighten_s` on a longest link."""
    started = time.perf_counter()
    check(graph)
    order = topological(graph) if aim is Aim.longest_path else np.zeros(0, np.int64)
    hub = _hub(graph)
    if aim is Aim.sum and hub is not None:
        vm = _star(graph, hub)
        cost = value(graph, vm, aim, order)
        return GraphPlan(vm, cost, cost, time.perf_counter() - started)
    starts = _STARTS if graph.roles <= _FEW_ROLES else 1
    tries = [_annealed(graph, aim, order, proposals // starts, seed + start) for start in range(starts)]
    found = min(tries, key=lambda vm: value(graph, vm, aim, order))
    cost = value(graph, found, aim, order)
    bound = lower_bound(graph, aim)
    if aim is Aim.longest_link and tighten_s > 0 and cost > bound:
        found, cost, bound = tighten(
            graph.roles, graph.source, graph.target, graph.costs, found, cost, bound, tighten_s
        )
    return GraphPlan(found, cost, bound, time.perf_counter() - started)


def check(graph: Graph) -> None:
    """Raise `ProblemError` for edges to roles that do not exist, loops, and too few VMs."""
    ends = np.concatenate([graph.source, graph.target])
    if ((ends < 0) | (ends >= graph.roles)).any():
        raise ProblemError("unknown_role", "edges", f"roles are 0 … {graph.roles - 1}")
    loops = graph.source == graph.target
    if loops.any():
        raise ProblemError("loop", f"edges[{int(loops.argmax())}]", "an edge joins two different roles")
    if len(graph.costs) < graph.roles:
        raise ProblemError("too_few_vms", "costs", f"{graph.roles} roles and {len(graph.costs)} VMs")
    if (graph.weight < 1).any():
        raise ProblemError("invalid_weight", "weight", "whole numbers of 1 or more")


def topological(graph: Graph) -> Ints:
    """Edges in an order in which every edge comes after those that lead to its source."""
    pending = np.bincount(graph.target, minlength=graph.roles)
    ready = np.flatnonzero(pending == 0).tolist()
    order: list[int] = []
    leaving: list[list[int]] = [[] for _ in range(graph.roles)]
    for edge, role in enumerate(graph.source.tolist()):
        leaving[role].append(edge)
    while ready:
        for edge in leaving[ready.pop()]:
            order.append(edge)
            role = int(graph.target[edge])
            pending[role] -= 1
            if pending[role] == 0:
                ready.append(role)
    if len(order) < len(graph.source):
        raise ProblemError("cyclic", "edges", "a longest path needs a graph without cycles")
    return np.array(order, np.int64)


def value(graph: Graph, vm: Ints, aim: Aim, order: Ints | None = None) -> int:
    """Cost of an assignment."""
    link = graph.costs[vm[graph.source], vm[graph.target]].astype(np.int64)
    if len(link) == 0:
        return 0
    if aim is Aim.sum:
        return int((link * graph.weight).sum())
    if aim is Aim.longest_link:
        return int(link.max())
    edges = topological(graph) if order is None else order
    return int(longest_path(edges, graph.source, graph.target, link, np.zeros(graph.roles, np.int64)))


def lower_bound(graph: Graph, aim: Aim) -> int:
    """A cost no assignment can go below: each role's links at best, from whichever VM suits it best."""
    if len(graph.source) == 0:
        return 0
    off = np.sort(np.where(np.eye(len(graph.costs), dtype=bool), 1 << 30, graph.costs), axis=1)
    if aim is not Aim.sum:
        degree = np.bincount(np.concatenate([graph.source, graph.target]), minlength=graph.roles)
        if aim is Aim.longest_link:  # some VM carries the role with most links, distinct peers each
            peers = max(len(set(_peers(graph, role))) for role in range(graph.roles))
            return int(off[:, peers - 1].min())
        return int(off[:, 0].min()) if degree.any() else 0
    total = 0.0
    for role in range(graph.roles):
        weights = np.sort(_weights(graph, role))[::-1]
        if len(weights):
            total += float((off[:, : len(weights)] @ weights).min())
    return int(np.ceil(total / 2))


def _peers(graph: Graph, role: int) -> list[int]:
    return [*graph.target[graph.source == role].tolist(), *graph.source[graph.target == role].tolist()]


def _weights(graph: Graph, role: int) -> Ints:
    """Weight towards each peer of a role, edges between the same two added up."""
    mine = np.concatenate([graph.weight[graph.source == role], graph.weight[graph.target == role]])
    peers = np.array(_peers(graph, role), np.int64)
    return np.bincount(peers, mine).astype(np.int64)[np.unique(peers)] if len(peers) else peers


def _hub(graph: Graph) -> int | None:
    """The role that is at one end of every edge, when there is one."""
    if len(graph.source) == 0:
        return 0
    for hub in (int(graph.source[0]), int(graph.target[0])):
        if ((graph.source == hub) | (graph.target == hub)).all():
            return hub
    return None


def _star(graph: Graph, hub: int) -> Ints:
    """Exact: each VM as the hub, the leaves assigned to the rest at least cost."""
    weight = np.zeros(graph.roles, np.int64)
    ends = np.where(graph.source == hub, graph.target, graph.source)
    np.add.at(weight, ends, graph.weight)
    leaves = np.flatnonzero(np.arange(graph.roles) != hub)
    best, chosen = 1 << 60, np.zeros(graph.roles, np.int64)
    heavy = leaves[np.argsort(-weight[leaves], kind="stable")]
    for vm in range(len(graph.costs)):
        others = np.flatnonzero(np.arange(len(graph.costs)) != vm)
        # Costs are products of weight and link: the heaviest leaf takes the cheapest link (rearrangement).
        near = others[np.argsort(graph.costs[vm, others], kind="stable")][: len(heavy)]
        cost = int((graph.costs[vm, near].astype(np.int64) * weight[heavy]).sum())
        if cost < best:
            best = cost
            chosen[hub] = vm
            chosen[heavy] = near
    return chosen


def _annealed(graph: Graph, aim: Aim, order: Ints, proposals: int, seed: int) -> Ints:
    places = np.random.default_rng(seed).permutation(len(graph.costs)).astype(np.int64)
    index, other, weight = _adjacency(graph)
    if aim is Aim.longest_path:
        return anneal_path(places, graph.roles, graph.costs, order, graph.source, graph.target, proposals // 20, seed)
    costs = graph.costs.astype(np.float64)
    if aim is Aim.longest_link:
        costs = (costs / max(1.0, float(costs.max()))) ** 8
        weight = np.ones_like(weight)
    return anneal_sum(places, graph.roles, costs, index, other, weight.astype(np.float64), proposals, seed)


def _adjacency(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """(where each role's neighbours start, neighbours, weights)."""
    role = np.concatenate([graph.source, graph.target])
    other = np.concatenate([graph.target, graph.source])
    weight = np.concatenate([graph.weight, graph.weight])
    order = np.argsort(role, kind="stable")
    index = np.concatenate([[0], np.cumsum(np.bincount(role, minlength=graph.roles))])
    return index.astype(np.int64), other[order].astype(np.int64), weight[order].astype(np.int64)
