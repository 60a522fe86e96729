"""Use cases of the fairness meter."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isnan
from statistics import fmean, median
from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.fairness.core.tables import GroupIndex, groups_of_csv
from sinemora.advisors.fairness.schemas import FairnessMember, FairnessOf, FairnessRead
from sinemora.advisors.measured_path import member_named
from sinemora.applications import reading
from sinemora.applications.learning import queries as learning
from sinemora.applications.learning.models import MetricSource
from sinemora.applications.learning.service import HISTORY
from sinemora.applications.models import Application
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.csv_rows import CsvError
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.fairness import ALERT_BELOW, jain_index, vm_shares
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.matrix.compute import read_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.query.series.paths import path_now
from sinemora.measurements.schemas import Span

_SHARE = {
    FairnessOf.VMS: "requests per second of a client with one request in flight: 1 / median round trip over its paths",
    FairnessOf.FLOWS: "requests per second with one request in flight: 1 / median round trip of the source port",
    FairnessOf.APPLICATIONS: "performance under the newest round trips, by its curve; 1 is its best",
    FairnessOf.METRIC_SOURCES: "mean of the own metric over its median of ten days; inverted for durations",
}


@dataclass(frozen=True, slots=True)
class _Shares:
    """Shares by name, None where unknown, and the range they are of."""

    shares: Mapping[str, float | None]
    started_at: datetime | None
    ended_at: datetime | None


def fairness(
    session: Session,
    mesh_id: UUID,
    of: FairnessOf,
    minutes: int,
    ends: tuple[str, str] | None,
    alert_below: float = ALERT_BELOW,
    *,
    until: datetime | None = None,
) -> FairnessRead:
    """Return the index among VMs, flows of a path (`ends`), applications or metric sources of a mesh.

    `until`: end of the `minutes`, now by default.

    ProductError `mesh_unknown`, `vm_not_in_mesh`, `path_missing`.
    """
    mesh_state(session, mesh_id)
    now = until or datetime.now(UTC)
    if of is FairnessOf.VMS:
        found = _of_vms(session, mesh_id, now - timedelta(minutes=minutes), now)
    elif of is FairnessOf.FLOWS:
        found = _of_flows(session, mesh_id, ends)
    elif of is FairnessOf.APPLICATIONS:
        found = _of_applications(session, mesh_id)
    else:
        found = _of_metric_sources(session, mesh_id, now - timedelta(minutes=minutes), now)
    known = {name: share for name, share in found.shares.items() if share is not None}
    index = jain_index(list(known.values())) if len(known) > 1 else None
    mean = fmean(known.values()) if known else 0.0
    return FairnessRead(
        mesh_id=mesh_id,
        of=of,
        share=_SHARE[of],
        started_at=found.started_at,
        ended_at=found.ended_at,
        index=index,
        alert_below=alert_below,
        below=None if index is None else index < alert_below,
        members=[
            FairnessMember(name=name, share=share, relative=share / mean if mean else 0.0)
            for name, share in sorted(known.items(), key=lambda item: item[1])
        ],
        left_out=sorted(found.shares.keys() - known.keys()),
    )


def import_table(csv: str) -> list[GroupIndex]:
    """Return the indices of a table measured elsewhere. ProductError `table_invalid`."""
    try:
        return groups_of_csv(csv)
    except CsvError as error:
        raise ProductError(
            "table_invalid",
            422,
            f"Invalid table: {error.message}.",
            errors=[{"pointer": "#/csv", "message": error.message}],
        ) from error


def _of_vms(session: Session, mesh_id: UUID, start: datetime, end: datetime) -> _Shares:
    found = read_matrix(session, mesh_id, MatrixRequest(metric=Metric.ROUND_TRIP, from_=start, to=end))
    trips_ns = np.where(found.matrix.valued, np.asarray(found.matrix.values, np.float64), np.nan)
    by_vm = zip(found.axis, vm_shares(trips_ns).tolist(), strict=True)
    shares = {vm.name: None if isnan(share) else share for vm, share in by_vm}
    return _Shares(shares, found.started_at, found.ended_at)


def _of_flows(session: Session, mesh_id: UUID, ends: tuple[str, str] | None) -> _Shares:
    if ends is None:
        raise ProductError("path_missing", 422, "No path: fairness of flows needs `source` and `target`.")
    mesh = mesh_state(session, mesh_id)
    source = member_named(mesh, ends[0], "#/query/source")
    target = member_named(mesh, ends[1], "#/query/target")
    path = path_now(session, mesh_id, source.id, target.id)
    shares: dict[str, float | None] = {}
    for flow in path.by_flow:
        trip_ns = (flow.outbound.p50_ns or 0) + (flow.inbound.p50_ns or 0)
        known = flow.outbound.p50_ns is not None and flow.inbound.p50_ns is not None and trip_ns > 0
        shares[f"port {flow.flow}"] = 1e9 / trip_ns if known else None
    ended_at = None
    if path.started_at is not None:
        ended_at = path.started_at + timedelta(seconds=path.window_s or 0)
    return _Shares(shares, path.started_at, ended_at)


def _of_applications(session: Session, mesh_id: UUID) -> _Shares:
    shares: dict[str, float | None] = {}
    span: Span | None = None
    for application in session.scalars(select(Application).where(Application.mesh_id == mesh_id)):
        read = reading.performance(session, application, Statistic.P50)
        shares[application.name], span = read.performance, read.window
    return _Shares(shares, None if span is None else span.from_, None if span is None else span.to)


def _of_metric_sources(session: Session, mesh_id: UUID, start: datetime, end: datetime) -> _Shares:
    shares: dict[str, float | None] = {}
    for source in session.scalars(select(MetricSource).where(MetricSource.mesh_id == mesh_id)):
        points = [(at, value) for at, value in learning.points(session, source.id, end - HISTORY) if value > 0]
        window = [value for at, value in points if at >= start]
        if not window:
            shares[source.name] = None
            continue
        usual = median(value for _, value in points)
        relative = fmean(window) / usual
        shares[source.name] = relative if source.metric == "rate" else 1 / relative
    return _Shares(shares, start, end)
