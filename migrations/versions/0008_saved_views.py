"""Saved views: pages of the console under a name."""

from collections.abc import Sequence

from alembic import op

revision: str = "0008_saved_views"
down_revision: str | Sequence[str] | None = "0007_annotations"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE saved_views (
    name varchar NOT NULL,
    address varchar NOT NULL,
    created_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_saved_views PRIMARY KEY (id),
    CONSTRAINT fk_saved_views_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_saved_views_tenant_id_name UNIQUE (tenant_id, name)
);
"""
OURS = "current_setting('sinemora.tenant_id', true)"
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = f"NULLIF(NULLIF({OURS}, '*'), '')::uuid"


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(SCHEMA)
    op.execute("ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON saved_views USING (tenant_id = {OUR_ID} OR {OURS} = '*')")


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE saved_views")
