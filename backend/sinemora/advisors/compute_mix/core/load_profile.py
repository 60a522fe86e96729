"""Cheapest split through the hours of a profile, when a rented VM is paid for a minimum term.

A mixed-integer program: VMs in use, VMs newly rented and load to serverless of each hour. The profile repeats, so a
term may continue past its last hour; a term of its length or more keeps one number of VMs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sinemora.advisors.compute_mix.core.split import Prices, cheapest, vms_for

HOURS_MAX = 168


class Infeasible(Exception):
    """No split keeps the target: a VM has no capacity and serverless misses it."""


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour: load (jobs/s), rented VMs, load to serverless (jobs/s), cost."""

    load_per_s: float
    vms: int
    serverless_per_s: float
    cost: float


def through_hours(loads_per_s: Sequence[float], prices: Prices, term_h: int) -> list[Hour]:
    """Return the cheapest split of each hour; a VM is rented for at least `term_h` hours. Raises `Infeasible`."""
    hours = len(loads_per_s)
    if prices.capacity_per_s <= 0:
        if prices.job_price is None:
            raise Infeasible
        return [_hour(load, 0, prices) for load in loads_per_s]
    if term_h >= hours:
        return _constant(loads_per_s, prices)
    if term_h == 1:  # no hour binds another
        return [_hour(load, cheapest(load, prices).vms, prices) for load in loads_per_s]
    most = max(vms_for(load, prices.capacity_per_s) for load in loads_per_s)
    # Columns: VMs in use, VMs newly rented, jobs/s to serverless; one of each for every hour.
    used, begun, spilled = 0, hours, 2 * hours
    rows = scipy.sparse.lil_array((3 * hours, 3 * hours))
    low = np.zeros(3 * hours)
    for at in range(hours):
        # The load is served.
        rows[at, used + at] = prices.capacity_per_s
        rows[at, spilled + at] = 1
        low[at] = loads_per_s[at]
        # More VMs than an hour ago have to be rented.
        rows[hours + at, begun + at] = 1
        rows[hours + at, used + at] = -1
        rows[hours + at, used + (at - 1) % hours] = 1
        # What was rented within the term is in use.
        rows[2 * hours + at, used + at] = 1
        for ago in range(term_h):
            rows[2 * hours + at, begun + (at - ago) % hours] -= 1
    spill = np.inf if prices.job_price is not None else 0.0
    cost = [prices.vm_price_per_hour, 0.0, 3600 * (prices.job_price or 0.0)]
    found = scipy.optimize.milp(
        np.repeat(cost, hours),
        integrality=np.repeat([1, 1, 0], hours),
        bounds=scipy.optimize.Bounds(0, np.repeat([most, most, spill], hours)),
        constraints=scipy.optimize.LinearConstraint(rows.tocsr(), low, np.inf),
    )
    if found.x is None:  # the bounds leave room for every load
        raise RuntimeError(found.message)
    vms = np.round(found.x[:hours]).astype(int).tolist()
    return [_hour(load, count, prices) for load, count in zip(loads_per_s, vms, strict=True)]


def _constant(loads_per_s: Sequence[float], prices: Prices) -> list[Hour]:
    """Return the split with one number of VMs for all hours, which a term longer than the profile forces.

    The cost is convex in that number and bends only where an hour needs no more, so the least is next to a bend.
    """
    needed = {vms_for(load, prices.capacity_per_s) for load in loads_per_s}
    most = max(needed)
    if prices.job_price is None:
        return [_hour(load, most, prices) for load in loads_per_s]
    counts = sorted({0, *needed, *(vms - 1 for vms in needed if vms > 0)})
    plans = ([_hour(load, vms, prices) for load in loads_per_s] for vms in counts)
    return min(plans, key=lambda plan: sum(hour.cost for hour in plan))


def _hour(load_per_s: float, vms: int, prices: Prices) -> Hour:
    rest = max(load_per_s - vms * prices.capacity_per_s, 0.0)
    if rest <= 1e-9 * max(load_per_s, 1.0):
        rest = 0.0
    return Hour(load_per_s, vms, rest, vms * prices.vm_price_per_hour + prices.serverless_cost(rest))
