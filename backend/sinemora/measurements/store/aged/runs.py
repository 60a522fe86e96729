"""Runs of ageing: every tenant in turn, with a record of what each run did."""

import time
from datetime import UTC, datetime
from uuid import UUID

import structlog
from sqlalchemy import select

from sinemora.access.tenants.models import Tenant, TenantQuota
from sinemora.access.tenants.quotas import effective
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.object_storage import StorageError
from sinemora.measurements.store.aged import removal, restoring, writing
from sinemora.measurements.store.aged.writing import Written

log = structlog.get_logger(__name__)


def run(now: datetime, deadline_s: float) -> None:
    """Age the ranges of every tenant that are old enough, and remove what has expired, for at most `deadline_s`.

    An error ends the run of its tenant, is recorded and logged, and the next tenant follows.
    """
    if not settings().storage_bucket:
        return
    until = time.monotonic() + deadline_s
    with system_session() as session:
        quotas = {row.tenant_id: row for row in session.scalars(select(TenantQuota))}
        tenants = session.execute(select(Tenant.id, Tenant.key).order_by(Tenant.key)).all()
        shorter = {
            key: effective(quotas[id]).minute_days
            for id, key in tenants
            if id in quotas and effective(quotas[id]).minute_days < settings().retention_1m_days
        }
        removal.mark_expired(session, now, shorter)
    for tenant_id, tenant_key in tenants:
        after_days = effective(quotas.get(tenant_id)).aged_after_days
        if after_days and time.monotonic() < until:
            _run_tenant(tenant_id, tenant_key, after_days, now, until)
    try:
        removal.sweep(now)
    except StorageError as error:
        log.error("aged objects were not removed", error=str(error))


def _run_tenant(tenant_id: UUID, tenant_key: int, after_days: int, now: datetime, until: float) -> None:
    began, written, error = datetime.now(UTC), Written(), None
    try:
        restoring.age_again(tenant_id, now)
        with system_session() as session:
            meshes = writing.meshes_of(session, tenant_id)
        for mesh in meshes:
            for _ in writing.age_mesh(mesh, after_days, now, written):
                if time.monotonic() >= until:
                    log.info("ageing continues with the next run", tenant=str(tenant_id))
                    return
    except writing.ERRORS as failure:
        error = str(failure)
        log.error("measurements were not aged", tenant=str(tenant_id), error=error)
    except Exception as failure:
        error = f"internal error: {type(failure).__name__}"
        raise
    finally:
        writing.record_run(tenant_key, began, written, error)
