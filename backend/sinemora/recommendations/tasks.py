"""Sweeps of recommendations: what is due, what was applied, what came true."""

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
from sinemora.recommendations.schemas import Question

log = structlog.get_logger(__name__)

QUIET = timedelta(hours=1)
"""How long after a recommendation an application below its objective does not ask for another."""


@celery.task(name="recommendations.follow")
def follow() -> None:
    """Notice what was applied, and verify what was applied long enough ago."""
    with system_session() as session:
        waiting = queries.open_ones(session)
        ripe = queries.applied_before(session, datetime.now(UTC) - service.SETTLED - service.OBSERVED)
    for tenant_id, identity in waiting:
        with tenant_session(tenant_id) as session:
            service.notice(session, identity)
    for tenant_id, identity in ripe:
        with tenant_session(tenant_id) as session:
            service.verify(session, identity)


@celery.task(name="recommendations.ask")
def ask() -> None:
    """Ask what is due by schedule, and for applications that fell below their objective."""
    now = datetime.now(UTC)
    with system_session() as session:
        due = [
            (one.tenant_id, one.mesh_id)
            for one in queries.schedules(session)
            if one.asked_at is None or now - one.asked_at >= timedelta(hours=one.every_h)
        ]
        watched = queries.with_objective(session)
    for tenant_id, mesh_id in due:
        with tenant_session(tenant_id) as session:
            row = schedules.scheduled(session, mesh_id)
            row.asked_at = now
            job.ask(session, None, mesh_id, Question.model_validate(row.question), Trigger.scheduled)
    for tenant_id, mesh_id, application_id in watched:
        try:
            with tenant_session(tenant_id) as session:
                newest = queries.newest_of_mesh(session, mesh_id)
                if newest is not None and now - newest.created_at < QUIET:
                    continue
                found = reading.performance(session, get_application(session, application_id), Statistic.P50)
                if found.below_objective:
                    job.ask(session, None, mesh_id, Question(), Trigger.objective)
        except ProductError as error:
            log.info("objective not judged", application=str(application_id), code=error.code)
