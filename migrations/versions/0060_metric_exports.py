"""Exports of each minute to a tenant's own monitoring, with their progress. Versions of what two people save."""

from collections.abc import Sequence

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0060_metric_exports"
down_revision: str | Sequence[str] | None = "0058_host_waits_in_sql"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

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


def upgrade() -> None:
    """Create the table. Rows that are there have one version; new ones are given theirs."""
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} ADD COLUMN version integer NOT NULL DEFAULT 1")
    op.execute(_EXPORTS)
    op.execute("CREATE INDEX ix_metric_exports_next_at ON metric_exports (next_at)")
    op.execute(own_rows("metric_exports"))


def downgrade() -> None:
    """Drop the table and the versions."""
    op.execute("DROP TABLE metric_exports")
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} DROP COLUMN version")
