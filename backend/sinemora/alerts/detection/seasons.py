"""Seasonal baselines: usual values at an hour of the week, from stored hours, for all paths of a mesh.

Four weeks are long to wait for: an hour that three of the last five days had as high is usual too. Two of five are days
of a weekend, so that Monday is compared with working days.
"""

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
DAYS, DAYS_MIN = 5, 3
_HOUR, _DAY, _WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
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


def _earlier(hour: datetime) -> tuple[list[list[datetime]], list[list[datetime]]]:
    """Return the hours of earlier weeks, and of earlier days, that an hour is compared with, by neighbouring hour."""
    weeks, days = (
        [[hour + shift - number * step for number in range(1, most + 1)] for shift in _NEIGHBOUR_HOURS]
        for step, most in ((_WEEK, WEEKS), (_DAY, DAYS))
    )
    return weeks, days


def _needed(hour: datetime) -> set[datetime]:
    return {at for parts in _earlier(hour) for hours in parts for at in hours}


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
        hours = {at: of_hour[series] for at, of_hour in known.hours.items() if of_hour is not None}
        season = season_of_hours(hours, hour)
        if season is not None:
            known.seasons[series] = season


def season_of_hours(hours: Mapping[datetime, Floats], at: datetime) -> Season | None:
    """Return the season of paths from their hours (NaN: unknown); None if too few are known.

    `level` is that of the weeks. `highest` is also that of the days; neighbouring hours count where the hour itself is
    known.
    """
    own, level, highest = _NEIGHBOUR_HOURS.index(timedelta(0)), None, list[Floats]()
    for number, (parts, least) in enumerate(zip(_earlier(floor(at, 3600)), (WEEKS_MIN, DAYS_MIN), strict=True)):
        levels = [_median([hours[one] for one in part if one in hours], least) for part in parts]
        of_hour = levels[own]
        if of_hour is None:
            continue
        level = of_hour if number == 0 else level
        around = np.fmax.reduce([one for one in levels if one is not None])
        highest.append(np.where(np.isfinite(of_hour), around, np.float32(np.nan)))
    if not highest:
        return None
    return Season(np.full_like(highest[0], np.nan) if level is None else level, np.fmax.reduce(highest))


def season_of_path(hours: Mapping[datetime, float], at: datetime) -> Season | None:
    """Return the season of one path, shape (1,), from its hours (NaN: unknown); None if too few are known."""
    known = {hour: np.full(1, value, np.float32) for hour, value in hours.items() if np.isfinite(value)}
    return season_of_hours(known, at)


def _read(session: Session, mesh: MeshState, series: Sequence[Series], hour: datetime) -> dict[Series, Floats] | None:
    pairs = evaluation_input.pairs_of(session, mesh, TierRange(Tier.HOUR, hour, hour + _HOUR))
    cells = evaluation_input.cells_of(mesh, pairs)
    if not (cells.at >= 0).any():
        return None
    values = evaluation_input.values_of(cells)
    return {key: magnitude(*key, values) for key in series}


def _median(hours: Sequence[Floats], least: int) -> Floats | None:
    """Return the median of the hours by path, NaN where fewer than `least` are known; None if there are fewer."""
    if len(hours) < least:
        return None
    stack = np.stack(hours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # paths without any known value
        level: Floats = np.nanmedian(stack, axis=0).astype(np.float32)
    level[np.isfinite(stack).sum(axis=0) < least] = np.nan
    return level


def forget() -> None:
    """Clear the cache, so that the next evaluation reads again."""
    _cache.clear()
