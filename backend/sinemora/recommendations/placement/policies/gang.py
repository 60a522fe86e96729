"""Roots chosen together with their tasks.

For one job the optimum is found by trying every machine as its root: free slots are counted by their cost from that
root, and the tasks fill the cheapest. Many jobs at once form a facility location problem (NP-hard), so they are placed
one after another, the largest first.
"""

import numpy as np
import sinemora_native

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.costs import CostTable
from sinemora.recommendations.placement.problem import ANYWHERE, Ints, Nanoseconds, Problem, ProblemError
from sinemora.recommendations.placement.solvers.cost_kernels import fill

_ROWS = 64


def place(problem: Problem, tried: int | None = None, count: Ints | None = None) -> Ints:
    """Return the machines of all roots, shape (jobs, roots): as given, or the best for their job on free slots.

    Largest jobs come first. `tried`: maximum number of candidate machines per root, evenly spread; None: all. `count`:
    number of roots of each job, None: one. Further roots of a job follow one by one, each where it helps most.
    """
    given = problem.jobs.roots
    count = np.ones(len(given), np.int64) if count is None else count
    root = np.full((len(given), max(given.shape[1], int(count.max(initial=1)))), ANYWHERE, np.int64)
    root[:, : given.shape[1]] = given
    tables = points.table(problem.curves)
    free = problem.free_slots() - problem.current.on_machines(len(problem.machines))
    placed = problem.current.of_jobs(len(problem.jobs))
    homeless = np.flatnonzero(root[:, 0] == ANYWHERE)
    for job in homeless[np.argsort(-problem.jobs.size[homeless], kind="stable")]:
        tasks = int(problem.jobs.size[job] - placed[job])
        near: Nanoseconds | None = None
        for number in range(int(count[job])):
            choice, taken, near = _best_for_one(problem, int(job), tasks, free, tables, tried, near)
            if choice == ANYWHERE:
                name = problem.jobs.name(int(job))
                raise ProblemError(
                    "no_slot_for_root", name, "no free slot for the root on any machine that this job may use"
                )
            root[job, number] = choice
            free[choice] -= 1
        free -= taken
    return root


def _best_for_one(
    problem: Problem,
    job: int,
    tasks: int,
    free: Ints,
    tables: CostTable,
    tried: int | None,
    near: Nanoseconds | None,
) -> tuple[int, Ints, Nanoseconds | None]:
    """Return the best root of one job in `free` slots, its `tasks` tasks per machine, and the nearest round trips.

    `near`: round trip of each machine to the nearest root so far, in ns; None without one. Returns `ANYWHERE` without a
    free slot. Unplaced tasks cost more than the worst machine.
    """

    def nearest(sources: Ints) -> Nanoseconds:
        rows = problem.latency.rows(sources)
        return rows if near is None else np.minimum(rows, near)

    usable = np.array(free)
    mask = problem.allowed.get(job)
    if mask is not None:
        usable[~mask] = 0
    roots = np.flatnonzero(usable > 0)
    if tried is not None and len(roots) > tried:
        roots = roots[(np.arange(tried) * len(roots)) // tried]
    table = tables[problem.jobs.curve[[job]]]
    step = points.step_ns(problem.curves)
    best, choice = 1 << 60, ANYWHERE
    for start in range(0, len(roots), _ROWS):
        chunk = roots[start : start + _ROWS]
        cost, at = sinemora_native.cheapest_root(nearest(chunk), chunk, usable, tasks, table[0], step)
        if cost < best:
            best, choice = cost, int(chunk[at])
    taken = np.zeros(len(free), np.int64)
    if choice != ANYWHERE:
        usable[choice] -= 1
        row = np.empty((1, len(free)), np.int32)
        rows = nearest(np.array([choice]))
        fill(rows, step, table, 0, row)
        order = np.argsort(row[0], kind="stable")
        reach = np.cumsum(usable[order])
        taken[order] = np.clip(tasks - (reach - usable[order]), 0, usable[order])
        near = rows[0]
    return choice, taken, near
