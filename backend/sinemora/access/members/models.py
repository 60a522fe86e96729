"""Table of invitations."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.access.tenants.models import Role
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.outbox import OutgoingMail


class Delivery(StrEnum):
    """Way of an invitation: the product mails the link, or the inviting member passes it on."""

    email = "email"
    link = "link"


class Invitation(Identified, TenantOwned, Base):
    """Invitation of a person to a tenant, by a link that works once. Only a digest of its secret is stored.

    `mesh_ids`: the meshes that the person will see, null for all.
    """

    __tablename__ = "invitations"
    rows_max = 500
    __table_args__ = (
        CheckConstraint("email = lower(email)", name="email_lower"),
        CheckConstraint("role IN ('viewer', 'editor', 'admin', 'owner')", name="role"),
        CheckConstraint("delivery IN ('email', 'link')", name="delivery"),
        CheckConstraint("accepted_at IS NULL OR revoked_at IS NULL", name="end"),
        Index(
            "uq_invitations_open",
            "tenant_id",
            "email",
            unique=True,
            postgresql_where=text("accepted_at IS NULL AND revoked_at IS NULL"),
        ),
        Index(None, "tenant_id", "created_at", "id"),
    )

    email: Mapped[str]
    role: Mapped[Role] = mapped_column(TEXT)
    mesh_ids: Mapped[list[UUID] | None] = mapped_column(ARRAY(Uuid))
    delivery: Mapped[Delivery] = mapped_column(TEXT)
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    invited_by: Mapped[str]
    valid_days: Mapped[int]
    sent_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    mail_id: Mapped[UUID | None] = mapped_column(ForeignKey("outgoing_mails.id", ondelete="SET NULL"), index=True)

    mail: Mapped[OutgoingMail | None] = relationship(lazy="joined", viewonly=True)
