"""Usual values at an hour of the week, read from stored hours, for all paths of a mesh at once."""

import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts import evaluation_input
from sinemora.alerts.evaluation.baseline import Floats, Ints
from sinemora.alerts.evaluation.judge import Season, Seasons, magnitude
from sinemora.alerts.evaluation.rule import Kind, Rule
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.matrix import keys_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier, TierRange, floor
from sinemora.meshes.plan import MeshState

WEEKS, WEEKS_MIN = 4, 3
_HOUR, _WEEK = timedelta(hours=1), timedelta(weeks=1)
_WEEKS = range(1, WEEKS + 1)
_BESIDE = (-_HOUR, timedelta(0), _HOUR)
_MESHES_MAX = 16

Series = tuple[Metric, Statistic]


@dataclass(slots=True)
class _Known:
    """Of a mesh: hours that were read (None: nothing was stored), and what they come to for the newest one."""

    keys: Ints
    series: tuple[Series, ...]
    hours: dict[datetime, dict[Series, Floats] | None] = field(default_factory=dict)
    hour: datetime | None = None
    seasons: dict[Series, Season] = field(default_factory=dict)


class Memory(OrderedDict[UUID, _Known]):
    """What was read of some meshes; the one asked for longest ago is forgotten first."""


_memory = Memory()


def seasons_of(
    session: Session, mesh: MeshState, rules: Sequence[Rule], ended_at_s: int, memory: Memory = _memory
) -> Seasons:
    """Return the usual values in the hour of a window, for every metric that a baseline rule compares."""
    wanted = sorted({(rule.condition.metric, rule.condition.statistic) for rule in _usual(rules)})
    known = memory.get(mesh.id)
    if known is None or known.series != tuple(wanted) or not np.array_equal(known.keys, keys_of(mesh)):
        known = memory[mesh.id] = _Known(keys_of(mesh), tuple(wanted))
    memory.move_to_end(mesh.id)
    while len(memory) > _MESHES_MAX:
        memory.popitem(last=False)
    hour = floor(utc(ended_at_s - 1), 3600)
    if known.hour != hour:
        _learn(session, mesh, known, hour)
    return lambda metric, statistic: known.seasons.get((metric, statistic))


def _usual(rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule.condition.kind is Kind.BASELINE]


def _learn(session: Session, mesh: MeshState, known: _Known, hour: datetime) -> None:
    wanted = [[hour + beside - week * _WEEK for week in _WEEKS] for beside in _BESIDE]
    needed = {at for weeks in wanted for at in weeks}
    known.hours = {at: hours for at, hours in known.hours.items() if at in needed}
    for at in needed - known.hours.keys():
        known.hours[at] = _read(session, mesh, known.series, at) if known.series else None
    known.hour, known.seasons = hour, {}
    for series in known.series:
        levels = [_level([known.hours[at] for at in weeks], series) for weeks in wanted]
        own = levels[_BESIDE.index(timedelta(0))]
        if own is not None:
            beside = [one for one in levels if one is not None]
            known.seasons[series] = Season(own, np.fmax.reduce(beside))


def season_of_path(hours: Mapping[datetime, float], at: datetime) -> Season | None:
    """Return the usual value of one path, shape (1,), from its hours (NaN: unknown); None where too few are known."""
    hour = floor(at, 3600)
    levels = [
        _median([np.full(1, hours.get(hour + beside - week * _WEEK, np.nan), np.float32) for week in _WEEKS])
        for beside in _BESIDE
    ]
    own = levels[_BESIDE.index(timedelta(0))]
    return None if np.isnan(own).all() else Season(own, np.fmax.reduce(levels))


def _read(session: Session, mesh: MeshState, series: Sequence[Series], hour: datetime) -> dict[Series, Floats] | None:
    cells = evaluation_input.cells_of(session, mesh, TierRange(Tier.HOUR, hour, hour + _HOUR))
    if not (cells.at >= 0).any():
        return None
    values = evaluation_input.values_of(cells)
    return {one: magnitude(*one, values) for one in series}


def _level(weeks: Sequence[dict[Series, Floats] | None], series: Series) -> Floats | None:
    """Return the median of the weeks, NaN where too few are known."""
    stored = [one[series] for one in weeks if one is not None]
    return _median(stored) if len(stored) >= WEEKS_MIN else None


def _median(weeks: Sequence[Floats]) -> Floats:
    stack = np.stack(weeks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # paths of which nothing is known at all
        level: Floats = np.nanmedian(stack, axis=0).astype(np.float32)
    level[np.isfinite(stack).sum(axis=0) < WEEKS_MIN] = np.nan
    return level


def forget() -> None:
    """Clear the cache, so that the next evaluation reads again."""
    _memory.clear()
