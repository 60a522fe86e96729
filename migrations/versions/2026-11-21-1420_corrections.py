"""Clocks that agents tell, and corrections of one-way delays made of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | Sequence[str] | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("clocks_latest", "corrections")

# The setting is read once per statement (a subquery), not once per row.
CONFINE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table}
    USING ((SELECT current_setting('sinemora.tenant_key', true)) IN ('*', tenant_key::text));
"""


def upgrade() -> None:
    """Create both."""
    op.create_table(
        "clocks_latest",
        sa.Column("tenant_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mesh_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("vm_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_s", sa.SmallInteger(), nullable=False),
        sa.Column("clocks", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_key", "mesh_key", "vm_key", name=op.f("pk_clocks_latest")),
        prefixes=["UNLOGGED"],
        postgresql_with={
            "fillfactor": 50,
            "autovacuum_vacuum_scale_factor": 0.1,
            "toast.autovacuum_vacuum_scale_factor": 0.1,
        },
    )
    op.create_table(
        "corrections",
        sa.Column("tenant_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mesh_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("shifts", sa.LargeBinary(), nullable=False),
        sa.Column("loops", sa.Integer(), nullable=False),
        sa.Column("loop_median_ns", sa.BigInteger(), nullable=True),
        sa.Column("loop_max_ns", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_key", "mesh_key", "started_at", name=op.f("pk_corrections")),
    )
    for table in TABLES:
        op.execute(CONFINE.format(table=table))


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
