"""HTTP of members and of a person's tenants."""

from uuid import UUID

from fastapi import Request
from sqlalchemy import select

from sinemora.access.members import own_tenants, schemas, service
from sinemora.access.tenants import mesh_limits
from sinemora.access.tenants.access import (
    SESSION_COOKIE,
    Admin,
    Confirmed,
    Owner,
    PersonOnly,
    Viewer,
    cookie_of,
    signed_in_router,
)
from sinemora.access.tenants.mesh_limits import Names
from sinemora.access.tenants.models import Membership
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, paginate

router = signed_in_router("/v1", None)


@router.get("/members", tags=["members"], responses=responses(422))
def list_members(session: SessionDep, actor: Viewer, page: Paging) -> Page[schemas.MemberRead]:
    """List the members of the tenant, oldest first."""
    members = paginate(session, select(Membership), page, Membership.created_at, Membership.user_id)
    names = Names.read(session)
    return Page(items=[_member(row, names) for row in members.items], next_cursor=members.next_cursor)


@router.put(
    "/members/{user_id}/role", tags=["members"], dependencies=[PersonOnly], responses=responses(404, 409, 412, 422)
)
def set_member_role(
    user_id: UUID, body: schemas.RoleSet, session: SessionDep, actor: Admin, precondition: Precondition
) -> schemas.MemberRead:
    """Change the role of a member. An administrator gives roles up to admin; only owners change owners."""
    return _member(service.set_role(session, actor, user_id, body.role, precondition), Names.read(session))


@router.put(
    "/members/{user_id}/meshes", tags=["members"], dependencies=[PersonOnly], responses=responses(404, 409, 412, 422)
)
def set_member_meshes(
    user_id: UUID, body: schemas.MeshesSet, session: SessionDep, actor: Admin, precondition: Precondition
) -> schemas.MemberRead:
    """Limit a viewer or an editor to some meshes, or let them see all. It holds from their next request."""
    return _member(service.set_meshes(session, actor, user_id, body.mesh_ids, precondition), Names.read(session))


@router.delete(
    "/members/{user_id}",
    status_code=204,
    tags=["members"],
    dependencies=[PersonOnly],
    responses=responses(404, 409, 412),
)
def remove_member(user_id: UUID, session: SessionDep, actor: Admin, precondition: Precondition) -> None:
    """Remove a member. Their sessions in this tenant and their personal API keys end at once."""
    service.remove(session, actor, user_id, precondition)


@router.post(
    "/members/self/leave", status_code=204, tags=["members"], dependencies=[PersonOnly], responses=responses(409, 422)
)
def leave_tenant(body: schemas.TenantConfirmation, session: SessionDep, actor: Viewer) -> None:
    """Leave the tenant of this session. The last owner cannot."""
    service.leave(session, actor, body.tenant_name)


@router.post(
    "/ownership-transfers",
    status_code=201,
    tags=["members"],
    dependencies=[Confirmed],
    responses=responses(404, 409, 422),
)
def transfer_ownership(body: schemas.OwnershipTransfer, session: SessionDep, actor: Owner) -> schemas.MemberRead:
    """Make another member an owner and yourself an administrator. Return the new owner."""
    return _member(service.transfer(session, actor, body), Names.read(session))


@router.get("/tenants", tags=["tenants"])
def list_own_tenants(actor: Viewer) -> schemas.OwnTenants:
    """List the tenants that the caller belongs to, with the role in each. An API key belongs to one."""
    return own_tenants.list_own(actor)


@router.post("/tenants", status_code=201, tags=["tenants"], dependencies=[PersonOnly], responses=responses(409, 422))
def create_tenant(body: schemas.TenantCreate, actor: Viewer) -> schemas.OwnTenantRead:
    """Create a tenant that the caller owns, where the operator allows it."""
    return own_tenants.create(actor, body.name)


@router.get("/tenants/{tenant_id}", tags=["tenants"], responses=responses(404))
def read_tenant(tenant_id: UUID, session: SessionDep, actor: Viewer) -> schemas.OwnTenantRead:
    """Return the tenant of this session or key."""
    return own_tenants.read(session, actor, tenant_id)


@router.put("/tenants/{tenant_id}", tags=["tenants"], dependencies=[PersonOnly], responses=responses(404, 409, 422))
def set_tenant(tenant_id: UUID, body: schemas.TenantUpdate, session: SessionDep, actor: Owner) -> schemas.OwnTenantRead:
    """Rename the tenant of this session, or let its agents count traffic by service.

    With `service_traffic`, agents report TCP connections and bytes by peer VM and listening port. Switched off, they
    stop at once; what they reported is deleted after 30 days.
    """
    return own_tenants.change(session, actor, tenant_id, body)


@router.post(
    "/tenants/{tenant_id}/switch",
    status_code=204,
    tags=["tenants"],
    dependencies=[PersonOnly],
    responses=responses(404),
)
def switch_tenant(tenant_id: UUID, request: Request, actor: Viewer) -> None:
    """Move this browser session to another tenant of the person. Live streams of the tenant before end."""
    own_tenants.switch(actor, cookie_of(request, SESSION_COOKIE) or "", tenant_id)


def _member(row: Membership, names: Names) -> schemas.MemberRead:
    meshes = names.of(mesh_limits.of_member(row))
    return schemas.MemberRead.from_row(row, id=row.user_id, email=row.user.email, name=row.user.name, meshes=meshes)
