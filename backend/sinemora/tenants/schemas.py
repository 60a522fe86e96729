"""Shapes on the wire: sign-in, API keys, members, audit."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, Field, SecretStr

from sinemora.kit.schemas import Read, Write
from sinemora.tenants.models import Role, Scope

Name = Annotated[str, Field(min_length=1, max_length=100)]


class SignIn(Write):
    """An attempt to sign in."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    password: Annotated[SecretStr, Field(min_length=1, max_length=1024)]


class UserRead(Read):
    """A person."""

    id: UUID
    email: str


class TenantRead(Read):
    """A customer. `key` stands for the tenant in time series."""

    id: UUID
    key: int
    name: str


class SessionRead(Read):
    """Who is signed in where. `csrf_token` goes back as `X-CSRF-Token` with every unsafe request."""

    user: UserRead
    tenant: TenantRead
    role: Role
    csrf_token: str


class MemberRead(Read):
    """A user of the tenant."""

    id: UUID
    email: str
    role: Role
    created_at: datetime


class ApiKeyCreate(Write):
    """A key to be made. `write` includes `read`."""

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)]
    expires_at: AwareDatetime


class ApiKeyRead(Read):
    """A key without its secret."""

    id: UUID
    name: str
    prefix: str
    scopes: list[Scope]
    expires_at: datetime
    created_at: datetime


class ApiKeyCreated(ApiKeyRead):
    """A new key. `secret` is shown this once and sent as `Authorization: Bearer sm_…`."""

    secret: str


class AuditEntryRead(Read):
    """Who changed what, and when."""

    id: UUID
    created_at: datetime
    actor_kind: str
    actor_id: UUID | None
    actor_name: str
    action: str
    subject_id: UUID | None
    subject_name: str
    detail: dict[str, Any]
