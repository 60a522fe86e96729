"""Use cases of members: roles, removal, leaving, transfer of ownership. A tenant always keeps an owner.

Changes of one tenant's members take turns (`queries.lock`), so that two owners cannot demote each other at once.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.members import mails, queries
from sinemora.access.members.permissions import may_change, may_grant
from sinemora.access.members.schemas import OwnershipTransfer
from sinemora.access.tenants import audit, mesh_limits
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Membership, Role
from sinemora.kit import mail, outbox
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.mail import Mail

_NOTICE_VALID = timedelta(days=1)


def set_role(session: Session, actor: Actor, user_id: UUID, role: Role, precondition: IfMatch) -> Membership:
    """Change the role of a member.

    ProductError `member_unknown` (404), `role_too_high` (403), `last_owner` (409), `version_changed` (412).
    """
    member, own = _changeable(session, actor, user_id, precondition)
    if not may_grant(own, role):
        raise ProductError(
            "role_too_high", 403, f"Not allowed: you are {own} and can give roles up to {own}, not {role}."
        )
    before = member.role
    if before == role:
        return member
    if before == Role.owner:
        _require_other_owner(session, actor.tenant_id)
    member.role = role
    _lift_limit(member)
    session.flush()
    audit.record(session, actor, "member.updated", user_id, member.user.email)
    return member


def set_meshes(
    session: Session, actor: Actor, user_id: UUID, mesh_ids: Sequence[UUID] | None, precondition: IfMatch
) -> Membership:
    """Limit a member to some meshes; None for all.

    ProductError `member_unknown`, `mesh_unknown` (404), `role_too_high` (403), `role_sees_all_meshes` (409),
    `version_changed` (412).
    """
    member, _ = _changeable(session, actor, user_id, precondition)
    before, member.mesh_ids = member.mesh_ids, mesh_limits.checked(session, mesh_ids, Role(member.role))
    if before == member.mesh_ids:
        return member
    meshes = mesh_limits.names_of(session, member.mesh_ids)
    session.flush()
    audit.record(session, actor, "member.updated", user_id, member.user.email, meshes=meshes)
    return member


def remove(session: Session, actor: Actor, user_id: UUID, precondition: IfMatch) -> None:
    """Remove a member. Browser sessions in this tenant and personal API keys end with the membership.

    ProductError `member_unknown` (404), `role_too_high` (403), `last_owner` (409), `version_changed` (412).
    """
    member, _ = _changeable(session, actor, user_id, precondition)
    _remove(session, actor, member, "member.removed")


def leave(session: Session, actor: Actor, tenant_name: str) -> None:
    """Remove the caller from the tenant. ProductError `last_owner` (409), `confirmation_wrong` (409)."""
    require_confirmation(actor, tenant_name)
    member, _ = _locked(session, actor, actor.id)
    _remove(session, actor, member, "member.left")


def transfer(session: Session, actor: Actor, body: OwnershipTransfer) -> Membership:
    """Make another member an owner and the caller an administrator. All owners get a notice by mail.

    ProductError `member_unknown` (404), `confirmation_wrong`, `already_owner` (409).
    """
    require_confirmation(actor, body.tenant_name)
    heir, own = _locked(session, actor, body.user_id)
    if own != Role.owner:  # demoted meanwhile
        raise ProductError("not_allowed", 403, f"Not allowed: this needs the role owner, yours is {own}.")
    if heir.role == Role.owner:
        raise ProductError("already_owner", 409, f"Already an owner: {heir.user.email}.")
    mine = queries.membership(session, actor.tenant_id, actor.id)
    assert mine is not None
    heir.role, mine.role = Role.owner, Role.admin
    _lift_limit(heir)
    session.flush()
    audit.record(session, actor, "ownership.transferred", heir.user_id, heir.user.email)
    for email in sorted({actor.name, *(owner.user.email for owner in queries.owners(session, actor.tenant_id))}):
        notify(session, "ownership", mails.ownership(email, actor.tenant_name, actor.name, heir.user.email))
    return heir


def notify(session: Session, kind: str, notice: Mail) -> None:
    """Mail a notice if there is a mail server; a change does not fail for want of one."""
    if mail.is_configured():
        outbox.post(session, kind, notice, _NOTICE_VALID)


def require_confirmation(actor: Actor, tenant_name: str) -> None:
    """Check that the caller named the tenant that this is about. ProductError `confirmation_wrong` (409)."""
    if tenant_name != actor.tenant_name:
        raise ProductError(
            "confirmation_wrong",
            409,
            f"Wrong confirmation: enter the name of this tenant exactly, {actor.tenant_name!r}.",
            errors=[{"pointer": "#/tenant_name", "message": "is not the name of this tenant"}],
        )


def _locked(session: Session, actor: Actor, user_id: UUID) -> tuple[Membership, Role]:
    """Return a member and the role of the caller, both as they are once the lock is held."""
    queries.lock(session, actor.tenant_key)
    member = queries.membership(session, actor.tenant_id, user_id)
    own = queries.membership(session, actor.tenant_id, actor.id)
    if member is None or own is None:
        raise NotFound("member")
    return member, Role(own.role)


def _lift_limit(member: Membership) -> None:
    """Delete the meshes of a member who sees all of them now: a later demotion must not bring back an old list."""
    if Role(member.role).rank >= Role.admin.rank:
        member.mesh_ids = None


def _changeable(session: Session, actor: Actor, user_id: UUID, precondition: IfMatch) -> tuple[Membership, Role]:
    """Return what `_locked` does, of a member whom the caller may change and whose version the caller has read."""
    member, own = _locked(session, actor, user_id)
    if not may_change(own, Role(member.role)):
        raise ProductError(
            "role_too_high", 403, f"Not allowed: you are {own} and cannot change or remove an {member.role}."
        )
    precondition.check(member)
    return member, own


def _require_other_owner(session: Session, tenant_id: UUID) -> None:
    if len(queries.owners(session, tenant_id)) < 2:
        raise ProductError(
            "last_owner", 409, "Last owner: a tenant needs one. Transfer the ownership or delete the tenant."
        )


def _remove(session: Session, actor: Actor, member: Membership, action: str) -> None:
    if member.role == Role.owner:
        _require_other_owner(session, actor.tenant_id)
    audit.record(session, actor, action, member.user_id, member.user.email, role=str(member.role))
    session.delete(member)
