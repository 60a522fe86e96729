"""Learning in production: sources of application metrics, their paths, progress and values."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0008"
down_revision: str | Sequence[str] | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("metric_sources", "metric_paths", "metric_progress", "metric_points")
OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "metric_sources",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("curve_id", sa.Uuid(), nullable=True),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=True),
        sa.Column("query", sa.String(), nullable=True),
        sa.Column("refresh_hours", sa.Integer(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "(kind = 'prometheus') = (url IS NOT NULL AND query IS NOT NULL)", name=op.f("ck_metric_sources_prometheus")
        ),
        sa.CheckConstraint("kind IN ('push', 'prometheus')", name=op.f("ck_metric_sources_kind")),
        sa.CheckConstraint("metric IN ('rate', 'duration')", name=op.f("ck_metric_sources_metric")),
        sa.CheckConstraint("refresh_hours >= 1", name=op.f("ck_metric_sources_refresh_hours")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "curve_id"],
            ["curves.tenant_id", "curves.id"],
            name=op.f("fk_metric_sources_tenant_id_curve_id_curves"),
            ondelete="SET NULL (curve_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_metric_sources_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_metric_sources_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_sources")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_metric_sources_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_metric_sources_tenant_id_name")),
    )
    op.create_index(
        op.f("ix_metric_sources_tenant_id_curve_id"), "metric_sources", ["tenant_id", "curve_id"], unique=False
    )
    op.create_index(
        op.f("ix_metric_sources_tenant_id_mesh_id"), "metric_sources", ["tenant_id", "mesh_id"], unique=False
    )
    op.create_table(
        "metric_paths",
        sa.Column("metric_source_id", sa.Uuid(), nullable=False),
        sa.Column("source_vm_id", sa.Uuid(), nullable=False),
        sa.Column("target_vm_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("source_vm_id <> target_vm_id", name=op.f("ck_metric_paths_ends")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "metric_source_id"],
            ["metric_sources.tenant_id", "metric_sources.id"],
            name=op.f("fk_metric_paths_tenant_id_metric_source_id_metric_sources"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "source_vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_metric_paths_tenant_id_source_vm_id_vms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "target_vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_metric_paths_tenant_id_target_vm_id_vms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_metric_paths_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("metric_source_id", "source_vm_id", "target_vm_id", name=op.f("pk_metric_paths")),
    )
    op.create_table(
        "metric_points",
        sa.Column("metric_source_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "metric_source_id"],
            ["metric_sources.tenant_id", "metric_sources.id"],
            name=op.f("fk_metric_points_tenant_id_metric_source_id_metric_sources"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_metric_points_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("metric_source_id", "at", name=op.f("pk_metric_points")),
    )
    op.create_table(
        "metric_progress",
        sa.Column("metric_source_id", sa.Uuid(), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("read_error", sa.String(), nullable=True),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("learnt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finding", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "metric_source_id"],
            ["metric_sources.tenant_id", "metric_sources.id"],
            name=op.f("fk_metric_progress_tenant_id_metric_source_id_metric_sources"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_metric_progress_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("metric_source_id", name=op.f("pk_metric_progress")),
    )
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
