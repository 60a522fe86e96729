"""Use cases of invitations: create, send again, revoke, look up and accept.

An invitation is for one address and works once. Its secret is a link, in the part of the URL that browsers do not
send to servers; only a digest of it is stored.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.members import mails, queries
from sinemora.access.members.models import Delivery, Invitation
from sinemora.access.members.permissions import may_grant
from sinemora.access.members.schemas import InvitationAccept, InvitationCreate, InvitationPreview, InvitationState
from sinemora.access.tenants import audit, mesh_limits
from sinemora.access.tenants import queries as tenants
from sinemora.access.tenants.access import Actor, of_one_tenant_only
from sinemora.access.tenants.models import Membership, Role, Tenant, User
from sinemora.kit import outbox
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError, existing, too_many
from sinemora.kit.password_rules import refuse_weak
from sinemora.kit.security import digest, hash_password, new_secret

_PREFIX = "smi_"
_AGAIN_AFTER = timedelta(seconds=60)


def state_of(row: Invitation, now: datetime) -> InvitationState:
    if row.accepted_at is not None:
        return InvitationState.accepted
    if row.revoked_at is not None:
        return InvitationState.revoked
    return InvitationState.pending if now < row.expires_at else InvitationState.expired


def create(session: Session, actor: Actor, body: InvitationCreate) -> tuple[Invitation, str | None]:
    """Return a new invitation, and its link unless the product mails it.

    ProductError `role_too_high` (403), `mesh_unknown` (404), `member_exists`, `invitation_exists`,
    `role_sees_all_meshes`, `mail_unavailable` (409), `too_many_mails` (429).
    """
    queries.lock(session, actor.tenant_key)
    _require_may_grant(actor, body.role)
    if queries.is_member(session, body.email):
        raise _taken("member_exists", f"Already a member: {body.email}. Change the role instead.")
    now = datetime.now(UTC)
    if (before := queries.open_invitation(session, body.email)) is not None:
        if now < before.expires_at:
            raise _taken("invitation_exists", f"Already invited: {body.email}. Send the invitation again or revoke it.")
        before.revoked_at = now  # an expired one gives way
        session.flush()
    secret = new_secret(_PREFIX)
    row = Invitation(
        email=body.email,
        role=body.role,
        mesh_ids=mesh_limits.checked(session, body.mesh_ids, body.role),
        delivery=body.delivery,
        secret_digest=digest(secret),
        invited_by=actor.name,
        valid_days=body.valid_days,
        sent_at=now,
        expires_at=now + timedelta(days=body.valid_days),
    )
    session.add(row)
    link = _deliver(session, actor, row, secret)
    session.flush()
    session.refresh(row)
    audit.record(
        session,
        actor,
        "invitation.created",
        row.id,
        row.email,
        role=str(row.role),
        delivery=str(row.delivery),
        meshes=mesh_limits.names_of(session, row.mesh_ids),
    )
    return row, link


def resend(session: Session, actor: Actor, invitation_id: UUID) -> tuple[Invitation, str | None]:
    """Give an invitation a new link and a new term; the link before ends. Return as `create`.

    ProductError `invitation_unknown` (404), `role_too_high` (403), `invitation_ended` (409), `too_soon` (429).
    """
    row = _open(session, actor, invitation_id)
    _require_may_grant(actor, Role(row.role))
    now = datetime.now(UTC)
    if row.delivery == Delivery.email and now < row.sent_at + _AGAIN_AFTER:
        wait_s = max(1, int((row.sent_at + _AGAIN_AFTER - now).total_seconds()))
        raise too_many("too_soon", f"Too soon: an invitation was sent to {row.email} less than a minute ago.", wait_s)
    secret = new_secret(_PREFIX)
    row.secret_digest, row.sent_at = digest(secret), now
    row.expires_at = now + timedelta(days=row.valid_days)
    row.invited_by = actor.name
    link = _deliver(session, actor, row, secret)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "invitation.resent", row.id, row.email)
    return row, link


def revoke(session: Session, actor: Actor, invitation_id: UUID) -> None:
    """End an invitation; its link no longer works.

    ProductError `invitation_unknown` (404), `invitation_ended` (409).
    """
    row = _open(session, actor, invitation_id)
    row.revoked_at = datetime.now(UTC)
    audit.record(session, actor, "invitation.revoked", row.id, row.email)


def look_up(token: str) -> InvitationPreview:
    """Return what an invitation link leads to. ProductError as `_usable`."""
    with system_session() as session:
        row, tenant = _usable(session, token)
        user = tenants.user_by_email(session, row.email)
        return InvitationPreview.from_row(
            row, tenant_name=tenant.name, has_account=user is not None and queries.has_membership(session, user.id)
        )


def accept(body: InvitationAccept, person: Actor | None) -> tuple[Tenant, Membership]:
    """Add the invited person to the tenant, and create the account if there is none. `person` is signed in.

    ProductError as `_usable`; `session_of_one_tenant` (403), `invitation_for_another`, `sign_in_to_accept` (409),
    `password_weak` (422).
    """
    token = body.token.get_secret_value()
    # Outside the transaction: hashing is slow, and the invitation is locked meanwhile.
    preview = look_up(token)
    password_hash = None if preview.has_account else _new_password(body, preview)
    with system_session() as session:
        queries.lock(session, _usable(session, token)[1].key)
        row, tenant = _usable(session, token, locked=True)
        user = tenants.user_by_email(session, row.email)
        if user is not None:
            session.refresh(user, with_for_update=True)
            if not queries.has_membership(session, user.id):
                # Removed everywhere: the old password and second factors do not count any more.
                session.delete(user)
                session.flush()
                user = None
        if user is None:
            if password_hash is None:  # the account was deleted since the look-up
                password_hash = _new_password(body, preview)
            user = User(email=row.email, name=(body.name or "").strip(), password_hash=password_hash)
            session.add(user)
            session.flush()
        else:
            _require_signed_in(user, person, tenant)
        now = datetime.now(UTC)
        member = queries.membership(session, tenant.id, user.id)
        if member is None:
            member = Membership(
                tenant_id=tenant.id, user_id=user.id, role=row.role, mesh_ids=row.mesh_ids, opened_at=now
            )
            session.add(member)
        row.accepted_at = now
        session.flush()
        session.refresh(member)
        audit.record_session(session, tenant.id, user, "invitation.accepted", {"role": str(member.role)})
        return tenant, member


def _deliver(session: Session, actor: Actor, row: Invitation, secret: str) -> str | None:
    """Mail the link, or return it for the inviting member to pass on."""
    link = f"{settings().public_url}/invitation#token={secret}"
    if row.delivery == Delivery.link:
        return link
    text = mails.invitation(row.email, actor.tenant_name, actor.name, Role(row.role), link, row.expires_at)
    row.mail_id = outbox.post(session, "invitation", text, row.expires_at - row.sent_at)
    return None


def _open(session: Session, actor: Actor, invitation_id: UUID) -> Invitation:
    queries.lock(session, actor.tenant_key)
    row = existing(session.get(Invitation, invitation_id, populate_existing=True), "invitation")
    if row.accepted_at is not None or row.revoked_at is not None:
        how = "accepted" if row.accepted_at is not None else "revoked"
        raise ProductError("invitation_ended", 409, f"Invitation ended: it was {how}. Create a new one.")
    return row


def _usable(session: Session, token: str, *, locked: bool = False) -> tuple[Invitation, Tenant]:
    """Return the invitation of a link. ProductError `invitation_unknown` (404), `invitation_used`, `…_revoked`,
    `…_expired` (409).
    """
    found = queries.invitation_with(session, digest(token), locked=locked)
    if found is None:
        raise ProductError(
            "invitation_unknown",
            404,
            "Unknown invitation: the link is incomplete, or a newer one was sent. Use the newest, or ask for one.",
        )
    match state_of(found[0], datetime.now(UTC)):
        case InvitationState.accepted:
            raise ProductError("invitation_used", 409, "Invitation used: it was accepted already. Sign in.")
        case InvitationState.revoked:
            raise ProductError("invitation_revoked", 409, "Invitation revoked: ask the sender for a new one.")
        case InvitationState.expired:
            raise ProductError("invitation_expired", 409, "Invitation expired: ask the sender to send it again.")
        case InvitationState.pending:
            return found


def _new_password(body: InvitationAccept, preview: InvitationPreview) -> str:
    """Return the hash of the password that a new person chose. ProductError `password_weak` (422)."""
    password = body.password.get_secret_value() if body.password else ""
    refuse_weak(password, [preview.email, preview.tenant_name], "password")
    return hash_password(password)


def _require_signed_in(user: User, person: Actor | None, tenant: Tenant) -> None:
    if person is None:
        raise ProductError("sign_in_to_accept", 409, f"Account exists: sign in as {user.email} to accept.")
    if person.id != user.id:
        raise ProductError(
            "invitation_for_another",
            409,
            f"Invitation for another person: it is for {user.email}, and you are signed in as {person.name}.",
        )
    if person.of_one_tenant and person.tenant_id != tenant.id:
        raise of_one_tenant_only(person.tenant_name)


def _require_may_grant(actor: Actor, role: Role) -> None:
    if not may_grant(actor.role, role):
        raise ProductError(
            "role_too_high", 403, f"Not allowed: you are {actor.role} and can invite up to {actor.role}, not {role}."
        )


def _taken(code: str, detail: str) -> ProductError:
    return ProductError(code, 409, detail, errors=[{"pointer": "#/email", "message": detail}])
