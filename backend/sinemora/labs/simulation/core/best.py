"""Policy `best` of a simulated cluster: jobs as the tasks and links of the search that recommendations ask.

The search improves a placement without proving its bound, which takes longer than a simulated round. A task of a job
with several roots is linked to the one nearest to it, or, while it waits, to each in turn.
"""

import numpy as np

from sinemora.recommendations.placement import costs
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import NO_LIMIT, WAITING, SearchProblem
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Ints, Problem

MACHINES_MAX = 2_500
"""Maximum number of machines: the search holds the latency of every pair."""
PROPOSALS_A_TASK, PROPOSALS_LEAST = 200, 20_000
BRANCHED_MOST = 40
"""Maximum number of tasks for branch and bound, which looks at as many machines as in recommendations."""
LEAST_MOVE_COST = 1e-4
"""Gain of a move where one costs nothing: tasks do not move for nothing."""


def place(
    problem: Problem, roots: Ints, move_cost: float = 0.0, moves_max: int | None = None
) -> tuple[Ints, Assignment]:
    """Return roots and placed tasks: what waits is placed, and tasks that run move if each gains `move_cost`.

    `roots`: number of roots of each job. Those it has stay; the others are placed with the tasks of their job. A job of
    which a root finds no slot waits whole (`ANYWHERE`).
    """
    rows = _Rows(problem, roots)
    asked = rows.search_problem(max(move_cost, LEAST_MOVE_COST), NO_LIMIT if moves_max is None else moves_max)
    movers = int(asked.movable.sum())
    proposals = max(PROPOSALS_LEAST, PROPOSALS_A_TASK * movers)
    work = search.BRANCH_WORK if movers <= BRANCHED_MOST else 0
    return rows.read(search.solve(asked, proposals=proposals, rounds=0, work=work).at)


class _Rows:
    """Tasks of a problem in the order of the search: of each job its roots, then its other tasks."""

    def __init__(self, problem: Problem, roots: Ints) -> None:
        self.problem, jobs = problem, problem.jobs
        self.owner = np.repeat(np.arange(len(jobs)), roots + jobs.size)
        first = np.cumsum(roots + jobs.size) - roots - jobs.size
        self.place = np.arange(len(self.owner)) - first[self.owner]
        """Number of a task within its job."""
        self.is_root = self.place < roots[self.owner]
        self.at = np.full(len(self.owner), WAITING, np.int64)
        has = self.is_root & (self.place < jobs.roots.shape[1])
        self.at[has] = jobs.roots[self.owner[has], self.place[has]]
        current = problem.current.merged()
        ran = np.cumsum(current.of_jobs(len(jobs))) - current.of_jobs(len(jobs))
        job = np.repeat(current.job, current.count)
        self.at[first[job] + roots[job] + np.arange(len(job)) - ran[job]] = np.repeat(current.machine, current.count)
        step = costs.step_ns(problem.curves)
        latency = problem.latency.rows(np.arange(len(problem.machines))).astype(np.int64)
        self.steps = np.minimum((latency + step // 2) // step, len(problem.curves.values) - 1).astype(np.int32)
        self.source = np.flatnonzero(~self.is_root)
        own = self.owner[self.source]
        self.target = first[own] + (self.place[self.source] - roots[own]) % roots[own]
        for number in range(1, int(roots.max(initial=1))):
            other = first[own] + (self.place[self.source] - roots[own] + number) % roots[own]
            ends = self.at[self.source], self.at[other], self.at[self.target]
            nearer = (ends[0] >= 0) & (ends[1] >= 0) & (ends[2] >= 0)
            nearer &= self.steps[ends[0], ends[1]] < self.steps[ends[0], ends[2]]
            self.target = np.where(nearer, other, self.target)

    def search_problem(self, move_cost: float, moves_max: int) -> SearchProblem:
        """Return the problem of the search: roots that have a machine stay, moves cost, no other limit than slots."""
        jobs, machines, tasks = len(self.problem.jobs), len(self.problem.machines), len(self.owner)
        nowhere = np.zeros(machines, np.int64)
        return SearchProblem(
            at=self.at,
            movable=~self.is_root | (self.at < 0),
            pinned=np.zeros(tasks, np.bool_),
            owner=self.owner,
            need=np.ones((tasks, 1), np.int64),
            room=self.problem.machines.slots[:, None].copy(),
            source=self.source,
            target=self.target,
            weight=np.ones(len(self.source)),
            curve=self.problem.jobs.curve,
            table=np.ascontiguousarray(1.0 - np.clip(self.problem.curves.values.T, 0.0, 1.0)),
            steps=self.steps,
            allowed=np.ones((jobs, machines), np.bool_),
            domain=nowhere[None, :],
            most=np.full((jobs, 1), NO_LIMIT),
            spared=self.is_root,
            apart=np.zeros((jobs, jobs), np.bool_),
            move_price=np.full(jobs, move_cost),
            bringing=np.zeros((jobs, machines)),
            location=np.stack([nowhere] * 3),
            far=0.0,
            stays=np.zeros(jobs, np.bool_),
            pays=np.zeros(jobs, np.bool_),
            over=np.zeros((machines, 1), np.int64),
            most_moves=moves_max,
            most_moves_of=np.full(jobs, NO_LIMIT),
        )

    def read(self, at: Ints) -> tuple[Ints, Assignment]:
        """Return roots, shape (jobs, roots), and the tasks of jobs whose roots all have a machine."""
        jobs = len(self.problem.jobs)
        columns = max(self.problem.jobs.roots.shape[1], int(self.place[self.is_root].max(initial=0)) + 1)
        root = np.full((jobs, columns), ANYWHERE, np.int64)
        root[self.owner[self.is_root], self.place[self.is_root]] = at[self.is_root]
        waits = np.bincount(self.owner, self.is_root & (at < 0), jobs) > 0
        root[waits] = ANYWHERE
        placed = ~self.is_root & (at >= 0) & ~waits[self.owner]
        return root, Assignment(self.owner[placed], at[placed], np.ones(int(placed.sum()), np.int64)).merged()
