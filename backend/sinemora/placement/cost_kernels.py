"""Loops over all pairs of job and machine, compiled: cost matrix, first candidates, and who violates the prices."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled
from sinemora.placement.spanning_tree import Int32s, Int64s

CostMatrix = npt.NDArray[Any]
"""uint16 where every cost fits, else int32; shape (jobs, machines)."""
CLOSED = -(1 << 29)
"""Price of a machine without slots: nothing goes there."""


@compiled
def fill(latency_ns: Int32s, step_ns: int, tables: Int32s, first: int, out: CostMatrix) -> None:
    """Costs of jobs `first`… from latency (rows, machines): each job's row of `tables` at the nearest step."""
    rows, machines = latency_ns.shape
    last = tables.shape[1] - 1
    # Half a nanosecond keeps whole numbers clear of the edge of a step by more than a product is rounded by.
    half = step_ns // 2 + 0.5
    scale = 1.0 / step_ns
    for row in range(rows):
        table, own, costs = tables[first + row], latency_ns[row], out[first + row]
        for machine in range(machines):
            costs[machine] = table[min(int((own[machine] + half) * scale), last)]


@compiled
def _lowest(row: CostMatrix, price: Int32s) -> int:
    low = np.int32(1 << 30)
    for machine in range(len(row)):
        low = min(low, np.int32(np.int32(row[machine]) - price[machine]))
    return int(low)


@compiled
def _at_most(row: CostMatrix, price: Int32s, level: int) -> int:
    count = np.int32(0)
    most = np.int32(level)
    for machine in range(len(row)):
        if np.int32(row[machine]) - price[machine] <= most:
            count += np.int32(1)
    return int(count)


@compiled
def cheapest(row: CostMatrix, price: Int32s, wanted: int, offset: int, out: Int32s) -> int:
    """Write the `wanted` machines to `out` that are cheapest after their price; how many were found.

    Where the price is `CLOSED` nothing is. Of those that cost as much as the dearest taken, machines from `offset` on
    come first, so that jobs with equal costs start with different machines.
    """
    machines = len(row)
    wanted = min(wanted, _at_most(row, price, -CLOSED - 1))
    if wanted == 0:
        return 0
    # The level that has so many: found in leaps that grow, then by halving. Counting is far faster than sorting.
    level, leap = _lowest(row, price), 1
    below = level - 1
    while _at_most(row, price, level) < wanted:
        below, level, leap = level, level + leap, 2 * leap
    while level - below > 1:
        middle = (level + below) // 2
        if _at_most(row, price, middle) < wanted:
            below = middle
        else:
            level = middle
    ties = wanted - _at_most(row, price, level - 1)
    taken = 0
    for step in range(machines):
        machine = step + offset
        if machine >= machines:
            machine -= machines
        cost = np.int32(row[machine]) - price[machine]
        if cost < level or (cost == level and ties > 0):
            if cost == level:
                ties -= 1
            out[taken] = machine
            taken += 1
    return taken


@compiled
def violators(
    costs: CostMatrix, job_potential: Int64s, price: Int32s, most: Int64s, out_job: Int32s, out_machine: Int32s
) -> int:
    """Pairs whose reduced cost (cost + potential of the job − price of the machine) is negative; how many.

    At most `most` of a job, then its worst. The outputs must have room for the sum of `most`.
    """
    machines = costs.shape[1]
    found = 0
    reduced = np.empty(machines, np.int32)
    at = np.empty(machines, np.int32)
    for job in range(costs.shape[0]):
        if most[job] <= 0:
            continue
        own = np.int32(job_potential[job])
        row = costs[job]
        lowest = np.int32(0)
        for machine in range(machines):
            lowest = min(lowest, np.int32(row[machine]) + own - price[machine])
        if lowest >= 0:
            continue
        count = 0
        for machine in range(machines):
            value = np.int32(row[machine]) + own - price[machine]
            if value < 0:
                reduced[count], at[count] = value, machine
                count += 1
        if count > most[job]:
            order = np.argsort(reduced[:count])
            count = most[job]
            for k in range(count):
                out_machine[found + k] = at[order[k]]
        else:
            out_machine[found : found + count] = at[:count]
        out_job[found : found + count] = job
        found += count
    return found


@compiled
def candidates(
    costs: CostMatrix, price: Int32s, wanted: Int64s, barred: int, out_job: Int32s, out_machine: Int32s
) -> int:
    """The `wanted` machines of every job that are cheapest after their price, but none that costs `barred`; how many.

    The outputs must have room for the sum of `wanted`.
    """
    found = 0
    machines = costs.shape[1]
    for job in range(costs.shape[0]):
        if wanted[job] <= 0:
            continue
        count = cheapest(costs[job], price, min(wanted[job], machines), (job * 7919) % machines, out_machine[found:])
        kept = 0
        for k in range(count):
            machine = out_machine[found + k]
            if costs[job, machine] < barred:
                out_machine[found + kept] = machine
                out_job[found + kept] = job
                kept += 1
        found += kept
    return found
