"""Periodic tasks: track applied recommendations and submit due requests."""

from datetime import UTC, datetime, timedelta

import structlog

from sinemora.applications import reading
from sinemora.applications.service import get_application
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.recommendations import job, queries, schedules, service
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.schemas import RecommendationRequest

log = structlog.get_logger(__name__)

QUIET = timedelta(hours=1)
"""Minimum time between recommendations that a missed objective triggers."""


@celery.task(name="recommendations.follow")
def follow() -> None:
    """Detect applied and undone recommendations, and verify those applied long enough ago."""
    now = datetime.now(UTC)
    with system_session() as session:
        waiting, applied = queries.open_ones(session), queries.applied_ones(session)
    for tenant_id, identity in waiting:
        with tenant_session(tenant_id) as session:
            service.detect_applied(session, identity)
    for tenant_id, identity in applied:
        with tenant_session(tenant_id) as session:
            if not service.detect_undone(session, identity):
                service.verify(session, identity, now)


@celery.task(name="recommendations.ask")
def ask() -> None:
    """Submit requests that are due, and requests for applications below their objective."""
    now = datetime.now(UTC)
    with system_session() as session:
        due = [
            (schedule.tenant_id, schedule.mesh_id)
            for schedule in queries.schedules(session)
            if schedule.asked_at is None or now - schedule.asked_at >= timedelta(hours=schedule.every_h)
        ]
        watched = queries.with_objective(session)
    for tenant_id, mesh_id in due:
        with tenant_session(tenant_id) as session:
            row = schedules.get_schedule(session, mesh_id)
            row.asked_at = now
            job.submit(session, None, mesh_id, RecommendationRequest.model_validate(row.request), Trigger.scheduled)
    for tenant_id, mesh_id, application_id in watched:
        try:
            with tenant_session(tenant_id) as session:
                newest = queries.newest_of_mesh(session, mesh_id)
                if newest is not None and now - newest.created_at < QUIET:
                    continue
                performance = reading.performance(session, get_application(session, application_id), Statistic.P50)
                if performance.below_objective:
                    job.submit(session, None, mesh_id, RecommendationRequest(), Trigger.objective)
        except ProductError as error:
            log.info("objective not evaluated", application=str(application_id), code=error.code)
