"""Price lists: prices of VM types and serverless offers, for the compute mix."""

from collections.abc import Sequence

from alembic import op

revision: str = "0025_price_lists"
down_revision: str | Sequence[str] | None = "0015_outgoing_mails"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE price_lists (
    name varchar NOT NULL,
    currency varchar NOT NULL,
    as_of date NOT NULL,
    source varchar,
    entries jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_price_lists PRIMARY KEY (id),
    CONSTRAINT uq_price_lists_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_price_lists_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT fk_price_lists_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(SCHEMA)
    op.execute("ALTER TABLE price_lists ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON price_lists USING (tenant_id = {OUR_ID})")


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE price_lists")
