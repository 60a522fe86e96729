"""HTTP of a tenant's data: export and deletion."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from sinemora.access.members import own_tenants
from sinemora.access.members.schemas import OwnTenantRead, TenantConfirmation
from sinemora.access.tenants.access import Confirmed, Owner, PersonOnly, SignedIn
from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.schemas import Write
from sinemora.operations.archives import deletion, export_job

router = APIRouter(
    prefix="/v1/tenants/{tenant_id}",
    dependencies=[SignedIn, PersonOnly],
    route_class=ProductRoute,
    tags=["tenants"],
    responses=responses(401, 403, 404, 429),
)


class ExportCreate(Write):
    """Export of a tenant. Measurements are most of its bytes."""

    measurements: Annotated[bool, Field(description="Include windows and their rollups")] = True


@router.post("/exports", status_code=202, responses=responses(422) | ACCEPTED)
def export_tenant(tenant_id: UUID, body: ExportCreate, session: SessionDep, actor: Owner) -> Response:
    """Export the rows of the tenant, without secrets, as a job. Only owners can download its output."""
    own_tenants.current(session, actor, tenant_id)
    return accepted(export_job.submit(session, actor, measurements=body.measurements))


@router.post("/deletion", status_code=201, dependencies=[Confirmed], responses=responses(409, 422))
def request_tenant_deletion(
    tenant_id: UUID, body: TenantConfirmation, session: SessionDep, actor: Owner
) -> OwnTenantRead:
    """Schedule the deletion of the tenant and all of its data. It can be cancelled until `deletion_at`."""
    return deletion.request(session, actor, tenant_id, body)


@router.delete("/deletion", status_code=204, responses=responses(409))
def cancel_tenant_deletion(tenant_id: UUID, session: SessionDep, actor: Owner) -> None:
    """Keep the tenant: cancel its deletion."""
    deletion.cancel(session, actor, tenant_id)
