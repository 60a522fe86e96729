"""Verification of merged minutes: those of VMs against reported windows, plain columns of zones against their frames.

Minutes that wait for their merge are left out. What has no source any more is compared with nothing: reported windows
are deleted after a few days, and the plain columns of zones are younger than the frames of older installations.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import psycopg

from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import FrameError
from sinemora.measurements.store import zone_minutes
from sinemora.measurements.store.sql_models import VALUES
from sinemora.operations.findings import Fault, Findings

_ROWS_AT_ONCE = 256
_AGAIN = "--repair merges it again"
_NO_SOURCE = "its windows are not stored any more: restore it from a backup"
_COLUMNS = ("exchanges", *VALUES)

Minute = tuple[int, int, datetime]


def compare_minutes(connection: psycopg.Connection, since: datetime, findings: Findings) -> None:
    """Find minutes that differ from their source. `findings` also gets those that can be merged again."""
    marked = set(
        connection.execute("SELECT tenant_key, mesh_key, minute FROM rollup_marks WHERE step_s = 60").fetchall()
    )
    stored = dict(_windows(connection, since))
    for minute, (windows, merged) in stored.items():
        findings.minutes_compared += 1
        if merged != windows and minute not in marked:
            findings.minutes_to_merge.add(minute)
            what = f"merged from {merged or 0} frames, {windows} are stored"
            findings.add(Fault("probe_frames_1m", _named(minute), what, _AGAIN))
    for minute, frames in _minutes_of_zones(connection, since):
        if minute in marked:
            continue
        findings.zone_minutes_compared += 1
        for row, what in _differences(connection, minute, frames):
            if minute in stored:
                findings.minutes_to_merge.add(minute)
            findings.add(Fault("zone_minutes", row, what, _AGAIN if minute in stored else _NO_SOURCE))


def _windows(connection: psycopg.Connection, since: datetime) -> Iterator[tuple[Minute, tuple[int, int | None]]]:
    """Yield the minutes with stored windows: the number of their frames, and of those that were merged."""
    rows = connection.execute(
        """
        WITH stored AS (
            SELECT tenant_key, mesh_key, date_trunc('minute', started_at) AS minute, count(*) AS frames
            FROM probe_frames WHERE started_at >= %(since)s
                AND started_at < date_trunc('minute', now() - interval '3 minutes') GROUP BY 1, 2, 3
        ), merged AS (
            SELECT tenant_key, mesh_key, started_at AS minute, sum(frames) AS frames
            FROM probe_frames_1m WHERE started_at >= %(since)s GROUP BY 1, 2, 3
        )
        SELECT s.tenant_key, s.mesh_key, s.minute, s.frames, m.frames
        FROM stored s LEFT JOIN merged m USING (tenant_key, mesh_key, minute)
        """,
        {"since": since},
    )
    for tenant_key, mesh_key, minute, stored, merged in rows:
        yield (tenant_key, mesh_key, minute), (stored, merged)


def _minutes_of_zones(connection: psycopg.Connection, since: datetime) -> Iterator[tuple[Minute, list[Any]]]:
    """Yield the minutes of frames of zones since the first one with plain columns: zone, its targets and stats."""
    first = connection.execute("SELECT min(started_at) FROM zone_minutes").fetchone()
    if first is None or first[0] is None:
        return
    with connection.cursor("check_zone_minutes", binary=True) as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        cursor.execute(
            "SELECT tenant_key, mesh_key, started_at, zone_key, roster_key, stats FROM zone_frames_1m"
            " WHERE started_at >= %s ORDER BY tenant_key, mesh_key, started_at",
            [max(since, first[0])],
        )
        rosters: dict[int, list[int]] = {}
        for minute, rows in groupby(cursor, key=itemgetter(0, 1, 2)):
            frames = [row[3:] for row in rows]
            _read_rosters(connection, rosters, {roster_key for _, roster_key, _ in frames})
            # The check of frames finds those without a roster.
            yield minute, [(zone, rosters[key], stats) for zone, key, stats in frames if key in rosters]


def _read_rosters(connection: psycopg.Connection, known: dict[int, list[int]], keys: set[int]) -> None:
    """Add the targets of rosters by key. Not by a join: frames may be on other servers than the rosters."""
    if missing := sorted(keys - known.keys()):
        rows = connection.execute("SELECT key, target_keys FROM rosters WHERE key = ANY(%s)", [missing])
        known.update(rows.fetchall())


def _differences(connection: psycopg.Connection, minute: Minute, frames: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of a minute that are missing or differ from the frames, each with how."""
    tenant_key, mesh_key, started_at = minute
    stored = {
        row[:2]: row[2:]
        for row in connection.execute(
            f"SELECT source_zone_key, target_zone_key, {', '.join(_COLUMNS)} FROM zone_minutes"
            " WHERE tenant_key = %s AND mesh_key = %s AND started_at = %s",
            minute,
        )
    }
    for zone_key, target_keys, stats in frames:
        try:
            decoded = frame.decode_stats(stats)
            piece = Piece(np.full(len(target_keys), zone_key), np.array(target_keys, np.int64), decoded, None)
            expected = zip(*zone_minutes.columns_of(piece), strict=True)
        except (FrameError, ValueError):
            continue  # the check of frames has found it
        for source, target, *values in expected:
            row = f"({tenant_key},{mesh_key},{started_at.isoformat()},{source},{target})"
            found = stored.get((source, target))
            if found is None:
                yield row, "is missing, zone_frames_1m has it"
            elif found != tuple(values):
                name, wrong, right = next(one for one in zip(_COLUMNS, found, values, strict=True) if one[1] != one[2])
                yield row, f"{name} is {wrong}, {right} in zone_frames_1m"


def _named(minute: Minute) -> str:
    return f"({minute[0]},{minute[1]},{minute[2].isoformat()})"
