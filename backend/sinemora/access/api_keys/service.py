"""Use cases of API keys: authentication, creation, rotation, deletion."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from fastapi import Request
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session

from sinemora.access.api_keys import queries
from sinemora.access.api_keys.models import ApiKey
from sinemora.access.api_keys.schemas import ApiKeyCreate, ApiKeyRotate
from sinemora.access.api_keys.scopes import required_scopes, role_of
from sinemora.access.tenants import audit, mesh_limits
from sinemora.access.tenants.access import KEY_PREFIX, Actor, refused_token
from sinemora.access.tenants.models import Role
from sinemora.kit.db import refuse_taken, system_session
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.security import digest, new_secret, shown_prefix

ACTOR_KIND = "api_key"
_LIFETIME_MAX = timedelta(days=366)


def authenticate(request: Request, token: str) -> Actor:
    """Return the program of a key, with a role of at most its owner's.

    ProductError `bad_credentials` (401), `scope_missing` (403).
    """
    now = datetime.now(UTC)
    with system_session() as session:
        row = queries.active_key(session, digest(token), now)
        if row is None:
            raise refused_token()
        key, tenant = row
        if key.owner is not None and not key.owner.is_confirmed(now):
            raise refused_token()
        of_owner = mesh_limits.of_member(key.owner) if key.owner is not None else None
        limit = mesh_limits.limit(session, tenant.id, key.mesh_ids, of_owner)
        queries.mark_used(session, key, request.client.host if request.client else "", now)
    _require_scope(request, key)
    role = role_of(key.scopes)
    if key.owner is not None:
        role = min(role, Role(key.owner.role), key=lambda one: one.rank)
    return Actor(tenant.id, tenant.key, tenant.name, ACTOR_KIND, key.id, key.name, role, mesh_limit=limit)


def _require_scope(request: Request, key: ApiKey) -> None:
    route = request.scope.get("route")
    sufficient = required_scopes(route) if isinstance(route, APIRoute) else None
    # Without any sufficient scope the role decides: keys are no owners, and the message names the role.
    if sufficient and not set(sufficient) & set(key.scopes):
        raise ProductError(
            "scope_missing",
            403,
            f"Scope missing: this needs {sufficient[-1]}; the key has {', '.join(key.scopes)}.",
            required_scopes=sufficient,
        )


def create_api_key(session: Session, actor: Actor, body: ApiKeyCreate) -> tuple[ApiKey, str]:
    """Return a new key and its secret.

    ProductError `mesh_unknown` (404), `api_key_name_taken`, `api_key_life_invalid` (409).
    """
    _check_life(body.expires_at)
    refuse_taken(session, ApiKey, body.name, "api_key_name_taken")
    secret = new_secret(KEY_PREFIX)
    key = ApiKey(
        name=body.name,
        prefix=shown_prefix(secret),
        secret_digest=digest(secret),
        scopes=sorted(set(body.scopes)),
        mesh_ids=mesh_limits.checked(session, body.mesh_ids, role_of(body.scopes)),
        owner_id=None if body.service_account else actor.id,
        expires_at=body.expires_at,
    )
    audit.created(
        session,
        actor,
        "api_key",
        key,
        scopes=key.scopes,
        owner=None if body.service_account else actor.name,
        meshes=mesh_limits.names_of(session, key.mesh_ids),
    )
    return key, secret


def rotate_api_key(session: Session, actor: Actor, key_id: UUID, body: ApiKeyRotate) -> tuple[ApiKey, str]:
    """Give a key a new secret; the old one stays valid for the overlap. Return the key and the secret.

    ProductError `api_key_unknown`, `not_allowed`, `api_key_life_invalid` (409).
    """
    key = _own_key(session, actor, key_id)
    if body.expires_at is not None:
        _check_life(body.expires_at)
        key.expires_at = body.expires_at
    secret = new_secret(KEY_PREFIX)
    key.previous_digest = key.secret_digest if body.overlap_s else None
    key.previous_expires_at = datetime.now(UTC) + timedelta(seconds=body.overlap_s) if body.overlap_s else None
    key.prefix, key.secret_digest = shown_prefix(secret), digest(secret)
    session.flush()
    session.refresh(key)
    audit.record(session, actor, "api_key.rotated", key.id, key.name, overlap_s=body.overlap_s)
    return key, secret


def delete_api_key(session: Session, actor: Actor, key_id: UUID) -> None:
    """Delete an API key; it is invalid at once. ProductError `api_key_unknown`, `not_allowed`."""
    _delete(session, actor, _own_key(session, actor, key_id))


def delete_own_key(session: Session, actor: Actor) -> None:
    """Delete the key that the caller uses. ProductError `api_key_unknown` for a caller who uses none."""
    key = session.get(ApiKey, actor.id) if actor.kind == ACTOR_KIND else None
    if key is None:
        raise NotFound("api key")
    _delete(session, actor, key)


def _delete(session: Session, actor: Actor, key: ApiKey) -> None:
    audit.deleted(session, actor, "api_key", key)


def _own_key(session: Session, actor: Actor, key_id: UUID) -> ApiKey:
    """Return a key that the actor may change: their own, every key for those who manage keys."""
    key = existing(session.get(ApiKey, key_id), "api key")
    manages = actor.kind == "user" and Role(actor.role).rank >= Role.admin.rank
    if not manages and not (actor.kind == "user" and key.owner_id == actor.id):
        raise ProductError("not_allowed", 403, "Not allowed: the key belongs to somebody else.")
    return key


def _check_life(expires_at: datetime) -> None:
    now = datetime.now(UTC)
    if not now < expires_at <= now + _LIFETIME_MAX:
        raise ProductError("api_key_life_invalid", 409, "Invalid expiry: it must be in the future and within a year.")
