"""Tables of tenants, users, sessions, API keys and the audit log."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    Uuid,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.http.etag import Versioned

CONFIRMATION_LIFE = timedelta(days=30)


class Role(StrEnum):
    """Role of a member: read; also change; also manage members, keys and audit; also the tenant itself."""

    viewer = "viewer"
    editor = "editor"
    admin = "admin"
    owner = "owner"

    @property
    def rank(self) -> int:
        """Return the place of the role in the order above: a role may do all that lower ones may."""
        return list(Role).index(self)


class Method(StrEnum):
    """Credential that opened a browser session: a password, a passkey, or an OpenID provider.

    `provider` is that of the installation, `identity_provider` that of one tenant: its sessions are of this tenant
    alone, because whoever runs it can claim any address of the tenant's domains.
    """

    password = "password"
    passkey = "passkey"
    provider = "provider"
    identity_provider = "identity_provider"


class Tenant(Identified, Base):
    """Customer. No data is shared between tenants. At `deletion_at` it is deleted, if somebody asked for that.

    With `second_factor_required`, members without a second factor can only set one up. With
    `single_sign_on_required`, members other than owners get in by the tenant's identity provider alone. With
    `service_traffic`, agents count TCP connections and bytes by peer VM and listening port.
    """

    __tablename__ = "tenants"

    key: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    name: Mapped[str] = mapped_column(unique=True)
    deletion_at: Mapped[datetime | None]
    deletion_by: Mapped[str | None]
    second_factor_required: Mapped[bool] = mapped_column(server_default=false())
    single_sign_on_required: Mapped[bool] = mapped_column(server_default=false())
    service_traffic: Mapped[bool] = mapped_column(server_default=false())


class TenantQuota(TenantOwned, Base):
    """Service plan and own quotas of a tenant. Null means the value of the plan, else that of the settings."""

    __tablename__ = "tenant_quotas"
    __table_args__ = (
        CheckConstraint("vms >= 0 AND paths >= 0 AND windows_per_s >= 0 AND artifact_mib >= 0", name="growth"),
        CheckConstraint("raw_days >= 1 AND minute_days >= 1", name="days"),
        CheckConstraint("aged_after_days >= 0", name="aged"),
    )

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    vms: Mapped[int | None]
    paths: Mapped[int | None] = mapped_column(BigInteger)
    windows_per_s: Mapped[float | None] = mapped_column(Double)
    raw_days: Mapped[int | None]
    minute_days: Mapped[int | None]
    artifact_mib: Mapped[int | None]
    aged_after_days: Mapped[int | None]
    plan: Mapped[str | None]


class User(Identified, Base):
    """Person, who may belong to several tenants. The e-mail address is stored in lower case.

    `password_changed_at` is null for somebody who never set a password: the hash is of a random one.
    """

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("email = lower(email)", name="email_lower"),)

    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str] = mapped_column(default="", server_default="")
    password_hash: Mapped[str]
    password_changed_at: Mapped[datetime | None] = mapped_column(server_default=func.now())


class Membership(Versioned, TenantOwned, Base):
    """Membership of a user in a tenant. `opened_at`: when the user last switched to the tenant.

    `mesh_ids`: the meshes that the user sees, null for all. Administrators and owners see all. `subject`: the person at
    the tenant's identity provider, which last confirmed the membership at `confirmed_at`.
    """

    __tablename__ = "memberships"
    rows_max = 2_000
    limited_callers_change = True
    __table_args__ = (
        CheckConstraint("role IN ('viewer', 'editor', 'admin', 'owner')", name="role"),
        Index("ix_memberships_subject", "tenant_id", "subject", unique=True),
    )

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(TEXT)
    version: Mapped[int] = mapped_column(server_default=text("1"))
    mesh_ids: Mapped[list[UUID] | None] = mapped_column(ARRAY(Uuid))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    opened_at: Mapped[datetime | None]
    subject: Mapped[str | None]
    confirmed_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)

    def is_confirmed(self, now: datetime) -> bool:
        """Return whether the identity provider, if it gave the membership, confirmed it in the last 30 days.

        Owners need no confirmation: they must get in when the provider is wrong.
        """
        return self.confirmed_at is None or self.role == Role.owner or now - self.confirmed_at < CONFIRMATION_LIFE

    def opens_by(self, method: Method, tenant: Tenant, now: datetime) -> bool:
        """Return whether the member gets in to `tenant` by a credential."""
        is_way = self.role == Role.owner or method == Method.identity_provider or not tenant.single_sign_on_required
        return is_way and self.is_confirmed(now)


class BrowserSession(Identified, TenantOwned, Base):
    """Signed-in browser. It ends with the membership; only a digest of its cookie is stored.

    `authenticated_at` is the last time that the person proved who they are, at sign-in or to confirm a change.
    """

    __tablename__ = "sessions"
    limited_callers_change = True
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "user_id"], ["memberships.tenant_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        Index(None, "tenant_id", "user_id"),
        CheckConstraint("method IN ('password', 'passkey', 'provider', 'identity_provider')", name="method"),
    )

    user_id: Mapped[UUID] = mapped_column(index=True)
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)
    method: Mapped[Method] = mapped_column(TEXT, server_default=Method.password)
    second_factor: Mapped[bool] = mapped_column(server_default=false())
    address: Mapped[str] = mapped_column(server_default="")
    user_agent: Mapped[str] = mapped_column(server_default="")
    authenticated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime] = mapped_column(server_default=func.now())


class AuditEntry(Identified, TenantOwned, Base):
    """Entry of the audit log. Names are copied, since an entry outlives its subject.

    `address` is that of the request; null for work that no request began.
    """

    __tablename__ = "audit_entries"
    limited_callers_change = True
    __table_args__ = (Index(None, "tenant_id", "created_at", "id"),)

    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    actor_name: Mapped[str]
    action: Mapped[str]
    subject_id: Mapped[UUID | None]
    subject_name: Mapped[str]
    detail: Mapped[dict[str, Any]]
    address: Mapped[str | None]
