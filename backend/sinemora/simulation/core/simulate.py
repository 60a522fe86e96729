"""A cluster through time under one placement policy: what its applications keep of their best performance.

Time goes in steps. In each, tasks end and jobs come; the policy places what waits by the latency it measures, now and
then moves what runs, and performance is read from the true latency of one second of the step. A job's score is its mean
performance over the steps of its life, and a policy's is the area above the distribution of scores over jobs: 100 % is
every job at its best.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.placement.plan import moved_tasks
from sinemora.placement.problem import ANYWHERE, Assignment, Jobs, Machines, Problem
from sinemora.simulation.core import schemes, workload
from sinemora.simulation.core.network import Series, TracedLatency
from sinemora.simulation.core.schemes import Scheme
from sinemora.simulation.core.state import State
from sinemora.simulation.core.workload import Workload

Scores = npt.NDArray[np.float64]
_MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class World:
    """What is simulated, but for jobs and series."""

    machines: int = 1_250
    slots: int = 14
    """Of each machine. 14 hold the most tasks that run at once in the first 19.5 hours of the trace."""
    seconds: int = 6 * 3600
    step_s: int = 60
    round_s: int = 600
    """How often policies that move tasks do so. (A round of the source took 1,532 s to solve, at the median.)"""
    window_s: int = 10
    """What is measured is the mean of so many seconds."""
    history_s: int = 7_200
    """What the mean is taken of where moves have a price."""
    noise: float = 0.0
    """How far a measured latency may be from what is so, drawn anew in each step."""
    move_price: int = 20
    """Cost points a move must gain, for the policies that ask for it (λ)."""
    seed: int = 1

    @property
    def steps(self) -> int:
        """How many there are."""
        return -(-self.seconds // self.step_s)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a simulation."""

    scheme: Scheme
    scores: Scores
    """Mean performance of each job over its life, by job, 0 to 1; jobs that never had a second task left out."""
    area: float
    """Mean of the scores in percent: the area above their distribution."""
    solver_s: Scores
    """Seconds the solver took for what came, for each step in which something did."""
    latency_s: Scores
    """Seconds from coming to a place, for each job of which tasks were placed: solver, and steps they waited."""
    round_s: Scores
    """Seconds the solver took for each round of moves."""
    response_s: Scores
    """Seconds from coming to the end of the last task, waiting included, for each job that ended."""
    moved_share: Scores
    """Share of running tasks that moved in each round."""


def simulate(
    world: World,
    scheme: Scheme,
    jobs: Workload,
    series: Series,
    *,
    state: State | None = None,
    after_step: Callable[[State], None] | None = None,
) -> Outcome:
    """Run a world under a policy, from `state` on if there is one.

    The same world has the same jobs, roots where they are random, and latencies. `after_step` may keep the state.
    """
    run = _Run(world, scheme, jobs, series, state or State.new(len(jobs), world.seed))
    while run.state.step < world.steps:
        run.step()
        if after_step:
            after_step(run.state)
    return run.outcome()


