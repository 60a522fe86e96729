"""Diagnosis of tasks that a search left waiting: what makes room for them when relaxed alone, found by trying it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import LEVELS, NO_LIMIT, SearchProblem
from sinemora.recommendations.placement.problem import Ints

LEVEL_WORDS = {level: level for level in LEVELS} | {"place": "machine"}
"""Names of the levels, and of the machines allowed to a job."""
TRIED_MOST = 24
"""Maximum number of limits relaxed one at a time."""
_OTHERS_TRIED = 3
"""Maximum number of jobs without waiting tasks that are unpinned."""
_EACH_TRIED = 5
"""Maximum number of jobs with waiting tasks that are diagnosed one by one."""
_GROWN_MOST = 5
"""Maximum number of machines that are tried with more slots: those that most waiting jobs may use."""


class InfeasibleError(ValueError):
    """Not all tasks were placed. `relax` names limits that each make room when relaxed alone."""

    def __init__(self, message: str, relax: tuple[str, ...]) -> None:
        super().__init__(message)
        self.relax = relax


def require_all_found(
    problem: SearchProblem,
    at: Ints,
    jobs: Sequence[str],
    machines: Sequence[str],
    words: Mapping[str, str] = LEVEL_WORDS,
    proven: bool = False,
) -> None:
    """Raise `InfeasibleError` if tasks wait in the placement `at`, naming what makes room for them.

    `words` name the levels. What is not named may help as well: at most `TRIED_MOST` limits are tried, those of waiting
    jobs first. If none makes room for all waiting tasks, those that make room for the tasks of one job are named.
    `proven`: no placement within the limits has fewer waiting tasks.
    """
    waits = (at < 0) & problem.movable
    missing = int(waits.sum())
    if missing == 0:
        return
    waiting_jobs = np.unique(problem.owner[waits])
    relax = _relaxations(problem, at, waits, jobs, machines, words)
    of_each: dict[str, tuple[str, ...]] = {}
    if not relax and waiting_jobs.size > 1:  # each application may need another limit relaxed
        for job in waiting_jobs[:_EACH_TRIED].tolist():
            own = waits & (problem.owner == job)
            alone = replace(problem, movable=problem.movable & ~(waits & ~own))
            if not search.can_start_all(alone, at):  # else only tasks of other jobs are in the way
                of_each[jobs[job]] = _relaxations(alone, at, own, jobs, machines, words)
    raise _refused(missing, [jobs[int(job)] for job in waiting_jobs], relax, of_each, proven)


def _relaxations(
    problem: SearchProblem,
    at: Ints,
    waits: np.ndarray,
    jobs: Sequence[str],
    machines: Sequence[str],
    words: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the limits that make room for all of `waits` when relaxed alone."""
    waiting_jobs = np.unique(problem.owner[waits])
    feasible = partial(search.can_start_all, begin=at)
    relax: list[str] = []
    base = replace(problem, most_moves=NO_LIMIT)
    if problem.most_moves < NO_LIMIT and feasible(base):
        relax.append(_more_moves(problem.most_moves))
        base = problem  # without the budget every other limit would seem responsible as well
    tried = islice(_of_search_problem(base, waits, waiting_jobs, jobs, words), TRIED_MOST)
    relax += [name for name, looser in tried if feasible(looser)]
    # Slots help nearly everywhere: one VM is named, and only where no limit makes room.
    slots = (name for name, looser in _with_slots(base, waits, waiting_jobs, machines) if feasible(looser))
    return tuple(relax) or tuple(islice(slots, 1))


def _more_moves(most: int) -> str:
    if most == 0:
        return "allow moves (none are allowed now)"
    return f"allow more than {most} {'move' if most == 1 else 'moves'}"


def _refused(
    missing: int, names: list[str], relax: tuple[str, ...], of_each: Mapping[str, tuple[str, ...]], proven: bool
) -> InfeasibleError:
    some = {name: limits for name, limits in of_each.items() if limits}
    advice = "; none of the changes that were tried makes room by itself"
    if relax:
        advice = f"; to fix: {' or '.join(relax)}"
    elif some:
        relax = tuple(dict.fromkeys(limit for limits in some.values() for limit in limits))
        each = "; ".join(f"for {name}, {' or '.join(limits)}" for name, limits in some.items())
        advice = f"; no single limit makes room for all: {each}"
    tasks = "task" if missing == 1 else "tasks"
    found = "Infeasible: " if proven else "No place found: "
    return InfeasibleError(f"{found}{missing} {tasks} unplaced ({', '.join(names[:5])}){advice}", relax)


def _of_search_problem(
    problem: SearchProblem,
    waits: np.ndarray,
    waiting_jobs: np.ndarray,
    jobs: Sequence[str],
    words: Mapping[str, str],
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
    running = np.unique(problem.owner[problem.movable & (problem.at >= 0)])
    unpaid = [job for job in running.tolist() if job not in waiting_jobs and problem.pays[job]]
    if unpaid:
        pays = problem.pays.copy()
        pays[unpaid] = False
        names = " and ".join(jobs[job] for job in unpaid[:_OTHERS_TRIED])
        if len(unpaid) <= _OTHERS_TRIED:
            yield f"let {names} move for others", replace(problem, pays=pays)


def _with_slots(
    problem: SearchProblem, waits: np.ndarray, waiting_jobs: np.ndarray, machines: Sequence[str]
) -> Iterator[tuple[str, SearchProblem]]:
    """Yield the problem with more slots on one machine: as many as are missing in all, or as the waiting tasks take."""
    needs = int(problem.need[waits, 0].sum())
    taken = np.zeros(len(problem.room), np.int64)
    np.add.at(taken, problem.at[problem.at >= 0], problem.need[problem.at >= 0, 0])
    short = max(needs - int((problem.room[:, 0] - taken).sum()), 1)
    usable = problem.allowed[waiting_jobs].sum(axis=0)
    for machine in np.argsort(-usable, kind="stable")[:_GROWN_MOST].tolist():
        if not usable[machine]:
            continue
        for count in sorted({min(short, needs), needs}):
            room = problem.room.copy()
            room[machine, 0] += count
            yield (
                f"add {count} {'slot' if count == 1 else 'slots'} to {machines[machine]}",
                replace(problem, room=room),
            )


def _more(job: str, most: int, domain: str) -> str:
    return f"let {job} have more than {most} in one {domain}"
