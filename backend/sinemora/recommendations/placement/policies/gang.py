"""Policy `gang`: roots and tasks chosen together.

For one job the optimum is found by trying every machine as its root: free slots are counted by their cost from that
root, and the tasks fill the cheapest. Many jobs at once form a facility location problem (NP-hard). Therefore jobs are
placed largest first, then all tasks exactly; then roots move to better machines, in rounds. The result is the best
found; its certificate proves the placement of the tasks for the chosen roots.
"""

import time
from dataclasses import replace

import numpy as np
import sinemora_native

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.costs import CostTable, Objective
from sinemora.recommendations.placement.plan import Plan
from sinemora.recommendations.placement.policies import exact
from sinemora.recommendations.placement.problem import ANYWHERE, Bools, Ints, Nanoseconds, Problem, ProblemError
from sinemora.recommendations.placement.solvers.cost_kernels import fill

_ROWS = 64


def solve(problem: Problem, objective: Objective = Objective.slowdown, rounds: int = 3) -> Plan:
    """Return the plan with roots chosen together with their tasks; placed roots move where that gains.

    Placed roots of jobs with pinned tasks, and of jobs without running tasks, stay.
    """
    started = time.perf_counter()
    problem.check()
    if problem.jobs.further_roots is not None:
        raise ProblemError("not_supported", "jobs.further_roots", "the policy gang moves one root per job")
    problem = problem.with_roots(place(problem, objective))
    best = exact.solve(problem, objective)
    rounds_made = best.statistics.rounds
    for _ in range(rounds):
        root = _better_roots(problem, best, objective)
        if (root == problem.jobs.root).all():
            break
        # A root may take the machine of a task of its job. Only tasks that cannot move occupy a slot.
        held = problem.held()
        candidate = replace(problem.with_roots(root), current=held, pinned=held.count)
        plan = exact.solve(candidate, objective)
        rounds_made += plan.statistics.rounds
        if plan.cost >= best.cost:
            break
        problem, best = candidate, plan
    seconds = time.perf_counter() - started
    return replace(best, policy="gang", statistics=replace(best.statistics, seconds=seconds, rounds=rounds_made))


def place(
    problem: Problem,
    objective: Objective = Objective.slowdown,
    tried: int | None = None,
    count: Ints | None = None,
) -> Ints:
    """Return the machines of all roots, shape (jobs, roots): as given, or the best for their job on free slots.

    Largest jobs come first. `tried`: maximum number of candidate machines per root, evenly spread; None: all. `count`:
    number of roots of each job, None: one. Further roots of a job follow one by one, each where it helps most.
    """
    given = problem.jobs.roots
    count = np.ones(len(given), np.int64) if count is None else count
    root = np.full((len(given), max(given.shape[1], int(count.max(initial=1)))), ANYWHERE, np.int64)
    root[:, : given.shape[1]] = given
    tables = points.table(problem.curves, objective)
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


def _better_roots(problem: Problem, plan: Plan, objective: Objective) -> Ints:
    """Return each root moved to the best machine among those of its tasks; the task there takes its slot."""
    root = problem.jobs.root.copy()
    tables = points.table(problem.curves, objective)[problem.jobs.curve]
    step = points.step_ns(problem.curves)
    fixed = _fixed(problem)
    starts = np.searchsorted(plan.assignment.job, np.arange(len(problem.jobs) + 1))
    for job in np.flatnonzero(~fixed):
        mine = slice(starts[job], starts[job + 1])
        machine, count = plan.assignment.machine[mine], plan.assignment.count[mine]
        if len(machine) == 0:
            continue
        places = np.append(machine, root[job])
        tasks = np.append(count, 0)
        sources = places if len(places) <= _ROWS else places[np.linspace(0, len(places) - 1, _ROWS).astype(int)]
        costs = np.empty((len(sources), len(problem.machines)), np.int32)
        fill(problem.latency.rows(sources), step, np.repeat(tables[[job]], len(sources), axis=0), 0, costs)
        here = costs[:, places] @ tasks
        # The task that gives its slot to the root takes the root's old one.
        exchange = costs[np.arange(len(sources)), root[job]] - costs[np.arange(len(sources)), sources]
        value = here + np.where(sources == root[job], 0, exchange)
        root[job] = sources[int(value.argmin())]
    return root


def _fixed(problem: Problem) -> Bools:
    """Return jobs whose root may not move: they have pinned tasks."""
    held = problem.held().of_jobs(len(problem.jobs))
    return held > 0
