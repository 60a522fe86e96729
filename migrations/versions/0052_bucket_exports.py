"""Exports to buckets of tenants: settings, progress and exported days."""

from collections.abc import Sequence

from alembic import op

revision: str = "0052_bucket_exports"
down_revision: str | Sequence[str] | None = "0051_path_probes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NAMES = ("bucket_exports", "bucket_export_progress", "exported_days")
TABLES = """
CREATE TABLE bucket_exports (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    name varchar NOT NULL,
    endpoint varchar NOT NULL,
    region varchar NOT NULL,
    bucket varchar NOT NULL,
    prefix varchar NOT NULL,
    access_key varchar NOT NULL,
    secret bytea NOT NULL,
    schedule text NOT NULL,
    hour integer NOT NULL,
    tables text[] NOT NULL,
    paused boolean NOT NULL,
    CONSTRAINT pk_bucket_exports PRIMARY KEY (id),
    CONSTRAINT fk_bucket_exports_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_bucket_exports_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_bucket_exports_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT uq_bucket_exports_tenant_id_endpoint_bucket_prefix UNIQUE (tenant_id, endpoint, bucket, prefix),
    CONSTRAINT ck_bucket_exports_schedule CHECK (schedule IN ('hourly', 'daily')),
    CONSTRAINT ck_bucket_exports_hour CHECK (hour BETWEEN 0 AND 23),
    CONSTRAINT ck_bucket_exports_tables CHECK (cardinality(tables) > 0)
);

CREATE TABLE bucket_export_progress (
    tenant_id uuid NOT NULL,
    bucket_export_id uuid NOT NULL,
    next_at timestamptz NOT NULL,
    job_id uuid,
    succeeded_at timestamptz,
    failed_at timestamptz,
    failures integer NOT NULL,
    error varchar,
    CONSTRAINT pk_bucket_export_progress PRIMARY KEY (bucket_export_id),
    CONSTRAINT fk_bucket_export_progress_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
        ON DELETE CASCADE,
    CONSTRAINT fk_bucket_export_progress_tenant_id_bucket_export_id_bucket_exports
        FOREIGN KEY (tenant_id, bucket_export_id) REFERENCES bucket_exports (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_bucket_export_progress_error CHECK ((failures > 0) = (error IS NOT NULL))
);
CREATE INDEX ix_bucket_export_progress_next_at ON bucket_export_progress (next_at);

CREATE TABLE exported_days (
    tenant_id uuid NOT NULL,
    bucket_export_id uuid NOT NULL,
    mesh_id uuid NOT NULL,
    table_name varchar NOT NULL,
    day date NOT NULL,
    revision integer NOT NULL,
    parts integer NOT NULL,
    writing_parts integer NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    seen_rows bigint NOT NULL,
    seen_targets bigint NOT NULL,
    seen_merged_ms bigint NOT NULL,
    exported_at timestamptz NOT NULL,
    CONSTRAINT pk_exported_days PRIMARY KEY (bucket_export_id, mesh_id, table_name, day),
    CONSTRAINT fk_exported_days_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_exported_days_tenant_id_bucket_export_id_bucket_exports
        FOREIGN KEY (tenant_id, bucket_export_id) REFERENCES bucket_exports (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_exported_days_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_exported_days_tenant_id_mesh_id ON exported_days (tenant_id, mesh_id);
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"


def upgrade() -> None:
    """Create the tables with their row-level security."""
    op.execute(TABLES)
    for table in NAMES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {OUR_ID})")


def downgrade() -> None:
    """Drop the tables; objects in the buckets stay."""
    for table in reversed(NAMES):
        op.execute(f"DROP TABLE {table}")
