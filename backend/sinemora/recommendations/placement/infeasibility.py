"""Diagnosis of infeasibility: limits that make room when relaxed alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np

from sinemora.recommendations.placement.plan import Plan
from sinemora.recommendations.placement.policies import limits, search, vector_packing
from sinemora.recommendations.placement.policies.limits import InfeasibleError
from sinemora.recommendations.placement.policies.search import LEVELS, NO_LIMIT, SearchProblem, SearchSolution
from sinemora.recommendations.placement.problem import ANYWHERE, Problem, Resources

LEVEL_WORDS = {level: level for level in LEVELS} | {"place": "machine"}
"""Names of the levels, and of the machines allowed to a job."""
TRIED_MOST = 20
"""Maximum number of limits relaxed one at a time."""
_OTHERS_TRIED = 3
"""Maximum number of jobs without waiting tasks that are unpinned."""
_EACH_TRIED = 5
"""Maximum number of jobs with waiting tasks that are diagnosed one by one."""
_PACK_S = 1.0
_Problem = TypeVar("_Problem", Problem, SearchProblem)


def require_all_placed(
    problem: Problem,
    plan: Plan,
    words: Mapping[str, str] = LEVEL_WORDS,
    further: Callable[[], Iterable[tuple[str, Problem]]] | None = None,
) -> None:
    """Raise `InfeasibleError`, naming limits to relax, if tasks of the plan wait.

    `words` name the levels. `further` yields limits that were applied before the problem was formed, in words, with the
    problem without each; it then covers pins and allowed machines. Tries at most `TRIED_MOST` limits, those of waiting
    jobs first.
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
    loose = replace(rooted, most_moves=None, move_price=0)
    relax, tried = _relaxations(
        rooted, loose, problem.most_moves, _all_placed, lambda base: _limits_of(base, plan, words, further)
    )
    raise _refused(missing, names, short, relax, tried)


def _limits_of(
    base: Problem,
    plan: Plan,
    words: Mapping[str, str],
    further: Callable[[], Iterable[tuple[str, Problem]]] | None,
) -> Iterator[tuple[str, Problem]]:
    if further is None:
        yield from _of_problem(base, plan.waiting > 0, words)
        return
    for name, looser in further():
        yield name, replace(looser.with_roots(plan.root), most_moves=base.most_moves, move_price=base.move_price)
    for name, looser in _of_problem(base, plan.waiting > 0, words):
        if looser.allowed is base.allowed and looser.pinned is base.pinned:
            yield name, looser


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
    return _relaxations(
        problem,
        replace(problem, most_moves=NO_LIMIT, move_price=0.0),
        problem.most_moves if problem.most_moves < NO_LIMIT else None,
        lambda looser: search.can_start_all(looser, search_solution.at),
        lambda base: _of_search_problem(base, waits, waiting_jobs, jobs, words),
    )


def _relaxations(
    relaxed: _Problem,
    loose: _Problem,
    most_moves: int | None,
    feasible: Callable[[_Problem], bool],
    without: Callable[[_Problem], Iterator[tuple[str, _Problem]]],
) -> tuple[tuple[str, ...], int]:
    """Return the limits that make room when relaxed alone, and the number tried. `loose` has no budget of moves."""
    relax: list[str] = []
    base = loose
    if most_moves is not None and feasible(loose):
        relax.append(_more_moves(most_moves))
        base = relaxed  # without the budget every other limit would seem responsible as well
    candidates = list(islice(without(base), TRIED_MOST))
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


def _all_placed(problem: Problem) -> bool:
    try:
        plan = limits.solve(problem) if problem.resources is None else vector_packing.solve(problem, seconds=_PACK_S)
    except InfeasibleError:
        return False
    return int(plan.waiting.sum()) == 0


def _of_problem(problem: Problem, waits: np.ndarray, words: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """Yield each limit in words, those of waiting jobs first, and the problem without it."""
    machine, name = words["machine"], problem.jobs.name
    resources = problem.resources
    if resources is not None and not _scarce(problem, resources):
        resources, problem = None, replace(problem, resources=None)  # the flow finds it faster
    if resources is not None:
        nothing = np.zeros_like(resources.cpu)
        if resources.cpu.any():
            yield f"give {machine}s more CPU", replace(problem, resources=replace(resources, cpu=nothing))
        if resources.memory.any():
            yield f"give {machine}s more memory", replace(problem, resources=replace(resources, memory=nothing))
        for pair in sorted(resources.apart, key=lambda pair: not (waits[pair[0]] or waits[pair[1]])):
            rest = tuple(other for other in resources.apart if other != pair)
            words_of = f"let {name(pair[0])} and {name(pair[1])} share {machine}s"
            yield words_of, replace(problem, resources=replace(resources, apart=rest))
    for limit in sorted(problem.spread, key=lambda limit: not waits[limit.job]):
        fewer = tuple(other for other in problem.spread if other is not limit)
        yield _more(name(limit.job), limit.most, words[limit.level]), replace(problem, spread=fewer)
    for job in sorted(problem.allowed, key=lambda job: not waits[job]):
        allowed = {other: mask for other, mask in problem.allowed.items() if other != job}
        yield f"allow {name(job)} more {machine}s", replace(problem, allowed=allowed)
    if problem.pinned is not None and problem.pinned.any():
        yield "unpin tasks", replace(problem, pinned=None)


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


def _scarce(problem: Problem, resources: Resources) -> bool:
    """Return True if CPU, memory or anti-affinity can bind: some machine could not hold all tasks together."""
    needs = ((resources.cpu, resources.machine_cpu), (resources.memory, resources.machine_memory))
    return bool(resources.apart) or any(int((need * problem.jobs.size).sum()) > int(room.min()) for need, room in needs)
