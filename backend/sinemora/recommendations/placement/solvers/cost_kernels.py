"""Loops over all pairs of job and machine: cost matrix, initial candidates, pairs that violate the prices."""

from typing import Any

import numpy.typing as npt
import sinemora_native

from sinemora.recommendations.placement.solvers.spanning_tree import Int32s, Int64s

CostMatrix = npt.NDArray[Any]
"""uint16 where every cost fits, else int32; shape (jobs, machines)."""
CLOSED = -(1 << 29)
"""Price of a machine without slots, which is never used."""


def fill(latency_ns: Int32s, step_ns: int, tables: Int32s, first: int, out: CostMatrix) -> None:
    """Write costs of jobs `first`… from latency (rows, machines): each job's row of `tables` at the nearest step."""
    rows = slice(first, first + len(latency_ns))
    sinemora_native.fill_costs(latency_ns, step_ns, tables[rows], out[rows])


def cheapest(row: CostMatrix, price: Int32s, count: int, offset: int, out: Int32s) -> int:
    """Write the `count` machines with the lowest cost minus price to `out`; return their number.

    Machines with the price `CLOSED` are excluded. Ties at the largest chosen cost are broken from machine `offset` on,
    so that jobs with equal costs start with different machines.
    """
    return sinemora_native.cheapest_machines(row, price, count, offset, out)


def violators(
    costs: CostMatrix, job_potential: Int64s, price: Int32s, most: Int64s, out_job: Int32s, out_machine: Int32s
) -> int:
    """Write pairs with a negative reduced cost; return their number.

    The reduced cost is the cost plus the potential of the job minus the price of the machine.

    At most `most` per job, those with the lowest reduced cost. The outputs must have room for the sum of `most`.
    """
    return sinemora_native.violating_pairs(costs, job_potential, price, most, out_job, out_machine)


def candidates(
    costs: CostMatrix, price: Int32s, most: Int64s, barred: int, out_job: Int32s, out_machine: Int32s
) -> int:
    """Write the `most` machines of every job with the lowest cost minus price; return the number of pairs.

    Machines that cost `barred` or more are excluded. The outputs must have room for the sum of `most`.
    """
    return sinemora_native.candidate_pairs(costs, price, most, barred, out_job, out_machine)
