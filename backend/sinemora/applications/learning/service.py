"""Use cases of learning: metric sources, their values and the curves fitted to them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.applications import queries as applications
from sinemora.applications.curves import service as curves
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.observations import ObservationError
from sinemora.applications.learning import evidence, prometheus, queries, schemas
from sinemora.applications.learning.evidence import Pairs, Reason
from sinemora.applications.learning.models import MetricPath, MetricProgress, MetricSource
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit import encryption
from sinemora.kit.config import settings
from sinemora.kit.db import locked, refuse_taken
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.http_authentication import Authentication
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.series.paths import series
from sinemora.measurements.schemas import Resolution

HISTORY = timedelta(days=10)
"""Retention of values; its number of days bounds one query of a path's series."""
_MINUTE = timedelta(minutes=1)
_PAIRS_SHOWN = 2_000
_NOTHING: dict[str, Any] = {"state": "waiting", "reasons": [], "pairs": 0, "latency_us": None, "curve_number": None}


def get_source(session: Session, source_id: UUID) -> MetricSource:
    """Return the tenant's metric source. ProductError `metric_source_unknown`."""
    return existing(session.get(MetricSource, source_id), "metric source")


def create_source(session: Session, actor: Actor, body: schemas.MetricSourceCreate) -> MetricSource:
    """Declare a metric source.

    ProductError `metric_source_name_taken`, `mesh_unknown`, `vm_not_in_mesh`, `curve_unknown`, `curve_published`,
    `curve_metric_differs`, `secret_key_missing`, `application_unknown`, `application_elsewhere`.
    """
    refuse_taken(session, MetricSource, body.name, "metric_source_name_taken")
    if session.get(Mesh, body.mesh_id) is None:
        raise NotFound("mesh")
    if body.curve_id is not None:
        curve = curves.changeable(session, str(body.curve_id))
        if curve.metric != body.metric:
            raise ProductError(
                "curve_metric_differs", 409, f"{curve.name} is measured as a {curve.metric}, not as a {body.metric}."
            )
    _check_application(session, body.application_id, body.mesh_id)
    plain = body.model_dump(exclude={"paths", "authentication"})
    source = MetricSource(**plain, paused=False, progress=MetricProgress())
    _sign_in(source, body.authentication)
    source.paths = _paths(session, body.mesh_id, body.paths)
    audit.created(session, actor, "metric_source", source)
    return source


def update_source(
    session: Session, actor: Actor, source_id: UUID, body: schemas.MetricSourceUpdate, precondition: IfMatch
) -> MetricSource:
    """Update a metric source. ProductErrors of `create_source`, `metric_source_pushed`, `version_changed`."""
    source = existing(locked(session, MetricSource, source_id), "metric source")
    precondition.check(source)
    changes = body.model_dump(exclude_unset=True, exclude_none=True)
    if source.kind == "push" and {"url", "query", "authentication"} & changes.keys():
        raise ProductError("metric_source_pushed", 409, "Pushed source: it has no url or query.")
    elsewhere = body.url is not None and _server(body.url) != _server(source.url or "")
    if "authentication" in body.model_fields_set or elsewhere:
        _sign_in(source, body.authentication)
        changes["authentication"] = None
    if changes.get("name", source.name) != source.name:
        refuse_taken(session, MetricSource, changes["name"], "metric_source_name_taken")
    if "application_id" in body.model_fields_set:
        _check_application(session, body.application_id, source.mesh_id)
        changes["application_id"] = body.application_id
    for field, value in changes.items():
        if field not in ("paths", "authentication"):
            setattr(source, field, value)
    if body.paths is not None:
        source.paths.clear()
        session.flush()
        source.paths = _paths(session, source.mesh_id, body.paths)
    if changes:
        source.updated_at = datetime.now(UTC)
    session.flush()
    session.expire(source)
    session.refresh(source)
    audit.record(session, actor, "metric_source.updated", source.id, source.name, fields=sorted(changes))
    return source


def delete_source(session: Session, actor: Actor, source_id: UUID, precondition: IfMatch) -> None:
    """Delete a metric source and its values; its curves stay. ProductError `metric_source_unknown`."""
    source = get_source(session, source_id)
    precondition.check(source)
    audit.deleted(session, actor, "metric_source", source)


