"""Verification of the store: decodes all frames and compares rollups with their source.

Each frame has a checksum, which detects changed bits. Its numbers must be consistent: sketches contain as many delays
as are counted, and minimum ≤ mean ≤ maximum. Its targets must be in a roster, and a minute must contain as many frames
as the windows that it was merged from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import psycopg
from psycopg import sql

from sinemora.archives.catalogue import Table, connect, tables
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import COUNT, MAX, MEAN, MIN, FrameError

_ROWS_AT_ONCE = 256
_SHOWN = 20
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Fault:
    """Faulty row, and what can be done."""

    table: str
    row: str
    what: str
    repair: str


@dataclass
class Findings:
    """Result of a check."""

    frames: dict[str, int] = field(default_factory=dict)
    faults: int = 0
    shown: list[Fault] = field(default_factory=list)
    minutes_compared: int = 0
    minutes_to_merge: list[tuple[int, int, datetime]] = field(default_factory=list)

    def add(self, fault: Fault) -> None:
        """Count a fault. The first ones are kept for the output."""
        self.faults += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(fault)


def check(since: datetime = _BEGINNING, *, repair: bool = False, url: str | None = None) -> Findings:
    """Check all frames that began since a time. `repair` marks differing minutes for another merge.

    `url` is the address of another database than that of the settings.
    """
    findings = Findings()
    with connect(url) as connection:
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            rows = connection.execute("SELECT key, cardinality(target_keys) FROM rosters").fetchall()
            rosters: dict[int, int] = dict(rows)
            for table in tables(connection):
                if table.is_frames and table.logged:
                    findings.frames[table.name] = _check_table(connection, table, rosters, since, findings)
            _compare_minutes(connection, since, findings)
        if repair and findings.minutes_to_merge:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO rollup_marks (tenant_key, mesh_key, minute) VALUES (%s, %s, %s)",
                    findings.minutes_to_merge,
                )
    return findings


def _check_table(
    connection: psycopg.Connection,
    table: Table,
    rosters: dict[int, int],
    since: datetime,
    findings: Findings,
) -> int:
    """Decode every row of a table. Return their number."""
    key = [column for column in ("tenant_key", "mesh_key", "started_at", "vm_key", "block") if column in table.columns]
    statement = sql.SQL("SELECT ROW({})::text, roster_key, n, stats, sketch FROM {} WHERE started_at >= %s").format(
        table.selected(*key), sql.Identifier(table.name)
    )
    count = 0
    merged = table.name != "probe_frames"
    with connection.cursor(f"check_{table.name}", binary=True) as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        cursor.execute(statement, [since])
        for row, roster_key, n, stats, sketch in cursor:
            count += 1
            for problem in problems_of(stats, sketch, n, rosters.get(roster_key)):
                hint = (
                    "--repair merges it again while its source is stored"
                    if merged
                    else "cannot be repaired: restore it from a backup, or delete the row"
                )
                findings.add(Fault(table.name, row, problem, hint))
    return count


def problems_of(stats: bytes, sketch: bytes, n: int, roster: int | None) -> Iterator[str]:
    """Yield the problems of a stored block of `n` targets. `roster` is the size of its roster (None: missing)."""
    if roster is None:
        yield "its roster is missing"
    elif roster != n:
        yield f"{n} targets, but {roster} in its roster"
    try:
        decoded = frame.decode_stats(stats)
        sketches = frame.decode_sketches(sketch, decoded)
    except FrameError as error:
        yield f"cannot be decoded: {error}"
        return
    if decoded.targets != n or sketches.lengths.shape[1] != n:
        yield f"{n} targets, but {decoded.targets} in its stats and {sketches.lengths.shape[1]} in its sketches"
        return
    columns = decoded.columns
    counted, _ = frame.summarise(sketches)
    if (counted != columns[COUNT]).any():
        yield f"its sketches contain {int(counted.sum())} delays, {int(columns[COUNT].sum(dtype=np.int64))} are counted"
    some = columns[COUNT] > 0
    if (some & ((columns[MIN] > columns[MEAN]) | (columns[MEAN] > columns[MAX]))).any():
        yield "a mean is outside of minimum and maximum"


def _compare_minutes(connection: psycopg.Connection, since: datetime, findings: Findings) -> None:
    """Find unmarked minutes whose merged frames do not include all stored frames."""
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
    ).fetchall()
    marked = set(
        connection.execute("SELECT tenant_key, mesh_key, minute FROM rollup_marks WHERE step_s = 60").fetchall()
    )
    for tenant_key, mesh_key, minute, stored, merged in rows:
        findings.minutes_compared += 1
        if merged != stored and (tenant_key, mesh_key, minute) not in marked:
            findings.minutes_to_merge.append((tenant_key, mesh_key, minute))
            findings.add(
                Fault(
                    "probe_frames_1m",
                    f"({tenant_key},{mesh_key},{minute.isoformat()})",
                    f"merged from {merged or 0} frames, {stored} are stored",
                    "--repair merges it again",
                )
            )
