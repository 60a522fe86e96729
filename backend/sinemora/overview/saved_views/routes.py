"""HTTP of saved views."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.overview.saved_views import service
from sinemora.overview.saved_views.models import SavedView
from sinemora.overview.saved_views.schemas import SavedViewCreate, SavedViewRead

router = signed_in_router("/v1/saved-views", "saved views")


@router.get("", response_model=Page[SavedViewRead])
def list_saved_views(session: SessionDep, actor: Viewer, page: Paging) -> Slice[SavedView]:
    """List saved views by name."""
    return paginate(session, select(SavedView), page, SavedView.name, SavedView.id)


@router.post("", status_code=201, response_model=SavedViewRead, responses=responses(409, 422))
def create_saved_view(body: SavedViewCreate, session: SessionDep, actor: Editor) -> SavedView:
    """Save a page of the console under a name, for everyone of the tenant."""
    return service.create_view(session, actor, body)


@router.delete("/{view_id}", status_code=204, responses=responses(404))
def delete_saved_view(view_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete a saved view."""
    service.delete_view(session, actor, view_id)
