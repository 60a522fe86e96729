"""A cluster through time under one placement policy: what its applications keep of their best performance.

Time goes in intervals. In each, jobs arrive and end, base latencies drift, the policy places and perhaps moves tasks by
the latency it measures, and performance is read from the true one. New tasks are placed when they come; the policies
that move tasks do so once an interval. A job's score is its mean performance over the intervals of its life, and a
policy's is the area above the distribution of scores over jobs: 100 % is every job at its best.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.recommender.placement import costs, gang, matrix, nomora
from sinemora.recommender.placement.exact import transport_of
from sinemora.recommender.placement.nomora import Parameters
from sinemora.recommender.placement.pairs import fill
from sinemora.recommender.placement.plan import moved_tasks
from sinemora.recommender.placement.problem import ANYWHERE, Assignment, Ints, Jobs, Machines, Problem
from sinemora.recommender.simulation import arrival, network, workload

Scores = npt.NDArray[np.float64]


class Scheme(StrEnum):
    """Policies that can be simulated."""

    random = "random"
    load_spreading = "load_spreading"
    nomora_105_110 = "nomora_105_110"
    nomora_preempt_beta0 = "nomora_preempt_beta0"
    never_move = "never_move"
    """Exact for arriving tasks, nothing moved."""
    exact = "exact"
    gang_budget = "gang_budget"
    """Roots chosen with their tasks; moves only when they gain `move_price`."""
    budget = "budget"
    """As `exact`, with moves at `move_price`."""


_MOVING = {Scheme.nomora_preempt_beta0, Scheme.exact, Scheme.gang_budget, Scheme.budget}


@dataclass(frozen=True, slots=True)
class World:
    """What is simulated."""

    machines: int = 1_250
    slots: int = 12
    jobs: int = 150
    """Running at once."""
    intervals: int = 30
    churn: float = 0.05
    """Share of jobs that end, and are followed by others, in an interval."""
    drift: float = 0.1
    """How far a base latency may go from its own value."""
    noise: float = 0.0
    """How far a measured latency may be from the true one."""
    move_price: int = 20
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a simulation."""

    scheme: Scheme
    scores: Scores
    """Mean performance of each job over its life, by job, 0 to 1."""
    area: float
    """Mean of the scores in percent: the area above their distribution."""
    solver_s: Scores
    """Seconds of the solver in each interval."""
    latency_s: Scores
    """Seconds from a task's arrival to its place, for each interval with arrivals."""
    moved_share: Scores
    """Share of running tasks that moved in each interval, arrivals and ends not counted."""


def simulate(world: World, scheme: Scheme, progress: Callable[[int], None] | None = None) -> Outcome:
    """Run a world under a policy. The same world has the same jobs, roots where they are random, and latencies."""
    rng = np.random.default_rng(world.seed)
    choices = np.random.default_rng(world.seed + 1)
    places = Machines.regular(world.machines, world.slots)
    curves = workload.curves()
    own = network.bases(rng)
    most = world.machines * world.slots * 87 // 100 // world.jobs * 4
    size = np.minimum(workload.sizes(world.jobs, rng), most)
    kind = workload.kinds(world.jobs, rng)
    root = np.full(world.jobs, ANYWHERE)
    current = Assignment.nothing()
    total, lived = np.zeros(world.jobs), np.zeros(world.jobs)
    done: list[float] = []
    solver, waited, moved = [], [], []
    for interval in range(world.intervals):
        base = own * rng.uniform(1 - world.drift, 1 + world.drift, own.shape)
        truth = network.ClusterLatency(places, (base * 1000).astype(np.int64), world.seed)
        measured = dataclasses.replace(truth, noise=world.noise, draw=interval)
        if interval:
            ended = rng.random(world.jobs) < world.churn
            done += (total[ended] / np.maximum(1, lived[ended])).tolist()
            total[ended], lived[ended], root[ended] = 0.0, 0.0, ANYWHERE
            size[ended] = np.minimum(workload.sizes(world.jobs, rng), most)[ended]
            kind[ended] = workload.kinds(world.jobs, rng)[ended]
            stays = ~ended[current.job]
            current = Assignment(current.job[stays], current.machine[stays], current.count[stays])
        problem = Problem(Jobs.of(size - 1, root, kind), places, measured, curves, current)
        homeless = root == ANYWHERE
        started = time.perf_counter()
        problem = problem.with_roots(_roots(problem, scheme, choices))
        arrived = _arrive(problem, scheme, choices)
        placed_s = time.perf_counter() - started
        if homeless.any():
            waited.append(placed_s)
        after = _move(dataclasses.replace(problem, current=arrived), scheme, world.move_price)
        solver.append(time.perf_counter() - started)
        moved.append(moved_tasks(arrived, after) / max(1, int(arrived.count.sum())))
        root, current = problem.jobs.root.copy(), after
        total += _performance(dataclasses.replace(problem, latency=truth), current)
        lived += 1
        if progress:
            progress(interval + 1)
    scores = np.array([*done, *(total / np.maximum(1, lived))])
    return Outcome(scheme, scores, 100 * float(scores.mean()), np.array(solver), np.array(waited), np.array(moved))


