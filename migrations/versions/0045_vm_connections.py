"""Retransmissions and timeouts of the TCP connections of VMs, by peer and minute."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from sinemora.kit.config import settings

revision: str = "0045_vm_connections"
down_revision: str | Sequence[str] | None = "0044_price_bases"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLE = """
CREATE TABLE vm_connections (
    tenant_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    peer_key integer NOT NULL,
    connections integer NOT NULL,
    segments_sent bigint NOT NULL,
    segments_retransmitted bigint NOT NULL,
    timeouts integer NOT NULL,
    timeouts_in_band integer NOT NULL,
    stalled_ms bigint NOT NULL,
    rto_us integer NOT NULL,
    CONSTRAINT pk_vm_connections PRIMARY KEY (tenant_key, vm_key, started_at, peer_key),
    CONSTRAINT ck_vm_connections_timeouts_in_band CHECK (timeouts_in_band <= timeouts)
) {by_time};
"""
# The setting is read once per statement (a subquery), not once per row.
OUR_KEY = "(SELECT current_setting('sinemora.tenant_key', true)) = tenant_key::text"
HYPERTABLE = (
    "SELECT create_hypertable('vm_connections', by_range('started_at', INTERVAL '1 day'),"
    " create_default_indexes => false)"
)
DAYS_AHEAD = 3
MAKE = "make_measurement_partitions(date, date)"
WITHOUT, WITH = "'vm_traffic', ", "'vm_traffic', 'vm_connections', "


def upgrade() -> None:
    """Create the table, its row-level security and the first partitions."""
    hypertables = _has_hypertables()
    op.execute(TABLE.format(by_time="" if hypertables else "PARTITION BY RANGE (started_at)"))
    op.execute("ALTER TABLE vm_connections ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON vm_connections USING ({OUR_KEY})")
    if hypertables:
        op.execute(HYPERTABLE)
        return
    _replace(WITHOUT, WITH)
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )


def downgrade() -> None:
    """Drop the table, and leave the function as it was."""
    if not _has_hypertables():
        _replace(WITH, WITHOUT)
    op.execute("DROP TABLE vm_connections")


def _has_hypertables() -> bool:
    return bool(op.get_bind().scalar(sa.text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')")))


def _replace(before: str, after: str) -> None:
    """Replace the tables of the function that makes partitions; its owner and its grants stay."""
    read = sa.text("SELECT pg_get_functiondef(CAST(:name AS regprocedure))")
    definition = str(op.get_bind().scalar(read, {"name": MAKE}))
    if definition.count(before) != 1:
        raise RuntimeError(f"{MAKE} has {definition.count(before)} times {before!r}, once is expected")
    # By the driver itself: SQLAlchemy would read the percent signs in it as parameters.
    with op.get_bind().connection.cursor() as cursor:
        cursor.execute(definition.replace(before, after))
