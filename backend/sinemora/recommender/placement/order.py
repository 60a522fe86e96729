"""In which order moves are carried out, so that each finds a free slot when its turn comes."""

from collections.abc import Sequence
from dataclasses import dataclass

from sinemora.recommender.placement.plan import Move
from sinemora.recommender.placement.problem import Ints, Problem


@dataclass(frozen=True, slots=True)
class Step:
    """One task from one machine to another."""

    job: int
    source: int
    target: int
    detour: bool = False
    """A stop on the way: machines that only exchange tasks with one another need a spare slot for a while."""


class NoSpareSlotError(ValueError):
    """Full machines are to exchange tasks and there is no free slot anywhere that one of the tasks may use."""


def steps(problem: Problem, moves: Sequence[Move]) -> list[Step]:
    """The moves one task at a time. Before each step its target has a free slot.

    A chain of moves that ends in a free slot is carried out from that end. A closed cycle between full machines starts
    by parking one task in a spare slot; that task moves on at the end.
    """
    free = _free(problem)
    waiting = [(move.job, move.source, move.target) for move in moves for _ in range(move.count)]
    by_target: dict[int, list[tuple[int, int, int]]] = {}
    for job, source, target in waiting:
        by_target.setdefault(target, []).insert(0, (job, source, target))
    done: list[Step] = []
    ready = [target for target in by_target if free[target] > 0]
    while True:
        while ready:
            target = ready.pop()
            while free[target] > 0 and by_target.get(target):
                job, source, _ = by_target[target].pop()
                free[target] -= 1
                free[source] += 1
                done.append(Step(job, source, target))
                if by_target.get(source):
                    ready.append(source)
        left = [unit for units in by_target.values() for unit in units]
        if not left:
            return done
        job, source, target = left[0]
        spare = _spare(problem, free, [unit[0] for unit in left])
        if spare is None:
            raise NoSpareSlotError(
                f"{len(left)} moves only exchange tasks between full machines: free one slot anywhere, and try again"
            )
        machine, at = spare
        job, source, target = left[at]
        by_target[target].remove((job, source, target))
        by_target[target].append((job, machine, target))
        free[machine] -= 1
        free[source] += 1
        done.append(Step(job, source, machine, detour=True))
        ready = [source]


def _free(problem: Problem) -> Ints:
    return problem.free_slots() - problem.current.on_machines(len(problem.machines))


def _spare(problem: Problem, free: Ints, jobs: Sequence[int]) -> tuple[int, int] | None:
    """(machine with a free slot, which of `jobs` may use it)."""
    for at, job in enumerate(jobs):
        mask = problem.allowed.get(job)
        for machine in (free > 0).nonzero()[0]:
            if mask is None or mask[machine]:
                return int(machine), at
    return None
