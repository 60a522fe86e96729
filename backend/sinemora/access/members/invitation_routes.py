"""HTTP of invitations: for the members who invite, and for the invited person."""

from datetime import UTC, datetime
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.members import invitations, schemas
from sinemora.access.members.models import Invitation
from sinemora.access.tenants.access import Admin, PersonOnly, person_or_none, signed_in_router
from sinemora.access.tenants.mesh_limits import Names
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import secret_once
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.kit.http.routes import BoundedRoute

router = signed_in_router("/v1/invitations", "members")
public_router = APIRouter(prefix="/v1/invitations", route_class=BoundedRoute, tags=["members"])


@router.get("", responses=responses(422))
def list_invitations(session: SessionDep, actor: Admin, page: Paging) -> Page[schemas.InvitationRead]:
    """List invitations, newest first. Those that ended are kept for 30 days."""
    rows = paginate(session, select(Invitation), page, Invitation.created_at, Invitation.id, descending=True)
    names = Names.read(session)
    return Page(items=[_read(row, names) for row in rows.items], next_cursor=rows.next_cursor)


@router.post("", status_code=201, dependencies=[PersonOnly], responses=responses(404, 409, 422))
@secret_once
def create_invitation(body: schemas.InvitationCreate, session: SessionDep, actor: Admin) -> schemas.InvitationCreated:
    """Invite a person by e-mail, or by a link that only this response contains."""
    return _created(session, *invitations.create(session, actor, body))


@router.post("/{invitation_id}/resend", dependencies=[PersonOnly], responses=responses(404, 409))
@secret_once
def resend_invitation(invitation_id: UUID, session: SessionDep, actor: Admin) -> schemas.InvitationCreated:
    """Send an invitation again, with a new link and a new term. The link before no longer works."""
    return _created(session, *invitations.resend(session, actor, invitation_id))


@router.delete("/{invitation_id}", status_code=204, dependencies=[PersonOnly], responses=responses(404, 409))
def revoke_invitation(invitation_id: UUID, session: SessionDep, actor: Admin) -> None:
    """Revoke an invitation. Its link no longer works."""
    invitations.revoke(session, actor, invitation_id)


@public_router.post("/lookup", responses=responses(404, 409, 422, 429))
def look_up_invitation(body: schemas.InvitationToken) -> schemas.InvitationPreview:
    """Return what an invitation link leads to, for the person who follows it."""
    return invitations.look_up(body.token.get_secret_value())


@public_router.post("/accept", responses=responses(403, 404, 409, 422, 429))
def accept_invitation(body: schemas.InvitationAccept, request: Request) -> schemas.InvitationAccepted:
    """Accept an invitation: with a name and a password for a new account, or signed in to the account it is for."""
    tenant, member = invitations.accept(body, person_or_none(request))
    return schemas.InvitationAccepted(
        tenant_id=tenant.id, tenant_name=tenant.name, email=member.user.email, role=member.role
    )


def _read(row: Invitation, names: Names) -> schemas.InvitationRead:
    return schemas.InvitationRead.from_row(
        row,
        meshes=names.of(row.mesh_ids),
        state=invitations.state_of(row, datetime.now(UTC)),
        mail_state=row.mail.state if row.mail else None,
        mail_answer=row.mail.answer if row.mail else None,
    )


def _created(session: Session, row: Invitation, link: str | None) -> schemas.InvitationCreated:
    return schemas.InvitationCreated(**_read(row, Names.read(session)).model_dump(), link=link)
