"""Frames of each tier, rosters, spikes, newest windows, corrections and pins: native partitions or hypertables."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

from sinemora.kit.config import settings

revision: str = "0002_measurements"
down_revision: str | Sequence[str] | None = "0001_foundation"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BY_DAY = ("probe_frames", "probe_frames_1m", "spikes", "probe_frames_15m", "zone_frames_1m")
# Small tables, or those kept for years, are partitioned by month: no query has to plan for a thousand partitions.
BY_MONTH = ("probe_frames_1h", "probe_frames_1d", "zone_frames_15m", "zone_frames_1h", "zone_frames_1d")
TIERS = ("probe_frames_15m", "zone_frames_1m", *BY_MONTH)
UNPARTITIONED = ("rosters", "rollup_marks", "path_latest", "path_latest_meshes", "clocks_latest", "corrections")
DAYS_AHEAD = 3

FRAMES = """
CREATE TABLE probe_frames (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    sketch bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_probe_frames PRIMARY KEY (tenant_key, mesh_key, started_at, vm_key, block),
    CONSTRAINT ck_probe_frames_n CHECK (n BETWEEN 1 AND 256),
    CONSTRAINT ck_probe_frames_window_s CHECK (window_s BETWEEN 1 AND 60)
) {by_time};

CREATE TABLE probe_frames_1m (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    sketch bytea NOT NULL,
    frames integer NOT NULL,
    rolled_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_probe_frames_1m PRIMARY KEY (tenant_key, mesh_key, started_at, vm_key, block),
    CONSTRAINT ck_probe_frames_1m_n CHECK (n BETWEEN 1 AND 256)
) {by_time};

CREATE TABLE spikes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    source_key integer NOT NULL,
    target_key integer NOT NULL,
    window_s smallint NOT NULL,
    max_ns bigint NOT NULL,
    median_ns bigint NOT NULL,
    evidence bytea NOT NULL,
    CONSTRAINT pk_spikes PRIMARY KEY (tenant_key, mesh_key, started_at, source_key, target_key)
) {by_time};
"""

TIER = """
CREATE TABLE {table} (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    {source} integer NOT NULL,
    block smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    sketch bytea NOT NULL,
    frames integer NOT NULL,
    rolled_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_{table} PRIMARY KEY (tenant_key, mesh_key, started_at, {source}, block),
    CONSTRAINT ck_{table}_n CHECK (n BETWEEN 1 AND 256)
) {by_time};
"""

# The newest windows: every row and its TOAST values are replaced once a window, so each vacuum has much to free, and
# what it does not free in time stays as bloat. It runs without pauses. It returns no pages to the disk: the table needs
# them again within seconds, and truncation takes a lock that stops all writers of reports. Statistics are not needed:
# the table is read by key.
REWRITTEN = """
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false, toast.vacuum_truncate = false,
    autovacuum_analyze_scale_factor = 10
"""
# A mark is written with each frame and deleted within 20 s: nearly all rows of the table are dead.
QUEUE = """
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false
"""
OTHERS = f"""
CREATE TABLE rosters (
    key integer GENERATED ALWAYS AS IDENTITY,
    tenant_key integer NOT NULL,
    digest bytea NOT NULL,
    target_keys integer[] NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_rosters PRIMARY KEY (key),
    CONSTRAINT uq_rosters_tenant_key_digest UNIQUE (tenant_key, digest)
);

CREATE TABLE rollup_marks (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    minute timestamptz NOT NULL,
    step_s integer NOT NULL DEFAULT 60,
    CONSTRAINT pk_rollup_marks PRIMARY KEY (id)
) WITH ({QUEUE});
CREATE INDEX ix_rollup_marks_step_s_tenant_key_mesh_key_minute ON rollup_marks (step_s, tenant_key, mesh_key, minute);

CREATE UNLOGGED TABLE path_latest (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    CONSTRAINT pk_path_latest PRIMARY KEY (tenant_key, mesh_key, vm_key, block)
) WITH ({REWRITTEN});

CREATE UNLOGGED TABLE path_latest_meshes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    CONSTRAINT pk_path_latest_meshes PRIMARY KEY (tenant_key, mesh_key)
);

CREATE UNLOGGED TABLE clocks_latest (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    clocks bytea NOT NULL,
    CONSTRAINT pk_clocks_latest PRIMARY KEY (tenant_key, mesh_key, vm_key)
) WITH ({REWRITTEN});

CREATE TABLE corrections (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    shifts bytea NOT NULL,
    loops integer NOT NULL,
    loop_median_ns bigint,
    loop_max_ns bigint,
    CONSTRAINT pk_corrections PRIMARY KEY (tenant_key, mesh_key, started_at)
);