def _roots(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> Ints:
    """Where new roots go: by gang where the policy chooses them, else to any free slot."""
    if scheme is Scheme.gang_budget:
        return gang.place(problem)
    root = problem.jobs.root.copy()
    free = problem.free_slots() - problem.current.on_machines(len(problem.machines))
    new = np.flatnonzero(root == ANYWHERE)
    root[new] = rng.choice(np.repeat(np.arange(len(free)), np.maximum(free, 0)), len(new), replace=False)
    return root


def _arrive(problem: Problem, scheme: Scheme, rng: np.random.Generator) -> Assignment:
    """Place what waits, moving nothing."""
    waiting = problem.jobs.size - problem.current.of_jobs(len(problem.jobs))
    free = problem.free_slots() - problem.current.on_machines(len(problem.machines))
    if scheme in (Scheme.random, Scheme.load_spreading, Scheme.nomora_105_110, Scheme.nomora_preempt_beta0):
        tables = costs.table(problem.curves)[problem.jobs.curve]
        parts = [problem.current]
        for job in np.flatnonzero(waiting):
            if scheme is Scheme.random:
                taken = arrival.random_slots(free, int(waiting[job]), rng)
            elif scheme is Scheme.load_spreading:
                taken = arrival.emptiest(free, int(waiting[job]), rng)
            else:
                row = np.empty((1, len(problem.machines)), np.int32)
                latency = problem.latency.rows(problem.jobs.root[[job]])
                fill(latency, costs.step_ns(problem.curves), tables[[job]], 0, row)
                charged = arrival.network_costs(row[0], problem.machines, Parameters())
                taken = arrival.cheapest_slots(charged, free, int(waiting[job]), rng)
            free = free - taken
            at = np.flatnonzero(taken)
            parts.append(Assignment(np.full(len(at), job), at, taken[at]))
        return Assignment(*(np.concatenate(column) for column in _columns(parts))).merged()
    held = dataclasses.replace(problem, pinned=problem.current.count)
    transport, kept = transport_of(held)
    transport.solve()
    return transport.assignment().plus(kept)


def _move(problem: Problem, scheme: Scheme, price: int) -> Assignment:
    """Move what the policy moves."""
    if scheme not in _MOVING:
        return problem.current
    if scheme is Scheme.nomora_preempt_beta0:
        return nomora.solve(problem, Parameters(aggregate=True)).assignment
    transport, _ = transport_of(problem)
    transport.solve()
    if scheme is not Scheme.exact:
        transport.resume(problem.current, price)
        transport.solve()
    return transport.assignment()


def _performance(problem: Problem, placed: Assignment) -> Scores:
    """Mean performance of each job's tasks, those that wait counting nothing, shape (jobs,)."""
    loss = costs.table(problem.curves, costs.Objective.loss)[problem.jobs.curve]
    lost = matrix.cost_matrix(problem, loss, 1001)[placed.job, placed.machine] / 1000.0
    kept = np.zeros(len(problem.jobs))
    np.add.at(kept, placed.job, (1.0 - lost) * placed.count)
    return np.asarray(kept / np.maximum(1, problem.jobs.size))


def _columns(parts: list[Assignment]) -> tuple[list[Ints], list[Ints], list[Ints]]:
    return [p.job for p in parts], [p.machine for p in parts], [p.count for p in parts]
