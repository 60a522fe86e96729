"""HTTP of embed links."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants import access
from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import secret_once
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.overview.embeds import service
from sinemora.overview.embeds.models import EmbedLink
from sinemora.overview.embeds.schemas import EmbedLinkCreate, EmbedLinkCreated, EmbedLinkRead, EmbedRead, EmbedShown
from sinemora.overview.service import alert_timeliness

access.accept(service.TOKEN_PREFIX, service.authenticate)

router = signed_in_router("/v1", "embed links")


@router.get("/embed", responses=responses(404))
def read_embed(session: SessionDep, actor: Viewer) -> EmbedShown:
    """Return the view that the caller's link shows; for its token `sme_…`, sent like an API key."""
    link = EmbedRead.model_validate(service.read_embed(session, actor))
    return EmbedShown(**link.model_dump(), alerts=alert_timeliness(session))


@router.get("/embed-links", response_model=Page[EmbedLinkRead])
def list_embed_links(session: SessionDep, actor: Viewer, page: Paging) -> Slice[EmbedLink]:
    """List embed links, newest first, without their tokens."""
    return paginate(session, select(EmbedLink), page, EmbedLink.created_at, EmbedLink.id, descending=True)


@router.post("/embed-links", status_code=201, responses=responses(404, 409, 422))
@secret_once
def create_embed_link(body: EmbedLinkCreate, session: SessionDep, actor: Editor) -> EmbedLinkCreated:
    """Create a link to one view of a mesh for readers without an account. Only this response contains its token."""
    link, token = service.create_link(session, actor, body)
    return EmbedLinkCreated(**EmbedLinkRead.model_validate(link).model_dump(), token=token)


@router.delete("/embed-links/{link_id}", status_code=204, responses=responses(404))
def revoke_embed_link(link_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Revoke an embed link. It is invalid at once."""
    service.revoke_link(session, actor, link_id)
