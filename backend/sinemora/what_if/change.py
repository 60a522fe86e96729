"""A world with something changed: tasks elsewhere, VMs in another zone, a zone gone, paths slower, another curve."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Sensitivity
from sinemora.recommendations.instance import WAITING, Machine, Trips, World


@dataclass(frozen=True, slots=True)
class Put:
    """A task on another machine, or on none: `WAITING`."""

    application: int
    task: int
    machine: int


@dataclass(frozen=True, slots=True)
class Recreate:
    """A machine made anew in a zone, `zone` being a machine that is in it."""

    machine: int
    zone: int


@dataclass(frozen=True, slots=True)
class Drop:
    """A zone gone, with all its machines; `machine` is one of them."""

    machine: int


@dataclass(frozen=True, slots=True)
class Slow:
    """Every round trip between the zones of two machines is longer by so much (shorter, below 0)."""

    first: int
    second: int
    added_ns: int


@dataclass(frozen=True, slots=True)
class Attach:
    """An application on another curve."""

    application: int
    sensitivity: Sensitivity


Change = Put | Recreate | Drop | Slow | Attach


def changed(world: World, changes: Sequence[Change]) -> World:
    """The world after `changes`, made one after the other; tasks of machines that are gone wait."""
    for change in changes:
        world = _changed(world, change)
    return world


def _changed(world: World, change: Change) -> World:
    match change:
        case Put(application, task, machine):
            at = world.applications[application].at.copy()
            at[task] = machine
            return _with_application(world, application, at=at)
        case Attach(application, sensitivity):
            return _with_application(world, application, sensitivity=sensitivity)
        case Drop(machine):
            gone = world.zones == world.zones[machine]
            for place, one in enumerate(world.applications):
                lost = (one.at >= 0) & gone[np.maximum(one.at, 0)]
                world = _with_application(world, place, at=np.where(lost, WAITING, one.at))
            return replace(
                world,
                machines=tuple(
                    replace(one, slots=0) if away else one for one, away in zip(world.machines, gone, strict=True)
                ),
                choosing=_without(world.choosing, gone),
                judging=_without(world.judging, gone),
            )
        case Slow(first, second, added_ns):
            return replace(
                world,
                choosing=_slower(world, world.choosing, first, second, added_ns),
                judging=_slower(world, world.judging, first, second, added_ns),
            )
        case Recreate(machine, zone):
            there = world.machines[zone]
            moved = replace(world.machines[machine], zone_id=there.zone_id, zone=there.zone, host=None)
            machines = (*world.machines[:machine], moved, *world.machines[machine + 1 :])
            return replace(
                world,
                machines=machines,
                choosing=_elsewhere(world, world.choosing, machine, zone),
                judging=_elsewhere(world, world.judging, machine, zone),
            )


def peers_in_zone(machines: Sequence[Machine], zone: int, without: int) -> list[int]:
    """Machines in the zone of machine `zone`, `without` one of them."""
    return [at for at, one in enumerate(machines) if one.zone_id == machines[zone].zone_id and at != without]


def _with_application(world: World, place: int, **fields: object) -> World:
    one = replace(world.applications[place], **fields)  # type: ignore[arg-type]
    return replace(world, applications=(*world.applications[:place], one, *world.applications[place + 1 :]))


def _without(trips: Trips, gone: np.ndarray) -> Trips:
    left = trips.copy()
    left[:, gone, :] = np.nan
    left[:, :, gone] = np.nan
    return left


def _slower(world: World, trips: Trips, first: int, second: int, added_ns: int) -> Trips:
    a, b = world.zones == world.zones[first], world.zones == world.zones[second]
    pairs = np.logical_or(np.outer(a, b), np.outer(b, a)) & ~np.eye(a.size, dtype=bool)
    slower = trips.copy()
    slower[:, pairs] = np.maximum(slower[:, pairs] + np.float32(added_ns), 0)
    return slower


def _elsewhere(world: World, trips: Trips, machine: int, zone: int) -> Trips:
    """Towards every other machine, in each window the median of what machines in that zone have towards it."""
    like = peers_in_zone(world.machines, zone, machine)
    rows = trips[:, like, :].copy()
    for at, one in enumerate(like):
        rows[:, at, one] = np.nan  # to itself there is no path
    known = np.isfinite(rows).any(axis=1)
    row = np.full(known.shape, np.nan, np.float32)
    if known.any():
        windows, columns = np.nonzero(known)
        row[windows, columns] = np.nanmedian(rows.transpose(0, 2, 1)[windows, columns], axis=1)
    row[:, machine] = np.nan
    found = trips.copy()
    found[:, machine, :] = row
    found[:, :, machine] = row
    return found
