"""JSON schemas of API keys."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field

from sinemora.access.api_keys.scopes import KeyScope
from sinemora.access.tenants.schemas import MeshIds, VisibleMesh
from sinemora.kit.names import Name
from sinemora.kit.schemas import DISTINCT, Read, Write

_OVERLAP_MAX_S = 30 * 86_400


class ApiKeyCreate(Write):
    """API key to create. A scope to write includes the one to read.

    The key belongs to the person who creates it, may at most what they may, sees at most the meshes that they see, and
    ends with their membership. A service account has no owner.
    """

    name: Name
    scopes: Annotated[list[KeyScope], Field(min_length=1, max_length=len(KeyScope)), *DISTINCT]
    expires_at: AwareDatetime
    service_account: bool = False
    mesh_ids: MeshIds = None


class ApiKeyRotate(Write):
    """Rotation of an API key: the old secret stays valid for `overlap_s`, in which programs take the new one."""

    overlap_s: Annotated[int, Field(ge=0, le=_OVERLAP_MAX_S, description="Seconds, at most 30 days")] = 86_400
    expires_at: AwareDatetime | None = None


class KeyOwner(Read):
    """Person to whom a key belongs."""

    id: UUID
    email: str


class ApiKeyRead(Read):
    """API key without its secret. `owner` is null for a service account, `meshes` for a key that is not limited."""

    id: UUID
    name: str
    prefix: str
    scopes: list[KeyScope]
    owner: KeyOwner | None
    meshes: list[VisibleMesh] | None
    expires_at: datetime
    previous_expires_at: datetime | None
    last_used_at: datetime | None
    last_used_from: str | None
    created_at: datetime


class ApiKeyCreated(ApiKeyRead):
    """New API key. `secret` is shown only once; send it as `Authorization: Bearer sm_…`."""

    secret: str
