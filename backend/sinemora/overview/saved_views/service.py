"""Use cases of saved views."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.kit import mesh_limit
from sinemora.kit.errors import ProductError, existing
from sinemora.overview.saved_views.models import SavedView
from sinemora.overview.saved_views.schemas import SavedViewCreate

# The list is one menu of the console.
SAVED_VIEWS_MAX = 500


def create_view(session: Session, actor: Actor, body: SavedViewCreate) -> SavedView:
    """Save a view. ProductError `saved_view_exists`, `saved_views_too_many`."""
    quotas.lock(session)
    if session.scalar(select(SavedView.id).where(SavedView.name == body.name)):
        raise ProductError(
            "saved_view_exists",
            409,
            f"A view named {body.name!r} exists. Choose another name, or delete it first.",
            errors=[{"pointer": "#/name", "message": "exists already"}],
        )
    if (session.scalar(select(func.count()).select_from(SavedView)) or 0) >= SAVED_VIEWS_MAX:
        raise ProductError(
            "saved_views_too_many", 409, f"Too many saved views: {SAVED_VIEWS_MAX} exist. Delete some first."
        )
    mesh_ids = mesh_limit.listed(session.info["mesh_limit"])
    row = SavedView(name=body.name, address=body.address, created_by=actor.name, mesh_ids=mesh_ids)
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "saved_view.created", row.id, row.name)
    return row


def delete_view(session: Session, actor: Actor, view_id: UUID) -> None:
    """Delete a view. ProductError `saved_view_unknown`."""
    row = existing(session.get(SavedView, view_id), "saved view")
    audit.deleted(session, actor, "saved_view", row)
