"""Simulate a cluster under one placement policy and score the performance of its applications.

Time advances in steps. In each step tasks end and jobs arrive. The policy places waiting tasks by measured latency and
periodically moves running ones. Performance is read from the true latency of one second of the step. A job's score is
the mean over its life of the performance of its tasks, divided by the best that could be reached in that second
(UCAM-CL-TR-937, 6.3.1): on the machine with the least latency to a root, other than that of the root. A policy's score
is the area above the distribution of scores over jobs: 100 % means that every job runs at its best.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinemora.labs.simulation.core import schemes, workload
from sinemora.labs.simulation.core.delays import RoundTrip
from sinemora.labs.simulation.core.network import TracedLatency
from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.state import SCORES, SimulationState
from sinemora.labs.simulation.core.workload import Workload
from sinemora.recommendations.placement.plan import moved_tasks
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Ints, Jobs, Machines, Nanoseconds, Problem

Scores = npt.NDArray[np.float64]
_ROWS = 256
"""Roots whose latency to all machines is held at a time."""
ROOTS_MAX = 16
"""Maximum number of roots of a job."""


@dataclass(frozen=True, slots=True)
class World:
    """Parameters of a simulation, apart from jobs and series."""

    machines: int = 1_250
    rack_size: int = 48
    """Machines per rack."""
    pod_racks: int = 16
    """Racks per pod."""
    slots: int = 14
    """Slots per machine. 14 hold the peak of running tasks in the first 19.5 hours of the trace."""
    seconds: int = 6 * 3600
    step_s: int = 60
    round_s: int = 600
    """Seconds between rounds of moves. (The source took 1,532 s to solve a round, at the median.)"""
    window_s: int = 10
    """Seconds of a measurement window; a measured value is its mean."""
    history_s: int = 0
    """Seconds of the past that every policy averages before it moves tasks; up to the window: the newest window."""
    noise: float = 0.0
    """Largest relative error of a measured latency, drawn in each step."""
    move_cost: float = 0.01
    """Performance that a move must gain for its task under the policy `best`."""
    moves_max: int | None = None
    """Most moves of a round under the policy `best`; None: no limit."""
    mix: Mapping[str, float] = field(default_factory=lambda: workload.MIX)
    """Share of the jobs with each curve, by the key of a published one or the name of one of `own_curves`."""
    own_curves: Mapping[str, workload.Points] = field(default_factory=dict)
    """Curves that are not published."""
    nomora: Parameters = field(default_factory=lambda: Parameters(aggregate=True))
    """Parameters of the policy `nomora`."""
    preemption: bool = False
    """Running tasks may move under the policy `nomora`."""
    roots: int = 1
    """Roots of a job, as far as it has tasks; a task counts the nearest (the source's extension, section 6.4)."""
    start_at_random: bool = False
    """Jobs of the first step are placed at random under every policy: they ran before the policy came."""
    seed: int = 1

    @property
    def steps(self) -> int:
        return -(-self.seconds // self.step_s)

    @property
    def covered_s(self) -> int:
        """Return the seconds of latency that the steps read."""
        return self.steps * self.step_s

    @property
    def lookback_s(self) -> int:
        """Return the longest time before the start that a measured value covers, in seconds."""
        return max(self.window_s, self.history_s)


@dataclass(frozen=True, slots=True, eq=False)
class SimulationResult:
    """Result of a simulation."""

    scheme: Scheme
    scores: Scores
    """Mean performance of each job over its life relative to the best reachable, 0 to 1, waiting tasks as 0; without
    jobs that never had a second task."""
    areas: Mapping[str, float]
    """Mean of each of `SCORES` over jobs in percent: the area above their distribution."""
    solver_s: Scores
    """Solver seconds of each step with arrivals."""
    latency_s: Scores
    """Seconds from arrival to placement of each job with placed tasks: solver time and steps waited."""
    round_s: Scores
    """Solver seconds of each round of moves."""
    response_s: Scores
    """Seconds from arrival to the end of the last task, waiting included, of each job that ended."""
    moved_share: Scores
    """Share of running tasks that moved in each round."""

    @property
    def area(self) -> float:
        """Return the score of the policy in percent."""
        return self.areas["area"]


def simulate(
    world: World,
    scheme: Scheme,
    jobs: Workload,
    round_trips: RoundTrip,
    *,
    state: SimulationState | None = None,
    after_step: Callable[[SimulationState], None] | None = None,
) -> SimulationResult:
    """Simulate a world under a policy, resuming from `state` if given.

    Jobs, random roots and latencies depend only on the world. `after_step` may store the state.
    """
    run = _Run(world, scheme, jobs, round_trips, state or SimulationState.new(len(jobs), world.seed, world.roots))
    while run.state.step < world.steps:
        run.step()
        if after_step:
            after_step(run.state)
    return run.result()


class _Run:
    """A run of one policy in one world."""

    def __init__(
        self, world: World, scheme: Scheme, jobs: Workload, round_trips: RoundTrip, state: SimulationState
    ) -> None:
        self.world, self.scheme, self.jobs, self.state = world, scheme, jobs, state
        self.machines = Machines.regular(world.machines, world.slots, world.rack_size, world.pod_racks)
        self.curves = workload.curves(world.mix, world.own_curves)
        self.loss = 1.0 - np.clip(self.curves.values.T, 0.0, 1.0)
        self.moving = scheme in schemes.MOVING or (scheme is Scheme.nomora and world.preemption)
        self.true = round_trips
        self.newest = round_trips.averaged(world.window_s)
        self.past = round_trips.averaged(world.history_s) if world.history_s > world.window_s else self.newest
        # A job has at least one task that is no root.
        self.roots = np.clip(world.roots, 1, np.maximum(jobs.size - 1, 1))
        self.arrivals = (jobs.comes_s // world.step_s).astype(np.int64)
        # A task that arrives and ends within one step runs for that step.
        ends = (jobs.end_s // world.step_s).astype(np.int64)
        self.ends = np.maximum(ends, self.arrivals[jobs.end_job] + 1)
        order = np.argsort(self.ends, kind="stable")
        self.ends, self.end_job = self.ends[order], jobs.end_job[order]

    def step(self) -> None:
        """Simulate one step: ends, arrivals, a round of moves if due, and the performance."""
        state, world = self.state, self.world
        self._end()
        first, last = np.searchsorted(self.arrivals, (state.step, state.step + 1))
        state.left[first:last] = self.jobs.size[first:last]
        self._place()
        if self.moving and (state.step + 1) % max(1, world.round_s // world.step_s) == 0:
            self._move()
        self._score()
        state.step += 1

    def result(self) -> SimulationResult:
        """Return the result so far."""
        state = self.state
        scores = []
        for total, lived in zip(state.total.T, state.lived.T, strict=True):
            scores.append(total[lived > 0] / lived[lived > 0])
        return SimulationResult(
            self.scheme,
            scores[0],
            {name: 100 * float(of.mean()) if len(of) else 0.0 for name, of in zip(SCORES, scores, strict=True)},
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
        ended = np.bincount(self.end_job[first:last], minlength=len(self.jobs))
        state.left -= np.minimum(ended, state.left)
        for job in np.flatnonzero(ended):
            state.shrink(int(job), max(0, int(state.left[job] - self.roots[job])))
            if state.left[job] == 0 and state.root[job, 0] != ANYWHERE:
                state.root[job] = ANYWHERE
                at = state.step * self.world.step_s - self.jobs.comes_s[job]
                state.ended_s[job] = max(float(at), 0.0) + state.delay_s[job]

    def _place(self) -> None:
        state, world = self.state, self.world
        rooted = (state.root != ANYWHERE).sum(axis=1)
        waits = state.left - rooted - state.placed.of_jobs(len(self.jobs))
        jobs = np.flatnonzero(waits > 0)
        if len(jobs) == 0:
            return
        started = time.perf_counter()
        used = state.placed.on_machines(world.machines)
        others = state.root[np.setdiff1d(np.flatnonzero(rooted), jobs)]
        free = self.machines.slots - used - np.bincount(others[others != ANYWHERE], minlength=world.machines)
        roots = np.where(rooted[jobs] > 0, 0, np.minimum(self.roots[jobs], waits[jobs]))
        problem = Problem(
            Jobs(waits[jobs] - roots, state.root[jobs, 0], self.jobs.kind[jobs], self._waited_s(jobs)),
            dataclasses.replace(self.machines, slots=free),
            self._measured(self.newest),
            self.curves,
        ).with_roots(state.root[jobs])
        scheme = Scheme.random if world.start_at_random and state.step == 0 else self.scheme
        root, placed = schemes.arrive(problem, scheme, state.choices, world.nomora, roots)
        taken = time.perf_counter() - started
        state.solver_s.append(taken)
        state.root[jobs] = root
        state.put(Assignment(jobs[placed.job], placed.machine, placed.count))
        waited = self._waited_s(jobs) + taken
        new = placed.of_jobs(len(jobs))
        # Tasks of a job are identical: one delay stands for all that were placed in this step.
        state.latency_s += waited[new > 0].tolist()
        state.delay_s[jobs[new > 0]] = waited[new > 0]

    def _waited_s(self, jobs: Ints) -> Ints:
        return (self.state.step - self.arrivals[jobs]) * self.world.step_s

    def _move(self) -> None:
        state = self.state
        rooted = (state.root != ANYWHERE).sum(axis=1)
        jobs = np.flatnonzero(rooted)
        position = np.full(len(self.jobs), -1)
        position[jobs] = np.arange(len(jobs))
        current = Assignment(position[state.placed.job], state.placed.machine, state.placed.count)
        ran_s = (state.step - state.since) * self.world.step_s
        problem = Problem(
            Jobs.of(np.maximum(state.left - rooted, 0)[jobs], state.root[jobs, 0], self.jobs.kind[jobs]),
            self.machines,
            self._measured(self.past),
            self.curves,
            current,
            running_s=ran_s,
        ).with_roots(state.root[jobs])
        started, world = time.perf_counter(), self.world
        after = schemes.move(problem, self.scheme, state.choices, world.nomora, world.move_cost, world.moves_max)
        state.round_s.append(time.perf_counter() - started)
        state.moved.append(moved_tasks(current, after) / max(1, int(current.count.sum())))
        state.replace(Assignment(jobs[after.job], after.machine, after.count))

    def _score(self) -> None:
        state, placed = self.state, self.state.placed
        now = self._latency(self.true, state.second(self.world.step_s))
        latency = now.pairs(state.root[placed.job, 0], placed.machine)
        for roots in state.root.T[1:]:
            has = np.flatnonzero(roots[placed.job] != ANYWHERE)
            further = now.pairs(roots[placed.job[has]], placed.machine[has])
            latency[has] = np.minimum(latency[has], further)
        plain = self._performance(placed.job, latency)
        reached = np.minimum(plain / self._reachable(now)[placed.job], 1.0)
        tasks, ran = state.left - self.roots, placed.of_jobs(len(self.jobs))
        # Waiting tasks count as zero performance, or do not count.
        for column, (performance, among) in enumerate(((reached, tasks), (plain, tasks), (reached, ran), (plain, ran))):
            counts = (tasks > 0) & (among > 0)
            total = np.bincount(placed.job, performance * placed.count, len(self.jobs))
            state.total[counts, column] += total[counts] / among[counts]
            state.lived[counts, column] += 1

    def _performance(self, job: Ints, latency_ns: Nanoseconds) -> Scores:
        step_ns = round(self.curves.step_us * 1000)
        steps = np.minimum((latency_ns + step_ns // 2) // step_ns, self.loss.shape[1] - 1)
        performance: Scores = 1.0 - self.loss[self.jobs.kind[job], steps]
        return performance

    def _reachable(self, now: TracedLatency) -> Scores:
        """Return the best performance of each job next to one of its roots, on another machine, shape (jobs,)."""
        best = np.zeros(len(self.jobs))
        job, number = np.nonzero(self.state.root != ANYWHERE)
        root = self.state.root[job, number]
        for start in range(0, len(job), _ROWS):
            some = slice(start, start + _ROWS)
            rows = now.rows(root[some])
            rows[np.arange(len(rows)), root[some]] = np.iinfo(np.int32).max
            np.maximum.at(best, job[some], self._performance(job[some], rows.min(axis=1)))
        return best

    def _measured(self, round_trips: RoundTrip) -> TracedLatency:
        world, step = self.world, self.state.step
        latency = self._latency(round_trips, step * world.step_s)
        return dataclasses.replace(latency, noise=world.noise, draw=step)

    def _latency(self, round_trips: RoundTrip, second: int) -> TracedLatency:
        return TracedLatency(self.machines, round_trips, second, self.world.seed)
