"""Measurements on demand of one pair, with every exchange of each second."""

from collections.abc import Sequence

from alembic import op

revision: str = "0028_on_demand"
down_revision: str | Sequence[str] | None = "0018_identities"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE on_demand_measurements (
    key integer GENERATED ALWAYS AS IDENTITY,
    mesh_id uuid NOT NULL,
    source_vm_id uuid NOT NULL,
    target_vm_id uuid NOT NULL,
    client_vm_id uuid NOT NULL,
    rate_hz integer NOT NULL,
    source_ports integer NOT NULL,
    loss_deadline_ms integer NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    stopped_at timestamptz,
    requested_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_on_demand_measurements PRIMARY KEY (id),
    CONSTRAINT uq_on_demand_measurements_key UNIQUE (key),
    CONSTRAINT uq_on_demand_measurements_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_on_demand_measurements_tenant_id_key UNIQUE (tenant_id, key),
    CONSTRAINT ck_on_demand_measurements_ends_differ CHECK (source_vm_id <> target_vm_id),
    CONSTRAINT ck_on_demand_measurements_client CHECK (client_vm_id IN (source_vm_id, target_vm_id)),
    CONSTRAINT ck_on_demand_measurements_rate_hz CHECK (rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)),
    CONSTRAINT ck_on_demand_measurements_source_ports
        CHECK (source_ports IN (1, 2, 4, 8, 16, 32, 64) AND source_ports <= rate_hz),
    CONSTRAINT ck_on_demand_measurements_span
        CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '60 s'),
    CONSTRAINT fk_on_demand_measurements_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_source_vm_id_vms
        FOREIGN KEY (tenant_id, source_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_target_vm_id_vms
        FOREIGN KEY (tenant_id, target_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_on_demand_measurements_tenant_id_mesh_id_starts_at_id
    ON on_demand_measurements (tenant_id, mesh_id, starts_at, id);
CREATE INDEX ix_on_demand_measurements_tenant_id_source_vm_id ON on_demand_measurements (tenant_id, source_vm_id);
CREATE INDEX ix_on_demand_measurements_tenant_id_target_vm_id ON on_demand_measurements (tenant_id, target_vm_id);
CREATE INDEX ix_on_demand_measurements_active ON on_demand_measurements (ends_at) WHERE stopped_at IS NULL;

CREATE TABLE on_demand_windows (
    measurement_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ports integer[] NOT NULL,
    exchanges jsonb NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_on_demand_windows PRIMARY KEY (measurement_id, started_at),
    CONSTRAINT fk_on_demand_windows_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_windows_tenant_id_measurement_id_on_demand_3b95
        FOREIGN KEY (tenant_id, measurement_id) REFERENCES on_demand_measurements (tenant_id, id) ON DELETE CASCADE
);
"""
TABLES = ("on_demand_measurements", "on_demand_windows")
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"


def upgrade() -> None:
    """Create the tables and their row-level security."""
    op.execute(SCHEMA)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {OUR_ID})")


def downgrade() -> None:
    """Drop the tables."""
    op.execute("DROP TABLE on_demand_windows")
    op.execute("DROP TABLE on_demand_measurements")
