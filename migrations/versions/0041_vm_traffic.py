"""Bytes and packets of each VM by window, and the token buckets that shape VMs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from sinemora.kit.config import settings

revision: str = "0041_vm_traffic"
down_revision: str | Sequence[str] | None = "0040_service_plans"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TRAFFIC = """
CREATE TABLE vm_traffic (
    tenant_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    elapsed_ms integer NOT NULL,
    bytes_sent bigint NOT NULL,
    packets_sent bigint NOT NULL,
    bytes_received bigint NOT NULL,
    packets_received bigint NOT NULL,
    interface varchar NOT NULL,
    CONSTRAINT pk_vm_traffic PRIMARY KEY (tenant_key, vm_key, started_at),
    CONSTRAINT ck_vm_traffic_window_s CHECK (window_s BETWEEN 1 AND 60),
    CONSTRAINT ck_vm_traffic_elapsed_ms CHECK (elapsed_ms > 0)
) {by_time};
"""
BUCKETS = """
CREATE TABLE token_buckets (
    vm_id uuid NOT NULL,
    direction varchar NOT NULL,
    rate_bytes_per_s double precision NOT NULL,
    depth_bytes double precision NOT NULL,
    source varchar NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_token_buckets PRIMARY KEY (id),
    CONSTRAINT uq_token_buckets_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_token_buckets_tenant_id_vm_id UNIQUE (tenant_id, vm_id),
    CONSTRAINT ck_token_buckets_direction CHECK (direction IN ('sent', 'received')),
    CONSTRAINT ck_token_buckets_source CHECK (source IN ('stated', 'detected')),
    CONSTRAINT ck_token_buckets_rate_bytes_per_s CHECK (rate_bytes_per_s > 0),
    CONSTRAINT ck_token_buckets_depth_bytes CHECK (depth_bytes > 0),
    CONSTRAINT fk_token_buckets_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_token_buckets_tenant_id_vm_id_vms
        FOREIGN KEY (tenant_id, vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
"""
# The setting is read once per statement (a subquery), not once per row.
OUR_KEY = "(SELECT current_setting('sinemora.tenant_key', true)) = tenant_key::text"
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"
HYPERTABLE = (
    "SELECT create_hypertable('vm_traffic', by_range('started_at', INTERVAL '1 day'), create_default_indexes => false)"
)
DAYS_AHEAD = 3

# The default rule about token buckets, for meshes that still have default rules.
ADD_RULE = """
INSERT INTO alert_rules (id, tenant_id, mesh_id, version, name, enabled, severity, condition, scope,
    windows_x, windows_y, sources_min, hold_s, keep_firing_s, origin)
SELECT gen_random_uuid(), tenant_id, mesh_id, 1, 'Token bucket nearly empty', true, 'warning',
    '{"kind": "tokens", "metric": "one_way_delay", "statistic": "p50", "above": 0.0, "deviations": 6.0,
      "rise_ns": 0.0, "timescale": "short", "over_s": 0, "within_s": 60}'::jsonb, '{}', 2, 3, 1, 0, 60, 'tokens'
FROM alert_rules WHERE origin IS NOT NULL GROUP BY tenant_id, mesh_id
ON CONFLICT (tenant_id, mesh_id, name) DO NOTHING
"""

# Changes of the functions that make and drop partitions, each as the text before and after it. Traffic is of a VM and
# of no mesh, so pins, which keep ranges of meshes, do not keep it.
MAKE = ("make_measurement_partitions(date, date)", [("'probe_frames', ", "'probe_frames', 'vm_traffic', ")])
FORGET = (
    "forget_measurements_before(text, date)",
    [
        (
            "AND attname IN ('tenant_key', 'mesh_key', 'started_at')) <> 3",
            "AND attname IN ('tenant_key', 'started_at')) <> 2",
        ),
        (
            "BEGIN\n    IF whole IS NULL",
            "BEGIN\n    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = whole AND attname = 'mesh_key') THEN\n"
            "        kept := 'false';\n    END IF;\n    IF whole IS NULL",
        ),
    ],
)


def upgrade() -> None:
    """Create the tables, their row-level security and the first partitions."""
    hypertables = _has_hypertables()
    op.execute(TRAFFIC.format(by_time="" if hypertables else "PARTITION BY RANGE (started_at)"))
    op.execute(BUCKETS)
    for table, own in (("vm_traffic", OUR_KEY), ("token_buckets", f"tenant_id = {OUR_ID}")):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING ({own})")
    _rewrite(ADD_RULE)
    _change(*FORGET)
    if hypertables:
        op.execute(HYPERTABLE)
        return
    _change(*MAKE)
    today = datetime.now(UTC).date()
    op.execute(
        sa.text("SELECT make_measurement_partitions(:first, :last)").bindparams(
            first=today - timedelta(days=settings().retention_raw_days), last=today + timedelta(days=DAYS_AHEAD)
        )
    )


def downgrade() -> None:
    """Drop the tables and rules about token buckets, and leave the functions as they were."""
    _rewrite("DELETE FROM alert_rules WHERE condition ->> 'kind' = 'tokens'")
    for function, changes in (FORGET, MAKE) if not _has_hypertables() else (FORGET,):
        _change(function, [(after, before) for before, after in changes])
    op.execute("DROP TABLE token_buckets")
    op.execute("DROP TABLE vm_traffic")


def _has_hypertables() -> bool:
    return bool(op.get_bind().scalar(sa.text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')")))


def _change(function: str, changes: Sequence[tuple[str, str]]) -> None:
    """Replace parts of a function's definition; its owner and its grants stay."""
    read = sa.text("SELECT pg_get_functiondef(CAST(:name AS regprocedure))")
    definition = str(op.get_bind().scalar(read, {"name": function}))
    for before, after in changes:
        if definition.count(before) != 1:
            raise RuntimeError(f"{function} has {definition.count(before)} times {before!r}, once is expected")
        definition = definition.replace(before, after)
    # By the driver itself: SQLAlchemy would read the percent signs in it as parameters.
    with op.get_bind().connection.cursor() as cursor:
        cursor.execute(definition)


def _rewrite(statement: str) -> None:
    """Change rules of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE alert_rules NO FORCE ROW LEVEL SECURITY")
    # As it is: SQLAlchemy would read the colons in JSON as parameters.
    op.get_bind().exec_driver_sql(statement)
    op.execute("ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY")
