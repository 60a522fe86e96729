"""Scan of decoded windows: range, tiers and VMs of a query; and the response type of all queries."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from pydantic import BaseModel
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.group_by import DecodedWindows
from sinemora.measurements.aggregate.matrix import NONE, positions_of
from sinemora.measurements.codec.unpacking import DIRECTIONS
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.ranges import check_range, check_time, read_frames, tiers, utc
from sinemora.measurements.query.requests import QueryRequest
from sinemora.measurements.query.tables import ResultTable
from sinemora.measurements.schemas import Span
from sinemora.measurements.store import corrections
from sinemora.measurements.store.frames import count_frames
from sinemora.measurements.store.retention import kept_from_of
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange

DEFAULT_SPAN = timedelta(hours=1)
# Lengths of a step that people read easily, seconds.
_STEPS_S = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)


@dataclass(frozen=True)
class QueryResponse:
    """Response to a query as JSON, as a table, or as codes for the canvas; each is built on demand."""

    read: Callable[[], BaseModel] | None
    table: Callable[[], ResultTable]
    binary: Callable[[], bytes] | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """[start, end)."""

    start: datetime
    end: datetime

    @property
    def span(self) -> Span:
        """The range in its JSON form."""
        return Span(from_=self.start, to=self.end)

    def steps(self, step_s: int) -> tuple[int, int]:
        """Number of the first step (Unix time / `step_s`), and how many there are."""
        first = int(self.start.timestamp()) // step_s
        return first, -(-int(self.end.timestamp()) // step_s) - first

    def aligned(self, step_s: int) -> "Range":
        """Return the range widened to whole steps."""
        first, size = self.steps(step_s)
        return Range(utc(first * step_s), utc((first + size) * step_s))


def range_of(request: QueryRequest) -> Range:
    """Return the range of a query. ProductError `range_invalid`."""
    end = request.to or datetime.now(UTC)
    check_time(end)  # first: nothing is before the first year
    start = request.from_ or end - DEFAULT_SPAN
    check_range(start, end)
    return Range(start, end)


def step_of(window_s: int, asked: Range, points: int) -> int:
    """Return the finest step with at most `points` points: windows as reported, or whole minutes and more."""
    span_s = (asked.end - asked.start).total_seconds()
    if span_s <= points * window_s and asked.start >= kept_from_of(datetime.now(UTC))[Tier.RAW]:
        return window_s
    days = max(1, -(-int(span_s) // (points * 86_400)))
    return next((step for step in _STEPS_S if span_s <= points * step), days * 86_400)


def check_budget(
    session: Session, mesh: MeshState, asked: Range, vm_keys: Sequence[int] | None, budget: ReadBudget, step_s: int
) -> None:
    """Check the budget of a query that reads a range in several parts. ProductError `range_too_large`."""
    parts = _tiers_of(session, mesh, asked, step_s)
    budget.check(sum(count_frames(session, mesh.key, part, vm_keys) for part in parts))


def _tiers_of(session: Session, mesh: MeshState, asked: Range, step_s: int | None) -> list[TierRange]:
    """Return the coarsest tiers that serve a range in whole steps."""
    usable = [tier for tier in ROLLED if step_s is None or step_s % tier.step_s == 0]
    if not usable:
        return [TierRange(Tier.RAW, asked.start, asked.end)]
    return tiers(session, mesh.key, asked.start, asked.end, usable)[2]


def decode_windows(
    session: Session,
    mesh: MeshState,
    asked: Range,
    *,
    sketches: bool,
    vm_keys: Sequence[int] | None,
    budget: ReadBudget,
    step_s: int | None = None,
) -> Iterator[DecodedWindows]:
    """Yield all windows of a range, in pieces, from the coarsest tiers that serve.

    With a `step_s`, of which the range is a whole number, no window crosses the end of a step, nor of the range.

    ProductError `range_too_large`.
    """
    parts = _tiers_of(session, mesh, asked, step_s)
    axis, shifts = keys_of(mesh), corrections.in_range(session, mesh.key, asked.start, asked.end)
    first_s, last_s = asked.start.timestamp(), asked.end.timestamp()
    for chunk in read_frames(session, mesh.key, parts, sketches=sketches, vm_keys=vm_keys, budget=budget):
        piece = merge.gathered(chunk, shifts, DIRECTIONS if sketches else ())
        started = np.repeat([one.started_at_s for one in chunk], [one.targets.size for one in chunk]).astype(np.int64)
        clients = positions_of(axis, piece.clients)
        if step_s is not None:  # old ranges are only kept in steps that reach beyond their ends
            clients[(started < first_s) | (started >= last_s)] = NONE
        yield DecodedWindows(
            clients,
            positions_of(axis, piece.targets),
            started,
            piece.stats,
            piece.sketches,
        )
