"""Tables of recommendations and their schedules."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import TEXT

from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.http.etag import Versioned


class RecommendationState(StrEnum):
    """Life cycle of a recommendation: an applied one is measured, then verified whatever the outcome.

    It is undone instead when a task leaves its new VM before that. One that nobody applied ends by itself: withdrawn
    with its incident, superseded by a newer one, or expired.
    """

    proposed = "proposed"
    accepted = "accepted"
    applied = "applied"
    verified = "verified"
    undone = "undone"
    dismissed = "dismissed"
    withdrawn = "withdrawn"
    superseded = "superseded"
    expired = "expired"


class Trigger(StrEnum):
    """Origin of a recommendation."""

    asked = "asked"
    scheduled = "scheduled"
    objective = "objective"


OPEN = (RecommendationState.proposed, RecommendationState.accepted)
OVER = (RecommendationState.withdrawn, RecommendationState.superseded, RecommendationState.expired)
"""States in which a recommendation ended by itself."""
_STATES = ", ".join(f"'{state}'" for state in RecommendationState)


class Recommendation(Identified, Versioned, TenantOwned, Base):
    """Moves worth making and their evidence. The content never changes, only the state.

    `outcome` holds the measurement after the moves. `incident_id`: the incident that they are for, if any; its row may
    be deleted. `expires_at`: until when they can be applied; null in rows of versions that had no end.
    """

    __tablename__ = "recommendations"
    rows_max = 5_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "created_at", "id"),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("trigger IN ('asked', 'scheduled', 'objective')", name="trigger"),
        CheckConstraint("state NOT IN ('applied', 'verified', 'undone') OR applied_at IS NOT NULL", name="applied"),
        CheckConstraint("(state = 'verified') = (outcome IS NOT NULL)", name="outcome"),
    )

    mesh_id: Mapped[UUID]
    state: Mapped[RecommendationState] = mapped_column(TEXT)
    trigger: Mapped[Trigger] = mapped_column(TEXT)
    requested_by: Mapped[str]
    incident_id: Mapped[UUID | None]
    expires_at: Mapped[datetime | None]
    request: Mapped[dict[str, Any]]
    result: Mapped[dict[str, Any]]
    moves: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    reason: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    applied_at: Mapped[datetime | None]
    outcome: Mapped[dict[str, Any] | None]
    verified_at: Mapped[datetime | None]

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)


class RecommendationSchedule(Versioned, TenantOwned, Base):
    """Repeats a request on a mesh every `every_h` hours."""

    __tablename__ = "recommendation_schedules"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        CheckConstraint("every_h BETWEEN 1 AND 720", name="every_h"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(server_default=text("1"))
    every_h: Mapped[int]
    request: Mapped[dict[str, Any]]
    asked_at: Mapped[datetime | None]
