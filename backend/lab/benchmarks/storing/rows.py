"""The reference: a plain table with a row per path and window, in the same database.

A pair of a report is three rows: both paths between its VMs, and their round trip.
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np
import psycopg

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import Frame

TABLE = """
CREATE TABLE bench_rows (
    source int, target int, round_trip boolean, started_at timestamptz, count int, sent int, lost int, min_ns int,
    mean_ns int, max_ns int, clock_error_ns int, m2 real, sketch bytea,
    PRIMARY KEY (source, started_at, target, round_trip))
"""
COPY = "COPY bench_rows FROM STDIN"
PATHS = (frame.OUTBOUND, frame.INBOUND)
EVERYTHING = (*PATHS, frame.ROUND_TRIP)


def rows_of(whole: Frame, started_at: str, directions: Sequence[int]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of some directions of every pair of a frame."""
    cuts = np.concatenate(([0], np.cumsum(whole.sketches.lengths.reshape(-1)))).tolist()
    n = whole.targets.size
    for direction in directions:
        columns = whole.stats.columns[:7, direction].T.tolist()
        m2 = whole.stats.m2[direction].tolist()
        for i, target in enumerate(whole.targets.tolist()):
            at = direction * n + i
            words = whole.sketches.words[cuts[at] : cuts[at + 1]].tobytes()
            ends = (target, whole.vm_key) if direction == frame.INBOUND else (whole.vm_key, target)
            yield (*ends, direction == frame.ROUND_TRIP, started_at, *columns[i], m2[i], words)


def ingest(dsn: str, frames: list[tuple[Frame, str]], directions: Sequence[int]) -> tuple[float, float]:
    """Return windows of paths per second by COPY, with a commit per 100 frames, and bytes of each, index included."""
    paths, seconds = 0, 0.0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bench_rows")
        connection.execute(TABLE)
        for first in range(0, len(frames), 100):
            parts = frames[first : first + 100]
            batch = [row for part in parts for row in rows_of(*part, directions)]
            began_s = time.perf_counter()
            with connection.transaction(), connection.cursor().copy(COPY) as copy:
                for row in batch:
                    copy.write_row(row)
            seconds += time.perf_counter() - began_s
            paths += len(PATHS) * sum(whole.targets.size for whole, _ in parts)
        size = connection.execute("SELECT pg_total_relation_size('bench_rows')").fetchone()
    assert size is not None
    return paths / seconds, size[0] / paths


def settle(dsn: str) -> None:
    """Drop the table and write a checkpoint, so that what follows does not pay for what came before.

    Vacuum and the writing of dirty pages otherwise begin some seconds later, in the middle of another measurement.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bench_rows")
        connection.execute("CHECKPOINT")


def matrix_ms(dsn: str, start: str, end: str) -> float:
    """Return the ms of p50 and p99 of all paths of a range: SQL joins the sketches of a path, one call merges all."""
    began_s = time.perf_counter()
    with psycopg.connect(dsn) as connection, connection.cursor(binary=True) as cursor:
        cursor.execute(
            "SELECT source, target, string_agg(sketch, ''::bytea) FROM bench_rows"
            " WHERE started_at >= %s AND started_at < %s GROUP BY 1, 2",
            (start, end),
        )
        rows = cursor.fetchall()
    lengths = np.array([len(row[2]) // 2 for row in rows], np.int64)
    words = np.frombuffer(b"".join(row[2] for row in rows), np.uint16)
    llq16.quantiles(words, lengths, (0.5, 0.99))
    return (time.perf_counter() - began_s) * 1000
