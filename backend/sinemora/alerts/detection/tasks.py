"""Periodic tasks of alerts: evaluate due windows and late data, send due notifications."""

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import structlog

from sinemora.alerts.detection import due, late_data, queries, rounds
from sinemora.alerts.incidents import gone, store
from sinemora.alerts.notifications import delivery
from sinemora.alerts.notifications import queries as notification_queries
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.celery import NOTICES, ROUTES, WATCH, celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.live.publisher import announce

log = structlog.get_logger(__name__)

_AT_ONCE = 1000
_OF_TENANT = 100
_LANES = 16
_SWEEP_S = 10.0
_END_GONE_S = 20.0


@celery.task(name="alerts.evaluate", soft_time_limit=60, time_limit=90)
def evaluate(for_s: float = 0.0) -> None:
    """Evaluate due windows for some seconds. They are found in the database, so none is lost."""
    rounds.run(for_s)


@celery.task(name="alerts.deliver_due")
def deliver_due() -> None:
    """Send due notifications: retries, and those that never reached a worker.

    Each tenant has some lanes, and a receiver is in one of them: those who wait for a slow server are its own tenant's.
    """
    with system_session() as session:
        waiting = notification_queries.due_deliveries(session, datetime.now(UTC), _OF_TENANT, _AT_ONCE)
    lanes: dict[tuple[UUID, int], list[UUID]] = {}
    for tenant_id, receiver_id, delivery_id in waiting:
        lanes.setdefault((tenant_id, receiver_id.int % delivery.UNDER_WAY_MAX), []).append(delivery_id)
    until = time.monotonic() + _SWEEP_S
    with ThreadPoolExecutor(_LANES) as pool:
        for (tenant_id, _), ids in lanes.items():
            pool.submit(_deliver_lane, tenant_id, ids, until)


def _deliver_lane(tenant_id: UUID, ids: Sequence[UUID], until: float) -> None:
    """Try deliveries one after the other until a time of the monotonic clock; the next sweep has the others."""
    for delivery_id in ids:
        if time.monotonic() >= until:
            return
        try:
            delivery.attempt(tenant_id, delivery_id)
        except Exception:
            log.exception("notification not sent", delivery=str(delivery_id))


@celery.task(name="alerts.evaluate_late_data")
def evaluate_late_data() -> None:
    """Evaluate late data, mesh by mesh."""
    now = datetime.now(UTC)
    with system_session() as session:
        meshes = queries.watched_meshes(session, now - due.ACTIVE_FOR)
    for tenant_id, mesh_id in meshes:
        try:
            with tenant_session(tenant_id) as session:
                result = late_data.evaluate_late_data(session, mesh_id, now)
        except Exception:
            log.exception("late data not evaluated", mesh=str(mesh_id))
            continue
        for incident_id in [*result.new, *result.confirmed] if result else ():
            announce(mesh_id, "incident", {"id": str(incident_id)})


@celery.task(name="alerts.end_gone")
def end_gone() -> None:
    """End incidents about what no longer exists, also of meshes that are not evaluated any more."""
    with system_session() as session:
        meshes = list(gone.open_by_mesh(session))
    random.shuffle(meshes)  # where the time ends before the last mesh, none is always the last
    until = time.monotonic() + _END_GONE_S
    for number, (tenant_id, mesh_id) in enumerate(meshes):
        if time.monotonic() >= until:
            log.warning("open incidents not checked in time", meshes=len(meshes) - number)
            return
        try:
            with tenant_session(tenant_id) as session:
                mesh = mesh_state(session, mesh_id)
                ended = store.end_gone(session, mesh, gone.open_of(session, mesh_id), datetime.now(UTC))
        except Exception:
            log.exception("open incidents not checked", mesh=str(mesh_id))
            continue
        for incident_id in ended:
            announce(mesh_id, "incident", {"id": str(incident_id)})


ROUTES[evaluate.name] = {"queue": WATCH}
ROUTES[deliver_due.name] = {"queue": NOTICES}  # it waits for receivers