class _Run:
    """One policy in one world."""

    def __init__(self, world: World, scheme: Scheme, jobs: Workload, series: Series, state: State) -> None:
        self.world, self.scheme, self.jobs, self.state = world, scheme, jobs, state
        self.places = Machines.regular(world.machines, world.slots)
        self.curves = workload.curves()
        self.loss = 1.0 - np.clip(self.curves.values.T, 0.0, 1.0)
        self.true = series
        # The published policies know the newest window; who weighs a move looks back longer, for its gain has to last.
        base = series.high(_MINUTE_S) if scheme is Scheme.robust_budget else series
        self.measured = base.averaged(world.window_s)
        self.weighed = base.averaged(world.history_s) if scheme in schemes.PRICED else self.measured
        self.comes = (jobs.comes_s // world.step_s).astype(np.int64)
        # What comes and ends within one step is there for that step.
        ends = (jobs.end_s // world.step_s).astype(np.int64)
        self.ends = np.maximum(ends, self.comes[jobs.end_job] + 1)
        order = np.argsort(self.ends, kind="stable")
        self.ends, self.end_job = self.ends[order], jobs.end_job[order]

    def step(self) -> None:
        """One step: ends, arrivals, perhaps a round of moves, and what all of it is worth."""
        state, world = self.state, self.world
        self._end()
        first, last = np.searchsorted(self.comes, (state.step, state.step + 1))
        state.left[first:last] = self.jobs.size[first:last]
        self._place()
        if self.scheme in schemes.MOVING and (state.step + 1) % max(1, world.round_s // world.step_s) == 0:
            self._move()
        self._judge()
        state.step += 1

    def outcome(self) -> Outcome:
        """What has come of it so far."""
        state = self.state
        seen = state.lived > 0
        scores = state.total[seen] / state.lived[seen]
        area = 100 * float(scores.mean()) if len(scores) else 0.0
        return Outcome(
            self.scheme,
            scores,
            area,
            solver_s=np.array(state.solver_s),
            latency_s=np.array(state.latency_s),
            round_s=np.array(state.round_s),
            response_s=state.ended_s[~np.isnan(state.ended_s)],
            moved_share=np.array(state.moved),
        )

    def _end(self) -> None:
        state = self.state
        first, last = np.searchsorted(self.ends, (state.step, state.step + 1))
        if first == last:
            return
        gone = np.bincount(self.end_job[first:last], minlength=len(self.jobs))
        state.left -= np.minimum(gone, state.left)
        for job in np.flatnonzero(gone):
            state.shrink(int(job))
            if state.left[job] == 0 and state.root[job] != ANYWHERE:
                state.root[job] = ANYWHERE
                at = state.step * self.world.step_s - self.jobs.comes_s[job]
                state.ended_s[job] = max(float(at), 0.0) + state.delay_s[job]

    def _place(self) -> None:
        state, world = self.state, self.world
        waits = state.left - (state.root != ANYWHERE) - state.placed.of_jobs(len(self.jobs))
        jobs = np.flatnonzero(waits > 0)
        if len(jobs) == 0:
            return
        started = time.perf_counter()
        used = state.placed.on_machines(world.machines)
        others = np.setdiff1d(np.flatnonzero(state.root != ANYWHERE), jobs)
        free = self.places.slots - used - np.bincount(state.root[others], minlength=world.machines)
        rootless = state.root[jobs] == ANYWHERE
        problem = Problem(
            Jobs.of(waits[jobs] - rootless, state.root[jobs], self.jobs.kind[jobs]),
            dataclasses.replace(self.places, slots=free),
            self._measured(self.measured),
            self.curves,
        )
        root, placed = schemes.arrive(problem, self.scheme, state.choices)
        taken = time.perf_counter() - started
        state.solver_s.append(taken)
        state.root[jobs] = root
        state.put(Assignment(jobs[placed.job], placed.machine, placed.count))
        waited = (state.step - self.comes[jobs]) * world.step_s + taken
        new = placed.of_jobs(len(jobs))
        # A job's tasks are alike: one number stands for all of it that were placed now.
        state.latency_s += waited[new > 0].tolist()
        state.delay_s[jobs[new > 0]] = waited[new > 0]

    def _move(self) -> None:
        state = self.state
        jobs = np.flatnonzero(state.root != ANYWHERE)
        position = np.full(len(self.jobs), -1)
        position[jobs] = np.arange(len(jobs))
        current = Assignment(position[state.placed.job], state.placed.machine, state.placed.count)
        ran_s = (state.step - state.since) * self.world.step_s
        problem = Problem(
            Jobs.of(state.left[jobs] - 1, state.root[jobs], self.jobs.kind[jobs]),
            self.places,
            self._measured(self.weighed),
            self.curves,
            current,
            running_s=ran_s,
        )
        started = time.perf_counter()
        after = schemes.move(problem, self.scheme, self.world.move_price)
        state.round_s.append(time.perf_counter() - started)
        state.moved.append(moved_tasks(current, after) / max(1, int(current.count.sum())))
        state.replace(Assignment(jobs[after.job], after.machine, after.count))

    def _judge(self) -> None:
        state, placed = self.state, self.state.placed
        latency = self._latency(self.true, state.second(self.world.step_s)).pairs(
            state.root[placed.job], placed.machine
        )
        step_ns = round(self.curves.step_us * 1000)
        steps = np.minimum((latency + step_ns // 2) // step_ns, self.loss.shape[1] - 1)
        kept = (1.0 - self.loss[self.jobs.kind[placed.job], steps]) * placed.count
        wanted = state.left - 1
        there = wanted > 0
        total = np.bincount(placed.job, kept, len(self.jobs))
        # Tasks that wait do nothing.
        state.total[there] += total[there] / wanted[there]
        state.lived[there] += 1

    def _measured(self, series: Series) -> TracedLatency:
        world, step = self.world, self.state.step
        latency = self._latency(series, step * world.step_s)
        return dataclasses.replace(latency, noise=world.noise, draw=step)

    def _latency(self, series: Series, second: int) -> TracedLatency:
        return TracedLatency(self.places, series, second, self.world.seed)
