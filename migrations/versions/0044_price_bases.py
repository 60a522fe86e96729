"""Price bases of applications."""

from collections.abc import Sequence

from alembic import op

revision: str = "0044_price_bases"
down_revision: str | Sequence[str] | None = "0043_sptp"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLE = """
CREATE TABLE price_bases (
    application_id uuid NOT NULL,
    service jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_price_bases PRIMARY KEY (application_id),
    CONSTRAINT fk_price_bases_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_price_bases_tenant_id_application_id_applications
        FOREIGN KEY (tenant_id, application_id) REFERENCES applications (tenant_id, id) ON DELETE CASCADE
);
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(TABLE)
    op.execute("ALTER TABLE price_bases ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON price_bases USING (tenant_id = {OUR_ID})")


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE price_bases")
