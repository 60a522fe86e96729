"""Recommendations, and the questions asked regularly."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0006"
down_revision: str | Sequence[str] | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("recommendations", "recommendation_schedules")
OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "recommendation_schedules",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("every_h", sa.Integer(), nullable=False),
        sa.Column("question", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("every_h BETWEEN 1 AND 720", name=op.f("ck_recommendation_schedules_every_h")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_recommendation_schedules_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_recommendation_schedules_tenant_id_tenants"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("mesh_id", name=op.f("pk_recommendation_schedules")),
    )
    op.create_table(
        "recommendations",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.TEXT(), nullable=False),
        sa.Column("trigger", sa.TEXT(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=False),
        sa.Column("question", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("moves", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("(state = 'verified') = (outcome IS NOT NULL)", name=op.f("ck_recommendations_outcome")),
        sa.CheckConstraint(
            "state IN ('proposed', 'accepted', 'applied', 'verified', 'dismissed')",
            name=op.f("ck_recommendations_state"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('applied', 'verified') OR applied_at IS NOT NULL", name=op.f("ck_recommendations_applied")
        ),
        sa.CheckConstraint("trigger IN ('asked', 'scheduled', 'objective')", name=op.f("ck_recommendations_trigger")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_recommendations_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_recommendations_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recommendations")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_recommendations_tenant_id_id")),
    )
    op.create_index(
        op.f("ix_recommendations_tenant_id_created_at_id"),
        "recommendations",
        ["tenant_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_recommendations_tenant_id_mesh_id"), "recommendations", ["tenant_id", "mesh_id"], unique=False
    )
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
