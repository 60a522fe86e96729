"""Periodic tasks: track applied recommendations and submit due requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.models import Receiver
from sinemora.applications import reading
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.recommendations import checks, contracts, job, queries, schedules, service
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.schemas import RecommendationRequest

log = structlog.get_logger(__name__)

QUIET = timedelta(hours=1)
"""Minimum time between recommendations that a missed objective triggers."""
_SEARCHED_AFTER, _WINDOWS = timedelta(seconds=210), 9
"""Least time since the onset, and least number of windows, after which moves for an incident are searched."""

_MAIL_DAYS = 3
"""Days of a month in which the report of the last one is tried; after an outage it is late, not lost."""


@contextmanager
def _turn(tenant_id: UUID) -> Iterator[Session]:
    """Open a transaction of one tenant; what fails in it is logged, and the next tenant has its turn."""
    try:
        with tenant_session(tenant_id) as session:
            yield session
    except ProductError as error:
        log.info("not done for a tenant", tenant=str(tenant_id), code=error.code)
    except Exception:
        log.exception("failed for a tenant", tenant=str(tenant_id))


@celery.task(name="recommendations.follow")
def follow() -> None:
    """Search for open incidents; detect applied and undone recommendations, end those that are over, verify others.

    Accepted moves are sent here, not with the request that accepts them: its caller may see some meshes alone.
    """
    now = datetime.now(UTC)
    _search_for_incidents(now)
    with system_session() as session:
        waiting, applied = queries.open_ones(session), queries.applied_ones(session)
    for tenant_id, identity in waiting:
        with _turn(tenant_id) as session:
            if not (service.detect_applied(session, identity) or service.end(session, identity, now)):
                service.announce(session, identity)
    for tenant_id, identity in applied:
        with _turn(tenant_id) as session:
            if not service.detect_undone(session, identity):
                service.verify(session, identity, now)


def _search_for_incidents(now: datetime) -> None:
    """Submit a search, once, for each open incident with an application below its objective.

    It begins when there are enough windows since the onset to find moves in some and judge them in others.
    """
    with system_session() as session:
        breaching = [(row.tenant_id, row.id) for row in queries.breaching(session)]
    for tenant_id, incident_id in breaching:
        with _turn(tenant_id) as session:
            incident = queries.cause(session, incident_id)
            if incident is None or incident.ended_at is not None or queries.is_searched(session, incident):
                continue
            mesh = mesh_state(session, incident.mesh_id)
            if now - incident.onset_at < max(_SEARCHED_AFTER, _WINDOWS * timedelta(seconds=mesh.window_s)):
                continue
            request = RecommendationRequest(applications=queries.below_objective(incident), incident_id=incident_id)
            checks.check(session, mesh.id, request)
            job.submit(session, None, mesh.id, request, Trigger.objective)


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
        with _turn(tenant_id) as session:
            row = schedules.get_schedule(session, mesh_id)
            schedules.asked(session, mesh_id, now)
            job.submit(session, None, mesh_id, RecommendationRequest.model_validate(row.request), Trigger.scheduled)
    for tenant_id, mesh_id, application_id in watched:
        with _turn(tenant_id) as session:
            newest = queries.newest_of_mesh(session, mesh_id)
            if newest is not None and now - newest.created_at < QUIET:
                continue
            performance = reading.performance(session, get_application(session, application_id), Statistic.P50)
            if performance.below_objective:
                job.submit(session, None, mesh_id, RecommendationRequest(), Trigger.objective)


@celery.task(name="recommendations.mail_reports")
def mail_reports() -> None:
    """Mail the reports of last month's contracts, in the first days of a month."""
    now = datetime.now(UTC)
    if now.day > _MAIL_DAYS:
        return
    with system_session() as session:
        tenants = session.scalars(select(Receiver.tenant_id).where(contracts.MAILED).distinct()).all()
    for tenant_id in tenants:
        with _turn(tenant_id) as session:
            contracts.mail_report(session, now)
