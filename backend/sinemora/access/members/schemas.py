"""JSON schemas of members, invitations and a person's tenants."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field, SecretStr

from sinemora.access.members.models import Delivery
from sinemora.access.tenants.models import Role
from sinemora.access.tenants.schemas import EmailAddress, MeshIds, PersonName, TenantName, VisibleMesh
from sinemora.kit.outbox import MailState
from sinemora.kit.schemas import Omittable, Read, Write

Token = Annotated[SecretStr, Field(min_length=20, max_length=100)]


class MemberRead(Read):
    """Member of the tenant: a person and their role."""

    id: UUID
    email: str
    name: str
    role: Role
    meshes: list[VisibleMesh] | None
    confirmed_at: datetime | None
    created_at: datetime
    version: int


class MeshesSet(Write):
    """Meshes that a viewer or an editor sees from now on; null for all."""

    mesh_ids: MeshIds


class RoleSet(Write):
    """New role of a member."""

    role: Role


class TenantConfirmation(Write):
    """Confirmation of a step that cannot be undone: the name of the tenant, exactly."""

    tenant_name: TenantName


class OwnershipTransfer(TenantConfirmation):
    """Member who becomes an owner; the caller becomes an administrator."""

    user_id: UUID


class InvitationState(StrEnum):
    """State of an invitation."""

    pending = "pending"
    expired = "expired"
    accepted = "accepted"
    revoked = "revoked"


class InvitationCreate(Write):
    """Person to invite. `email`: the product mails the link; `link`: the response contains it once.

    `mesh_ids` limits a viewer or an editor to some meshes.
    """

    email: EmailAddress
    role: Role
    mesh_ids: MeshIds = None
    delivery: Delivery = Delivery.email
    valid_days: Annotated[int, Field(ge=1, le=30, description="Days until the link expires")] = 7


class InvitationRead(Read):
    """Invitation without its secret."""

    id: UUID
    email: str
    role: Role
    meshes: list[VisibleMesh] | None
    delivery: Delivery
    state: InvitationState
    invited_by: str
    created_at: datetime
    sent_at: datetime
    expires_at: datetime
    mail_state: MailState | None
    mail_answer: str | None


class InvitationCreated(InvitationRead):
    """New or renewed invitation. `link` is shown only once, and null if the product mailed it."""

    link: str | None


class InvitationToken(Write):
    """Secret of an invitation link."""

    token: Token


class InvitationPreview(Read):
    """Destination of an invitation link. `has_account`: the person signs in to accept; others choose a password."""

    tenant_name: str
    email: str
    role: Role
    invited_by: str
    expires_at: datetime
    has_account: bool


class InvitationAccept(Write):
    """Acceptance. A person without an account gives a name and a password; others are signed in and give neither."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    token: Token
    name: PersonName | None = None
    password: Annotated[SecretStr | None, Field(min_length=1, max_length=1024)] = None


class InvitationAccepted(Read):
    """Tenant that the person belongs to now."""

    tenant_id: UUID
    tenant_name: str
    email: str
    role: Role


class OwnTenantRead(Read):
    """Tenant of the caller and the caller's role in it. `deletion_at` is set while its deletion is requested."""

    id: UUID
    key: int
    name: str
    role: Role
    is_current: bool
    deletion_at: datetime | None
    service_traffic: bool


class OwnTenants(Read):
    """Tenants of the caller by name. `may_create`: the operator lets people create tenants."""

    items: list[OwnTenantRead]
    may_create: bool


class TenantCreate(Write):
    """Tenant to create."""

    name: TenantName


class TenantUpdate(Write):
    """Settings of a tenant; an omitted one stays."""

    name: Omittable[TenantName] = None
    service_traffic: Omittable[bool] = None
