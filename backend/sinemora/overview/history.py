"""The last days of a mesh and of applications: the worst change of each hour, and performance over time."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.models import Application
from sinemora.applications.performance import reached
from sinemora.applications.reading import links_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state, zone_runs
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.matrix import zone_steps
from sinemora.measurements.query.matrix.history import stored_round_trips
from sinemora.measurements.query.matrix.zone_steps import Steps, ZoneSteps, read_zone_steps
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier, TierRange, floor
from sinemora.overview import queries
from sinemora.overview.figures import WorstPair, is_worse, worst_of_hours
from sinemora.overview.schemas import ApplicationHistory, MeshHistory, PerformanceHistory, RecentIncident, WorstHour

_INCIDENTS_MAX = 500
# What is read is kept this long: the newest hour and quarter are merged every few minutes.
_KEPT_S = 300
_DAY = timedelta(days=1)


def mesh_history(session: Session, mesh: MeshState, days: int) -> MeshHistory:
    """Return the worst change of each hour of some days, and the incidents of that time."""
    now = int(datetime.now(UTC).timestamp())
    last_s = -(-now // 3600) * 3600
    steps = Steps(np.arange(last_s - (24 * days - 1) * 3600, last_s + 1, 3600), 3600, Tier.HOUR)
    key = ("worst hours", session.info["tenant_key"], mesh.key, mesh.revision, days, now // _KEPT_S)
    hours: list[WorstHour] | None = shared_cache().get(key)
    if hours is None:
        hours = _hours(session, mesh, steps)
        shared_cache().put(key, hours, 500 * len(hours))
    since = utc(int(steps.ends_s[0]) - 3600)
    incidents = queries.recent_incidents(session, mesh.id, since, _INCIDENTS_MAX)
    return MeshHistory(since=since, hours=hours, incidents=[RecentIncident.model_validate(one) for one in incidents])


def _hours(session: Session, mesh: MeshState, steps: Steps) -> list[WorstHour]:
    """Return the measured hours with the zone pair that differs most."""
    nothing = WorstPair(0.0, 0, None, None, None)
    worst: dict[int, tuple[WorstPair, str | None, str | None]] = {}
    for part in _parts(mesh, steps):
        read = read_zone_steps(session, part, steps)
        for step, one in _worst_of(read):
            known, *_ = worst.setdefault(step, (nothing, None, None))
            if one is not None and is_worse(one, known):
                source, target = divmod(one.pair, len(read.axis))
                worst[step] = one, read.axis[source].name, read.axis[target].name
    return [
        WorstHour(
            started_at=utc(int(steps.ends_s[step]) - 3600),
            source=source,
            target=target,
            **{name: getattr(one, name) for name in ("usual_ns", "change_ns", "loss")},
        )
        for step, (one, source, target) in sorted(worst.items(), key=lambda item: item[0])
    ]


def _parts(mesh: MeshState, steps: Steps) -> Iterator[MeshState]:
    """Yield parts of a mesh that one scan reads: every pair of zones is in at least one."""
    zones = [run.id for run in zone_runs(mesh)]
    most = max(2, math.isqrt(zone_steps.CELLS_MAX // steps.ends_s.size))
    if len(zones) <= most:
        if zones:
            yield mesh
        return
    groups = [zones[at : at + most // 2] for at in range(0, len(zones), most // 2)]
    for two in combinations(groups, 2):
        of_both = {*two[0], *two[1]}
        yield replace(mesh, members=tuple(member for member in mesh.members if member.zone_id in of_both))


def _worst_of(read: ZoneSteps) -> Iterator[tuple[int, WorstPair | None]]:
    """Yield the measured steps, each with the pair that differs most."""
    delay, loss = Metric.ONE_WAY_DELAY, Metric.LOSS
    matrices = [
        matrix.measure(read.cells, metric, statistic)
        for metric, statistic in ((delay, Statistic.P50), (delay, Statistic.P90), (loss, Statistic.P50))
    ]
    values = [np.where(one.valued, one.values, np.nan).reshape(len(one.values), -1) for one in matrices]
    worst = worst_of_hours(*(one.astype(np.float32) for one in values))
    for step in np.flatnonzero(np.isfinite(values[0]).any(axis=1)).tolist():
        yield step, worst[step]


def performances(session: Session, applications: Sequence[Application]) -> list[PerformanceHistory]:
    """Return the performance of applications of the last day, in quarters of an hour.

    Predicted from the stored round trips between the VMs that hold the tasks now.
    """
    names = tuple((one.id, one.version) for one in applications)
    key = ("performances", session.info["tenant_key"], names, int(time.time()) // _KEPT_S)
    found: dict[UUID, PerformanceHistory] | None = shared_cache().get(key)
    if found is None:
        found = {}
        for mesh_id in {one.mesh_id for one in applications}:
            own = [one for one in applications if one.mesh_id == mesh_id]
            found |= zip((one.id for one in own), _performances(session, mesh_id, own, _DAY), strict=True)
        shared_cache().put(key, found, 10_000 * (len(found) + 1))
    return [found[one.id] for one in applications]


def application_history(session: Session, application: Application, days: int) -> ApplicationHistory:
    """Return the performance of an application over some days, its incidents and its applied moves."""
    past = days * _DAY
    (performance,) = _performances(session, application.mesh_id, [application], past)
    since = datetime.now(UTC) - past
    incidents = queries.recent_incidents(session, application.mesh_id, since, _INCIDENTS_MAX, application.id)
    return ApplicationHistory(
        **performance.model_dump(),
        incidents=[RecentIncident.model_validate(one) for one in incidents],
        moves=queries.applied_moves(session, application.id, since),
    )


def _performances(
    session: Session, mesh_id: UUID, applications: Sequence[Application], past: timedelta
) -> list[PerformanceHistory]:
    """Return performances in quarters of an hour, of more than two days in hours."""
    tier = Tier.QUARTER if past <= 2 * _DAY else Tier.HOUR
    mesh = mesh_state(session, mesh_id)
    used = {task.vm_id for one in applications for task in one.tasks}
    members = tuple(member for member in mesh.members if member.id in used)
    end = floor(datetime.now(UTC), tier.step_s)
    part = TierRange(tier, end - past, end)
    if not members:
        nothing = PerformanceHistory(step_s=tier.step_s, points_at=[], performance=[], usual=None)
        return [nothing for _ in applications]
    trips = stored_round_trips(session, replace(mesh, members=members), part, Statistic.P50)
    machine_of = {member.id: at for at, member in enumerate(members)}
    curves = attach.entries(session, list(applications))
    histories = []
    for one in applications:
        at = np.array([machine_of.get(task.vm_id, -1) if task.vm_id else -1 for task in one.tasks], np.intp)
        links = links_of(one)
        each = reached(links, at, trips.round_trips_ns, attach.sensitivity(one, curves[one.id])).performance
        values = _means(each, links.weights)
        known = values[np.isfinite(values)]
        histories.append(
            PerformanceHistory(
                step_s=tier.step_s,
                points_at=[utc(at_s) for at_s in trips.started_at_s.tolist()],
                performance=[None if np.isnan(value) else value for value in values.tolist()],
                usual=float(np.median(known)) if known.size else None,
            )
        )
    return histories


def _means(performance: Floats, weights: Floats) -> Floats:
    """Return the weighted mean over the known links of each window, NaN without any."""
    weight = np.where(np.isfinite(performance), weights, 0.0)
    total = weight.sum(axis=1)
    sums: Floats = (np.nan_to_num(performance) * weight).sum(axis=1)
    means: Floats = np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)
    return means
