"""Seasonal baselines: usual values at an hour of the week, from stored hours, for all paths of a mesh."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluation_input
from sinemora.alerts.evaluation.baseline import Floats, Ints
from sinemora.alerts.evaluation.breach import Season, Seasons, magnitude
from sinemora.alerts.evaluation.rule import Kind, Rule
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import frames
from sinemora.measurements.store.tiers import Tier, TierRange, floor

WEEKS, WEEKS_MIN = 4, 3
_HOUR, _WEEK = timedelta(hours=1), timedelta(weeks=1)
_WEEKS = range(1, WEEKS + 1)
_NEIGHBOUR_HOURS = (-_HOUR, timedelta(0), _HOUR)
# Paths of all meshes whose seasons are kept; an hour of a path has four bytes for each series.
_PATHS_KEPT = 4_000_000

Series = tuple[Metric, Statistic]


@dataclass(slots=True)
class MeshSeasons:
    """Hours of a mesh that were read (None: nothing stored), and the usual values of the newest hour.

    `ahead`: the hour in which those of the next one were read. Each mesh has its minute for that, or the first windows
    of an hour would take long in all meshes.
    """

    keys: Ints
    series: tuple[Series, ...]
    hours: dict[datetime, dict[Series, Floats] | None] = field(default_factory=dict)
    hour: datetime | None = None
    ahead: datetime | None = None
    seasons: dict[Series, Season] = field(default_factory=dict)


SeasonCache = LruCache[UUID, MeshSeasons]


def new_cache() -> SeasonCache:
    """Return an empty cache of the seasons of some meshes."""
    return LruCache(_PATHS_KEPT)


_cache = new_cache()


def seasons_of(
    session: Session, mesh: MeshState, rules: Sequence[Rule], ended_at_s: int, cache: SeasonCache = _cache
) -> Seasons:
    """Return the usual values in the hour of a window, for every metric that a baseline rule compares."""
    series = sorted({(rule.condition.metric, rule.condition.statistic) for rule in _usual(rules)})
    known = cache.get(mesh.id)
    if known is None or known.series != tuple(series) or not np.array_equal(known.keys, keys_of(mesh)):
        known = MeshSeasons(keys_of(mesh), tuple(series))
        cache.put(mesh.id, known, size=len(mesh.members) ** 2)
    hour = floor(utc(ended_at_s - 1), 3600)
    if known.hour != hour:
        _learn(session, mesh, known, hour)
    elif known.ahead != hour and ended_at_s % 3600 >= mesh.key % 60 * 60:
        _read_hours(session, mesh, known, _needed(hour) | _needed(hour + _HOUR))
        known.ahead = hour
    return lambda metric, statistic: known.seasons.get((metric, statistic))


def _usual(rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule.condition.kind is Kind.BASELINE]


def _weeks_before(hour: datetime) -> list[list[datetime]]:
    """Return the hours of earlier weeks that an hour is compared with, by neighbouring hour."""
    return [[hour + shift - week * _WEEK for week in _WEEKS] for shift in _NEIGHBOUR_HOURS]


def _needed(hour: datetime) -> set[datetime]:
    return {at for weeks in _weeks_before(hour) for at in weeks}


def _read_hours(session: Session, mesh: MeshState, known: MeshSeasons, needed: set[datetime]) -> None:
    """Read the needed hours that are not known, and drop the others."""
    known.hours = {at: hours for at, hours in known.hours.items() if at in needed}
    missing = needed - known.hours.keys()
    stored = bool(missing and known.series) and frames.holds(
        session, mesh.key, TierRange(Tier.HOUR, min(missing), max(missing) + _HOUR)
    )
    for at in missing:
        known.hours[at] = _read(session, mesh, known.series, at) if stored else None


def _learn(session: Session, mesh: MeshState, known: MeshSeasons, hour: datetime) -> None:
    _read_hours(session, mesh, known, _needed(hour))
    known.hour, known.seasons = hour, {}
    for series in known.series:
        levels = [_level([known.hours[at] for at in weeks], series) for weeks in _weeks_before(hour)]
        own = levels[_NEIGHBOUR_HOURS.index(timedelta(0))]
        if own is not None:
            known_levels = [level for level in levels if level is not None]
            known.seasons[series] = Season(own, np.fmax.reduce(known_levels))


def season_of_path(hours: Mapping[datetime, float], at: datetime) -> Season | None:
    """Return the season of one path, shape (1,), from its hours (NaN: unknown); None if too few are known."""
    hour = floor(at, 3600)
    levels = [
        _median([np.full(1, hours.get(hour + shift - week * _WEEK, np.nan), np.float32) for week in _WEEKS])
        for shift in _NEIGHBOUR_HOURS
    ]
    own = levels[_NEIGHBOUR_HOURS.index(timedelta(0))]
    return None if np.isnan(own).all() else Season(own, np.fmax.reduce(levels))


def _read(session: Session, mesh: MeshState, series: Sequence[Series], hour: datetime) -> dict[Series, Floats] | None:
    pairs = evaluation_input.pairs_of(session, mesh, TierRange(Tier.HOUR, hour, hour + _HOUR))
    cells = evaluation_input.cells_of(mesh, pairs)
    if not (cells.at >= 0).any():
        return None
    values = evaluation_input.values_of(cells)
    return {key: magnitude(*key, values) for key in series}


def _level(weeks: Sequence[dict[Series, Floats] | None], series: Series) -> Floats | None:
    """Return the median of the weeks, NaN where too few are known."""
    stored = [week[series] for week in weeks if week is not None]
    return _median(stored) if len(stored) >= WEEKS_MIN else None


def _median(weeks: Sequence[Floats]) -> Floats:
    stack = np.stack(weeks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # paths without any known value
        level: Floats = np.nanmedian(stack, axis=0).astype(np.float32)
    level[np.isfinite(stack).sum(axis=0) < WEEKS_MIN] = np.nan
    return level


def forget() -> None:
    """Clear the cache, so that the next evaluation reads again."""
    _cache.clear()
