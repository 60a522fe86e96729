"""Simulated policies: place arriving jobs, and move running tasks."""

import dataclasses
from enum import StrEnum

import numpy as np

from sinemora.labs.simulation.core import arrival, best
from sinemora.recommendations.placement.policies import nomora
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Ints, Problem


class Scheme(StrEnum):
    """Policies that can be simulated."""

    random = "random"
    load_spreading = "load_spreading"
    nomora_105_110 = "nomora_105_110"
    nomora_110_115 = "nomora_110_115"
    nomora_preempt = "nomora_preempt"
    """105/110; running tasks may move; each second of run time makes staying one point cheaper."""
    nomora_preempt_beta0 = "nomora_preempt_beta0"
    """105/110; running tasks may move freely."""
    nomora = "nomora"
    """The published network with the parameters of the world."""
    best = "best"
    """All tasks together, as recommendations place them; in each round, moves that gain more than they cost."""
    best_no_moves = "best_no_moves"
    """As `best`, nothing moved."""


PUBLISHED = {
    Scheme.nomora_105_110: Parameters(aggregate=True),
    Scheme.nomora_110_115: Parameters(p_m=110, p_r=115, aggregate=True),
    Scheme.nomora_preempt: Parameters(beta=1.0, aggregate=True),
    Scheme.nomora_preempt_beta0: Parameters(aggregate=True),
}
"""Parameters of the policies that the source evaluates (6.3); one node per job has the same optimum."""
BEST = {Scheme.best, Scheme.best_no_moves}
MOVING = {Scheme.nomora_preempt, Scheme.nomora_preempt_beta0, Scheme.best}


def arrive(
    problem: Problem,
    scheme: Scheme,
    rng: np.random.Generator,
    parameters: Parameters | None = None,
    count: Ints | None = None,
) -> tuple[Ints, Assignment]:
    """Return roots, shape (jobs, roots), and placed tasks of jobs with waiting tasks, in the free slots of a problem.

    A job stays without roots (`ANYWHERE`) if too few slots are left for them. `parameters` are those of
    `Scheme.nomora`; `count` is the number of roots of each job, None: one. All tasks of a step are placed at once; in
    the source, tasks wait a round for their root.
    """
    count = np.ones(len(problem.jobs), np.int64) if count is None else count
    if scheme in BEST:
        return _best(problem, count)
    root = _roots(problem, rng, count)
    placeable = root[:, 0] != ANYWHERE
    size = np.where(placeable, problem.jobs.size, 0)
    problem = dataclasses.replace(problem, jobs=dataclasses.replace(problem.jobs, size=size))
    # A job without roots has a placeholder, which must not take a slot.
    filled = root.copy()
    filled[~placeable, 0] = 0
    problem = problem.with_roots(filled)
    free = problem.machines.slots - np.bincount(root[root != ANYWHERE], minlength=len(problem.machines))
    if scheme in (Scheme.random, Scheme.load_spreading):
        return root, _in_order(problem, scheme, free, rng)
    taken = np.bincount(filled[filled != ANYWHERE], minlength=len(free))
    problem = dataclasses.replace(problem, machines=dataclasses.replace(problem.machines, slots=free + taken))
    published = _parameters(scheme, parameters)
    return root, nomora.solve(problem, published, rng).assignment


def move(
    problem: Problem,
    scheme: Scheme,
    rng: np.random.Generator,
    parameters: Parameters | None = None,
    move_cost: float = 0.0,
    moves_max: int | None = None,
) -> Assignment:
    """Return the placement of all tasks after a round of moves.

    `move_cost` is the least gain of a move in performance and `moves_max` the number of moves in a round, under `best`.
    """
    if scheme in BEST:
        roots = (problem.jobs.roots != ANYWHERE).sum(axis=1)
        return best.place(problem, roots, move_cost, moves_max)[1]
    return nomora.solve(problem, _parameters(scheme, parameters), rng).assignment


def _parameters(scheme: Scheme, own: Parameters | None) -> Parameters:
    return PUBLISHED[scheme] if scheme in PUBLISHED else own or Parameters(aggregate=True)


def _best(problem: Problem, count: Ints) -> tuple[Ints, Assignment]:
    """Place new jobs by the search; those for whose roots too few slots are left stay without."""
    given = (problem.jobs.roots != ANYWHERE).sum(axis=1)
    roots = np.where(given > 0, given, _within(problem, count))
    size = np.where(roots > 0, problem.jobs.size, 0)
    asked = dataclasses.replace(problem, jobs=dataclasses.replace(problem.jobs, size=size))
    return best.place(asked, roots)


def _within(problem: Problem, count: Ints) -> Ints:
    """Return the number of roots of each job without one, 0 where too few slots are left for them."""
    wanted = np.where(problem.jobs.root == ANYWHERE, count, 0)
    return np.where(np.cumsum(wanted) <= problem.free_slots().sum(), wanted, 0)


def _roots(problem: Problem, rng: np.random.Generator, count: Ints) -> Ints:
    """Return the roots, shape (jobs, roots); new ones in random free slots."""
    given = problem.jobs.roots
    root = np.full((len(given), max(given.shape[1], int(count.max(initial=1)))), ANYWHERE, np.int64)
    root[:, : given.shape[1]] = given
    free, number = problem.free_slots(), _within(problem, count)
    chosen = rng.choice(np.repeat(np.arange(len(free)), free), int(number.sum()), replace=False)
    job = np.repeat(np.arange(len(given)), number)
    root[job, np.arange(len(job)) - np.repeat(np.cumsum(number) - number, number)] = chosen
    return root


def _in_order(problem: Problem, scheme: Scheme, free: Ints, rng: np.random.Generator) -> Assignment:
    free = free.copy()
    take = arrival.random_slots if scheme is Scheme.random else arrival.emptiest
    placed = []
    for job in np.flatnonzero(problem.jobs.size):
        taken = take(free, int(problem.jobs.size[job]), rng)
        free -= taken
        at = np.flatnonzero(taken)
        placed.append(Assignment(np.full(len(at), job), at, taken[at]))
    if not placed:
        return Assignment.nothing()
    parts = zip(*((entry.job, entry.machine, entry.count) for entry in placed), strict=True)
    return Assignment(*(np.concatenate(part) for part in parts))
