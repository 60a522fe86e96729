"""Tiers above the minute and frames of zones; rosters remember when they were last written."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from sinemora.kit.config import settings

revision: str = "0009"
down_revision: str | Sequence[str] | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BEFORE = ("probe_frames", "probe_frames_1m", "spikes")
BY_DAY = ("probe_frames_15m", "zone_frames_1m")
BY_MONTH = ("probe_frames_1h", "probe_frames_1d", "zone_frames_15m", "zone_frames_1h", "zone_frames_1d")
TABLES = (*BY_DAY, *BY_MONTH)
DAYS_AHEAD = 3
MARKS = "ix_rollup_marks_step_s_tenant_key_mesh_key_minute"

CONFINE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table}
    USING ((SELECT current_setting('sinemora.tenant_key', true)) IN ('*', tenant_key::text));
"""

# What is small or kept for years is cut by month, so that no query has to plan for a thousand partitions. See 0002.
PARTITIONS = """
CREATE OR REPLACE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    parent text;
    unit text;
    day date;
    name text;
    made integer := 0;
BEGIN
    IF last_day - first_day > 400 THEN
        RAISE EXCEPTION 'from % to % are more than 400 days', first_day, last_day;
    END IF;
    PERFORM pg_advisory_xact_lock(84200002);
    FOREACH parent IN ARRAY ARRAY[{all}]::text[] LOOP
        unit := CASE WHEN parent = ANY(ARRAY[{by_month}]::text[]) THEN 'month' ELSE 'day' END;
        FOR day IN SELECT generate_series(date_trunc(unit, first_day), last_day, ('1 ' || unit)::interval)::date LOOP
            name := parent || '_' || to_char(day, CASE unit WHEN 'month' THEN 'YYYYMM' ELSE 'YYYYMMDD' END);
            CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, parent);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                           day::text || ' 00:00+00', (day + ('1 ' || unit)::interval)::date::text || ' 00:00+00');
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END $$;
"""


def hypertables() -> bool:
    """Whether the tables of 0002 became hypertables: these do then, too."""
    return bool(
        op.get_bind().scalar(sa.text("SELECT relkind = 'r' FROM pg_class WHERE oid = 'probe_frames'::regclass"))
    )


def maker(parents: tuple[str, ...], by_month: tuple[str, ...]) -> str:
    """The function that makes partitions of these tables."""
    names = {key: ", ".join(f"'{name}'" for name in value) for key, value in (("all", parents), ("by_month", by_month))}
    return PARTITIONS.format(**names)


def upgrade() -> None:
    """Create them, and mark what there is to be merged into them."""
    chunked = hypertables()
    by_time = {} if chunked else {"postgresql_partition_by": "RANGE (started_at)"}
    for table in TABLES:
        source = "zone_key" if table.startswith("zone") else "vm_key"
        op.create_table(
            table,
            sa.Column("tenant_key", sa.Integer(), nullable=False),
            sa.Column("mesh_key", sa.Integer(), nullable=False),
            sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
            sa.Column(source, sa.Integer(), nullable=False),
            sa.Column("block", sa.SmallInteger(), nullable=False),
            sa.Column("roster_key", sa.Integer(), nullable=False),
            sa.Column("n", sa.SmallInteger(), nullable=False),
            sa.Column("stats", sa.LargeBinary(), nullable=False),
            sa.Column("sketch", sa.LargeBinary(), nullable=False),
            sa.Column("frames", sa.Integer(), nullable=False),
            sa.Column("rolled_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
            sa.CheckConstraint("n BETWEEN 1 AND 256", name=op.f(f"ck_{table}_n")),
            sa.PrimaryKeyConstraint("tenant_key", "mesh_key", "started_at", source, "block", name=op.f(f"pk_{table}")),
            **by_time,
        )
        op.execute(CONFINE.format(table=table))
        for column in ("stats", "sketch"):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
        if chunked:
            days = 30 if table in BY_MONTH else 1
            op.execute(
                f"SELECT create_hypertable('{table}', by_range('started_at', INTERVAL '{days} days'),"
                " create_default_indexes => false)"
            )
    if not chunked:  # chunks make themselves
        op.execute(maker((*BEFORE, *TABLES), BY_MONTH))
    today = datetime.now(UTC).date()
    op.execute(
        sa.text(
            "SELECT make_measurement_partitions(least(:first, min(started_at)::date), :last) FROM probe_frames_1m"
        ).bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )
    # Until the API of this version runs, marks are written without a step: by minute.
    op.add_column("rollup_marks", sa.Column("step_s", sa.Integer(), server_default="60", nullable=False))
    op.create_index(
        op.f(MARKS),
        "rollup_marks",
        ["step_s", "tenant_key", "mesh_key", "minute"],
    )
    op.add_column(
        "rosters",
        sa.Column("written_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.add_column("zones", sa.Column("key", sa.Integer(), sa.Identity(always=True), nullable=False))
    op.create_unique_constraint(op.f("uq_zones_key"), "zones", ["key"])
    op.execute(
        "INSERT INTO rollup_marks (tenant_key, mesh_key, minute)"
        " SELECT DISTINCT tenant_key, mesh_key, started_at FROM probe_frames_1m"
        " WHERE started_at > now() - interval '3 days'"
    )
    op.execute(
        "INSERT INTO rollup_marks (tenant_key, mesh_key, minute, step_s)"
        " SELECT DISTINCT tenant_key, mesh_key, date_bin('15 minutes', started_at, TIMESTAMPTZ '2000-01-01 00:00+00'),"
        " 900 FROM probe_frames_1m"
    )


def downgrade() -> None:
    """Undo it; minutes and windows stay."""
    op.drop_constraint(op.f("uq_zones_key"), "zones")
    op.drop_column("zones", "key")
    op.drop_column("rosters", "written_at")
    op.execute("DELETE FROM rollup_marks WHERE step_s > 60")
    op.drop_index(op.f(MARKS), "rollup_marks")
    op.drop_column("rollup_marks", "step_s")
    if not hypertables():
        op.execute(maker(BEFORE, ()))
    for table in TABLES:
        op.drop_table(table)
