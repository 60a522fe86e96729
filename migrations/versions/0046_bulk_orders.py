"""Orders of the bulk sender: trials of transports, and runs of planned transfers."""

from collections.abc import Sequence

from alembic import op

revision: str = "0046_bulk_orders"
down_revision: str | Sequence[str] | None = "0045_vm_connections"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLE = """
CREATE TABLE bulk_orders (
    mesh_id uuid NOT NULL,
    kind text NOT NULL,
    vm_ids uuid[] NOT NULL,
    secret bytea,
    certificate bytea,
    certificate_key bytea,
    question jsonb NOT NULL,
    steps jsonb NOT NULL,
    progress jsonb NOT NULL,
    error varchar,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    stopped_at timestamptz,
    finished_at timestamptz,
    requested_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_bulk_orders PRIMARY KEY (id),
    CONSTRAINT uq_bulk_orders_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT ck_bulk_orders_kind CHECK (kind IN ('trial', 'transfers')),
    CONSTRAINT ck_bulk_orders_span CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '600 s'),
    CONSTRAINT fk_bulk_orders_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_bulk_orders_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_bulk_orders_tenant_id_mesh_id ON bulk_orders (tenant_id, mesh_id);
CREATE INDEX ix_bulk_orders_tenant_id_created_at_id ON bulk_orders (tenant_id, created_at, id);
CREATE INDEX ix_bulk_orders_active ON bulk_orders (ends_at) WHERE stopped_at IS NULL AND finished_at IS NULL;
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(TABLE)
    op.execute("ALTER TABLE bulk_orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON bulk_orders USING (tenant_id = {OUR_ID})")


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE bulk_orders")
