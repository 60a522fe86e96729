"""Reports of simulations that were handed over."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0018"
down_revision: str | Sequence[str] | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "simulations",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("world", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("policies", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_simulations_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulations")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_simulations_tenant_id_id")),
    )
    op.create_index(op.f("ix_simulations_tenant_id_created_at"), "simulations", ["tenant_id", "created_at"])
    op.execute("ALTER TABLE simulations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON simulations USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    op.drop_table("simulations")
