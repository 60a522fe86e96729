"""What the simulated policies do: place what comes, and move what runs."""

import dataclasses
from enum import StrEnum

import numpy as np

from sinemora.placement import costs, gang, nomora
from sinemora.placement.cost_kernels import fill
from sinemora.placement.exact import transport_of
from sinemora.placement.nomora import Parameters
from sinemora.placement.problem import ANYWHERE, Assignment, Ints, Problem
from sinemora.simulation.core import arrival


class Scheme(StrEnum):
    """Policies that can be simulated."""

    random = "random"
    load_spreading = "load_spreading"
    nomora_105_110 = "nomora_105_110"
    nomora_110_115 = "nomora_110_115"
    nomora_preempt = "nomora_preempt"
    """105/110; running tasks may move, each second they have run makes staying a point cheaper."""
    nomora_preempt_beta0 = "nomora_preempt_beta0"
    """105/110; running tasks may move freely."""
    never_move = "never_move"
    """Exact for arriving tasks, nothing moved."""
    exact = "exact"
    """As `never_move`, and everything moved to the optimum in every round (λ = 0)."""
    budget = "budget"
    """As `exact`, a move only where it gains the price of moves (λ)."""
    gang = "gang"
    """Roots chosen with their tasks, nothing moved."""
    gang_budget = "gang_budget"
    """As `gang`, and moves as `budget`."""
    robust_budget = "robust_budget"
    """As `gang_budget`, by the 99th percentile of the last minute instead of a mean."""


PARAMETERS = {
    Scheme.nomora_105_110: Parameters(),
    Scheme.nomora_110_115: Parameters(p_m=110, p_r=115),
    Scheme.nomora_preempt: Parameters(beta=1.0, aggregate=True),
    Scheme.nomora_preempt_beta0: Parameters(aggregate=True),
}
ROOTS_TRIED = 256
"""Of 12,500 machines: the best of so many is within a per cent of the best of all, and a job takes 0.05 s, not 2 s."""
_GANG = {Scheme.gang, Scheme.gang_budget, Scheme.robust_budget}
PRICED = {Scheme.budget, Scheme.gang_budget, Scheme.robust_budget}
MOVING = {Scheme.nomora_preempt, Scheme.nomora_preempt_beta0, Scheme.exact} | PRICED


def arrive(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> tuple[Ints, Assignment]:
    """Roots, and the tasks placed, of jobs of which nothing or not all runs; slots that others use are not offered.

    A job stays without a root (`ANYWHERE`) when no slot is left for it.
    """
    root = _roots(problem, scheme, rng)
    placeable = root != ANYWHERE
    size = np.where(placeable, problem.jobs.size, 0)
    problem = dataclasses.replace(problem, jobs=dataclasses.replace(problem.jobs, size=size))
    problem = problem.with_roots(np.where(placeable, root, 0))
    free = problem.machines.slots - np.bincount(root[placeable], minlength=len(problem.machines))
    if scheme in PARAMETERS or scheme in (Scheme.random, Scheme.load_spreading):
        return root, _in_order(problem, scheme, free, rng)
    # A root of a job without a slot stands nowhere: it must not take one.
    slots = dataclasses.replace(problem.machines, slots=free + np.bincount(problem.jobs.root, minlength=len(free)))
    transport, _ = transport_of(dataclasses.replace(problem, machines=slots))
    transport.solve()
    return root, transport.assignment()


def move(problem: Problem, scheme: Scheme, price: int) -> Assignment:
    """Where all tasks run after a round of a policy that moves them."""
    if scheme in PARAMETERS:
        return nomora.solve(problem, PARAMETERS[scheme]).assignment
    transport, _ = transport_of(problem)
    transport.solve()
    if scheme in PRICED:
        transport.let_stay(problem.current, price)
        transport.solve()
    return transport.assignment()


def _roots(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> Ints:
    """Where new roots go: with their tasks where the policy chooses so, else to any free slot."""
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
    parts = zip(*((one.job, one.machine, one.count) for one in placed), strict=True)
    return Assignment(*(np.concatenate(part) for part in parts))
