"""Simulated policies: place arriving jobs, and move running tasks."""

import dataclasses
from enum import StrEnum

import numpy as np

from sinemora.placement import costs
from sinemora.placement.policies import gang, nomora
from sinemora.placement.policies.exact import transport_of
from sinemora.placement.policies.nomora import Parameters
from sinemora.placement.problem import ANYWHERE, Assignment, Ints, Problem
from sinemora.placement.solvers.cost_kernels import fill
from sinemora.simulation.core import arrival


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


PARAMETERS = {
    Scheme.nomora_105_110: Parameters(),
    Scheme.nomora_110_115: Parameters(p_m=110, p_r=115),
    Scheme.nomora_preempt: Parameters(beta=1.0, aggregate=True),
    Scheme.nomora_preempt_beta0: Parameters(aggregate=True),
}
ROOTS_TRIED = 256
"""Candidate roots of a job: their best is within one percent of the best of 12,500 machines, in 0.05 s, not 2 s."""
_GANG = {Scheme.gang, Scheme.gang_budget, Scheme.robust_budget}
PRICED = {Scheme.budget, Scheme.gang_budget, Scheme.robust_budget}
MOVING = {Scheme.nomora_preempt, Scheme.nomora_preempt_beta0, Scheme.exact} | PRICED


def arrive(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> tuple[Ints, Assignment]:
    """Return roots and placed tasks of jobs with waiting tasks, in the free slots of a problem.

    A job stays without a root (`ANYWHERE`) if no slot is left for it.
    """
    root = _roots(problem, scheme, rng)
    placeable = root != ANYWHERE
    size = np.where(placeable, problem.jobs.size, 0)
    problem = dataclasses.replace(problem, jobs=dataclasses.replace(problem.jobs, size=size))
    problem = problem.with_roots(np.where(placeable, root, 0))
    free = problem.machines.slots - np.bincount(root[placeable], minlength=len(problem.machines))
    if scheme in PARAMETERS or scheme in (Scheme.random, Scheme.load_spreading):
        return root, _in_order(problem, scheme, free, rng)
    # Jobs without a slot have a placeholder root, which must not take one.
    slots = dataclasses.replace(problem.machines, slots=free + np.bincount(problem.jobs.root, minlength=len(free)))
    transport, _ = transport_of(dataclasses.replace(problem, machines=slots))
    transport.solve()
    return root, transport.assignment()


def move(problem: Problem, scheme: Scheme, price: int) -> Assignment:
    """Return the placement of all tasks after a round of moves."""
    if scheme in PARAMETERS:
        return nomora.solve(problem, PARAMETERS[scheme]).assignment
    transport, _ = transport_of(problem)
    transport.solve()
    if scheme in PRICED:
        transport.let_stay(problem.current, price)
        transport.solve()
    return transport.assignment()


def _roots(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> Ints:
    """Return the roots: new ones chosen together with their tasks (gang policies), else in random free slots."""
    root = problem.jobs.root.copy()
    new = np.flatnonzero(root == ANYWHERE)
    free = problem.free_slots()
    taken = new[: max(0, int(free.sum()))]
    if scheme in _GANG and len(taken):
        if len(taken) < len(new):
            return root
        return gang.place(problem, tried=ROOTS_TRIED)
    root[taken] = rng.choice(np.repeat(np.arange(len(free)), free), len(taken), replace=False)
    return root


def _in_order(problem: Problem, scheme: Scheme, free: Ints, rng: np.random.Generator) -> Assignment:
    tables = costs.table(problem.curves)[problem.jobs.curve]
    free = free.copy()
    placed = []
    for job in np.flatnonzero(problem.jobs.size):
        tasks = int(problem.jobs.size[job])
        if scheme is Scheme.random:
            taken = arrival.random_slots(free, tasks, rng)
        elif scheme is Scheme.load_spreading:
            taken = arrival.emptiest(free, tasks, rng)
        else:
            row = np.empty((1, len(free)), np.int32)
            fill(problem.latency.rows(problem.jobs.root[[job]]), costs.step_ns(problem.curves), tables[[job]], 0, row)
            charged = arrival.network_costs(row[0], problem.machines, PARAMETERS[scheme])
            taken = arrival.cheapest_slots(charged, free, tasks, rng)
        free -= taken
        at = np.flatnonzero(taken)
        placed.append(Assignment(np.full(len(at), job), at, taken[at]))
    if not placed:
        return Assignment.nothing()
    parts = zip(*((entry.job, entry.machine, entry.count) for entry in placed), strict=True)
    return Assignment(*(np.concatenate(part) for part in parts))
