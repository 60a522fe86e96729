"""Limits that keep tasks from better VMs, and what would help: one task at a time, in the recommended placement.

Every task is tried on every VM as if nothing limited it. Where its performance would rise by more than noise, the
limits that forbid the place are binding, and so are the costs of a move, or of bringing its artifact, that are not
surely less than the gain. The gain is estimated on held-out windows, and has to be as sure as that of a recommended
move. Moves of several tasks at once are not tried.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Flags, Indices
from sinemora.kit.percent import percent
from sinemora.recommendations.core.acceptance import (
    BRINGING_COST,
    MOVE_COST,
    PROBABILITY,
    move_cost_of,
    price_of_bringing,
    price_of_moves,
)
from sinemora.recommendations.core.constraints import counted, moves_allowed
from sinemora.recommendations.core.gains import expected_gain
from sinemora.recommendations.core.holdout import Gain
from sinemora.recommendations.core.instance import Deployment, Instance
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.solution import Solution

SHOWN = 5
_TRIED = 20
"""Candidates whose gain is estimated on held-out windows."""
_BEST_PLACES = 30
"""Better VMs that are looked at for each task."""
_TOGETHER = 2
"""A better place behind more limits than this is not worth a sentence."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit in words, and what relaxes it. `kind` is stable."""

    kind: str
    words: str
    relax: str


_COSTS = (MOVE_COST, BRINGING_COST)
_ROOTS_STAY = Limit("root", "roots of stars stay", "use the policy best without a risk measure, which moves roots")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """Limits that together keep `task` from a VM, and the gain for its application without them."""

    limits: tuple[Limit, ...]
    task: tuple[int, int]
    machine: int
    gain: Gain


@dataclass(frozen=True, slots=True)
class _Candidate:
    gain: float
    """Gain of its application on the training windows."""
    limits: tuple[Limit, ...]
    task: tuple[int, int]
    machine: int
    worth: float
    """The same in the unit of move costs, in which the links of an application sum up to their number."""


def binding_limits(instance: Instance, solution: Solution) -> list[Binding]:
    """Return the limits whose relaxation would gain most, best first, each by its best task; at most `SHOWN`."""
    best: dict[tuple[Limit, ...], _Candidate] = {}
    for candidate in _candidates(instance, solution):
        known = best.get(candidate.limits)
        if known is None or candidate.gain > known.gain:
            best[candidate.limits] = candidate
    found = []
    for candidate in sorted(best.values(), key=lambda one: one.gain, reverse=True)[:_TRIED]:
        place, position = candidate.task
        after = [machines.copy() for machines in solution.after]
        after[place][position] = candidate.machine
        relaxed = {limit.kind for limit in candidate.limits}
        paid = replace(solution.options, move_cost=0.0) if MOVE_COST in relaxed else solution.options
        price = price_of_moves(instance, place, 1, paid, solution.min_gain)
        if BRINGING_COST not in relaxed:
            price += price_of_bringing(instance, place, [candidate.machine])
        gain = expected_gain(instance, solution.after, tuple(after), [place], price)
        if gain is not None and gain.probability >= PROBABILITY:
            limits = tuple(_with_gain(instance, limit, candidate, gain, solution.options) for limit in candidate.limits)
            found.append(Binding(limits, candidate.task, candidate.machine, gain))
    best_first = sorted(found, key=lambda one: one.gain.gain.mean, reverse=True)
    return _without_needless(best_first)[:SHOWN]


def _without_needless(best_first: list[Binding]) -> list[Binding]:
    """Return the limits without those of which a part, relaxed alone, gains as much or more."""
    kept: list[Binding] = []
    for one in best_first:
        if not any(_relaxed(better) < _relaxed(one) for better in kept):
            kept.append(one)
    return kept


def _relaxed(one: Binding) -> set[object]:
    """Return what is relaxed; the words of costs differ from task to task."""
    return {(limit.kind, one.task[0]) if limit.kind in _COSTS else limit for limit in one.limits}


