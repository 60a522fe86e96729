"""Curves of tenants and their versions, which are never changed."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0003"
down_revision: str | Sequence[str] | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("curves", "curve_versions")
OURS = "current_setting('sinemora.tenant_id', true)"

# What an application is attached to must stay what it was.
IMMUTABLE = """
CREATE FUNCTION curve_version_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'versions of curves are never changed' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER kept BEFORE UPDATE ON curve_versions FOR EACH ROW EXECUTE FUNCTION curve_version_kept();
"""


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "curves",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("metric IN ('rate', 'duration')", name=op.f("ck_curves_metric")),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_curves_tenant_id_tenants"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curves")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_curves_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_curves_tenant_id_name")),
    )
    op.create_table(
        "curve_versions",
        sa.Column("curve_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("samples", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("baseline", sa.Double(), nullable=False),
        sa.Column("baseline_measured", sa.Boolean(), nullable=False),
        sa.Column("baseline_factor", sa.Double(), nullable=False),
        sa.Column("latency_offset_us", sa.Double(), nullable=False),
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("candidates", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("noise", sa.Double(), nullable=False),
        sa.Column("threshold_us", sa.Double(), nullable=True),
        sa.Column("threshold_low_us", sa.Double(), nullable=True),
        sa.Column("threshold_high_us", sa.Double(), nullable=True),
        sa.Column("warnings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("domain_us", sa.Double(), nullable=False),
        sa.Column("knots_us", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("performance", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("low", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("high", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("0 < ALL (low) AND 1 >= ALL (high)", name=op.f("ck_curve_versions_band")),
        sa.CheckConstraint(
            "cardinality(knots_us) = cardinality(performance) AND cardinality(knots_us) = cardinality(low)"
            " AND cardinality(knots_us) = cardinality(high)",
            name=op.f("ck_curve_versions_knots"),
        ),
        sa.CheckConstraint(
            "domain_us > 0 AND domain_us = knots_us[cardinality(knots_us)]",
            name=op.f("ck_curve_versions_domain"),
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_curve_versions_number")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "curve_id"],
            ["curves.tenant_id", "curves.id"],
            name=op.f("fk_curve_versions_tenant_id_curve_id_curves"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_curve_versions_tenant_id_tenants"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curve_versions")),
        sa.UniqueConstraint(
            "tenant_id",
            "curve_id",
            "number",
            name=op.f("uq_curve_versions_tenant_id_curve_id_number"),
        ),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_curve_versions_tenant_id_id")),
    )
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")
    op.execute(IMMUTABLE)


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
    op.execute("DROP FUNCTION curve_version_kept()")
