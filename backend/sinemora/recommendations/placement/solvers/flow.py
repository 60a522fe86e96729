"""Minimum-cost flow on an explicit network with OR-tools, and dual prices that prove optimality."""

from typing import NamedTuple

import numpy as np
from ortools.graph.python import min_cost_flow

from sinemora.recommendations.placement.problem import Ints


class FlowNetwork(NamedTuple):
    """Arcs by number and supply of each node (negative: demand). Supplies sum to 0."""

    tail: Ints
    head: Ints
    capacity: Ints
    cost: Ints
    supply: Ints


class FlowError(RuntimeError):
    """No flow carries all supply of the network."""


def solve(network: FlowNetwork) -> Ints:
    """Return the flow on every arc of a cheapest flow."""
    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(network.tail, network.head, network.capacity, network.cost)
    solver.set_nodes_supplies(np.arange(len(network.supply)), network.supply)
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise FlowError(f"flow solver failed: {status.name.lower().replace('_', ' ')}")
    return np.asarray(solver.flows(arcs), np.int64)


def cost(network: FlowNetwork, flow: Ints) -> int:
    return int((network.cost * flow).sum())


def potentials(network: FlowNetwork, flow: Ints) -> Ints:
    """Return node prices under which no residual arc of an optimal flow has a negative reduced cost.

    They are shortest distances in the residual network from a virtual source (Bellman-Ford). The solver returns flows
    only; the existence of finite distances proves that the flow is optimal.
    """
    forward = flow < network.capacity
    backward = flow > 0
    tail = np.concatenate([network.tail[forward], network.head[backward]])
    head = np.concatenate([network.head[forward], network.tail[backward]])
    length = np.concatenate([network.cost[forward], -network.cost[backward]])
    order = np.argsort(head, kind="stable")
    tail, head, length = tail[order], head[order], length[order]
    starts = np.flatnonzero(np.r_[True, head[1:] != head[:-1]]) if len(head) else np.zeros(0, np.int64)
    distance = np.zeros(len(network.supply), np.int64)
    for _ in range(len(network.supply) + 1):
        reached = np.minimum.reduceat(distance[tail] + length, starts) if len(starts) else np.zeros(0, np.int64)
        nodes = head[starts]
        better = reached < distance[nodes]
        if not better.any():
            return distance
        distance[nodes[better]] = reached[better]
    raise FlowError("flow not optimal: its residual network has a negative cycle")


def dual_value(network: FlowNetwork, potential: Ints) -> int:
    """Return the lower bound on the cost of any flow that the node prices prove."""
    reduced = network.cost + potential[network.tail] - potential[network.head]
    bound = (np.minimum(reduced, 0) * network.capacity).sum() - (potential * network.supply).sum()
    return int(bound)
