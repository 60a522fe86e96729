"""Scenarios: what-if questions that are kept."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0014"
down_revision: str | Sequence[str] | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "scenarios",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("question", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_scenarios_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_scenarios_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scenarios")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_scenarios_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_scenarios_tenant_id_name")),
    )
    op.create_index(op.f("ix_scenarios_tenant_id_mesh_id"), "scenarios", ["tenant_id", "mesh_id"], unique=False)
    op.execute("ALTER TABLE scenarios ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON scenarios USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    op.drop_table("scenarios")
