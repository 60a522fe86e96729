"""Export of all windows of paths as rows, streamed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.db import tenant_session
from sinemora.measurements.aggregate import group_by, matrix, merge
from sinemora.measurements.aggregate.group_by import DecodedWindows
from sinemora.measurements.aggregate.matrix import DistributionTable, Metric, Statistic
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, SENT, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.ranges import read_frames, utc
from sinemora.measurements.query.requests import WindowsRequest
from sinemora.measurements.query.scan import QueryResponse, range_of
from sinemora.measurements.query.selections import paths_of, vm_keys_of
from sinemora.measurements.query.tables import Column, ResultTable
from sinemora.measurements.schemas import TIMESTAMP_SOURCES
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.tiers import Tier, TierRange

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
    Column("residence_ns", "int"),
    Column("timestamp_source", "text"),
]


def windows(session: Session, mesh: MeshState, request: WindowsRequest, budget: ReadBudget) -> QueryResponse:
    """Return windows or minutes of paths as rows, oldest first; a separate transaction reads them while they are sent.

    ProductError `range_invalid`, `range_too_large`, `selection_invalid`, `path_unknown`.
    """
    selected, time_range = paths_of(mesh, request.selections), range_of(request)
    shifts = corrections.in_range(session, mesh.key, time_range.start, time_range.end)
    vm_keys, tenant_id = vm_keys_of(mesh, selected), session.info["tenant_id"]
    axis, names = keys_of(mesh), np.array([member.name for member in mesh.members], object)
    part = TierRange(Tier.MINUTE if request.merged else Tier.RAW, time_range.start, time_range.end)
    round_trip = request.metric is Metric.ROUND_TRIP
    budget.check(frames.count_frames(session, mesh.key, part, vm_keys))

    def batches() -> Iterator[list[list[Any]]]:
        with tenant_session(tenant_id) as reader:
            stored = read_frames(reader, mesh.key, [part], sketches=False, vm_keys=vm_keys, budget=budget, by_time=True)
            for chunk in stored:
                piece = merge.gathered(chunk, shifts)
                sizes = [block.targets.size for block in chunk]
                started = np.repeat(np.array([block.started_at_s for block in chunk], np.int64), sizes)
                lasts = np.repeat(np.array([block.window_s for block in chunk], np.int64), sizes)
                window = DecodedWindows(
                    matrix.positions_of(axis, piece.clients),
                    matrix.positions_of(axis, piece.targets),
                    started,
                    piece.stats,
                    None,
                )
                notes = np.zeros((4, started.size), np.int64)
                if part.tier is Tier.RAW:
                    windows = [(block.vm_key, block.started_at_s, block.targets) for block in chunk]
                    notes = frames.notes(reader, mesh.key, windows)
                for paths in selected:
                    selection = group_by.select_paths(
                        window, paths.rows, paths.columns, round_trip=round_trip
                    ).oldest_first()
                    if selection.at.size:
                        yield [
                            *_rows(window, selection, lasts, names, paths.selection, round_trip),
                            *_noted(notes, selection.at),
                        ]

    return QueryResponse(None, lambda: ResultTable("windows", _COLUMNS, batches()))


def _rows(
    window: DecodedWindows,
    selected: group_by.PathDistributions,
    lasts: Any,
    names: Any,
    selection: str,
    round_trip: bool,
) -> list[list[Any]]:
    return [
        [utc(at) for at in selected.started_at_s.tolist()],
        lasts[selected.at % max(window.clients.size, 1)].tolist(),
        names[selected.sources].tolist(),
        names[selected.targets].tolist(),
        [selection] * selected.at.size,
        *_distributions(window.stats, selected.at, round_trip=round_trip),
    ]


def _noted(notes: Ints, at: Ints) -> list[list[Any]]:
    """Return the columns `residence_ns` and `timestamp_source` of some distributions, which `at` counts as below."""
    size = max(notes.shape[1], 1)
    sources = notes[0][at % size].tolist()
    # Of a round trip both directions together.
    residence_ns = np.concatenate((notes[2], notes[3], notes[2] + notes[3]))[at]
    return [
        [ns or None for ns in residence_ns.tolist()],
        [TIMESTAMP_SOURCES[source - 1] if source else None for source in sources],
    ]


def _distributions(stats: Stats, at: Ints, *, round_trip: bool) -> list[list[Any]]:
    """Return the columns `count`, `sent`, `lost`, all statistics and `clock_error_ns` of some distributions.

    `at` counts outbound, inbound and round trip of all pairs, as in `PathDistributions`.
    """
    table = DistributionTable(
        stats.columns.reshape(8, -1)[:, at], stats.quantiles.reshape(len(stats.quantiles), -1)[:, at]
    )
    measured = table.columns[COUNT] > 0
    error = table.columns[CLOCK_ERROR]
    return [
        table.columns[COUNT].tolist(),
        matrix.nullable(table.columns[SENT], table.columns[SENT] >= 0),
        matrix.nullable(table.columns[LOST], table.columns[LOST] >= 0),
        *(
            matrix.nullable(matrix.statistic_of(table, statistic), matrix.has_statistic(table, statistic))
            for statistic in Statistic
        ),
        [None] * at.size if round_trip else matrix.nullable(error, measured),
    ]
