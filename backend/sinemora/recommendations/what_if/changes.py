"""Changes of an instance: tasks, VMs, zones, latencies and curves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Sensitivity
from sinemora.recommendations.core.instance import WAITING, Instance, Machine, Trips


@dataclass(frozen=True, slots=True)
class Put:
    """Move of a task to a machine, or to none: `WAITING`."""

    application: int
    task: int
    machine: int


@dataclass(frozen=True, slots=True)
class Recreate:
    """Re-creation of a machine in another zone, given by one of its machines."""

    machine: int
    zone: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Loss of a zone with all its machines, given by one of them."""

    machine: int


@dataclass(frozen=True, slots=True)
class Slow:
    """Latency added to every round trip between the zones of two machines (negative: removed)."""

    first: int
    second: int
    added_ns: int


@dataclass(frozen=True, slots=True)
class Attach:
    """Assignment of another curve to an application."""

    application: int
    sensitivity: Sensitivity


Change = Put | Recreate | Drop | Slow | Attach


def apply_changes(instance: Instance, changes: Sequence[Change]) -> Instance:
    """Apply `changes` in order; tasks of lost machines wait."""
    for change in changes:
        instance = _apply(instance, change)
    return instance


def _apply(instance: Instance, change: Change) -> Instance:
    match change:
        case Put(application, task, machine):
            at = instance.applications[application].at.copy()
            at[task] = machine
            return _with_application(instance, application, at=at)
        case Attach(application, sensitivity):
            return _with_application(instance, application, sensitivity=sensitivity)
        case Drop(machine):
            gone = instance.zones == instance.zones[machine]
            for place, deployment in enumerate(instance.applications):
                lost = (deployment.at >= 0) & gone[np.maximum(deployment.at, 0)]
                instance = _with_application(instance, place, at=np.where(lost, WAITING, deployment.at))
            return replace(
                instance,
                machines=tuple(
                    replace(machine, slots=0) if away else machine
                    for machine, away in zip(instance.machines, gone, strict=True)
                ),
                training=_without_machines(instance.training, gone),
                holdout=_without_machines(instance.holdout, gone),
            )
        case Slow(first, second, added_ns):
            return replace(
                instance,
                training=_slower(instance, instance.training, first, second, added_ns),
                holdout=_slower(instance, instance.holdout, first, second, added_ns),
            )
        case Recreate(machine, zone):
            there = instance.machines[zone]
            moved = replace(instance.machines[machine], zone_id=there.zone_id, zone=there.zone, host=None)
            machines = (*instance.machines[:machine], moved, *instance.machines[machine + 1 :])
            return replace(
                instance,
                machines=machines,
                training=_recreated(instance, instance.training, machine, zone),
                holdout=_recreated(instance, instance.holdout, machine, zone),
            )


def peers_in_zone(machines: Sequence[Machine], zone: int, without: int) -> list[int]:
    """Return the machines in the zone of machine `zone`, except `without`."""
    return [at for at, machine in enumerate(machines) if machine.zone_id == machines[zone].zone_id and at != without]


def _with_application(instance: Instance, place: int, **fields: object) -> Instance:
    application = replace(instance.applications[place], **fields)  # type: ignore[arg-type]
    return replace(
        instance, applications=(*instance.applications[:place], application, *instance.applications[place + 1 :])
    )


def _without_machines(trips: Trips, gone: np.ndarray) -> Trips:
    left = trips.copy()
    left[:, gone, :] = np.nan
    left[:, :, gone] = np.nan
    return left


def _slower(instance: Instance, trips: Trips, first: int, second: int, added_ns: int) -> Trips:
    a, b = instance.zones == instance.zones[first], instance.zones == instance.zones[second]
    pairs = np.logical_or(np.outer(a, b), np.outer(b, a)) & ~np.eye(a.size, dtype=bool)
    slower = trips.copy()
    slower[:, pairs] = np.maximum(slower[:, pairs] + np.float32(added_ns), 0)
    return slower


def _recreated(instance: Instance, trips: Trips, machine: int, zone: int) -> Trips:
    """Return round trips as if the machine were in `zone`: per window the median of the machines there."""
    like = peers_in_zone(instance.machines, zone, machine)
    rows = trips[:, like, :].copy()
    for at, peer in enumerate(like):
        rows[:, at, peer] = np.nan  # no path to itself
    known = np.isfinite(rows).any(axis=1)
    row = np.full(known.shape, np.nan, np.float32)
    if known.any():
        windows, columns = np.nonzero(known)
        row[windows, columns] = np.nanmedian(rows.transpose(0, 2, 1)[windows, columns], axis=1)
    row[:, machine] = np.nan
    recreated = trips.copy()
    recreated[:, machine, :] = row
    recreated[:, :, machine] = row
    return recreated
