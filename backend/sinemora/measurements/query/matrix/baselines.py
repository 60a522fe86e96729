"""Baselines of all paths or zone pairs of a mesh, read from stored hours and minutes and cached."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_runs
from sinemora.measurements.aggregate import baselines, merge
from sinemora.measurements.aggregate.baselines import STEPS_MIN, BaselineEstimate, Baselines, Basis, Floats
from sinemora.measurements.aggregate.corrections import Corrections
from sinemora.measurements.aggregate.matrix import NONE, Flags, positions_of
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import CLOCK_ERROR, INBOUND, OUTBOUND
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.schemas import By
from sinemora.measurements.store import corrections
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store.tiers import Tier, TierRange, floor

DAYS = 14
"""Days of which the same hour is read."""
MINUTES_MIN = 10
"""Fewer stored minutes of a path are no basis: a short event would be most of what is usual."""
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# The last minutes are left out, so that a change is not part of what it is compared with.
_RECENT = timedelta(minutes=5)
_SATURDAY = 5
# Pairs times steps that one basis is read from: about two seconds.
_PAIR_STEPS_MAX = 3_000_000
# More hours would say no more about what is usual.
_HOURS_MAX = 170
_P50, _P90 = 0, 1


@dataclass(frozen=True, slots=True)
class _Steps:
    """Starts of the steps of a tier that one basis is made of."""

    basis: Basis
    tier: Tier
    starts: Sequence[datetime]


def baselines_of(session: Session, mesh: MeshState, by: By, at: datetime, measured: Flags) -> Baselines:
    """Return the baselines of all paths (or zone pairs) at a time, from the best basis that knows each.

    Bases are, in this order: the same hour of the last 14 days (of weekends or of weekdays, like `at`, if three such
    days are stored); the 24 hours before `at` without the last; the hour before `at` without the last five minutes.
    Worse ones are read only while a `measured` path has no better one.
    """
    axis = axis_keys(session, mesh, by)
    found: list[tuple[Basis, BaselineEstimate]] = []
    missing = measured.copy()
    for steps in _bases(session, mesh, at):
        if not missing.any():
            break
        one = _estimated(session, mesh, by, axis, steps)
        if one is not None:
            found.append((steps.basis, one))
            missing &= ~one.known
    return baselines.best_of(found, (axis.size, axis.size))


def of_hours(session: Session, mesh: MeshState, by: By, hours: Sequence[datetime]) -> Baselines:
    """Return the baselines of all paths (or zone pairs) from stored hours: at most `_HOURS_MAX`, evenly spread."""
    axis = axis_keys(session, mesh, by)
    fewer = hours[:: ceil(len(hours) / _HOURS_MAX)]
    one = _estimated(session, mesh, by, axis, _Steps(Basis.ALL_HOURS, Tier.HOUR, fewer))
    return baselines.best_of([] if one is None else [(Basis.ALL_HOURS, one)], (axis.size, axis.size))


def stored_hours(session: Session, mesh: MeshState, start: datetime, end: datetime) -> list[datetime]:
    """Return the starts of the stored hours that lie in a range or contain its start, ascending."""
    return _starts(session, mesh, TierRange(Tier.HOUR, floor(start, 3600), end))


def hourly(
    session: Session, mesh: MeshState, by: By, hours: Sequence[datetime]
) -> Iterator[tuple[Sequence[datetime], Floats, Floats]]:
    """Yield hours in groups with the p50 and the clock error of one-way delays, ns, shape (hours, sources, targets)."""
    axis = axis_keys(session, mesh, by)
    most = max(1, _PAIR_STEPS_MAX // max(axis.size * axis.size // 2, 1))
    for at in range(0, len(hours), most):
        group = hours[at : at + most]
        p50_ns, _, clock_error_ns = _read(session, mesh, by, axis, Tier.HOUR, group)
        yield group, p50_ns, clock_error_ns


def axis_keys(session: Session, mesh: MeshState, by: By) -> Ints:
    """Return the keys of the rows and columns of a matrix."""
    if by is By.VM:
        return keys_of(mesh)
    return frame_queries.zone_keys(session, [run.id for run in zone_runs(mesh)])


def _bases(session: Session, mesh: MeshState, at: datetime) -> Iterator[_Steps]:
    hour = floor(at, 3600)
    hours = _starts(session, mesh, TierRange(Tier.HOUR, hour - DAYS * _DAY, hour))
    same = [start for start in hours if start.hour == hour.hour]
    alike = [start for start in same if (start.weekday() >= _SATURDAY) is (hour.weekday() >= _SATURDAY)]
    yield _Steps(Basis.SAME_HOUR, Tier.HOUR, alike if len(alike) >= STEPS_MIN else same)
    yield _Steps(Basis.LAST_DAY, Tier.HOUR, [start for start in hours if hour - _DAY <= start <= hour - 2 * _HOUR])
    until = floor(at, round(_RECENT.total_seconds()))
    minutes = _starts(session, mesh, TierRange(Tier.MINUTE, until - _HOUR, until - _RECENT))
    yield _Steps(Basis.LAST_HOUR, Tier.MINUTE, minutes)


def _starts(session: Session, mesh: MeshState, stretch: TierRange) -> list[datetime]:
    """Return the starts of the stored steps of a range, ascending, as they were at most five minutes ago."""
    key = ("baseline steps", session.info["tenant_key"], mesh.key, stretch, int(time.time() // _RECENT.total_seconds()))
    cached: list[datetime] | None = shared_cache().get(key)
    if cached is None:
        cached = frame_queries.starts(session, mesh.key, stretch)
        shared_cache().put(key, cached, 64 * (len(cached) + 1))
    return cached


def _estimated(session: Session, mesh: MeshState, by: By, axis: Ints, steps: _Steps) -> BaselineEstimate | None:
    """Return the estimate from some steps, cached; None with too few steps."""
    least = MINUTES_MIN if steps.tier is Tier.MINUTE else STEPS_MIN
    if len(steps.starts) < least:
        return None
    starts = _thinned(steps.starts, axis.size)
    # The same share of fewer steps.
    least = max(STEPS_MIN, ceil(least * len(starts) / len(steps.starts)))
    key = ("baseline", session.info["tenant_key"], mesh.key, mesh.revision, by, steps.tier, starts, least)
    cached: BaselineEstimate | None = shared_cache().get(key)
    if cached is None:
        p50_ns, p90_ns, _ = _read(session, mesh, by, axis, steps.tier, starts)
        cached = baselines.pooled(baselines.estimate(p50_ns, p90_ns, least, of_zones=by is By.ZONE))
        shared_cache().put(key, cached, cached.nbytes)
    return cached


def _thinned(starts: Sequence[datetime], size: int) -> tuple[datetime, ...]:
    """Return steps at even distances, so few that a large mesh is read in seconds, but `STEPS_MIN`."""
    most = max(STEPS_MIN, _PAIR_STEPS_MAX // max(size * size // 2, 1))
    count = min(len(starts), most)
    return tuple(starts[(2 * at + 1) * len(starts) // (2 * count)] for at in range(count))


def _read(session: Session, mesh: MeshState, by: By, axis: Ints, tier: Tier, starts: Sequence[datetime]) -> Floats:
    """Return p50, p90 and clock error of one-way delays in each step, ns, NaN without: (3, steps, sources, targets)."""
    starts_s = np.array([round(start.timestamp()) for start in starts], np.int64)
    # Consecutive steps are read together.
    begins = [0, *(np.flatnonzero(np.diff(starts_s) != tier.step_s) + 1).tolist(), starts_s.size]
    runs = [(starts[first], starts[end - 1]) for first, end in pairwise(begins) if first < end]
    parts = [TierRange(tier, first, last + timedelta(seconds=1)) for first, last in runs]
    found = np.full((3, starts_s.size, axis.size, axis.size), np.nan, np.float32)
    # Frames of zones are merged from corrected delays.
    shifts = corrections.at_starts(session, mesh.key, starts_s.tolist()) if by is By.VM else []
    with ThreadPoolExecutor(1) as filling:  # while one chunk is decoded the next is fetched
        filled: Future[None] | None = None
        for part in parts:
            for chunk in (
                frame_queries.frames(session, mesh.key, [part], sketches=False)
                if by is By.VM
                else frame_queries.zone_frames(session, mesh.key, part, sketches=False)
            ):
                if filled is not None:
                    filled.result()
                filled = filling.submit(_fill, found, axis, starts_s, chunk, shifts)
        if filled is not None:
            filled.result()
    return found


def _fill(found: Floats, axis: Ints, starts_s: Ints, chunk: list[StoredFrame], shifts: Sequence[Corrections]) -> None:
    """Write the numbers of the pairs of some blocks into `found`, shape (3, steps, sources, targets)."""
    piece = merge.gathered(chunk, shifts)
    sizes = [block.targets.size for block in chunk]
    rows = np.repeat(positions_of(starts_s, np.array([block.started_at_s for block in chunk], np.int64)), sizes)
    clients, targets = positions_of(axis, piece.clients), positions_of(axis, piece.targets)
    # Paths within a zone are counted from both ends: as in matrices, outbound has the last word.
    for direction, sources, ends in ((INBOUND, targets, clients), (OUTBOUND, clients, targets)):
        for which, quantile in enumerate((_P50, _P90)):
            codes = piece.stats.quantiles[quantile, direction]
            known = (rows != NONE) & (sources != NONE) & (ends != NONE) & (codes > 0)
            values = llq16.values_of(codes[known].astype(np.int64) - 1)
            found[which, rows[known], sources[known], ends[known]] = values
            if quantile == _P50:
                errors = piece.stats.columns[CLOCK_ERROR, direction]
                found[2, rows[known], sources[known], ends[known]] = errors[known]
