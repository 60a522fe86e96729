"""Evaluation of a what-if request: resolve names to changes, apply them, report the impact on applications."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications.performance import Sensitivity, reached
from sinemora.applications.schemas import Named
from sinemora.kit.errors import ProductError
from sinemora.measurements.schemas import Span
from sinemora.recommendations import explanation, load_instance
from sinemora.recommendations.core import constraints
from sinemora.recommendations.core.gains import apply_moves
from sinemora.recommendations.core.holdout import Estimate, Gain, estimate_gain, estimate_mean, performance_series
from sinemora.recommendations.core.instance import WAITING, Instance, NothingMeasured, PerformanceSeries, impute
from sinemora.recommendations.core.joint_placement import place_jointly
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.schemas import RecommendationRequest
from sinemora.recommendations.what_if import changes as edits
from sinemora.recommendations.what_if import newest
from sinemora.recommendations.what_if.schemas import (
    AddLatency,
    ApplicationImpact,
    Change,
    ChangeCurve,
    DropZone,
    Placed,
    PutTask,
    RecreateVm,
    RoundTrips,
    WhatIf,
    WhatIfRead,
)

VMS_SHOWN = 40
"""Maximum number of VMs with round trips by VM; larger meshes report zones."""


def evaluate(session: Session, mesh_id: UUID, request: WhatIf) -> WhatIfRead:
    """Return the impact on every application of a mesh.

    ProductError `mesh_unknown`, `matrix_missing`, `vm_unknown`, `zone_unknown`, `application_unknown`, `task_unknown`,
    `curve_unknown`, `curve_version_unknown`.
    """
    instance, window = _load(session, mesh_id, request)
    changes = [_resolve(session, instance, place, change) for place, change in enumerate(request.changes)]
    after = edits.apply_changes(instance, changes)
    placed: list[Placed] = []
    if request.place_waiting:
        after, placed = _place_waiting(after)
    return _build_result(instance, after, window, request, placed)


def _load(session: Session, mesh_id: UUID, request: WhatIf) -> tuple[Instance, Span]:
    if request.minutes is None:
        return newest.load_newest(session, mesh_id, request.statistic)
    plain = RecommendationRequest(statistic=request.statistic, minutes=request.minutes)
    instance, seen = load_instance.load(session, mesh_id, plain)
    span = seen.span
    return instance, Span(from_=None if span is None else span[0], to=None if span is None else span[1])


def _resolve(session: Session, instance: Instance, place: int, requested: Change) -> edits.Change:
    pointer = f"#/changes/{place}"
    vms = [(machine.id, machine.name) for machine in instance.machines]
    zones = [(machine.zone_id, machine.zone) for machine in instance.machines]
    applications = [(application.id, application.name) for application in instance.applications]

    def find(entries: Sequence[tuple[UUID, str]], reference: str, what: str, field: str) -> int:
        for at, (identity, name) in enumerate(entries):
            if reference in (name, str(identity)):
                return at
        words = f"unknown {what} on this mesh: {reference}"
        errors = [{"pointer": f"{pointer}/{field}", "message": words}]
        raise ProductError(f"{what}_unknown", 404, f"U{words[1:]}.", errors=errors)

    match requested:
        case PutTask():
            application = find(applications, requested.application, "application", "application")
            tasks = [(task.id, task.name) for task in instance.applications[application].tasks]
            task = find(tasks, requested.task, "task", "task")
            return edits.Put(
                application, task, WAITING if requested.vm is None else find(vms, requested.vm, "vm", "vm")
            )
        case RecreateVm():
            return edits.Recreate(find(vms, requested.vm, "vm", "vm"), find(zones, requested.zone, "zone", "zone"))
        case DropZone():
            return edits.Drop(find(zones, requested.zone, "zone", "zone"))
        case AddLatency():
            ends = [find(zones, zone, "zone", f"zones/{at}") for at, zone in enumerate(requested.zones)]
            return edits.Slow(ends[0], ends[1], round(requested.added_us * 1e3))
        case ChangeCurve():
            application = find(applications, requested.application, "application", "application")
            return edits.Attach(application, _sensitivity(session, pointer, requested))


def _sensitivity(session: Session, pointer: str, requested: ChangeCurve) -> Sensitivity:
    try:
        entry = attach.by_reference(session, requested.curve, requested.curve_number)
    except ProductError as error:
        error.extra["errors"] = [
            {**problem, "pointer": pointer + problem["pointer"].removeprefix("#")}
            for problem in error.extra.get("errors") or []
        ]
        raise
    return Sensitivity(entry.curve, entry.band, entry.reference_us)


def _place_waiting(instance: Instance) -> tuple[Instance, list[Placed]]:
    movers = {
        (place, task)
        for place, application in enumerate(instance.applications)
        for task in np.flatnonzero(application.at == WAITING).tolist()
    }
    if not movers:
        return instance, []
    here = tuple(application.at for application in instance.applications)
    try:
        assumed = impute(instance.training, instance.zones)
    except NothingMeasured:
        return instance, []
    moves = place_jointly(instance, assumed, here, movers, Options(moves_max=0), np.zeros(len(here))).moves
    at = apply_moves(here, moves)
    for place, machines in enumerate(at):
        instance = edits.apply_changes(
            instance,
            [edits.Put(place, task, int(machines[task])) for task in np.flatnonzero(machines != here[place]).tolist()],
        )
    placed = [
        Placed(
            application=_named(instance.applications[move.task[0]]),
            task=_named(instance.applications[move.task[0]].tasks[move.task[1]]),
            vm=_named(instance.machines[move.target]),
        )
        for move in moves
    ]
    return instance, placed


def _build_result(before: Instance, after: Instance, window: Span, request: WhatIf, placed: list[Placed]) -> WhatIfRead:
    at = tuple(application.at for application in after.applications)
    sides = _mean_sides if request.minutes is not None else newest.sides
    return WhatIfRead(
        window=window,
        windows=len(before.training) + len(before.holdout),
        statistic=request.statistic,
        minutes=request.minutes,
        applications=[_impact(after, place, *sides(before, after, place)) for place in range(len(before.applications))],
        placed=placed,
        broken=constraints.all_violations(after, at),
        trips=_trips(before, after),
    )


def _mean_sides(before: Instance, after: Instance, place: int) -> tuple[Estimate | None, Estimate | None, Gain | None]:
    """Return the mean performance over windows before and after, and the gain; None where no window has all links."""
    first, then = (_series(instance, place) for instance in (before, after))
    blocks = np.concatenate([after.training_blocks, after.holdout_blocks])
    return (
        estimate_mean(first, blocks),
        estimate_mean(then, blocks),
        estimate_gain([first], [then], 0.0, blocks),
    )


def _impact(
    after: Instance, place: int, first: Estimate | None, then: Estimate | None, gain: Gain | None
) -> ApplicationImpact:
    application = after.applications[place]
    links = reached(application.links, application.at, _all_windows(after), application.sensitivity)
    below = None if application.objective is None or then is None else then.mean < application.objective
    return ApplicationImpact(
        application=_named(application),
        objective=application.objective,
        before=None if first is None else explanation.expected_read(first),
        after=None if then is None else explanation.expected_read(then),
        gain=None if gain is None else explanation.gain_read(gain),
        below_objective=below,
        waiting=int((application.at == WAITING).sum()),
        beyond=int(links.extrapolated.any(axis=0).sum()),
    )


def _series(instance: Instance, place: int) -> PerformanceSeries:
    application = instance.applications[place]
    return performance_series(application.links, application.at, _all_windows(instance), application.sensitivity)


def _all_windows(instance: Instance) -> np.ndarray:
    """Return all windows: nothing is optimised here, so none needs to be held out."""
    return np.concatenate([instance.training, instance.holdout])


def _trips(before: Instance, after: Instance) -> RoundTrips:
    machines = before.machines
    sides = [_median(_all_windows(instance)) for instance in (before, after)]
    if len(machines) <= VMS_SHOWN:
        groups = [machine.zone for machine in machines]
        return RoundTrips(
            by="vm",
            names=[machine.name for machine in machines],
            groups=groups,
            before_ns=_integers(sides[0]),
            after_ns=_integers(sides[1]),
        )
    zones = before.zones
    count = int(zones.max()) + 1
    names = [
        next(machine.zone for machine, zone in zip(machines, zones, strict=True) if zone == at) for at in range(count)
    ]
    folded = []
    for instance, side in zip((before, after), sides, strict=True):
        of = instance.zones if instance.zones.max() < count else zones
        rows = [[side[np.ix_(of == a, of == b)] for b in range(count)] for a in range(count)]
        folded.append(np.array([[_median_or_nan(part) for part in row] for row in rows]))
    return RoundTrips(
        by="zone", names=names, groups=names, before_ns=_integers(folded[0]), after_ns=_integers(folded[1])
    )


def _median(trips: np.ndarray) -> np.ndarray:
    known = np.isfinite(trips).any(axis=0)
    medians = np.full(known.shape, np.nan)
    medians[known] = np.nanmedian(trips[:, known], axis=0)
    return medians


def _median_or_nan(part: np.ndarray) -> float:
    return float(np.nanmedian(part)) if np.isfinite(part).any() else float("nan")


def _integers(values: np.ndarray) -> list[list[int | None]]:
    return [[None if np.isnan(value) else round(float(value)) for value in row] for row in values]


def _named(thing: object) -> Named:
    return Named.model_validate(thing)
