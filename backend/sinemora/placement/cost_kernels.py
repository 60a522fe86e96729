"""Loops over all pairs of job and machine: cost matrix, first candidates, and who violates the prices."""

from typing import Any

import numpy.typing as npt
import sinemora_native

from sinemora.placement.spanning_tree import Int32s, Int64s

CostMatrix = npt.NDArray[Any]
"""uint16 where every cost fits, else int32; shape (jobs, machines)."""
CLOSED = -(1 << 29)
"""Price of a machine without slots: nothing goes there."""


def fill(latency_ns: Int32s, step_ns: int, tables: Int32s, first: int, out: CostMatrix) -> None:
    """Write costs of jobs `first`… from latency (rows, machines): each job's row of `tables` at the nearest step."""
    rows = slice(first, first + len(latency_ns))
    sinemora_native.fill_costs(latency_ns, step_ns, tables[rows], out[rows])


def cheapest(row: CostMatrix, price: Int32s, wanted: int, offset: int, out: Int32s) -> int:
    """Write the `wanted` machines to `out` that are cheapest after their price; return their number.

    Machines whose price is `CLOSED` are left out. Of those that cost as much as the dearest taken, machines from
    `offset` on come first, so that jobs with equal costs start with different machines.
    """
    return sinemora_native.cheapest_machines(row, price, wanted, offset, out)


def violators(
    costs: CostMatrix, job_potential: Int64s, price: Int32s, most: Int64s, out_job: Int32s, out_machine: Int32s
) -> int:
    """Write the pairs whose reduced cost (cost + potential of the job − price of the machine) is negative.

    At most `most` of a job, then its worst. The outputs must have room for the sum of `most`. Return their number.
    """
    return sinemora_native.violating_pairs(costs, job_potential, price, most, out_job, out_machine)


def candidates(
    costs: CostMatrix, price: Int32s, wanted: Int64s, barred: int, out_job: Int32s, out_machine: Int32s
) -> int:
    """Write the `wanted` machines of every job that are cheapest after their price, but none that costs `barred`.

    The outputs must have room for the sum of `wanted`. Return the number of pairs.
    """
    return sinemora_native.candidate_pairs(costs, price, wanted, barred, out_job, out_machine)
