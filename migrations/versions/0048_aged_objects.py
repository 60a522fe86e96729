"""Catalogue of aged measurements in object storage, and the newest run of ageing of each tenant."""

from collections.abc import Sequence

from alembic import op

revision: str = "0048_aged_objects"
down_revision: str | Sequence[str] | None = "0047_replayed_etag"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = """
CREATE TABLE aged_objects (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    tier varchar NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    object_key varchar NOT NULL,
    state varchar NOT NULL,
    rows bigint,
    targets bigint,
    merged_ms bigint,
    bytes bigint,
    checksum bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    held_until timestamptz,
    CONSTRAINT pk_aged_objects PRIMARY KEY (id),
    CONSTRAINT uq_aged_objects_object_key UNIQUE (object_key),
    CONSTRAINT ck_aged_objects_range CHECK (started_at < ended_at),
    CONSTRAINT ck_aged_objects_state CHECK (state IN ('writing', 'current', 'restored', 'removing')),
    CONSTRAINT ck_aged_objects_known CHECK (
        state NOT IN ('current', 'restored') OR num_nulls(rows, targets, merged_ms, bytes, checksum) = 0)
);
CREATE INDEX ix_aged_objects_tenant_key_mesh_key_tier_started_at
    ON aged_objects (tenant_key, mesh_key, tier, started_at);

CREATE TABLE aging_runs (
    tenant_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    objects integer NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    error varchar,
    CONSTRAINT pk_aging_runs PRIMARY KEY (tenant_key)
);

ALTER TABLE tenant_quotas ADD COLUMN aged_after_days integer
    CONSTRAINT ck_tenant_quotas_aged CHECK (aged_after_days >= 0);
"""
# The setting is read once per statement (a subquery), not once per row.
OUR_KEY = "(SELECT current_setting('sinemora.tenant_key', true)) = tenant_key::text"


def upgrade() -> None:
    """Create the tables with their row-level security, and the quota."""
    op.execute(TABLES)
    for table in ("aged_objects", "aging_runs"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING ({OUR_KEY})")


def downgrade() -> None:
    """Drop them. Objects that are in storage must be restored before: rows of the catalogue are their only index."""
    op.execute(
        "DO $$ BEGIN IF EXISTS (SELECT FROM aged_objects WHERE state = 'current') THEN"
        " RAISE EXCEPTION 'aged measurements are in object storage; restore them first: sinemora aged restore';"
        " END IF; END $$"
    )
    op.execute("ALTER TABLE tenant_quotas DROP COLUMN aged_after_days")
    op.execute("DROP TABLE aging_runs")
    op.execute("DROP TABLE aged_objects")