def push(session: Session, source_id: UUID, points: Sequence[schemas.MetricPointWrite]) -> int:
    """Store values and return the number of minutes.

    ProductError `metric_source_unknown`, `metric_source_scraped`, `points_too_old`.
    """
    source = get_source(session, source_id)
    if source.kind != "push":
        raise ProductError("metric_source_scraped", 409, "Prometheus source: its values cannot be pushed.")
    now = datetime.now(UTC)
    for index, point in enumerate(points):
        if not now - HISTORY <= point.at <= now + _MINUTE:
            raise ProductError(
                "points_too_old",
                422,
                f"Values count from {HISTORY.days} days ago until now.",
                errors=[{"pointer": f"#/points/{index}/at", "message": f"{point.at.isoformat()} is not within"}],
            )
    stored = _keep(session, source, ((point.at, point.value) for point in points))
    source.progress.read_at = now
    return stored


def scrape(session: Session, source_id: UUID, now: datetime) -> None:
    """Read new values of a Prometheus source; store an error with the source."""
    source = locked(session, MetricSource, source_id)
    if source is None or source.url is None or source.query is None:
        return
    newest = queries.newest_at(session, source.id)
    start = now - HISTORY if newest is None else newest + _MINUTE
    start = start.replace(second=0, microsecond=0)
    end = now.replace(second=0, microsecond=0) - _MINUTE
    source.progress.read_at, source.progress.read_error = now, None
    try:
        networks = settings().allowed_metric_sources
        secret = encryption.decrypt(source.secret)
        points = list(prometheus.query_range(source.url, source.query, start, end, networks, secret))
    except prometheus.ReadError as error:
        source.progress.read_error = str(error)[:1000]
        return
    except ProductError as error:
        source.progress.read_error = error.detail
        return
    _keep(session, source, points)


def judge(session: Session, source_id: UUID, now: datetime) -> MetricSource:
    """Evaluate all pairs and store a new curve version if they suffice. ProductError `metric_source_unknown`."""
    source = existing(locked(session, MetricSource, source_id), "metric source")
    pairs = pairs_of(session, source, now)
    reason = evidence.judge(pairs, source.metric)  # type: ignore[arg-type]
    before = (source.progress.finding or _NOTHING)["curve_number"]
    number: int | None = None
    if reason is None:
        number, reason = _learn(session, source, pairs, now)
    latency = np.quantile(pairs.latency_us, [0.05, 0.5, 0.95]).tolist() if pairs.minutes.size else None
    source.progress.judged_at = now
    source.progress.finding = {
        "state": "cannot_tell" if reason else "learnt",
        "reasons": [{"code": reason.code, "message": reason.message}] if reason else [],
        "pairs": int(pairs.minutes.size),
        "latency_us": latency,
        "curve_number": number or before,
    }
    session.flush()
    return source


