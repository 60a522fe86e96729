"""Sweeps of alerts: windows that are due, notifications that were not sent."""

from datetime import UTC, datetime

import structlog

from sinemora.alerts.detection import evaluator, late_data, queries
from sinemora.alerts.notifications import delivery
from sinemora.alerts.notifications import queries as notification_queries
from sinemora.alerts.rules import service as rules
from sinemora.kit.celery import ROUTES, celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.live.publisher import announce

log = structlog.get_logger(__name__)

_AT_ONCE = 200


@celery.task(name="alerts.evaluate")
def evaluate() -> None:
    """Evaluate every mesh that has a window which is due. It is found in the database, so none is ever lost."""
    now = datetime.now(UTC)
    with system_session() as session:
        meshes = queries.reported(session, now - evaluator.FORGOTTEN)
    for one in meshes:
        end_s = evaluator.due_end_s(one, now.timestamp())
        if end_s is None:
            continue
        try:
            with tenant_session(one.tenant_id) as session:
                rules.watch(session, one.mesh_id)
                found = evaluator.evaluate(session, one.mesh_id, end_s, now)
        except Exception:
            evaluator.forget([one.mesh_id])  # it may have taken in what was not written down
            log.exception("mesh not evaluated", mesh=str(one.mesh_id))
            continue
        for incident_id in found.told if found else ():
            announce(one.mesh_id, "incident", {"id": str(incident_id)})


@celery.task(name="alerts.deliver_due")
def deliver_due() -> None:
    """Send what is due: what is to be tried again, and what never reached a worker."""
    with system_session() as session:
        waiting = notification_queries.due_deliveries(session, datetime.now(UTC), _AT_ONCE)
    for tenant_id, delivery_id in waiting:
        delivery.attempt(tenant_id, delivery_id)


@celery.task(name="alerts.look_back")
def look_back() -> None:
    """Look at windows of the past that came late, mesh by mesh."""
    now = datetime.now(UTC)
    with system_session() as session:
        meshes = queries.watched_meshes(session, now - evaluator.FORGOTTEN)
    for tenant_id, mesh_id in meshes:
        try:
            with tenant_session(tenant_id) as session:
                looked = late_data.look_back(session, mesh_id, now)
        except Exception:
            log.exception("late windows not looked at", mesh=str(mesh_id))
            continue
        for incident_id in [*looked.found, *looked.known] if looked else ():
            announce(mesh_id, "incident", {"id": str(incident_id)})


for task in (evaluate, deliver_due):
    ROUTES[task.name] = {"queue": "fast"}
