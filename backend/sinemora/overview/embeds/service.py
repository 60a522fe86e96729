"""Use cases of embed links."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from fastapi import Request
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, mesh_limits, quotas
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.security import digest, new_secret, shown_prefix
from sinemora.overview.embeds import queries
from sinemora.overview.embeds.models import EmbeddedView, EmbedLink
from sinemora.overview.embeds.schemas import EmbedLinkCreate

TOKEN_PREFIX = "sme_"
ACTOR_KIND = "embed_link"
EMBED_LINKS_MAX = 500
_LIFETIME = timedelta(days=30)
_LIFETIME_MAX = timedelta(days=366)

# Routes by their names. Each has the mesh in its path, except the one that describes the link, and that of the moves
# which a heatmap shows: the limit to the mesh of the link hides those of others.
_OWN = frozenset({"read_embed", "read_mesh"})
_GRANTED = {
    EmbeddedView.HEATMAP: _OWN | {"read_roster", "read_matrix", "list_deviations", "read_recommendation"},
    EmbeddedView.PATH: _OWN | {"read_path", "read_series"},
    EmbeddedView.OVERVIEW: _OWN | {"read_mesh_health", "read_mesh_history", "read_matrix", "list_deviations"},
}


def authenticate(request: Request, token: str) -> Actor:
    """Return the reader of a link: a viewer of its tenant, for the routes of its view alone.

    ProductError `embed_link_ended` (401), `not_allowed` (403), `mesh_unknown`, `path_unknown` (404).
    """
    now = datetime.now(UTC)
    with system_session() as session:
        row = queries.active_link(session, digest(token), now)
        if row is None:
            raise ProductError(
                "embed_link_ended",
                401,
                "This link has ended: it expired or was revoked. Ask the person who shared it for a new one.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        link, tenant = row
        _refuse_others(request, link)
        queries.mark_used(session, link, now)
        limit = mesh_limits.limit(session, tenant.id, [link.mesh_id])
    return Actor(tenant.id, tenant.key, tenant.name, ACTOR_KIND, link.id, link.name, Role.viewer, mesh_limit=limit)


def _refuse_others(request: Request, link: EmbedLink) -> None:
    """Refuse what the view of a link does not read."""
    route = getattr(request.scope.get("route"), "name", None)
    if route not in _GRANTED[link.view]:
        raise ProductError("not_allowed", 403, f"Not allowed: this link shows one {link.view} and nothing else.")
    params = request.path_params
    if "mesh_id" in params and str(params["mesh_id"]).lower() != str(link.mesh_id):
        raise NotFound("mesh")
    ends = [str(params[name]).lower() for name in ("source_vm_id", "target_vm_id") if name in params]
    # Both directions are one view.
    if ends and sorted(ends) != sorted([str(link.source_vm_id), str(link.target_vm_id)]):
        raise NotFound("path")


def read_embed(session: Session, actor: Actor) -> EmbedLink:
    """Return the link that the caller uses. ProductError `embed_link_unknown` for a caller who uses none."""
    link = session.get(EmbedLink, actor.id) if actor.kind == ACTOR_KIND else None
    if link is None:
        raise NotFound("embed link")
    return link


def create_link(session: Session, actor: Actor, body: EmbedLinkCreate) -> tuple[EmbedLink, str]:
    """Return a new link and its token.

    ProductError `mesh_unknown`, `vm_unknown` (404), `embed_link_life_invalid`, `embed_links_too_many` (409).
    """
    now = datetime.now(UTC)
    expires_at = body.expires_at or now + _LIFETIME
    if not now < expires_at <= now + _LIFETIME_MAX:
        raise ProductError(
            "embed_link_life_invalid",
            409,
            "Invalid expiry: it must be in the future and within a year.",
            errors=[{"pointer": "#/expires_at", "message": "must be in the future and within a year"}],
        )
    members = {member.id for member in mesh_state(session, body.mesh_id).members}
    if not {body.source_vm_id, body.target_vm_id} - {None} <= members:
        raise NotFound("vm")
    quotas.lock(session)
    if queries.count(session) >= EMBED_LINKS_MAX:
        raise ProductError(
            "embed_links_too_many", 409, f"Too many embed links: {EMBED_LINKS_MAX} exist. Revoke some first."
        )
    token = new_secret(TOKEN_PREFIX)
    link = EmbedLink(
        **body.model_dump(exclude={"expires_at"}),
        prefix=shown_prefix(token),
        secret_digest=digest(token),
        created_by=actor.name,
        expires_at=expires_at,
    )
    audit.created(session, actor, "embed_link", link, view=link.view, mesh_id=str(link.mesh_id))
    return link, token


def revoke_link(session: Session, actor: Actor, link_id: UUID) -> None:
    """Delete a link; it is invalid at once. ProductError `embed_link_unknown`."""
    link = existing(session.get(EmbedLink, link_id), "embed link")
    audit.deleted(session, actor, "embed_link", link)
