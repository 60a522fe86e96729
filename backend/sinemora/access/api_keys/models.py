"""Table of API keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.access.tenants.models import Membership
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as


class ApiKey(Identified, TenantOwned, Base):
    """API key with scopes and an expiry, stored as a digest.

    A key ends with the membership of its owner; a service account has no owner. After a rotation the secret before it
    is valid until `previous_expires_at`. `mesh_ids`: the meshes that the key sees, null for all that its owner sees.
    """

    __tablename__ = "api_keys"
    rows_max = 500
    limited_callers_change = True
    __table_args__ = (
        CheckConstraint("cardinality(scopes) > 0", name="scopes"),
        CheckConstraint("(previous_digest IS NULL) = (previous_expires_at IS NULL)", name="previous"),
        UniqueConstraint("tenant_id", "name", info=taken_as("api_key_name_taken")),
        ForeignKeyConstraint(
            ["tenant_id", "owner_id"], ["memberships.tenant_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        Index(None, "tenant_id", "owner_id"),
    )

    name: Mapped[str]
    prefix: Mapped[str]
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    previous_digest: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    previous_expires_at: Mapped[datetime | None]
    scopes: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    mesh_ids: Mapped[list[UUID] | None] = mapped_column(ARRAY(Uuid))
    owner_id: Mapped[UUID | None]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    last_used_from: Mapped[str | None]

    owner: Mapped[Membership | None] = relationship(viewonly=True, lazy="joined")
