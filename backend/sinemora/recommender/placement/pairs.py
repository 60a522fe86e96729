"""Loops over all pairs of job and machine, compiled: cost matrix, first candidates, and who violates the prices."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled
from sinemora.recommender.placement.simplex import Int32s, Int64s

CostMatrix = npt.NDArray[Any]
"""uint16 where every cost fits, else int32; shape (jobs, machines)."""


@compiled
def fill(latency_ns: Int32s, step_ns: int, tables: Int32s, first: int, out: CostMatrix) -> None:
    """Costs of jobs `first`… from latency (rows, machines): each job's row of `tables` at the nearest step."""
    rows, machines = latency_ns.shape
    last = tables.shape[1] - 1
    half = step_ns // 2
    scale = np.float32(1.0 / step_ns)
    for row in range(rows):
        table = tables[first + row]
        for machine in range(machines):
            # A float of 24 bits is exact enough to aim and too coarse to round: whole numbers decide.
            step = int(np.float32(latency_ns[row, machine] + half) * scale)
            if step * step_ns > latency_ns[row, machine] + half:
                step -= 1
            elif (step + 1) * step_ns <= latency_ns[row, machine] + half:
                step += 1
            out[first + row, machine] = table[min(step, last)]


@compiled
def cheapest(row: CostMatrix, usable: npt.NDArray[np.bool_], wanted: int, offset: int, out: Int32s) -> int:
    """Write the `wanted` cheapest usable machines of a row to `out`; how many there were.

    Of those that cost as much as the dearest taken, machines from `offset` on come first, so that jobs with equal costs
    start with different machines.
    """
    machines = len(row)
    low, high = 1 << 30, 0
    for machine in range(machines):
        if usable[machine]:
            low, high = min(low, int(row[machine])), max(high, int(row[machine]))
    if low > high:
        return 0
    bins = min(4096, high - low + 1)
    width = (high - low) // bins + 1
    histogram = np.zeros(bins, np.int32)
    for machine in range(machines):
        if usable[machine]:
            histogram[(int(row[machine]) - low) // width] += 1
    level, below = 0, 0
    while level < bins - 1 and below + histogram[level] <= wanted:
        below += histogram[level]
        level += 1
    taken = 0
    for machine in range(machines):
        if usable[machine] and (int(row[machine]) - low) // width < level:
            out[taken] = machine
            taken += 1
    for step in range(machines):
        if taken >= wanted:
            break
        machine = (offset + step) % machines
        if usable[machine] and (int(row[machine]) - low) // width == level:
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
    costs: CostMatrix, usable: npt.NDArray[np.bool_], wanted: Int64s, barred: int, out_job: Int32s, out_machine: Int32s
) -> int:
    """The `wanted` cheapest usable machines of every job as pairs, those that cost `barred` left out; how many."""
    found = 0
    machines = costs.shape[1]
    for job in range(costs.shape[0]):
        if wanted[job] <= 0:
            continue
        count = cheapest(costs[job], usable, min(wanted[job], machines), (job * 7919) % machines, out_machine[found:])
        kept = 0
        for k in range(count):
            machine = out_machine[found + k]
            if costs[job, machine] < barred:
                out_machine[found + kept] = machine
                out_job[found + kept] = job
                kept += 1
        found += kept
    return found