CREATE TABLE pins (
    mesh_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    reason varchar NOT NULL,
    made_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_pins PRIMARY KEY (id),
    CONSTRAINT ck_pins_range CHECK (started_at < ended_at),
    CONSTRAINT fk_pins_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_pins_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_pins_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_pins_tenant_id_started_at_id ON pins (tenant_id, started_at, id);
CREATE INDEX ix_pins_mesh_id_started_at ON pins (mesh_id, started_at);
"""

# Frames are compressed already: store them out of line and do not compress them again.
COMPRESSED = {
    "path_latest": ("stats",),
    **dict.fromkeys(("probe_frames", "probe_frames_1m", *TIERS), ("stats", "sketch")),
}

# The setting is read once per statement (a subquery), not once per row.
BY_KEY = "(SELECT current_setting('sinemora.tenant_key', true)) IN ('*', tenant_key::text)"
BY_ID = (
    "tenant_id::text = current_setting('sinemora.tenant_id', true) OR current_setting('sinemora.tenant_id', true) = '*'"
)


def literal(names: tuple[str, ...]) -> str:
    """Return the names as elements of an SQL array."""
    return ", ".join(f"'{name}'" for name in names)


# Both engines have the same functions, so no other code needs to know the engine. They run as the owner of the tables,
# because the application's role may neither create nor drop a table.
#
# A partition is created apart and then attached, which does not block writers of other partitions. It has row-level
# security and no policy of its own, so it can be read only through its parent.
PARTITIONS = f"""
CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
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
    FOREACH parent IN ARRAY ARRAY[{literal((*BY_DAY, *BY_MONTH))}]::text[] LOOP
        unit := CASE WHEN parent = ANY(ARRAY[{literal(BY_MONTH)}]::text[]) THEN 'month' ELSE 'day' END;
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

# TimescaleDB creates and drops chunks by itself.
HYPERTABLE = "SELECT create_hypertable('{table}', by_range('started_at', {step}), create_default_indexes => false)"
CHUNKS = """
CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE sql AS $$ SELECT 0 $$;

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

# Delete the rows wholly before `day`. A partition or chunk without a pinned row is dropped. Of a partition with some,
# the pinned rows are copied out and back, so its space is free at once; of a chunk the other rows are deleted. The
# function reads the partitions and their bounds from the catalogue, so it covers every tier.
#
# A row that began before a pinned range reaches into it by its step. Call it in a session that sees every tenant.
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

# Frames of short tiers are only inserted and, after days, dropped. Their TOAST values, nearly all of their bytes, need
# no vacuum after inserts: they are never read by index alone and never old enough to be frozen. The rows themselves do
# need it, so that they can be counted by index alone.
INSERTED = ("probe_frames", "probe_frames_1m", "probe_frames_15m", "zone_frames_1m", "spikes")
OPTION = "toast.autovacuum_vacuum_insert_threshold"

# A partitioned table takes no such setting, and a partition inherits none, so this runs after partitions are created.
# Its lock blocks neither readers nor writers. Chunks inherit the setting of their hypertable.
TUNE = f"""
CREATE FUNCTION tune_measurement_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    part regclass;
    tuned integer := 0;
BEGIN
    FOR part IN SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class t ON t.oid = c.reltoastrelid
                WHERE p.relname = ANY(ARRAY[{literal(INSERTED)}]) AND p.relkind = 'p'
                AND p.relnamespace = 'public'::regnamespace AND t.reloptions IS NULL ORDER BY 1 LOOP
        EXECUTE format('ALTER TABLE %s SET ({OPTION} = -1)', part);
        tuned := tuned + 1;
    END LOOP;
    RETURN tuned;
END $$;
"""


def upgrade() -> None:
    """Create the tables, the functions that partition them, and the first partitions."""
    hypertables = timescaledb()
    by_time = "" if hypertables else "PARTITION BY RANGE (started_at)"
    op.execute(FRAMES.format(by_time=by_time))
    for table in TIERS:
        source = "zone_key" if table.startswith("zone") else "vm_key"
        op.execute(TIER.format(table=table, source=source, by_time=by_time))
    op.execute(OTHERS)
    for table in (*BY_DAY, *BY_MONTH, *UNPARTITIONED):
        confine(table, BY_KEY)
    confine("pins", BY_ID)
    for table, columns in COMPRESSED.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    if hypertables:
        for table in (*BY_DAY, *BY_MONTH):
            days = 30 if table in BY_MONTH else 1
            op.execute(HYPERTABLE.format(table=table, step=f"INTERVAL '{days} days'"))
        for table in INSERTED:
            op.execute(f"ALTER TABLE {table} SET ({OPTION} = -1)")
    op.execute(CHUNKS if hypertables else PARTITIONS)
    op.execute(FORGET)
    op.execute(TUNE)
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )
    op.execute("SELECT tune_measurement_partitions()")


def downgrade() -> None:
    """Drop the tables and functions. TimescaleDB stays: others may use it."""
    for function in (
        "make_measurement_partitions",
        "drop_measurements_before",
        "forget_measurements_before",
        "tune_measurement_partitions",
    ):
        op.execute(f"DROP FUNCTION {function}")
    for table in (*BY_DAY, *BY_MONTH, *UNPARTITIONED, "pins"):
        op.execute(f"DROP TABLE {table}")


def timescaledb() -> bool:
    """Return whether the database has TimescaleDB; create the extension if possible."""
    connection = op.get_bind()
    if not connection.scalar(sa.text("SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'")):
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS timescaledb"))
    except DBAPIError:  # the server does not preload it, or this role may not create it
        return False
    return True


def confine(table: str, condition: str) -> None:
    """Let a session read and write only rows that satisfy `condition`, also as the owner of the table."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING ({condition})")
