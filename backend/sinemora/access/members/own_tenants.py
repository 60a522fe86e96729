"""Use cases of a person with several tenants: list, switch, create, rename."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from sinemora.access.members import queries
from sinemora.access.members.schemas import OwnTenantRead, OwnTenants, TenantUpdate
from sinemora.access.tenants import audit
from sinemora.access.tenants import queries as tenants
from sinemora.access.tenants.access import Actor, of_one_tenant_only
from sinemora.access.tenants.models import BrowserSession, Membership, Method, Role, Tenant, User
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.security import digest

_OWNED_MAX = 20


def list_own(actor: Actor) -> OwnTenants:
    """Return the tenants of a person; of a program or a session of one tenant, this one."""
    is_free = actor.kind == "user" and not actor.of_one_tenant
    with system_session() as session:
        if is_free:
            rows = [(tenant, Role(member.role)) for tenant, member in queries.tenants_of(session, actor.id)]
        else:
            rows = [(session.get_one(Tenant, actor.tenant_id), actor.role)]
    items = [_read(tenant, role, actor) for tenant, role in rows]
    return OwnTenants(items=items, may_create=is_free and settings().tenant_creation == "on")


def switch(actor: Actor, secret: str, tenant_id: UUID) -> None:
    """Move a browser session to another tenant of its person; the next sign-in opens it too.

    ProductError `tenant_unknown` (404), also for tenants of others, `session_of_one_tenant`, `single_sign_on_required`
    (403).
    """
    if actor.of_one_tenant and tenant_id != actor.tenant_id:
        raise of_one_tenant_only(actor.tenant_name)
    with system_session() as session:
        member = session.get(Membership, (tenant_id, actor.id), with_for_update=True)
        row = session.scalars(
            select(BrowserSession).where(BrowserSession.secret_digest == digest(secret))
        ).one_or_none()
        if member is None or row is None:
            raise NotFound("tenant")
        tenant = session.get_one(Tenant, tenant_id)
        if not member.opens_by(Method(row.method), tenant, datetime.now(UTC)):
            raise ProductError(
                "single_sign_on_required",
                403,
                f"Single sign-on required: {tenant.name} lets you in by its identity provider. Sign out, then continue"
                " there from the sign-in page.",
            )
        row.tenant_id = tenant_id
        # Its version stays: administrators hold it.
        own = update(Membership).where(Membership.tenant_id == tenant_id, Membership.user_id == actor.id)
        session.execute(own.values(opened_at=datetime.now(UTC)))
        audit.record_session(session, tenant_id, member.user, "session.switched", {"from": actor.tenant_name})


def create(actor: Actor, name: str) -> OwnTenantRead:
    """Create a tenant that the person owns. ProductError `tenant_creation_off`, `session_of_one_tenant` (403),
    `tenant_name_taken`, `too_many_tenants` (409).
    """
    if actor.of_one_tenant:
        raise of_one_tenant_only(actor.tenant_name)
    if settings().tenant_creation != "on":
        raise ProductError(
            "tenant_creation_off",
            403,
            "Tenant creation is off: ask the operator of this installation for a tenant, or to set"
            " SINEMORA_TENANT_CREATION=on.",
        )
    with system_session() as session:
        user = session.get_one(User, actor.id, with_for_update=True)
        owned = [tenant for tenant, member in queries.tenants_of(session, user.id) if member.role == Role.owner]
        if len(owned) >= _OWNED_MAX:
            raise ProductError("too_many_tenants", 409, f"Too many tenants: a person owns at most {_OWNED_MAX}.")
        if tenants.tenant_by_name(session, name) is not None:
            raise _name_taken(name)
        tenant = Tenant(name=name)
        session.add(tenant)
        try:
            session.flush()
        except IntegrityError:
            raise _name_taken(name) from None
        session.add(Membership(tenant_id=tenant.id, user_id=user.id, role=Role.owner))
        session.flush()
        session.refresh(tenant)
        audit.record_session(session, tenant.id, user, "tenant.created", {"name": name})
        return _read(tenant, Role.owner, actor)


def current(session: Session, actor: Actor, tenant_id: UUID) -> Tenant:
    """Return the tenant of the caller's session. ProductError `tenant_unknown` (404) for any other."""
    tenant = session.get(Tenant, tenant_id) if tenant_id == actor.tenant_id else None
    if tenant is None:
        raise NotFound("tenant")
    return tenant


def read(session: Session, actor: Actor, tenant_id: UUID) -> OwnTenantRead:
    """Return the caller's tenant. ProductError `tenant_unknown` (404)."""
    return _read(current(session, actor, tenant_id), actor.role, actor)


def change(session: Session, actor: Actor, tenant_id: UUID, body: TenantUpdate) -> OwnTenantRead:
    """Change settings of the caller's tenant. ProductError `tenant_unknown` (404), `tenant_name_taken` (409)."""
    tenant = current(session, actor, tenant_id)
    if body.service_traffic is not None and body.service_traffic != tenant.service_traffic:
        tenant.service_traffic = body.service_traffic
        audit.record(session, actor, "tenant.updated", tenant.id, tenant.name, service_traffic=body.service_traffic)
    if body.name is not None:
        before, tenant.name = tenant.name, body.name
        try:
            session.flush()
        except IntegrityError:
            raise _name_taken(body.name) from None
        audit.record(session, actor, "tenant.renamed", tenant.id, body.name, name_before=before)
    return _read(tenant, actor.role, actor)


def _read(tenant: Tenant, role: Role, actor: Actor) -> OwnTenantRead:
    return OwnTenantRead.from_row(tenant, role=role, is_current=tenant.id == actor.tenant_id)


def _name_taken(name: str) -> ProductError:
    return ProductError(
        "tenant_name_taken",
        409,
        f"Name taken: another tenant is named {name!r}.",
        errors=[{"pointer": "#/name", "message": "is taken"}],
    )
