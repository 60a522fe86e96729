"""Applications, their tasks, what limits their placement, what VMs can carry."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | Sequence[str] | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("applications", "vm_capacities", "separations", "application_zones", "tasks", "task_edges")
OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "applications",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("curve_key", sa.String(), nullable=True),
        sa.Column("curve_version_id", sa.Uuid(), nullable=True),
        sa.Column("reference_us", sa.Double(), nullable=True),
        sa.Column("objective", sa.Double(), nullable=True),
        sa.Column("moves_max", sa.Integer(), nullable=True),
        sa.Column("move_cost", sa.Double(), nullable=False),
        sa.Column("per_vm_max", sa.Integer(), nullable=True),
        sa.Column("per_host_max", sa.Integer(), nullable=True),
        sa.Column("per_zone_max", sa.Integer(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("least(per_vm_max, per_host_max, per_zone_max) >= 1", name=op.f("ck_applications_spread")),
        sa.CheckConstraint("move_cost >= 0", name=op.f("ck_applications_move_cost")),
        sa.CheckConstraint("moves_max >= 0", name=op.f("ck_applications_moves_max")),
        sa.CheckConstraint("num_nonnulls(curve_key, curve_version_id) = 1", name=op.f("ck_applications_curve")),
        sa.CheckConstraint("objective > 0 AND objective <= 1", name=op.f("ck_applications_objective")),
        sa.CheckConstraint("reference_us >= 0", name=op.f("ck_applications_reference_us")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "curve_version_id"],
            ["curve_versions.tenant_id", "curve_versions.id"],
            name=op.f("fk_applications_tenant_id_curve_version_id_curve_versions"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_applications_tenant_id_mesh_id_meshes"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_applications_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_applications")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_applications_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_applications_tenant_id_name")),
    )
    op.create_index(
        op.f("ix_applications_tenant_id_curve_version_id"),
        "applications",
        ["tenant_id", "curve_version_id"],
        unique=False,
    )
    op.create_index(op.f("ix_applications_tenant_id_mesh_id"), "applications", ["tenant_id", "mesh_id"], unique=False)
    op.create_table(
        "vm_capacities",
        sa.Column("vm_id", sa.Uuid(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("cpu_millicores", sa.Integer(), nullable=True),
        sa.Column("memory_mib", sa.Integer(), nullable=True),
        sa.Column("price_per_hour", sa.Numeric(precision=14, scale=6), nullable=True),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("cpu_millicores >= 0 AND memory_mib >= 0", name=op.f("ck_vm_capacities_size")),
        sa.CheckConstraint("price_per_hour >= 0", name=op.f("ck_vm_capacities_price")),
        sa.CheckConstraint("slots >= 0", name=op.f("ck_vm_capacities_slots")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_vm_capacities_tenant_id_vm_id_vms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_vm_capacities_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("vm_id", name=op.f("pk_vm_capacities")),
    )
    op.create_table(
        "separations",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("other_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("application_id <> other_id", name=op.f("ck_separations_other")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id"],
            ["applications.tenant_id", "applications.id"],
            name=op.f("fk_separations_tenant_id_application_id_applications"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "other_id"],
            ["applications.tenant_id", "applications.id"],
            name=op.f("fk_separations_tenant_id_other_id_applications"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_separations_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("application_id", "other_id", name=op.f("pk_separations")),
    )
    op.create_table(
        "application_zones",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("zone_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id"],
            ["applications.tenant_id", "applications.id"],
            name=op.f("fk_application_zones_tenant_id_application_id_applications"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "zone_id"],
            ["zones.tenant_id", "zones.id"],
            name=op.f("fk_application_zones_tenant_id_zone_id_zones"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_application_zones_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("application_id", "zone_id", name=op.f("pk_application_zones")),
    )
    op.create_table(
        "tasks",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("vm_id", sa.Uuid(), nullable=True),
        sa.Column("root", sa.Boolean(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("cpu_millicores", sa.Integer(), nullable=False),
        sa.Column("memory_mib", sa.Integer(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("cpu_millicores >= 0 AND memory_mib >= 0", name=op.f("ck_tasks_size")),
        sa.CheckConstraint("slots >= 1", name=op.f("ck_tasks_slots")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id"],
            ["applications.tenant_id", "applications.id"],
            name=op.f("fk_tasks_tenant_id_application_id_applications"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_tasks_tenant_id_vm_id_vms"),
            ondelete="SET NULL (vm_id)",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_tasks_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("tenant_id", "application_id", "id", name=op.f("uq_tasks_tenant_id_application_id_id")),
        sa.UniqueConstraint(
            "tenant_id",
            "application_id",
            "name",
            deferrable=True,
            initially="DEFERRED",
            name=op.f("uq_tasks_tenant_id_application_id_name"),
        ),
    )
    op.create_index(op.f("ix_tasks_tenant_id_vm_id"), "tasks", ["tenant_id", "vm_id"], unique=False)
    op.create_index(
        "uq_tasks_root", "tasks", ["tenant_id", "application_id"], unique=True, postgresql_where=sa.text("root")
    )
    op.create_table(
        "task_edges",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("source_task_id", sa.Uuid(), nullable=False),
        sa.Column("target_task_id", sa.Uuid(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("source_task_id <> target_task_id", name=op.f("ck_task_edges_loop")),
        sa.CheckConstraint("weight > 0", name=op.f("ck_task_edges_weight")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id", "source_task_id"],
            ["tasks.tenant_id", "tasks.application_id", "tasks.id"],
            name=op.f("fk_task_edges_tenant_id_application_id_source_task_id_tasks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id", "target_task_id"],
            ["tasks.tenant_id", "tasks.application_id", "tasks.id"],
            name=op.f("fk_task_edges_tenant_id_application_id_target_task_id_tasks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "application_id"],
            ["applications.tenant_id", "applications.id"],
            name=op.f("fk_task_edges_tenant_id_application_id_applications"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_task_edges_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("application_id", "source_task_id", "target_task_id", name=op.f("pk_task_edges")),
    )
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
