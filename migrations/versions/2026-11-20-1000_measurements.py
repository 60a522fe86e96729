"""Frames, rollups, rosters, spikes; partitions by day, or hypertables where TimescaleDB can be created."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from sinemora.kit.config import settings

revision: str = "0002"
down_revision: str | Sequence[str] | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BY_DAY = ("probe_frames", "probe_frames_1m", "spikes")
TABLES = (*BY_DAY, "rosters", "path_latest", "path_latest_meshes", "rollup_marks")
DAYS_AHEAD = 3

# The setting is read once per statement (a subquery), not once per row.
CONFINE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table}
    USING ((SELECT current_setting('sinemora.tenant_key', true)) IN ('*', tenant_key::text));
"""

# Both engines offer the same two functions, so that nothing else needs to know which one it is. They run as the owner
# of the tables, because the application's role may not create or drop any.
#
# A partition is made aside and then attached: that does not stop those who write to the others. Its own row-level
# security without a policy forbids to read it except through its parent.
PARTITIONS = """
CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    parent text;
    day date;
    name text;
    made integer := 0;
BEGIN
    IF last_day - first_day > 400 THEN
        RAISE EXCEPTION 'from % to % are more than 400 days', first_day, last_day;
    END IF;
    PERFORM pg_advisory_xact_lock(84200002);
    FOREACH parent IN ARRAY ARRAY['probe_frames', 'probe_frames_1m', 'spikes'] LOOP
        FOR day IN SELECT generate_series(first_day, last_day, interval '1 day')::date LOOP
            name := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, parent);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           parent, name, day::text || ' 00:00+00', (day + 1)::text || ' 00:00+00');
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION drop_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    name text;
    dropped integer := 0;
BEGIN
    IF parent NOT IN ('probe_frames', 'probe_frames_1m', 'spikes') THEN
        RAISE EXCEPTION '% is not partitioned by day', parent;
    END IF;
    FOR name IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = to_regclass('public.' || parent)
                AND c.relname < parent || '_' || to_char(day, 'YYYYMMDD') ORDER BY 1 LOOP
        EXECUTE format('DROP TABLE %I', name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
"""

HYPERTABLES = """
SELECT create_hypertable('probe_frames', by_range('started_at', INTERVAL '1 day'), create_default_indexes => false);
SELECT create_hypertable('probe_frames_1m', by_range('started_at', INTERVAL '1 day'), create_default_indexes => false);
SELECT create_hypertable('spikes', by_range('started_at', INTERVAL '1 day'), create_default_indexes => false);

CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE sql AS $$ SELECT 0 $$;  -- chunks make themselves

CREATE FUNCTION drop_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    dropped integer;
BEGIN
    IF parent NOT IN ('probe_frames', 'probe_frames_1m', 'spikes') THEN
        RAISE EXCEPTION '% is not partitioned by day', parent;
    END IF;
    SELECT count(*) INTO dropped
        FROM drop_chunks(to_regclass('public.' || parent), (day::text || ' 00:00+00')::timestamptz);
    RETURN dropped;
END $$;
"""


def timescaledb() -> bool:
    """Whether this database has TimescaleDB, created now if it can be. Without it nothing is missing but chunks."""
    connection = op.get_bind()
    if not connection.scalar(sa.text("SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'")):
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS timescaledb"))
    except DBAPIError:  # not preloaded by the server, or not ours to create
        return False
    return True


def upgrade() -> None:
    """Create it all."""
    hypertables = timescaledb()
    by_day = {} if hypertables else {"postgresql_partition_by": "RANGE (started_at)"}
    op.create_table(
        "probe_frames",
        *_frame_key(),
        *_block_of_a_window(),
        sa.Column("sketch", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("n BETWEEN 1 AND 256", name=op.f("ck_probe_frames_n")),
        sa.CheckConstraint("window_s BETWEEN 1 AND 60", name=op.f("ck_probe_frames_window_s")),
        sa.PrimaryKeyConstraint(
            "tenant_key", "mesh_key", "started_at", "vm_key", "block", name=op.f("pk_probe_frames")
        ),
        **by_day,
    )
    op.create_table(
        "probe_frames_1m",
        *_frame_key(),
        *_block_of_a_window(),
        sa.Column("sketch", sa.LargeBinary(), nullable=False),
        sa.Column("frames", sa.Integer(), nullable=False),
        sa.Column("rolled_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("n BETWEEN 1 AND 256", name=op.f("ck_probe_frames_1m_n")),
        sa.PrimaryKeyConstraint(
            "tenant_key", "mesh_key", "started_at", "vm_key", "block", name=op.f("pk_probe_frames_1m")
        ),
        **by_day,
    )
    op.create_table(
        "rosters",
        sa.Column("key", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("target_keys", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_rosters")),
        sa.UniqueConstraint("tenant_key", "digest", name=op.f("uq_rosters_tenant_key_digest")),
    )
    op.create_table(
        "path_latest",
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("mesh_key", sa.Integer(), nullable=False),
        sa.Column("vm_key", sa.Integer(), nullable=False),
        sa.Column("block", sa.SmallInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        *_block_of_a_window(),
        sa.PrimaryKeyConstraint("tenant_key", "mesh_key", "vm_key", "block", name=op.f("pk_path_latest")),
        prefixes=["UNLOGGED"],
        postgresql_with={
            "fillfactor": 50,
            "autovacuum_vacuum_scale_factor": 0.1,
            "toast.autovacuum_vacuum_scale_factor": 0.1,
        },
    )
    op.create_table(
        "path_latest_meshes",
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("mesh_key", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_key", "mesh_key", name=op.f("pk_path_latest_meshes")),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "spikes",
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("mesh_key", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source_key", sa.Integer(), nullable=False),
        sa.Column("target_key", sa.Integer(), nullable=False),
        sa.Column("window_s", sa.SmallInteger(), nullable=False),
        sa.Column("max_ns", sa.BigInteger(), nullable=False),
        sa.Column("median_ns", sa.BigInteger(), nullable=False),
        sa.Column("evidence", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_key", "mesh_key", "started_at", "source_key", "target_key", name=op.f("pk_spikes")
        ),
        **by_day,
    )
    op.create_table(
        "rollup_marks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("mesh_key", sa.Integer(), nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rollup_marks")),
    )
    for table in TABLES:
        op.execute(CONFINE.format(table=table))
    # Frames are compressed already: out of line, and not compressed once more.
    for table, columns in (("probe_frames", ("stats", "sketch")), ("probe_frames_1m", ("stats", "sketch")),
                           ("path_latest", ("stats",))):  # fmt: skip
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute(HYPERTABLES if hypertables else PARTITIONS)
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )


def downgrade() -> None:
    """Undo it; TimescaleDB stays, others may use it."""
    op.execute("DROP FUNCTION make_measurement_partitions(date, date)")
    op.execute("DROP FUNCTION drop_measurements_before(text, date)")
    for table in TABLES:
        op.drop_table(table)


def _frame_key() -> list[sa.Column[int] | sa.Column[datetime]]:
    return [
        sa.Column("tenant_key", sa.Integer(), nullable=False),
        sa.Column("mesh_key", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("vm_key", sa.Integer(), nullable=False),
        sa.Column("block", sa.SmallInteger(), nullable=False),
    ]


def _block_of_a_window() -> list[sa.Column[int] | sa.Column[bytes]]:
    return [
        sa.Column("window_s", sa.SmallInteger(), nullable=False),
        sa.Column("roster_key", sa.Integer(), nullable=False),
        sa.Column("n", sa.SmallInteger(), nullable=False),
        sa.Column("stats", sa.LargeBinary(), nullable=False),
    ]
