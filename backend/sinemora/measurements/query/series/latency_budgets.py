"""Latency budgets of selections: shares of the median and of the 99th percentile of each, by path."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import date
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.models import Zone
from sinemora.fleet.inventory.queries import zones_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate import group_by
from sinemora.measurements.aggregate.group_by import DecodedWindows, GroupedDistributions
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, MAX, MIN
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.latency_budget import published, reference, split
from sinemora.measurements.latency_budget.published import Place
from sinemora.measurements.latency_budget.split import Bounded, Cause, Share
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.requests import LatencyBudgetsRequest
from sinemora.measurements.query.scan import QueryResponse, Range, decode_windows, range_of
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.query.series.latency_budgets_read import (
    BudgetReferenceRead,
    LatencyBudgetItem,
    LatencyBudgetsRead,
    PartsRead,
    PublishedTrace,
    ShareRead,
    VmWaits,
)
from sinemora.measurements.query.tables import Column, ResultTable
from sinemora.measurements.store import host_waits

# Of more VMs the medians would take long to read, and name nobody.
_VMS_MAX = 20


def latency_budgets(
    session: Session, mesh: MeshState, request: LatencyBudgetsRequest, budget: ReadBudget
) -> QueryResponse:
    """Return a latency budget per selection. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    selected = paths_of(mesh, request.selections)
    time_range = range_of(request)
    round_trip = request.metric is Metric.ROUND_TRIP
    ways = 2 if round_trip else 1
    windows = decode_windows(
        session, mesh, time_range, sketches=True, vm_keys=vm_keys_of(mesh, selected), budget=budget
    )
    merged = group_by.merge_by_key(_by_path(windows, selected, len(mesh.members), round_trip))
    of_selection = merged.keys // len(mesh.members) ** 2
    p50_ns, p99_ns = _percentiles(merged)
    minimum_ns, error_ns = (merged.columns[column].astype(np.int64) for column in (MIN, CLOCK_ERROR))
    zones = zones_of(session, {member.zone_id for member in mesh.members})
    propagation_ns = None if request.distance_km is None else ways * split.fibre_delay_ns(request.distance_km)
    items = []
    for number, paths in enumerate(selected):
        at = np.flatnonzero(of_selection == number)
        item = _without_delays(paths, mesh, zones, ways)
        if at.size:
            delays = split.typical(minimum_ns[at], p50_ns[at], p99_ns[at], error_ns[at])
            figures = _figures(split.split(delays, propagation_ns), ways)
            clock_error_ns = None if round_trip else split.lower_median(error_ns[at])
            count = int(merged.columns[COUNT, at].sum())
            known = {"paths": at.size, "count": count, "clock_error_ns": clock_error_ns}
            vm_waits = _vm_waits(session, mesh, paths, time_range, round_trip)
            item = item.model_copy(update=figures | known | {"vm_waits": vm_waits})
        items.append(item)
    read = LatencyBudgetsRead.model_construct(
        mesh_id=mesh.id,
        metric=request.metric,
        window=time_range.span,
        distance_km=request.distance_km,
        reference=[
            BudgetReferenceRead(**asdict(replace(part, low_ns=ways * part.low_ns, high_ns=ways * part.high_ns)))
            for part in reference.REFERENCES
        ],
        reference_source=reference.SOURCE,
        published_source=published.SOURCE,
        items=items,
    )
    return QueryResponse(lambda: read, lambda: _table(read))


def _vm_waits(
    session: Session, mesh: MeshState, paths: SelectedPaths, time_range: Range, round_trip: bool
) -> VmWaits | None:
    keys, both = keys_of(mesh), paths.rows | paths.columns
    ends = [keys[both if round_trip else end].tolist() for end in (paths.rows, paths.columns)]
    if max(map(len, ends)) > _VMS_MAX:
        return None
    sending, receiving = (
        host_waits.typical(session, end, time_range.start, time_range.end, wait)
        for end, wait in zip(ends, ("send", "receive"), strict=True)
    )
    return VmWaits(
        sending_p50_ns=sending[0],
        sending_p99_ns=sending[1],
        receiving_p50_ns=receiving[0],
        receiving_p99_ns=receiving[1],
    )


