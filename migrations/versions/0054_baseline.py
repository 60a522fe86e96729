"""Schema of the product: the SQL by subject in `baseline/`, its row-level security, and the first partitions.

It bears the name of the newest of the 46 migrations that it replaces, so a database with all of them stays as it is.
`pg_dump` prints the same schema for both.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

from sinemora.kit.row_policies import confined, own_rows

revision: str = "0054_pins_as_values"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SQL = Path(__file__).parents[1] / "baseline"
# Tables that others refer to come first.
SUBJECTS = (
    "access",
    "operations",
    "fleet",
    "measurements",
    "object_storage",
    "applications",
    "recommendations",
    "alerts",
    "artifacts",
    "overview",
)
BY_TIME = " PARTITION BY RANGE (started_at)"
# Frames of the coarser tiers. Those in BY_MONTH are small, or kept for years.
BY_MONTH = ("probe_frames_1h", "probe_frames_1d", "zone_frames_15m", "zone_frames_1h", "zone_frames_1d")
TIERS = ("probe_frames_15m", "zone_frames_1m", *BY_MONTH)
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
) PARTITION BY RANGE (started_at);
ALTER TABLE {table} ALTER COLUMN stats SET STORAGE EXTERNAL;
ALTER TABLE {table} ALTER COLUMN sketch SET STORAGE EXTERNAL;
"""

# Each table with rows of tenants, and the column that names the tenant.
OF_TENANTS = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name IN ('tenant_id', 'tenant_key') AND table_name <> 'zone_minutes' ORDER BY 1
"""
OF_SIGN_IN = ("one_time_tokens", "totp_secrets", "recovery_codes", "passkeys", "identities")

# The same tables as in partitions.sql.
BY_DAY = ("probe_frames", "probe_frames_1m", "spikes", "vm_traffic", "vm_connections", "zone_minutes", *TIERS[:2])
HYPERTABLE = (
    "SELECT create_hypertable('{table}', by_range('started_at', INTERVAL '{days} days'),"
    " create_default_indexes => false)"
)
# The same tables as in retention.sql.
INSERTED = ("probe_frames", "probe_frames_1m", "probe_frames_15m", "zone_frames_1m", "spikes")
# A minute changes while its windows may still arrive. One day of a path is a segment of 1,440 rows.
COLUMNSTORE = (
    "ALTER TABLE zone_minutes SET (timescaledb.enable_columnstore, timescaledb.orderby = 'started_at',"
    " timescaledb.segmentby = 'tenant_key, mesh_key, source_zone_key, target_zone_key')",
    "CALL add_columnstore_policy('zone_minutes', after => INTERVAL '{days} days')",
)
DAYS_AHEAD = 3
# Not valid, as in databases that grew to this version: a scan of the frames that they had would have held up reports.
TIMESTAMP_SOURCE = """
ALTER TABLE probe_frames ADD CONSTRAINT ck_probe_frames_timestamp_source
    CHECK (timestamp_source BETWEEN 1 AND 3) NOT VALID
"""


def upgrade() -> None:
    """Create tables, row-level security and functions; measurements are hypertables or native partitions."""
    hypertables = _timescaledb()
    for subject in SUBJECTS:
        _create(_read(subject), hypertables)
    for table in TIERS:
        source = "zone_key" if table.startswith("zone") else "vm_key"
        _create(TIER.format(table=table, source=source), hypertables)
    op.execute(_read("sql_views"))
    for table, column in op.get_bind().execute(sa.text(OF_TENANTS)).all():
        op.execute(own_rows(table, column))
    op.execute(own_rows("tenants", "id"))
    # A user may belong to several tenants: visible through a membership, which is itself confined.
    op.execute(confined("users", "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)"))
    for table in OF_SIGN_IN:
        op.execute(confined(table, "false"))
    raw_days = op.get_context().opts["raw_days"]
    if hypertables:
        _make_hypertables(raw_days)
    op.execute(_read("chunks" if hypertables else "partitions"))
    op.execute(_read("retention"))
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )
    op.execute("SELECT tune_measurement_partitions()")
    op.execute(TIMESTAMP_SOURCE)


def downgrade() -> None:
    """Refuse: there is nothing before it."""
    raise NotImplementedError("the first migration cannot be undone: drop the database and create it again")


def _read(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()


def _create(sql: str, hypertables: bool) -> None:
    op.execute(sql.replace(BY_TIME, "") if hypertables else sql)


def _timescaledb() -> bool:
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


def _make_hypertables(raw_days: int) -> None:
    for table in (*BY_DAY, *BY_MONTH):
        op.execute(HYPERTABLE.format(table=table, days=30 if table in BY_MONTH else 1))
    for table in INSERTED:
        op.execute(f"ALTER TABLE {table} SET (toast.autovacuum_vacuum_insert_threshold = -1)")
    if _has_columnstore():
        for statement in COLUMNSTORE:
            op.execute(statement.format(days=raw_days + 1))


def _has_columnstore() -> bool:
    """Return whether this TimescaleDB has columnstore with policies: since 2.18, not in its Apache edition."""
    known = sa.text(
        "SELECT current_setting('timescaledb.license', true) = 'timescale' AND"
        " EXISTS (SELECT FROM pg_proc WHERE proname = 'add_columnstore_policy')"
    )
    return bool(op.get_bind().scalar(known))
