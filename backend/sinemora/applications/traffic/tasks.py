"""Periodic task of traffic: applications follow their VMs."""

from datetime import UTC, datetime

import structlog

from sinemora.applications.traffic import queries, service
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError

log = structlog.get_logger(__name__)


@celery.task(name="applications.follow_traffic")
def follow() -> None:
    """Let the applications of all tenants that follow traffic have tasks where it is seen."""
    with system_session() as session:
        due = queries.followed_meshes(session)
    for tenant_id, mesh_id in due:
        try:
            with tenant_session(tenant_id) as session:
                service.follow(session, mesh_id, datetime.now(UTC))
        except ProductError as error:
            log.info("applications did not follow traffic", mesh=str(mesh_id), code=error.code)
        except Exception:
            log.exception("applications did not follow traffic", mesh=str(mesh_id))
