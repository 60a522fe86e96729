"""Verification of the store: decodes all frames and compares rollups with their source.

Each frame has a checksum, which detects changed bits. Its numbers must be consistent: sketches contain as many delays
as are counted, and minimum ≤ mean ≤ maximum. Its targets must be in a roster, whose digest is that of its keys. Minutes
are those of their source (`merged_minutes`). `CHECKED` and `UNCHECKED` together have every table of measurements.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import psycopg
from psycopg import sql

from sinemora.kit.db import system_session
from sinemora.kit.object_storage import ObjectMissing, StorageError, installation_storage
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import COUNT, MAX, MEAN, MIN, FrameError
from sinemora.measurements.store.aged import catalogue
from sinemora.measurements.store.aged.catalogue import AgedObject
from sinemora.measurements.store.inserts import roster_digest
from sinemora.operations.archives.catalogue import Table, connect, tables
from sinemora.operations.findings import Fault, Findings
from sinemora.operations.merged_minutes import compare_minutes

_ROWS_AT_ONCE = 256
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_DECODED = "each frame is decoded: checksum, counts, order of minimum, mean and maximum, roster"
_AS_REPORTED = "as reported, without a second copy; a restore compares its digest with the backup's"
_FROM_A_COPY = "cannot be repaired: restore the object from a copy or an earlier version in the bucket"
_REBUILT = "unlogged, and rebuilt after a crash"

CHECKED = {
    "probe_frames": _DECODED,
    "probe_frames_1m": f"{_DECODED}; each minute against the number of its reported frames",
    "probe_frames_15m": _DECODED,
    "probe_frames_1h": _DECODED,
    "probe_frames_1d": _DECODED,
    "zone_frames_1m": _DECODED,
    "zone_frames_15m": _DECODED,
    "zone_frames_1h": _DECODED,
    "zone_frames_1d": _DECODED,
    "zone_minutes": "each value against that of the frame in zone_frames_1m",
    "rosters": "the digest against that of the keys",
    "aged_objects": "each object is read: its size and its SHA-256",
}
"""Tables of measurements that are checked, and how."""
UNCHECKED = {
    "spikes": _AS_REPORTED,
    "vm_traffic": _AS_REPORTED,
    "vm_connections": _AS_REPORTED,
    "on_demand_windows": _AS_REPORTED,
    "path_minutes": "of chosen paths alone, since they were chosen; each merge of a minute writes them again",
    "corrections": "computed from windows that may be deleted by now",
    "path_latest": _REBUILT,
    "path_latest_meshes": _REBUILT,
    "clocks_latest": _REBUILT,
    "aging_runs": "a log of runs",
    "rollup_marks": "steps that wait for their merge",
}
"""Tables of measurements that are not checked, and why."""


def check(since: datetime = _BEGINNING, *, repair: bool = False, url: str | None = None) -> Findings:
    """Check all frames that began since a time. `repair` marks differing minutes for another merge.

    `url` is the address of another database than that of the settings; the aged objects of that are not read.
    """
    findings = Findings()
    with connect(url) as connection:
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            rosters = _check_rosters(connection, findings)
            for table in tables(connection):
                if table.is_frames and table.logged:
                    findings.frames[table.name] = _check_table(connection, table, rosters, since, findings)
            compare_minutes(connection, since, findings)
        if repair and findings.minutes_to_merge:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO rollup_marks (tenant_key, mesh_key, minute) VALUES (%s, %s, %s)",
                    sorted(findings.minutes_to_merge),
                )
    if url is None:
        check_objects(since, findings)
    return findings


def _check_rosters(connection: psycopg.Connection, findings: Findings) -> dict[int, int]:
    """Compare the digest of every roster with that of its keys. Return the sizes of all rosters by key."""
    sizes: dict[int, int] = {}
    with connection.cursor("check_rosters", binary=True) as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        cursor.execute("SELECT key, target_keys, digest FROM rosters")
        for key, target_keys, digest in cursor:
            sizes[key] = len(target_keys)
            if roster_digest(np.array(target_keys, np.int64)) != bytes(digest):
                repair = "cannot be repaired: restore it from a backup"
                findings.add(Fault("rosters", f"({key})", "its keys do not have its digest", repair))
    findings.rosters = len(sizes)
    return sizes


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


def check_objects(since: datetime, findings: Findings) -> None:
    """Read every current object of ranges that ended after a time, and compare its bytes with the catalogue."""
    with system_session() as session:
        objects = catalogue.find(session, "state = 'current' AND ended_at > :since", since=since)
    for one in objects:
        try:
            problem = _problem_of(one)
        except StorageError as error:  # the others would only wait for the same storage
            what = f"{error}; {len(objects) - findings.aged_objects} of {len(objects)} objects were not checked"
            findings.add(Fault("aged_objects", f"({one.object_key})", what, "run `sinemora aged check`"))
            return
        findings.aged_objects += 1
        if problem is not None:
            findings.add(Fault("aged_objects", f"({one.object_key})", problem, _FROM_A_COPY))


def _problem_of(one: AgedObject) -> str | None:
    """Return what is wrong with an object; None when nothing is, or it was removed meanwhile. StorageError."""
    try:
        content = installation_storage().get(one.object_key)
    except ObjectMissing:
        with system_session() as session:
            is_current = catalogue.find(session, "id = :id AND state = 'current'", id=one.id)
        return "its object is missing in the object storage" if is_current else None
    if len(content) != one.size_bytes:
        return f"its object has {len(content):,} bytes instead of {one.size_bytes:,}"
    if hashlib.sha256(content).digest() != one.checksum:
        return "its object does not have the checksum it was written with"
    return None
