"""Diagnosis of infeasibility: limits that make room when relaxed alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np

from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.policies import limits, search
from sinemora.recommendations.placement.policies.limits import InfeasibleError
from sinemora.recommendations.placement.policies.search import LEVELS, NO_LIMIT, SearchProblem, SearchSolution
from sinemora.recommendations.placement.problem import ANYWHERE, Problem

LEVEL_WORDS = {level: level for level in LEVELS} | {"place": "machine"}
"""Names of the levels, and of the machines allowed to a job."""
TRIED_MOST = 20
"""Maximum number of limits relaxed one at a time."""
_OTHERS_TRIED = 3
"""Maximum number of jobs without waiting tasks that are unpinned."""
_EACH_TRIED = 5
"""Maximum number of jobs with waiting tasks that are diagnosed one by one."""


def require_all_placed(
    problem: Problem,
    plan: PlacementPlan,
    words: Mapping[str, str] = LEVEL_WORDS,
    further: Iterable[tuple[str, Problem]] = (),
) -> None:
    """Raise `InfeasibleError`, naming limits to relax, if tasks of the plan wait.

    `words` name the levels. `further` yields limits that were applied before the problem was formed, as pins, in words,
    with the problem without each. Tries at most `TRIED_MOST` limits, those of waiting jobs first.
    """
    rootless = plan.root == ANYWHERE
    missing = int(plan.waiting.sum() + rootless.sum())
    if missing == 0:
        return
    names = [problem.jobs.name(int(job)) for job in np.flatnonzero((plan.waiting > 0) | rootless)]
    short = int(problem.jobs.size.sum() + rootless.sum() - problem.free_slots().sum())
    if short > 0 or rootless.any():
        raise _refused(missing, names, short, (), 0)
    rooted = problem.with_roots(plan.root)
    without = chain(
        ((name, looser.with_roots(plan.root)) for name, looser in further),
        _without_spread(rooted, plan.waiting > 0, words),
    )
    tried = list(islice(without, TRIED_MOST))
    relax = tuple(name for name, looser in tried if not limits.solve(looser).waiting.any())
    raise _refused(missing, names, short, relax, len(tried))


def require_all_found(
    problem: SearchProblem,
    search_solution: SearchSolution,
    jobs: Sequence[str],
    words: Mapping[str, str] = LEVEL_WORDS,
) -> None:
    """Raise `InfeasibleError` as `require_all_placed`, for local search: limits not named may help as well.

    If no limit makes room for all waiting tasks, those that make room for the tasks of one job are named.
    """
    waits = (search_solution.at < 0) & problem.movable
    missing = int(waits.sum())
    if missing == 0:
        return
    waiting_jobs = np.unique(problem.owner[waits])
    free = problem.room[:, 0].sum() - problem.need[search_solution.at >= 0, 0].sum()
    short = int(problem.need[waits, 0].sum() - free)
    relax: tuple[str, ...] = ()
    tried = 0
    of_each: dict[str, tuple[str, ...]] = {}
    if short <= 0:
        relax, tried = _search_relaxations(problem, search_solution, waits, jobs, words)
        if not relax and waiting_jobs.size > 1:  # each application may need another limit relaxed
            for job in waiting_jobs[:_EACH_TRIED].tolist():
                own = waits & (problem.owner == job)
                alone = replace(problem, movable=problem.movable & ~(waits & ~own))
                if not search.can_start_all(alone, search_solution.at):  # else only tasks of other jobs are in the way
                    of_each[jobs[job]] = _search_relaxations(alone, search_solution, own, jobs, words)[0]
    raise _refused(missing, [jobs[int(job)] for job in waiting_jobs], short, relax, tried, of_each)


def _search_relaxations(
    problem: SearchProblem,
    search_solution: SearchSolution,
    waits: np.ndarray,
    jobs: Sequence[str],
    words: Mapping[str, str],
) -> tuple[tuple[str, ...], int]:
    """Return the limits that make room for all of `waits` when relaxed alone, and the number tried."""
    waiting_jobs = np.unique(problem.owner[waits])
    feasible = partial(search.can_start_all, begin=search_solution.at)
    relax: list[str] = []
    base = replace(problem, most_moves=NO_LIMIT, move_price=0.0)
    if problem.most_moves < NO_LIMIT and feasible(base):
        relax.append(_more_moves(problem.most_moves))
        base = problem  # without the budget every other limit would seem responsible as well
    candidates = list(islice(_of_search_problem(base, waits, waiting_jobs, jobs, words), TRIED_MOST))
    relax += [name for name, looser in candidates if feasible(looser)]
    return tuple(relax), len(candidates)


def _more_moves(most: int) -> str:
    if most == 0:
        return "allow moves (none are allowed now)"
    return f"allow more than {most} {'move' if most == 1 else 'moves'}"


def _refused(
    missing: int,
    names: list[str],
    short: int,
    relax: tuple[str, ...],
    tried: int,
    of_each: Mapping[str, tuple[str, ...]] | None = None,
) -> InfeasibleError:
    some = {name: limits for name, limits in (of_each or {}).items() if limits}
    advice = "; relaxing any single limit does not help"
    if short > 0:
        relax = (f"add {short} {'slot' if short == 1 else 'slots'}",)
        advice = f"; {short} {'slot' if short == 1 else 'slots'} missing"
    elif relax:
        advice = f"; to fix: {' or '.join(relax)}"
    elif some:
        relax = tuple(dict.fromkeys(limit for limits in some.values() for limit in limits))
        each = "; ".join(f"for {name}, {' or '.join(limits)}" for name, limits in some.items())
        advice = f"; no single limit makes room for all: {each}"
    elif tried == TRIED_MOST:
        advice = f"; relaxing one of {TRIED_MOST} limits alone does not help"
    tasks = "task" if missing == 1 else "tasks"
    return InfeasibleError(f"Infeasible: {missing} {tasks} unplaced ({', '.join(names[:5])}){advice}", relax)


def _without_spread(problem: Problem, waits: np.ndarray, words: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """Yield each spread limit in words, those of waiting jobs first, and the problem without it."""
    for limit in sorted(problem.spread, key=lambda limit: not waits[limit.job]):
        fewer = tuple(other for other in problem.spread if other is not limit)
        yield _more(problem.jobs.name(limit.job), limit.most, words[limit.level]), replace(problem, spread=fewer)


def _of_search_problem(
    problem: SearchProblem, waits: np.ndarray, waiting_jobs: np.ndarray, jobs: Sequence[str], words: Mapping[str, str]
) -> Iterator[tuple[str, SearchProblem]]:
    """Yield each limit in words, and the problem without it.

    Of jobs that do not wait, only limits shared with waiting jobs count.
    """
    machine = words["machine"]
    for column, resource in enumerate(("slots", "CPU", "memory")):
        if 0 < column < problem.need.shape[1] and problem.need[waits, column].any():
            need = problem.need.copy()
            need[:, column] = 0
            yield f"give {machine}s more {resource}", replace(problem, need=need)
    for job in waiting_jobs.tolist():
        if not problem.allowed[job].all():
            allowed = problem.allowed.copy()
            allowed[job] = True
            yield f"allow {jobs[job]} more {words['place']}s", replace(problem, allowed=allowed)
        pinned = problem.pinned & (problem.owner == job)
        if pinned.any():
            yield f"unpin tasks of {jobs[job]}", replace(problem, movable=problem.movable | pinned)
        for level, limit in enumerate(LEVELS):
            if problem.most[job, level] < NO_LIMIT:
                most = problem.most.copy()
                most[job, level] = NO_LIMIT
                yield _more(jobs[job], int(problem.most[job, level]), words[limit]), replace(problem, most=most)
        for other in np.flatnonzero(problem.apart[job]).tolist():
            apart = problem.apart.copy()
            apart[job, other] = apart[other, job] = False
            yield f"let {jobs[job]} and {jobs[other]} share {machine}s", replace(problem, apart=apart)
    in_the_way = problem.pinned & problem.allowed[waiting_jobs].any(axis=0)[problem.at]
    others = [job for job in np.unique(problem.owner[in_the_way]).tolist() if job not in waiting_jobs]
    for job in others[:_OTHERS_TRIED]:
        pinned = problem.pinned & (problem.owner == job)
        yield f"unpin tasks of {jobs[job]}", replace(problem, movable=problem.movable | pinned)
    widest = int(np.flatnonzero(waits)[problem.need[waits, 0].argmax()])
    wide = int(problem.need[widest, 0])
    if wide > 1:
        # Freed slots hold this task and no other: it needs none of those there are.
        need = problem.need.copy()
        need[widest, 0] = 0
        yield f"free {wide} slots on one {machine}", replace(problem, need=need)


def _more(job: str, most: int, domain: str) -> str:
    return f"let {job} have more than {most} in one {domain}"