def _candidates(instance: Instance, solution: Solution) -> Iterator[_Candidate]:
    free = instance.free(solution.after)
    domains = (np.arange(len(instance.machines)), instance.racks, instance.zones)
    moved = {move.task for group in solution.kept for move in group.moves if not move.starts}
    too_costly = {(move.task, move.target): group.too_costly for group in solution.groups for move in group.moves}
    for place, application in enumerate(instance.applications):
        if not application.chosen:
            continue
        cost = move_cost_of(application, solution.options)
        present = _apart_on(instance, solution.after, place)
        for position in np.flatnonzero(solution.after[place] >= 0).tolist():
            share = _share(application, position)
            gains = _gains(instance, solution, place, position) * share
            worth = gains * len(application.links)  # in the unit of move costs: of one task of a star
            better = np.flatnonzero(worth > solution.min_gain)
            if not better.size:
                continue
            roots_stay = solution.options.nomora is not None or instance.training_risk is not None
            everywhere = [
                *_task_limits(application, position, roots_stay),
                *_budgets(instance, solution, place, position, moved),
            ]
            for machine in better[np.argsort(-gains[better])][:_BEST_PLACES].tolist():
                task = (place, position)
                costs = too_costly.get((task, machine)) or _costs(application, worth[machine], cost, machine)
                if task in moved:
                    costs = ()  # its move is paid for
                limits = tuple(
                    (
                        *everywhere,
                        *(_cost_limit(application, kind, cost) for kind in costs),
                        *_capacity(instance, free, application, position, machine),
                        *(_apart(instance, place, machine) if present[machine] else ()),
                        *_domains(instance, domains, solution.after[place], application, position, machine),
                    )
                )
                # A root that stays for a second reason too says little.
                if 0 < len(limits) <= (1 if _ROOTS_STAY in limits else _TOGETHER):
                    yield _Candidate(float(gains[machine]), limits, (place, position), machine, float(worth[machine]))


def _gains(instance: Instance, solution: Solution, place: int, position: int) -> Floats:
    """Return the gain in performance of a task's links on each machine; -inf where a path is not known."""
    application, at = instance.applications[place], solution.after[place]
    links = application.links
    mine = ((links.sources == position) | (links.targets == position)) & (at[links.sources] >= 0)
    mine &= at[links.targets] >= 0
    partners = at[np.where(links.sources[mine] == position, links.targets[mine], links.sources[mine])]
    if not partners.size:
        return np.full(len(instance.machines), -np.inf)
    weights = links.weights[mine] / links.weights[mine].sum()
    sensitivity = application.sensitivity
    trips = solution.assumed.round_trips_ns[:, partners]
    reached = sensitivity.curve(sensitivity.added_us(trips)) @ weights
    known = solution.assumed.known[:, partners].all(axis=1)
    gains: Floats = np.where(known, reached - reached[at[position]], -np.inf)
    return gains


def _share(application: Deployment, position: int) -> float:
    """Return the weight of a task's links among all of its application."""
    links = application.links
    mine = (links.sources == position) | (links.targets == position)
    return float(links.weights[mine].sum() / links.weights.sum())


def _brought(application: Deployment, machine: int) -> float:
    """Return the further minimum gain of a move for bringing its artifact, in the unit of move costs."""
    return 0.0 if application.bringing is None else float(application.bringing[machine])


def _costs(application: Deployment, worth: float, cost: float, machine: int) -> tuple[str, ...]:
    """Return the costs that a move is not worth: one alone where lowering it suffices."""
    brought = _brought(application, machine)
    if worth > cost + brought:
        return ()
    if worth > cost:
        return (BRINGING_COST,)
    return (MOVE_COST,) if worth > brought else (MOVE_COST, BRINGING_COST)


def _cost_limit(application: Deployment, kind: str, cost: float) -> Limit:
    """Return the limit that a cost of a move is; its words get the gain of the best task later (`_with_gain`)."""
    if kind == MOVE_COST:
        return Limit(kind, f"a move of {application.name} must gain {percent(cost)} for its task", "lower move_cost")
    return Limit(kind, f"a move of {application.name} must gain more for bringing its artifact", "lower bringing_cost")


def _with_gain(instance: Instance, limit: Limit, candidate: _Candidate, gain: Gain, options: Options) -> Limit:
    """Return a limit that is a cost with what the move gains, and what would be low enough.

    A move cost has to be below the worth on the training windows, too.
    """
    application = instance.applications[candidate.task[0]]
    mean, low = (len(application.links) * part for part in (gain.gain.mean, gain.gain.low))
    brought = _brought(application, candidate.machine)
    if limit.kind == BRINGING_COST:
        vm = instance.machines[candidate.machine].name
        words = f"bringing the artifact of {application.name} to {vm} costs {percent(brought)} (bringing_cost)"
        words += f", and the move gains {percent(mean)} for its task"
        return replace(limit, words=words, relax=f"lower bringing_cost, or copy the artifact to {vm} before")
    if limit.kind != MOVE_COST:
        return limit
    paid = 0.0 if any(one.kind == BRINGING_COST for one in candidate.limits) else brought
    surely = max(np.floor((min(low, candidate.worth - 1e-9) - paid) * 1e3) / 1e3, 0.0)
    whose = "the request" if options.move_cost is not None else application.name
    words = f"{limit.words} (move_cost), and this one gains {percent(mean)}, at least {percent(surely)}"
    return replace(limit, words=words, relax=f"lower move_cost of {whose} to {percent(surely)} or less")


