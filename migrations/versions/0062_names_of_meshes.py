"""Minutes of chosen paths between VMs for SQL logins: tables of the choice and the minutes, and a view of them.

Exports of each minute to a tenant's own monitoring, with their progress. Versions of what two people save. Names are of
a mesh where objects are, so that none tells what a hidden mesh has; saved views have owners.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0062_names_of_meshes"
down_revision: str | Sequence[str] | None = "0058_host_waits_in_sql"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_NAMED = {"applications": "name", "metric_sources": "name", "scenarios": "name", "artifacts": "name, release"}
_VERSIONED = ("artifact_settings", "memberships")
_EXPORTS = """
    CREATE TABLE metric_exports (
        id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        version integer NOT NULL,
        tenant_id uuid NOT NULL,
        name varchar NOT NULL,
        kind text NOT NULL,
        url varchar NOT NULL,
        authentication varchar,
        secret bytea,
        headers jsonb NOT NULL,
        paths jsonb NOT NULL,
        paused boolean NOT NULL,
        next_at timestamptz NOT NULL,
        busy_until timestamptz,
        sent_until timestamptz NOT NULL,
        part integer NOT NULL,
        parts integer NOT NULL,
        series bytea,
        samples bigint NOT NULL,
        succeeded_at timestamptz,
        failed_at timestamptz,
        failures integer NOT NULL,
        error varchar,
        left_out_from timestamptz,
        left_out_until timestamptz,
        CONSTRAINT pk_metric_exports PRIMARY KEY (id),
        CONSTRAINT fk_metric_exports_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE,
        CONSTRAINT uq_metric_exports_tenant_id_id UNIQUE (tenant_id, id),
        CONSTRAINT uq_metric_exports_tenant_id_name UNIQUE (tenant_id, name),
        CONSTRAINT ck_metric_exports_kind CHECK (kind IN ('remote_write', 'otlp')),
        CONSTRAINT ck_metric_exports_secret CHECK ((authentication IS NULL) = (secret IS NULL))
    )
"""
_CHOSEN = """
    CREATE TABLE sql_paths (
        tenant_id uuid NOT NULL,
        vm_id uuid NOT NULL,
        peer_id uuid NOT NULL,
        CONSTRAINT pk_sql_paths PRIMARY KEY (tenant_id, vm_id, peer_id),
        CONSTRAINT fk_sql_paths_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
        CONSTRAINT fk_sql_paths_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
            REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT fk_sql_paths_tenant_id_peer_id_vms FOREIGN KEY (tenant_id, peer_id)
            REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_sql_paths_order CHECK (vm_id < peer_id)
    );
    CREATE INDEX ix_sql_paths_peer_id ON sql_paths (peer_id)
"""
# As zone_minutes in baseline/measurements.sql: without row-level security.
_MINUTES = """
    CREATE TABLE path_minutes (
        tenant_key integer NOT NULL,
        mesh_key integer NOT NULL,
        started_at timestamptz NOT NULL,
        source_vm_key integer NOT NULL,
        target_vm_key integer NOT NULL,
        exchanges bigint NOT NULL,
        delay_p50_ns bigint,
        delay_p90_ns bigint,
        delay_p99_ns bigint,
        clock_error_ns bigint,
        round_trip_p50_ns bigint,
        round_trip_p90_ns bigint,
        round_trip_p99_ns bigint,
        packets_sent bigint,
        packets_lost bigint,
        CONSTRAINT pk_path_minutes PRIMARY KEY (tenant_key, mesh_key, started_at, source_vm_key, target_vm_key)
    )
"""
_HYPERTABLE = (
    "SELECT create_hypertable('path_minutes', by_range('started_at', INTERVAL '1 day'),"
    " create_default_indexes => false)"
)
_COLUMNSTORE = (
    "ALTER TABLE path_minutes SET (timescaledb.enable_columnstore, timescaledb.orderby = 'started_at',"
    " timescaledb.segmentby = 'tenant_key, mesh_key, source_vm_key, target_vm_key')",
    "CALL add_columnstore_policy('path_minutes', after => INTERVAL '{days} days')",
)
# As the view of zones in baseline/sql_views.sql.
_VIEW = """
    CREATE VIEW sinemora_read.path_minutes WITH (security_barrier) AS
    SELECT i.started_at AS time,
           m.name AS mesh,
           a.name AS source_vm,
           b.name AS target_vm,
           i.exchanges,
           i.delay_p50_ns,
           i.delay_p90_ns,
           i.delay_p99_ns,
           i.clock_error_ns,
           i.round_trip_p50_ns,
           i.round_trip_p90_ns,
           i.round_trip_p99_ns,
           i.packets_sent,
           i.packets_lost,
           CASE WHEN i.packets_sent > 0 THEN i.packets_lost::double precision / i.packets_sent END AS loss_ratio,
           m.id AS mesh_id,
           a.id AS source_vm_id,
           b.id AS target_vm_id
    FROM public.path_minutes i
    JOIN public.meshes m ON m.key = i.mesh_key
    JOIN public.vms a ON a.key = i.source_vm_key
    JOIN public.vms b ON b.key = i.target_vm_key
    WHERE i.tenant_key = (
            SELECT t.key FROM public.tenants t JOIN public.sql_logins l ON l.tenant_id = t.id
            WHERE l.role = session_user::text)
        AND (m.tenant_id, a.tenant_id, b.tenant_id) = (
            SELECT l.tenant_id, l.tenant_id, l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text)
