"""Minutes between zones as plain columns, and views of them for the SQL logins of each tenant."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from sinemora.kit.config import settings

revision: str = "0053_zone_minutes"
down_revision: str | Sequence[str] | None = "0052_bucket_exports"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# No row-level security: TimescaleDB refuses it on a table with columnstore. `grants` gives the role of requests nothing
# here; logins read the views below.
MINUTES = """
CREATE TABLE zone_minutes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    source_zone_key integer NOT NULL,
    target_zone_key integer NOT NULL,
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
    CONSTRAINT pk_zone_minutes PRIMARY KEY (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key)
) {by_time};
"""
LOGINS = """
CREATE TABLE sql_logins (
    role varchar NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_sql_logins PRIMARY KEY (role),
    CONSTRAINT fk_sql_logins_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_sql_logins_tenant_id ON sql_logins (tenant_id);
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"

# The tenant is that of `session_user`, the role that authenticated: unlike `current_user` it stays the same after SET
# ROLE and inside functions. A view reads as its owner, and row-level security of the owner depends on a setting that
# any session may change, so each view selects the rows of the tenant itself. With `security_barrier`, functions in a
# caller's WHERE get only rows that the view returns.
VIEWS = """
CREATE SCHEMA sinemora_read;

CREATE VIEW sinemora_read.meshes WITH (security_barrier) AS
SELECT m.name AS mesh, m.id AS mesh_id
FROM public.meshes m
WHERE m.tenant_id = (SELECT l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);

CREATE VIEW sinemora_read.zones WITH (security_barrier) AS
SELECT z.name AS zone, z.region, z.provider, z.id AS zone_id
FROM public.zones z
WHERE z.tenant_id = (SELECT l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);

CREATE VIEW sinemora_read.zone_minutes WITH (security_barrier) AS
SELECT i.started_at AS time,
       m.name AS mesh,
       a.name AS source_zone,
       b.name AS target_zone,
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
       a.id AS source_zone_id,
       b.id AS target_zone_id
FROM public.zone_minutes i
JOIN public.meshes m ON m.key = i.mesh_key
JOIN public.zones a ON a.key = i.source_zone_key
JOIN public.zones b ON b.key = i.target_zone_key
WHERE i.tenant_key = (
        SELECT t.key FROM public.tenants t JOIN public.sql_logins l ON l.tenant_id = t.id
        WHERE l.role = session_user::text)
    AND (m.tenant_id, a.tenant_id, b.tenant_id) = (
        SELECT l.tenant_id, l.tenant_id, l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);
"""
# Tables with a policy that lets their owner, as whom the views read, see the tenant of a login.
NAMES = ("tenants", "meshes", "zones", "sql_logins")

HYPERTABLE = (
    "SELECT create_hypertable('zone_minutes', by_range('started_at', INTERVAL '1 day'),"
    " create_default_indexes => false)"
)
# A minute changes while its windows may still arrive. One day of a path is a segment of 1,440 rows.
COLUMNSTORE = (
    "ALTER TABLE zone_minutes SET (timescaledb.enable_columnstore, timescaledb.orderby = 'started_at',"
    " timescaledb.segmentby = 'tenant_key, mesh_key, source_zone_key, target_zone_key')",
    "CALL add_columnstore_policy('zone_minutes', after => INTERVAL '{days} days')",
)
MAKE = "make_measurement_partitions(date, date)"
WITHOUT, WITH = "'vm_traffic', ", "'vm_traffic', 'zone_minutes', "
DAYS_AHEAD = 3


def upgrade() -> None:
    """Create tables and views; the minutes are a hypertable with columnstore, or native partitions."""
    hypertables = _has_hypertables()
    op.execute(MINUTES.format(by_time="" if hypertables else "PARTITION BY RANGE (started_at)"))
    op.execute(LOGINS)
    op.execute("ALTER TABLE sql_logins ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON sql_logins USING (tenant_id = {OUR_ID})")
    op.execute(VIEWS)
    if hypertables:
        op.execute(HYPERTABLE)
        if _has_columnstore():
            for statement in COLUMNSTORE:
                op.execute(statement.format(days=settings().retention_raw_days + 1))
        return
    _replace(WITHOUT, WITH)
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )


def downgrade() -> None:
    """Drop views and tables, and leave the functions as they were."""
    op.execute("DROP SCHEMA sinemora_read CASCADE")
    for table in NAMES:
        op.execute(f"DROP POLICY IF EXISTS login ON {table}")
    op.execute("DROP TABLE sql_logins")
    op.execute("DROP TABLE zone_minutes")
    if not _has_hypertables():
        _replace(WITH, WITHOUT)


def _has_hypertables() -> bool:
    return bool(op.get_bind().scalar(sa.text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')")))


def _has_columnstore() -> bool:
    """Return whether this TimescaleDB has columnstore with policies: since 2.18, not in its Apache edition."""
    known = sa.text(
        "SELECT current_setting('timescaledb.license', true) = 'timescale' AND"
        " EXISTS (SELECT FROM pg_proc WHERE proname = 'add_columnstore_policy')"
    )
    return bool(op.get_bind().scalar(known))


def _replace(before: str, after: str) -> None:
    """Replace the tables of the function that makes partitions; its owner and its grants stay."""
    read = sa.text("SELECT pg_get_functiondef(CAST(:name AS regprocedure))")
    definition = str(op.get_bind().scalar(read, {"name": MAKE}))
    if definition.count(before) != 1:
        raise RuntimeError(f"{MAKE} has {definition.count(before)} times {before!r}, once is expected")
    # By the driver itself: SQLAlchemy would read the percent signs in it as parameters.
    with op.get_bind().connection.cursor() as cursor:
        cursor.execute(definition.replace(before, after))
