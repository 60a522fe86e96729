"""Annealing of roles on VMs by swaps of two roles, or of a role and a spare VM. Compiled; `graph` asks for it."""

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled
from sinemora.placement.problem import Ints


@compiled
def _links(
    places: Ints, role: int, vm: int, skip: int, costs: npt.NDArray[np.float64], index: Ints, other: Ints,
    weight: npt.NDArray[np.float64],
) -> float:  # fmt: skip
    total = 0.0
    for at in range(index[role], index[role + 1]):
        if other[at] != skip:
            total += weight[at] * costs[vm, places[other[at]]]
    return total


@compiled
def anneal_sum(
    places: Ints, roles: int, costs: npt.NDArray[np.float64], index: Ints, other: Ints,
    weight: npt.NDArray[np.float64], proposals: int, seed: int,
) -> Ints:  # fmt: skip
    """Best places found for the first `roles` of `places`, the others being spare VMs."""
    np.random.seed(seed)
    vms = len(places)
    now, best = 0.0, -np.inf
    chosen = places.copy()
    # The temperature starts at the mean change of a swap and ends where none is accepted.
    scale = 0.0
    for phase in range(2):
        steps = 1000 if phase == 0 else proposals
        for step in range(steps):
            if phase == 1 and step == steps // 2:
                best = now
                chosen[:] = places
            a = np.random.randint(0, roles)
            b = np.random.randint(0, vms)
            if a == b:
                continue
            at_a, at_b = places[a], places[b]
            before = _links(places, a, at_a, b, costs, index, other, weight)
            after = _links(places, a, at_b, b, costs, index, other, weight)
            if b < roles:
                before += _links(places, b, at_b, a, costs, index, other, weight)
                after += _links(places, b, at_a, a, costs, index, other, weight)
            change = after - before
            if phase == 0:
                scale += abs(change) / steps
                continue
            temperature = scale * (1e-4 ** (step / steps))
            if change <= 0 or np.random.random() < np.exp(-change / max(temperature, 1e-30)):
                places[a], places[b] = at_b, at_a
                now += change
                # The first half wanders: what it passes on the way is not worth a copy each time.
                if now < best - 1e-9:
                    best = now
                    chosen[:] = places
    return chosen[:roles].copy()


@compiled
def longest_path(order: Ints, source: Ints, target: Ints, link: Ints, reach: Ints) -> int:
    """The dearest way along edges in topological `order`; `reach` is room for all roles."""
    reach[:] = 0
    longest = 0
    for edge in order:
        length = reach[source[edge]] + link[edge]
        if length > reach[target[edge]]:
            reach[target[edge]] = length
            longest = max(longest, length)
    return longest


@compiled
def anneal_path(
    places: Ints, roles: int, costs: npt.NDArray[np.int32], order: Ints, source: Ints, target: Ints, proposals: int,
    seed: int,
) -> Ints:  # fmt: skip
    """The same for the longest path."""
    np.random.seed(seed)
    reach = np.zeros(roles, np.int64)
    link = np.empty(len(source), np.int64)
    for edge in range(len(source)):
        link[edge] = costs[places[source[edge]], places[target[edge]]]
    now = longest_path(order, source, target, link, reach)
    best, chosen = now, places.copy()
    scale = max(1.0, now / 10)
    for step in range(proposals):
        a, b = np.random.randint(0, roles), np.random.randint(0, len(places))
        if a == b:
            continue
        places[a], places[b] = places[b], places[a]
        for edge in range(len(source)):
            link[edge] = costs[places[source[edge]], places[target[edge]]]
        value = longest_path(order, source, target, link, reach)
        if value <= now or np.random.random() < np.exp((now - value) / (scale * 1e-3 ** (step / proposals))):
            now = value
            if now < best:
                best = now
                chosen[:] = places
        else:
            places[a], places[b] = places[b], places[a]
    return chosen[:roles].copy()
