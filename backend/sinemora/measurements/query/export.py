"""Export of every window of every path as rows, written while they are read."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from sinemora.kit.db import tenant_session
from sinemora.measurements.aggregate import group_by, matrix, merge
from sinemora.measurements.aggregate.group_by import DecodedWindows
from sinemora.measurements.aggregate.matrix import Metric, Statistic, Table
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, SENT
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.matrix import keys_of
from sinemora.measurements.query.ranges import read_frames, utc
from sinemora.measurements.query.requests import WindowsRequest
from sinemora.measurements.query.scan import QueryResponse, range_of
from sinemora.measurements.query.selections import paths_of, vm_keys_of
from sinemora.measurements.query.tables import Column, ResultTable
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.tiers import Tier, TierRange
from sinemora.meshes.plan import MeshState

_COLUMNS = [
    Column("started_at", "time"),
    Column("window_s", "int"),
    Column("source", "text"),
    Column("target", "text"),
    Column("selection", "text"),
    Column("count", "int"),
    Column("sent", "int"),
    Column("lost", "int"),
    *(Column(f"{statistic}_ns", "int") for statistic in Statistic),
    Column("clock_error_ns", "int"),
]


def windows(session: Session, mesh: MeshState, asked: WindowsRequest, budget: Budget) -> QueryResponse:
    """Windows as they came, or by minute, oldest first; reading begins with the writing, in a transaction of its own.

    ProductError `range_invalid`, `range_too_large`, `selection_invalid`, `path_unknown`.
    """
    found, wanted = paths_of(mesh, asked.selections), range_of(asked)
    shifts = corrections.in_range(session, mesh.key, wanted.start, wanted.end)
    vm_keys, tenant_id = vm_keys_of(mesh, found), session.info["tenant_id"]
    axis, names = keys_of(mesh), np.array([member.name for member in mesh.members], object)
    part = TierRange(Tier.MINUTE if asked.merged else Tier.RAW, wanted.start, wanted.end)
    round_trip = asked.metric is Metric.ROUND_TRIP
    budget.check(frames.count_frames(session, mesh.key, part, vm_keys))

    def batches() -> Iterator[list[list[Any]]]:
        with tenant_session(tenant_id) as own:
            stored = read_frames(own, mesh.key, [part], sketches=False, vm_keys=vm_keys, budget=budget, by_time=True)
            for chunk in stored:
                piece = merge.gathered(chunk, shifts)
                sizes = [one.targets.size for one in chunk]
                started = np.repeat(np.array([one.started_at_s for one in chunk], np.int64), sizes)
                lasts = np.repeat(np.array([one.window_s for one in chunk], np.int64), sizes)
                window = DecodedWindows(
                    matrix.positions_of(axis, piece.clients),
                    matrix.positions_of(axis, piece.targets),
                    started,
                    piece.stats,
                    None,
                )
                for one in found:
                    some = group_by.select_paths(window, one.rows, one.columns, round_trip=round_trip).oldest_first()
                    if some.at.size:
                        yield _rows(window, some, lasts, names, one.selection, round_trip)

    return QueryResponse(None, lambda: ResultTable("windows", _COLUMNS, batches()))


def _rows(
    window: DecodedWindows, some: group_by.PathDistributions, lasts: Any, names: Any, selection: str, round_trip: bool
) -> list[list[Any]]:
    stats = window.stats
    table = Table(
        stats.columns.reshape(8, -1)[:, some.at], stats.quantiles.reshape(len(stats.quantiles), -1)[:, some.at]
    )
    heard = table.columns[COUNT] > 0
    error = table.columns[CLOCK_ERROR]
    return [
        [utc(at) for at in some.started_at_s.tolist()],
        lasts[some.at % max(window.clients.size, 1)].tolist(),
        names[some.sources].tolist(),
        names[some.targets].tolist(),
        [selection] * some.at.size,
        table.columns[COUNT].tolist(),
        matrix.nullable(table.columns[SENT], table.columns[SENT] >= 0),
        matrix.nullable(table.columns[LOST], table.columns[LOST] >= 0),
        *(
            matrix.nullable(matrix.statistic_of(table, statistic), matrix.has_statistic(table, statistic))
            for statistic in Statistic
        ),
        [None] * some.at.size if round_trip else matrix.nullable(error, heard),
    ]
