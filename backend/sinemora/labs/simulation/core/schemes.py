"""Simulated policies: place arriving jobs, and move running tasks."""

import dataclasses
from enum import StrEnum

import numpy as np

from sinemora.labs.simulation.core import arrival
from sinemora.recommendations.placement.policies import gang, nomora
from sinemora.recommendations.placement.policies.exact import transport_of
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
    never_move = "never_move"
    """Exact for arriving tasks, nothing moved."""
    exact = "exact"
    """As `never_move`, and all tasks move to the optimum in every round (λ = 0)."""
    budget = "budget"
    """As `exact`, but a move must gain more than its price (λ)."""
    gang = "gang"
    """Roots chosen with their tasks, nothing moved."""
    gang_budget = "gang_budget"
    """As `gang`, with moves as in `budget`."""
    robust_budget = "robust_budget"
    """As `gang_budget`, by the 99th percentile of the last minute instead of a mean."""


PUBLISHED = {
    Scheme.nomora_105_110: Parameters(aggregate=True),
    Scheme.nomora_110_115: Parameters(p_m=110, p_r=115, aggregate=True),
    Scheme.nomora_preempt: Parameters(beta=1.0, aggregate=True),
    Scheme.nomora_preempt_beta0: Parameters(aggregate=True),
}
"""Parameters of the policies that the source evaluates (6.3); one node per job has the same optimum."""
ROOTS_TRIED = 256
"""Candidate roots of a job: their best is within one percent of the best of 12,500 machines, in 0.05 s, not 2 s."""
_GANG = {Scheme.gang, Scheme.gang_budget, Scheme.robust_budget}
PRICED = {Scheme.budget, Scheme.gang_budget, Scheme.robust_budget}
MOVING = {Scheme.nomora_preempt, Scheme.nomora_preempt_beta0, Scheme.exact} | PRICED


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
    root = _roots(problem, scheme, rng, np.ones(len(problem.jobs), np.int64) if count is None else count)
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
    if published := _parameters(scheme, parameters):
        return root, nomora.solve(problem, published, rng).assignment
    transport, _ = transport_of(problem)
    transport.solve()
    return root, transport.assignment()


def move(
    problem: Problem, scheme: Scheme, price: int, rng: np.random.Generator, parameters: Parameters | None = None
) -> Assignment:
    """Return the placement of all tasks after a round of moves."""
    if published := _parameters(scheme, parameters):
        return nomora.solve(problem, published, rng).assignment
    transport, _ = transport_of(problem)
    transport.solve()
    if scheme in PRICED:
        transport.let_stay(problem.current, price)
        transport.solve()
    return transport.assignment()


def _parameters(scheme: Scheme, own: Parameters | None) -> Parameters | None:
    return (own or Parameters(aggregate=True)) if scheme is Scheme.nomora else PUBLISHED.get(scheme)


def _roots(problem: Problem, scheme: Scheme, rng: np.random.Generator, count: Ints) -> Ints:
    """Return the roots, shape (jobs, roots): chosen with their tasks (gang policies), else in random free slots."""
    given = problem.jobs.roots
    root = np.full((len(given), max(given.shape[1], int(count.max(initial=1)))), ANYWHERE, np.int64)
    root[:, : given.shape[1]] = given
    new = np.flatnonzero(root[:, 0] == ANYWHERE)
    free = problem.free_slots()
    taken = new[np.cumsum(count[new]) <= free.sum()]
    if scheme in _GANG and len(taken):
        if len(taken) < len(new):
            return root
        return gang.place(problem, tried=ROOTS_TRIED, count=count)
    chosen = rng.choice(np.repeat(np.arange(len(free)), free), int(count[taken].sum()), replace=False)
    job = np.repeat(taken, count[taken])
    number = np.arange(len(job)) - np.repeat(np.cumsum(count[taken]) - count[taken], count[taken])
    root[job, number] = chosen
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