"""
# The function names the tables that have partitions; the one for hypertables names none.
_PARTITIONED = """
    DO $$ BEGIN EXECUTE replace(
        pg_get_functiondef('make_measurement_partitions(date, date)'::regprocedure), '{before}', '{after}'
    ); END $$
"""
_ZONES, _BOTH = "''zone_minutes''", "''zone_minutes'', ''path_minutes''"
_DAYS_AHEAD = 3


def upgrade() -> None:
    """Add versions, tables and the view, with hypertable and columnstore if those of zones have them; free names."""
    for table in _VERSIONED:
        # Rows that are there have one version; new ones are given theirs.
        op.execute(f"ALTER TABLE {table} ADD COLUMN version integer NOT NULL DEFAULT 1")
    op.execute(_EXPORTS)
    op.execute("CREATE INDEX ix_metric_exports_next_at ON metric_exports (next_at)")
    op.execute(own_rows("metric_exports"))
    op.execute(_CHOSEN)
    op.execute(own_rows("sql_paths"))
    raw_days = op.get_context().opts["raw_days"]
    if _is("timescaledb_information.hypertables", "hypertable_name = 'zone_minutes'"):
        op.execute(_MINUTES)
        op.execute(_HYPERTABLE)
        if _is("timescaledb_information.jobs", "hypertable_name = 'zone_minutes' AND proc_name = 'policy_compression'"):
            for statement in _COLUMNSTORE:
                op.execute(statement.format(days=raw_days + 1))
    else:
        op.execute(f"{_MINUTES} PARTITION BY RANGE (started_at)")
        op.execute(_PARTITIONED.format(before=_ZONES, after=_BOTH))
        today = datetime.now(UTC).date()
        op.execute(
            sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
                first=today - timedelta(days=raw_days), last=today + timedelta(days=_DAYS_AHEAD)
            )
        )
    op.execute(_VIEW)
    for table, columns in _NAMED.items():
        words = columns.replace(", ", "_")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT uq_{table}_tenant_id_{words},"
            f" ADD CONSTRAINT uq_{table}_tenant_id_mesh_id_{words} UNIQUE (tenant_id, mesh_id, {columns})"
        )
    op.execute("ALTER TABLE saved_views DROP CONSTRAINT uq_saved_views_tenant_id_name, ADD COLUMN mesh_ids uuid[]")
    op.execute(
        "ALTER TABLE saved_views ADD CONSTRAINT uq_saved_views_tenant_id_name_mesh_ids"
        " UNIQUE NULLS NOT DISTINCT (tenant_id, name, mesh_ids)"
    )
    op.execute("ALTER TABLE enrolment_tokens ADD COLUMN limited boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Drop what was added, with hours and days of paths; fails where two meshes share a name."""
    op.execute("ALTER TABLE enrolment_tokens DROP COLUMN limited")
    op.execute("DROP POLICY IF EXISTS meshes ON saved_views")  # it reads the column; the next start makes another
    op.execute(
        "ALTER TABLE saved_views DROP COLUMN mesh_ids, ADD CONSTRAINT uq_saved_views_tenant_id_name"
        " UNIQUE (tenant_id, name)"
    )
    for table, columns in _NAMED.items():
        words = columns.replace(", ", "_")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT uq_{table}_tenant_id_mesh_id_{words},"
            f" ADD CONSTRAINT uq_{table}_tenant_id_{words} UNIQUE (tenant_id, {columns})"
        )
    op.execute(_PARTITIONED.format(before=_BOTH, after=_ZONES))
    op.execute("DROP TABLE path_minutes CASCADE")
    op.execute("DROP TABLE sql_paths")
    op.execute("DROP TABLE metric_exports")
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} DROP COLUMN version")


def _is(view: str, condition: str) -> bool:
    """Return whether a view of TimescaleDB has such a row; without the extension there is no view."""
    connection = op.get_bind()
    if not connection.scalar(sa.text("SELECT to_regclass(:view) IS NOT NULL").bindparams(view=view)):
        return False
    return bool(connection.scalar(sa.text(f"SELECT EXISTS (SELECT FROM {view} WHERE {condition})")))