def pairs_of(session: Session, source: MetricSource, now: datetime) -> Pairs:
    """Return minutes with the metric and the mean of its paths' median round trips; all paths must have one."""
    points = queries.points(session, source.id, now - HISTORY)
    minutes = np.array([int(at.timestamp()) // 60 for at, _ in points], np.int64)
    values = np.array([value for _, value in points], np.float64)
    if not points:
        return Pairs(minutes, values, values)
    start, end = points[0][0], points[-1][0] + _MINUTE
    latency: Floats | None = None
    at = minutes
    for path in source.paths:
        path_series = series(
            session,
            source.mesh_id,
            path.source_vm_id,
            path.target_vm_id,
            start,
            end,
            Resolution.MINUTE,
            Statistic.P50,
        )
        at = np.array([int(time.timestamp()) // 60 for time in path_series.points_at], np.int64)
        delays = np.array([np.nan if ns is None else ns / 1e3 for ns in path_series.round_trip.delay_ns], np.float64)
        latency = delays if latency is None else latency + delays
    if latency is None:
        return Pairs(at[:0], values[:0], values[:0])
    return evidence.pair(minutes, values, at, latency / len(source.paths))


def shown(source: MetricSource) -> schemas.MetricSourceRead:
    """Convert to the API schema."""
    names = (
        *("id", "name", "mesh_id", "application_id", "curve_id", "metric", "unit", "kind", "url", "query"),
        *("authentication", "refresh_hours", "paused"),
        *("created_at", "updated_at"),
    )
    progress = source.progress
    return schemas.MetricSourceRead(
        **{name: getattr(source, name) for name in names},
        paths=[
            schemas.MetricPathRead(
                source_vm_id=path.source_vm_id,
                target_vm_id=path.target_vm_id,
                source_name=path.source_vm.name,
                target_name=path.target_vm.name,
            )
            for path in source.paths
        ],
        **{name: getattr(progress, name) for name in ("read_at", "read_error", "judged_at", "learnt_at")},
        finding=schemas.FindingRead.model_validate(progress.finding or _NOTHING),
    )


def pairs_shown(session: Session, source_id: UUID) -> schemas.PairsRead:
    """Return the newest pairs. ProductError `metric_source_unknown`."""
    pairs = pairs_of(session, get_source(session, source_id), datetime.now(UTC))
    last = slice(-_PAIRS_SHOWN, None)
    return schemas.PairsRead(
        points_at=[datetime.fromtimestamp(minute * 60, UTC) for minute in pairs.minutes[last].tolist()],
        latency_us=pairs.latency_us[last].tolist(),
        value=pairs.value[last].tolist(),
    )


def _learn(session: Session, source: MetricSource, pairs: Pairs, now: datetime) -> tuple[int | None, Reason | None]:
    """Return the number of a new version if one was due, or the reasons for none."""
    learnt_at = source.progress.learnt_at
    if learnt_at is not None and now - learnt_at < timedelta(hours=source.refresh_hours) and source.curve_id:
        return None, None
    try:
        fitted = fit(evidence.samples_of(pairs, source.metric))  # type: ignore[arg-type]
    except ObservationError as error:
        return None, Reason("not_fitted", error.message)
    first, last = (datetime.fromtimestamp(int(minute) * 60, UTC) for minute in (pairs.minutes[0], pairs.minutes[-1]))
    paths = ", ".join(f"{path.source_vm.name} → {path.target_vm.name}" for path in source.paths)
    words = (
        f"Learnt from {source.name}: {pairs.minutes.size} minutes from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
        f" UTC, round trips of {paths}"
    )
    curve, number = curves.keep_learnt(
        session, source.curve_id, source.name, source.metric, source.unit, words[:2000], fitted
    )
    source.curve_id = curve.id
    source.progress.learnt_at = now
    return number, None


def _keep(session: Session, source: MetricSource, points: Iterable[tuple[datetime, float]]) -> int:
    """Store the mean of each minute and return their number."""
    by_minute: dict[datetime, list[float]] = defaultdict(list)
    for at, value in points:
        by_minute[at.astimezone(UTC).replace(second=0, microsecond=0)].append(value)
    queries.store(session, source.id, {at: sum(values) / len(values) for at, values in by_minute.items()})
    return len(by_minute)


def _paths(session: Session, mesh_id: UUID, writes: Sequence[schemas.MetricPathWrite]) -> list[MetricPath]:
    members = applications.members(session, mesh_id)
    wrong = []
    for index, path in enumerate(writes):
        for end in ("source_vm_id", "target_vm_id"):
            if getattr(path, end) not in members:
                wrong.append({"pointer": f"#/paths/{index}/{end}", "message": "is not a member of the mesh"})
        if path.source_vm_id == path.target_vm_id:
            wrong.append({"pointer": f"#/paths/{index}", "message": "a path needs two different ends"})
    if wrong:
        raise ProductError("vm_not_in_mesh", 409, "Latency is known only between VMs of the mesh.", errors=wrong)
    unique = list(dict.fromkeys((path.source_vm_id, path.target_vm_id) for path in writes))
    return [
        MetricPath(position=position, source_vm_id=source, target_vm_id=target)
        for position, (source, target) in enumerate(unique)
    ]


def _check_application(session: Session, application_id: UUID | None, mesh_id: UUID) -> None:
    """Check that an application is on the mesh. ProductError `application_unknown`, `application_elsewhere`."""
    if application_id is not None and get_application(session, application_id).mesh_id != mesh_id:
        raise ProductError(
            "application_elsewhere",
            409,
            "Another mesh: the application is not on the mesh of this metric source.",
            errors=[{"pointer": "#/application_id", "message": "must be on the mesh of the metric source"}],
        )


def _sign_in(source: MetricSource, authentication: Authentication | None) -> None:
    """Store the authentication, encrypted. ProductError `secret_key_missing`."""
    source.authentication = authentication.scheme if authentication else None
    source.secret = encryption.encrypt(authentication.model_dump()) if authentication else None


def _server(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
