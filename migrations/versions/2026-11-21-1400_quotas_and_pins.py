"""Quotas of tenants, kept ranges, and retention that leaves what is kept."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | Sequence[str] | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("tenant_quotas", "pins")
OURS = "current_setting('sinemora.tenant_id', true)"

# Drops what lies wholly before `day`: partitions and chunks without kept ranges at once, of the others all rows that
# nobody keeps. What is left of a partition is copied aside and back, so that its space is free at once; of a chunk the
# rows are deleted. Which tables, and where their partitions end, is asked of the catalogue: tiers to come are included.
#
# A row that began before a kept range reaches into it by its step. Runs as the owner, in a session that sees every
# tenant.
FORGET = """
CREATE FUNCTION forget_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    whole regclass := to_regclass('public.' || parent);
    step interval := CASE WHEN parent LIKE '%\\_1d' THEN interval '1 day'
                          WHEN parent LIKE '%\\_1h' THEN interval '1 hour'
                          WHEN parent LIKE '%\\_15m' THEN interval '15 minutes' ELSE interval '1 minute' END;
    chunked boolean := EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb');
    kept text := 'EXISTS (SELECT FROM pins p JOIN meshes m ON m.id = p.mesh_id'
                 ' WHERE m.key = f.mesh_key AND f.started_at > p.started_at - $3 AND f.started_at < p.ended_at)';
    span text := 'f.started_at >= $1 AND f.started_at < $2';
    part record;
    pinned boolean;
    gone integer := 0;
BEGIN
    IF whole IS NULL OR (SELECT count(*) FROM pg_attribute WHERE attrelid = whole
                         AND attname IN ('tenant_key', 'mesh_key', 'started_at')) <> 3 THEN
        RAISE EXCEPTION '% holds no measurements by time', parent;
    END IF;
    IF chunked THEN
        chunked := EXISTS (SELECT FROM timescaledb_information.hypertables WHERE hypertable_name = parent);
    END IF;
    IF chunked THEN
        FOR part IN SELECT range_start AS first, range_end AS last FROM timescaledb_information.chunks
                    WHERE hypertable_schema = 'public' AND hypertable_name = parent AND range_end <= day LOOP
            EXECUTE format('SELECT EXISTS (SELECT FROM %I f WHERE %s AND %s)', parent, span, kept)
                INTO pinned USING part.first, part.last, step;
            IF pinned THEN
                EXECUTE format('DELETE FROM %I f WHERE %s AND NOT %s', parent, span, kept)
                    USING part.first, part.last, step;
            ELSE
                PERFORM drop_chunks(whole, older_than => part.last, newer_than => part.first);
                gone := gone + 1;
            END IF;
        END LOOP;
        RETURN gone;
    END IF;
    FOR part IN SELECT name, bounds[1]::timestamptz AS first, bounds[2]::timestamptz AS last FROM (
                    SELECT c.relname AS name, regexp_match(pg_get_expr(c.relpartbound, c.oid),
                           'FROM \\(''(.*)''\\) TO \\(''(.*)''\\)') AS bounds
                    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = whole) AS parts
                WHERE bounds[2]::timestamptz <= day ORDER BY name LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I f WHERE %s AND %s)', parent, span, kept)
            INTO pinned USING part.first, part.last, step;
        IF NOT pinned THEN
            EXECUTE format('DROP TABLE %I', part.name);
            gone := gone + 1;
            CONTINUE;
        END IF;
        EXECUTE format('SELECT EXISTS (SELECT FROM %I f WHERE %s AND NOT %s)', parent, span, kept)
            INTO pinned USING part.first, part.last, step;
        IF pinned THEN
            EXECUTE format('CREATE TEMP TABLE kept_rows ON COMMIT DROP AS SELECT f.* FROM %I f WHERE %s AND %s',
                           parent, span, kept) USING part.first, part.last, step;
            EXECUTE format('TRUNCATE %I', part.name);
            EXECUTE format('INSERT INTO %I SELECT * FROM kept_rows', parent);
            DROP TABLE kept_rows;
        END IF;
    END LOOP;
    RETURN gone;
END $$;
"""


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "tenant_quotas",
        sa.Column("vms", sa.Integer(), nullable=True),
        sa.Column("paths", sa.BigInteger(), nullable=True),
        sa.Column("windows_per_s", sa.Double(), nullable=True),
        sa.Column("raw_days", sa.Integer(), nullable=True),
        sa.Column("minute_days", sa.Integer(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("vms >= 0 AND paths >= 0 AND windows_per_s >= 0", name=op.f("ck_tenant_quotas_growth")),
        sa.CheckConstraint("raw_days >= 1 AND minute_days >= 1", name=op.f("ck_tenant_quotas_days")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_tenant_quotas_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_tenant_quotas")),
    )
    op.create_table(
        "pins",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("started_at < ended_at", name=op.f("ck_pins_range")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_pins_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_pins_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pins")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_pins_tenant_id_id")),
    )
    op.create_index(op.f("ix_pins_tenant_id_started_at_id"), "pins", ["tenant_id", "started_at", "id"])
    op.create_index(op.f("ix_pins_mesh_id_started_at"), "pins", ["mesh_id", "started_at"])
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")
    op.execute(FORGET)


def downgrade() -> None:
    """Undo it."""
    op.execute("DROP FUNCTION forget_measurements_before(text, date)")
    for table in reversed(TABLES):
        op.drop_table(table)
