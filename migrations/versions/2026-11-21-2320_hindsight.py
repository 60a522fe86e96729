"""Windows that came late are looked at afterwards; spike rules nobody has changed follow the length of windows."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | Sequence[str] | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OURS = "current_setting('sinemora.tenant_id', true)"

# Windows from so many seconds on and shorter than so many: breaches in how many of how many are more than chance.
SPIKES = ((12, 25, 5, 6), (25, 49, 6, 6), (49, 61, 8, 8))


def upgrade() -> None:
    """A small table, a column without a value, and rules of meshes with long windows."""
    op.create_table(
        "alert_hindsights",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("looked_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_alert_hindsights_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_alert_hindsights_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("mesh_id", name=op.f("pk_alert_hindsights")),
    )
    op.execute("ALTER TABLE alert_hindsights ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON alert_hindsights USING (tenant_id::text = {OURS} OR {OURS} = '*')")
    op.add_column("incidents", sa.Column("found_late_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("SELECT set_config('sinemora.tenant_id', '*', true)")
    for least_s, below_s, x, y in SPIKES:
        # Four of six is what every mesh was given; whoever has chosen something else keeps it.
        op.execute(
            f"UPDATE alert_rules r SET windows_x = {x}, windows_y = {y}, version = r.version + 1, updated_at = now()"
            " FROM meshes m WHERE m.tenant_id = r.tenant_id AND m.id = r.mesh_id AND r.origin = 'spikes'"
            f" AND m.window_s >= {least_s} AND m.window_s < {below_s} AND r.windows_x = 4 AND r.windows_y = 6"
        )


def downgrade() -> None:
    """Rules keep what they have: it is valid before, too."""
    op.drop_column("incidents", "found_late_at")
    op.drop_table("alert_hindsights")
