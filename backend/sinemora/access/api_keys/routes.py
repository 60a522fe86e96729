"""HTTP of API keys."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.api_keys import service
from sinemora.access.api_keys.models import ApiKey
from sinemora.access.api_keys.schemas import ApiKeyCreate, ApiKeyCreated, ApiKeyRead, ApiKeyRotate, KeyOwner
from sinemora.access.tenants.access import KEY_PREFIX, Admin, Confirmed, Viewer, accept, signed_in_router
from sinemora.access.tenants.mesh_limits import Names
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import secret_once
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

accept(KEY_PREFIX, service.authenticate)

router = signed_in_router("/v1/api-keys", "api-keys")


@router.get("", responses=responses(422))
def list_api_keys(session: SessionDep, actor: Viewer, page: Paging) -> Page[ApiKeyRead]:
    """List the tenant's API keys by name, without their secrets."""
    keys: Slice[ApiKey] = paginate(session, select(ApiKey), page, ApiKey.name)
    names = Names.read(session)
    return Page(items=[_read(key, names) for key in keys.items], next_cursor=keys.next_cursor)


@router.post("", status_code=201, dependencies=[Confirmed], responses=responses(404, 409, 422))
@secret_once
def create_api_key(body: ApiKeyCreate, session: SessionDep, actor: Admin) -> ApiKeyCreated:
    """Create an API key. Only this response contains its secret."""
    return _created(session, *service.create_api_key(session, actor, body))


@router.post("/{api_key_id}/rotate", responses=responses(404, 409, 422))
@secret_once
def rotate_api_key(api_key_id: UUID, body: ApiKeyRotate, session: SessionDep, actor: Viewer) -> ApiKeyCreated:
    """Give a key of your own (an administrator: any key) a new secret; the old one stays valid for `overlap_s`."""
    return _created(session, *service.rotate_api_key(session, actor, api_key_id, body))


@router.delete("/self", status_code=204, responses=responses(404), tags=["auth"])
def delete_own_api_key(session: SessionDep, actor: Viewer) -> None:
    """Delete the key that sends this request, as a program does that signs out."""
    service.delete_own_key(session, actor)


@router.delete("/{api_key_id}", status_code=204, responses=responses(404))
def delete_api_key(api_key_id: UUID, session: SessionDep, actor: Viewer) -> None:
    """Delete a key of your own (an administrator: any key). It is invalid at once."""
    service.delete_api_key(session, actor, api_key_id)


def _read(key: ApiKey, names: Names) -> ApiKeyRead:
    fields = {name: getattr(key, name) for name in ApiKeyRead.model_fields if name not in ("owner", "meshes")}
    owner = KeyOwner(id=key.owner.user_id, email=key.owner.user.email) if key.owner else None
    return ApiKeyRead(**fields, owner=owner, meshes=names.of(key.mesh_ids))


def _created(session: Session, key: ApiKey, secret: str) -> ApiKeyCreated:
    return ApiKeyCreated(**_read(key, Names.read(session)).model_dump(), secret=secret)
