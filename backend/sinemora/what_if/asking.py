"""A what-if question in names as changes of a world, and what becomes of its applications."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications.performance import Sensitivity, reached
from sinemora.applications.schemas import Named
from sinemora.kit.errors import ProductError
from sinemora.measurements.query.history import History
from sinemora.measurements.schemas import Span
from sinemora.placement.costs import Objective
from sinemora.recommendations import constraints, explanation, load_instance
from sinemora.recommendations.holdout import Series, expected_of, gain, series
from sinemora.recommendations.instance import WAITING, NothingKnown, World, filled
from sinemora.recommendations.local_search import searched
from sinemora.recommendations.optimize import moved
from sinemora.recommendations.schemas import Question
from sinemora.what_if import change
from sinemora.what_if.schemas import (
    AddLatency,
    Change,
    ChangeCurve,
    DropZone,
    Fate,
    Placed,
    PutTask,
    RecreateVm,
    Trips,
    WhatIf,
    WhatIfRead,
)

VMS_SHOWN = 40
"""VMs up to which round trips are shown one by one; beyond, between zones."""


def what_if(session: Session, mesh_id: UUID, question: WhatIf) -> WhatIfRead:
    """What becomes of every application of a mesh.

    ProductError `mesh_unknown`, `matrix_missing`, `vm_unknown`, `zone_unknown`, `application_unknown`, `task_unknown`,
    `curve_unknown`, `curve_version_unknown`.
    """
    plain = Question(statistic=question.statistic, minutes=question.minutes)
    world, seen = load_instance.world(session, mesh_id, plain)
    changes = [_read(session, world, place, one) for place, one in enumerate(question.changes)]
    after = change.changed(world, changes)
    placed: list[Placed] = []
    if question.place_waiting:
        after, placed = _with_waiting_placed(after)
    return _answer(world, after, seen, placed)


def _read(session: Session, world: World, place: int, asked: Change) -> change.Change:
    pointer = f"#/changes/{place}"
    vms = [(one.id, one.name) for one in world.machines]
    zones = [(one.zone_id, one.zone) for one in world.machines]
    applications = [(one.id, one.name) for one in world.applications]

    def found(entries: Sequence[tuple[UUID, str]], given: str, what: str, field: str) -> int:
        for at, (identity, name) in enumerate(entries):
            if given in (name, str(identity)):
                return at
        words = f"there is no {what} {given} on this mesh"
        errors = [{"pointer": f"{pointer}/{field}", "message": words}]
        raise ProductError(f"{what}_unknown", 422, f"{words.capitalize()}.", errors=errors)

    match asked:
        case PutTask():
            application = found(applications, asked.application, "application", "application")
            tasks = [(one.id, one.name) for one in world.applications[application].tasks]
            task = found(tasks, asked.task, "task", "task")
            return change.Put(application, task, WAITING if asked.vm is None else found(vms, asked.vm, "vm", "vm"))
        case RecreateVm():
            return change.Recreate(found(vms, asked.vm, "vm", "vm"), found(zones, asked.zone, "zone", "zone"))
        case DropZone():
            return change.Drop(found(zones, asked.zone, "zone", "zone"))
        case AddLatency():
            ends = [found(zones, zone, "zone", f"zones/{at}") for at, zone in enumerate(asked.zones)]
            return change.Slow(ends[0], ends[1], round(asked.added_us * 1e3))
        case ChangeCurve():
            application = found(applications, asked.application, "application", "application")
            return change.Attach(application, _sensitivity(session, pointer, asked))


def _sensitivity(session: Session, pointer: str, asked: ChangeCurve) -> Sensitivity:
    try:
        entry = attach.by_reference(session, asked.curve, asked.curve_number)
    except ProductError as error:
        error.extra["errors"] = [
            {**one, "pointer": pointer + one["pointer"].removeprefix("#")} for one in error.extra.get("errors") or []
        ]
        raise
    return Sensitivity(entry.curve, entry.band, entry.reference_us)


def _with_waiting_placed(world: World) -> tuple[World, list[Placed]]:
    movers = {
        (place, task)
        for place, one in enumerate(world.applications)
        for task in np.flatnonzero(one.at == WAITING).tolist()
    }
    if not movers:
        return world, []
    here = tuple(one.at for one in world.applications)
    try:
        assumed = filled(world.choosing, world.zones)
    except NothingKnown:
        return world, []
    moves = searched(world, assumed, here, movers, Objective.loss, 0.0, 0).moves
    at = moved(here, moves)
    for place, one in enumerate(at):
        world = change.changed(
            world,
            [change.Put(place, task, int(one[task])) for task in np.flatnonzero(one != here[place]).tolist()],
        )
    placed = [
        Placed(
            application=_named(world.applications[move.task[0]]),
            task=_named(world.applications[move.task[0]].tasks[move.task[1]]),
            vm=_named(world.machines[move.target]),
        )
        for move in moves
    ]
    return world, placed


def _answer(before: World, after: World, seen: History, placed: list[Placed]) -> WhatIfRead:
    span = seen.span
    at = tuple(one.at for one in after.applications)
    return WhatIfRead(
        window=Span(from_=None if span is None else span[0], to=None if span is None else span[1]),
        windows=len(before.choosing) + len(before.judging),
        applications=[_fate(before, after, place) for place in range(len(before.applications))],
        placed=placed,
        broken=constraints.all_broken(after, at),
        trips=_trips(before, after),
    )


def _fate(before: World, after: World, place: int) -> Fate:
    first, then = (_series(world, place) for world in (before, after))
    one = after.applications[place]
    told = gain([first], [then], 0.0)
    ends = tuple(expected_of(side.performance) for side in (first, then))
    shown = tuple(None if end is None else explanation.expected_read(end) for end in ends)
    mean = None if ends[1] is None else ends[1].mean
    links = reached(one.links, one.at, _all(after), one.sensitivity)
    return Fate(
        application=_named(one),
        objective=one.objective,
        before=shown[0],
        after=shown[1],
        gain=None if told is None else explanation.gain_read(told),
        below_objective=None if one.objective is None or mean is None else mean < one.objective,
        waiting=int((one.at == WAITING).sum()),
        beyond=int(links.extrapolated.any(axis=0).sum()),
    )


def _series(world: World, place: int) -> Series:
    one = world.applications[place]
    return series(one.links, one.at, _all(world), one.sensitivity)


def _all(world: World) -> np.ndarray:
    """Nothing is chosen here by how well it does, so every window counts."""
    return np.concatenate([world.choosing, world.judging])


def _trips(before: World, after: World) -> Trips:
    machines = before.machines
    sides = [_median(_all(world)) for world in (before, after)]
    if len(machines) <= VMS_SHOWN:
        groups = [one.zone for one in machines]
        return Trips(
            by="vm",
            names=[one.name for one in machines],
            groups=groups,
            before_ns=_whole(sides[0]),
            after_ns=_whole(sides[1]),
        )
    zones = before.zones
    count = int(zones.max()) + 1
    names = [next(one.zone for one, zone in zip(machines, zones, strict=True) if zone == at) for at in range(count)]
    folded = []
    for world, side in zip((before, after), sides, strict=True):
        of = world.zones if world.zones.max() < count else zones
        rows = [[side[np.ix_(of == a, of == b)] for b in range(count)] for a in range(count)]
        folded.append(np.array([[_middle(part) for part in row] for row in rows]))
    return Trips(by="zone", names=names, groups=names, before_ns=_whole(folded[0]), after_ns=_whole(folded[1]))


def _median(trips: np.ndarray) -> np.ndarray:
    known = np.isfinite(trips).any(axis=0)
    found = np.full(known.shape, np.nan)
    found[known] = np.nanmedian(trips[:, known], axis=0)
    return found


def _middle(part: np.ndarray) -> float:
    return float(np.nanmedian(part)) if np.isfinite(part).any() else float("nan")


def _whole(values: np.ndarray) -> list[list[int | None]]:
    return [[None if np.isnan(value) else round(float(value)) for value in row] for row in values]


def _named(thing: object) -> Named:
    return Named.model_validate(thing)