def _task_limits(application: Deployment, position: int, roots_stay: bool) -> Iterator[Limit]:
    name = f"{application.name}/{application.tasks[position].name}"
    if application.tasks[position].pinned:
        yield Limit("pin", f"{name} is pinned", f"unpin {name}")
    elif position == application.root and roots_stay:
        yield _ROOTS_STAY


def _budgets(
    instance: Instance,
    solution: Solution,
    place: int,
    position: int,
    moved: set[tuple[int, int]],
) -> Iterator[Limit]:
    if (place, position) in moved:
        return
    if len(moved) >= solution.options.moves_max:
        yield Limit("moves_max", moves_allowed(solution.options.moves_max), "raise moves_max of the request")
    application = instance.applications[place]
    own = sum(task[0] == place for task in moved)
    if application.moves_max is not None and own >= application.moves_max:
        yield Limit(
            "moves_max",
            f"{moves_allowed(application.moves_max)} of {application.name}",
            f"raise moves_max of {application.name}",
        )


def _capacity(
    instance: Instance, free: np.ndarray, application: Deployment, position: int, machine: int
) -> Iterator[Limit]:
    vm = instance.machines[machine]
    rooms = ((vm.slots, "slot", "slots"), (vm.cpu_millicores, "cpu", "millicores"), (vm.memory_mib, "memory", "MiB"))
    takes = application.tasks[position].takes
    for (room, kind, unit), need, left in zip(rooms, takes, free[machine].tolist(), strict=True):
        if need > left:
            lacking = counted(need - max(left, 0), unit)
            yield Limit(
                kind, f"{vm.name} has {counted(room, unit)}, {max(left, 0)} free", f"add {lacking} to {vm.name}"
            )


def _apart_on(instance: Instance, after: tuple[Indices, ...], place: int) -> Flags:
    """Return the machines with tasks of applications that must stay apart."""
    flags = np.zeros(len(instance.machines), np.bool_)
    for other in instance.applications[place].apart_from:
        flags[after[other][after[other] >= 0]] = True
    return flags


def _apart(instance: Instance, place: int, machine: int) -> Iterator[Limit]:
    mine = instance.applications[place]
    names = " or ".join(sorted(instance.applications[other].name for other in mine.apart_from))
    vm = instance.machines[machine].name
    yield Limit("apart_from", f"{mine.name} must not share {vm} with {names}", f"let {mine.name} and {names} share VMs")


def _domains(
    instance: Instance,
    domains: tuple[Indices, ...],
    at: Indices,
    application: Deployment,
    position: int,
    machine: int,
) -> Iterator[Limit]:
    vm = instance.machines[machine]
    if application.allowed is not None and not application.allowed[machine]:
        yield Limit(
            "zones", f"{application.name} may not use zone {vm.zone}", f"allow {application.name} zone {vm.zone}"
        )
    if not application.leaves_region and instance.location[1, at[position]] != instance.location[1, machine]:
        region = instance.machines[int(at[position])].region
        words = f"{application.name} stays in region {region}"
        yield Limit("region", words, f"let {application.name} leave its region")
    if position == application.root:
        return
    spread = at >= 0
    if application.root is not None:
        spread[application.root] = False  # roots count towards no spread limit
    mosts = (application.per_vm_max, application.per_host_max, application.per_zone_max)
    for level, most, domain in zip(("VM", "host", "zone"), mosts, domains, strict=True):
        if most is None or domain[at[position]] == domain[machine]:
            continue
        if int((domain[at[spread]] == domain[machine]).sum()) >= most:
            yield Limit(
                f"per_{level.lower()}_max",
                f"{application.name} may have {counted(most, 'tasks')} on one {level}",
                f"let {application.name} have {most + 1} tasks on one {level}",
            )
