"""Tables of recommendations and of what asks for them regularly."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import TEXT

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.etag import Versioned
from sinemora.meshes.models import Mesh


class RecommendationState(StrEnum):
    """Where a recommendation stands. What was applied is measured, and then verified whatever it showed."""

    proposed = "proposed"
    accepted = "accepted"
    applied = "applied"
    verified = "verified"
    dismissed = "dismissed"


class Trigger(StrEnum):
    """Why a recommendation was made."""

    asked = "asked"
    scheduled = "scheduled"
    objective = "objective"


OPEN = (RecommendationState.proposed, RecommendationState.accepted)


class Recommendation(Identified, Versioned, TenantOwned, Base):
    """Moves that are worth making, with everything they rest on; what it says never changes, only where it stands.

    `question` is what was asked, `answer` what was found, `outcome` what was measured after it was applied.
    """

    __tablename__ = "recommendations"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "created_at", "id"),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint("state IN ('proposed', 'accepted', 'applied', 'verified', 'dismissed')", name="state"),
        CheckConstraint("trigger IN ('asked', 'scheduled', 'objective')", name="trigger"),
        CheckConstraint("state NOT IN ('applied', 'verified') OR applied_at IS NOT NULL", name="applied"),
        CheckConstraint("(state = 'verified') = (outcome IS NOT NULL)", name="outcome"),
    )

    mesh_id: Mapped[UUID]
    state: Mapped[RecommendationState] = mapped_column(TEXT)
    trigger: Mapped[Trigger] = mapped_column(TEXT)
    requested_by: Mapped[str]
    question: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any]]
    moves: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    reason: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    applied_at: Mapped[datetime | None]
    outcome: Mapped[dict[str, Any] | None]
    verified_at: Mapped[datetime | None]

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)


class RecommendationSchedule(TenantOwned, Base):
    """Asks for a recommendation on a mesh every so often, with the same question."""

    __tablename__ = "recommendation_schedules"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        CheckConstraint("every_h BETWEEN 1 AND 720", name="every_h"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    every_h: Mapped[int]
    question: Mapped[dict[str, Any]]
    asked_at: Mapped[datetime | None]
