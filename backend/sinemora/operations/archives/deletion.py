"""Deletion of a tenant that an owner requests: announced, cancellable for some days, then carried out by a task."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.members import mails, own_tenants, queries
from sinemora.access.members.schemas import OwnTenantRead, TenantConfirmation
from sinemora.access.members.service import notify, require_confirmation
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Tenant
from sinemora.alerts.notifications import delivery, ends
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.operations.archives import tenant as archives
from sinemora.operations.archives.tenant import TenantError

log = structlog.get_logger(__name__)

_NOTIFYING_S = 30.0


def request(session: Session, actor: Actor, tenant_id: UUID, body: TenantConfirmation) -> OwnTenantRead:
    """Schedule the deletion of the caller's tenant. All owners get a notice by mail.

    ProductError `tenant_unknown` (404), `confirmation_wrong`, `deletion_requested` (409).
    """
    tenant = own_tenants.current(session, actor, tenant_id)
    require_confirmation(actor, body.tenant_name)
    queries.lock(session, actor.tenant_key)
    session.refresh(tenant)
    if tenant.deletion_at is not None:
        raise ProductError(
            "deletion_requested", 409, f"Deletion requested already: by {tenant.deletion_by}, for {tenant.deletion_at}."
        )
    at = datetime.now(UTC) + timedelta(days=settings().tenant_deletion_days)
    tenant.deletion_at, tenant.deletion_by = at, actor.name
    session.flush()
    audit.record(session, actor, "tenant.deletion_requested", tenant.id, tenant.name, at=at.isoformat())
    link = f"{settings().public_url}/tenant"
    for owner in queries.owners(session, actor.tenant_id):
        notify(session, "deletion", mails.deletion(owner.user.email, tenant.name, actor.name, at, link))
    return own_tenants.read(session, actor, tenant_id)


def cancel(session: Session, actor: Actor, tenant_id: UUID) -> None:
    """Keep the caller's tenant. ProductError `tenant_unknown` (404), `deletion_not_requested` (409)."""
    tenant = own_tenants.current(session, actor, tenant_id)
    queries.lock(session, actor.tenant_key)
    session.refresh(tenant)
    if tenant.deletion_at is None:
        raise ProductError("deletion_not_requested", 409, "No deletion requested: the tenant stays.")
    tenant.deletion_at = tenant.deletion_by = None
    audit.record(session, actor, "tenant.deletion_cancelled", tenant.id, tenant.name)


def _notify_ends(tenant_id: UUID) -> None:
    """Tell receivers that the incidents of a tenant end with it, for half a minute at most."""
    now = datetime.now(UTC)
    with tenant_session(tenant_id) as session:
        meshes = session.scalars(select(Mesh.id)).all()
        waiting = [one for mesh_id in meshes for one in ends.notify_of_mesh(session, mesh_state(session, mesh_id), now)]
    until = time.monotonic() + _NOTIFYING_S
    for delivery_id in waiting:
        if time.monotonic() < until:
            delivery.attempt(tenant_id, delivery_id)


@celery.task(name="tenants.delete_due")
def delete_due() -> None:
    """Delete tenants whose time has come. A second run finds them gone."""
    with system_session() as session:
        due = session.scalars(select(Tenant.id).where(Tenant.deletion_at <= datetime.now(UTC))).all()
    for tenant_id in due:
        try:
            _notify_ends(tenant_id)
            deleted = archives.delete(str(tenant_id), lambda _: None, url=settings().database_system_url)
        except TenantError as error:  # gone already, or the storage does not answer: the next run tries again
            log.warning("tenant not deleted", tenant_id=str(tenant_id), error=str(error))
            continue
        log.info(
            "tenant deleted",
            tenant_id=str(tenant_id),
            rows=sum(one.deleted for one in deleted),
            left=sum(one.left for one in deleted),
        )