def _by_path(
    windows: Iterator[DecodedWindows], selections: list[SelectedPaths], members: int, round_trip: bool
) -> Iterator[GroupedDistributions]:
    """Yield distributions by selection and path; keys are (selection · `members` + source) · `members` + target."""
    for window in windows:
        for number, paths in enumerate(selections):
            selected = group_by.select_paths(window, paths.rows, paths.columns, round_trip=round_trip)
            # The client of a pair is not always the same VM: the round trips of a pair are under one key.
            first, second = selected.sources, selected.targets
            if round_trip:
                first, second = np.minimum(first, second), np.maximum(first, second)
            yield group_by.with_keys(window, selected, (number * members + first) * members + second)


def _percentiles(merged: GroupedDistributions) -> Ints:
    """Return p50 and p99 of each path, ns, shape (2, paths)."""
    if not merged.keys.size:
        return np.empty((2, 0), np.int64)
    bins = llq16.quantiles(merged.words, merged.lengths, (0.5, 0.99))
    clipped: Ints = np.clip(llq16.values_of(bins), merged.columns[MIN], merged.columns[MAX])
    return clipped


def _without_delays(paths: SelectedPaths, mesh: MeshState, zones: Mapping[UUID, Zone], ways: int) -> LatencyBudgetItem:
    """Return the item of a selection in which nothing was measured, with what was published of such paths."""
    ends = [
        {member.zone_id for member, is_end in zip(mesh.members, end, strict=True) if is_end}
        for end in (paths.rows, paths.columns)
    ]
    provider, path_class = None, None
    if all(len(end) == 1 for end in ends):
        source, target = (_place(zones[end.pop()]) for end in ends)
        path_class, provider = published.class_of(source, target), source.provider
    return LatencyBudgetItem(
        selection=paths.selection,
        title=paths.title,
        paths=0,
        count=0,
        clock_error_ns=None,
        separation=None,
        base=None,
        p50=None,
        p99=None,
        base_verdict=None,
        provider=provider,
        path_class=path_class,
        vm_waits=None,
        published=[
            PublishedTrace(
                name=trace.name,
                started_on=date.fromisoformat(trace.started_on),
                messages_per_second=trace.messages_per_second,
                mean_ns=ways * trace.mean_ns,
                p50_ns=ways * trace.p50_ns,
                p99_ns=ways * trace.p99_ns,
                p999_ns=ways * trace.p999_ns,
                max_ns=ways * trace.max_ns,
                sd_ns=ways * trace.sd_ns,
            )
            for trace in (published.traces_of(provider, path_class) if provider and path_class else ())
        ],
    )


def _place(zone: Zone) -> Place:
    return Place(zone.provider, zone.region, str(zone.id))


def _figures(found: split.LatencyBudget, ways: int) -> dict[str, object]:
    # Without a known distance the base still holds propagation: it may then be above the reference for that reason.
    minimum = found.delays.minimum
    propagation_ns = sum(share.delay.delay_ns for share in found.base if share.cause is Cause.PROPAGATION)
    return {
        "separation": found.separation,
        "base": _parts(found.delays.minimum, found.base),
        "p50": _parts(found.delays.p50, found.p50),
        "p99": _parts(found.delays.p99, found.p99),
        "base_verdict": reference.verdict(minimum.low_ns - propagation_ns, minimum.high_ns - propagation_ns, ways),
    }


def _parts(delay: Bounded, shares: tuple[Share, ...]) -> PartsRead:
    return PartsRead(**asdict(delay), shares=[ShareRead(cause=share.cause, **asdict(share.delay)) for share in shares])


def _table(read: LatencyBudgetsRead) -> ResultTable:
    """Return one row per selection, figure and share."""
    columns = [Column(name, "text") for name in ("selection", "title", "figure", "cause")]
    columns += [Column(name, "int") for name in ("delay_ns", "low_ns", "high_ns")]
    rows = [
        (item.selection, item.title, name, share.cause.value, share.delay_ns, share.low_ns, share.high_ns)
        for item in read.items
        for name, parts in (("base", item.base), ("p50", item.p50), ("p99", item.p99))
        if parts is not None
        for share in parts.shares
    ]
    return ResultTable("latency-budgets", columns, [list(zip(*rows, strict=True))] if rows else [])
