"""API keys have scopes for families of resources, an owner, a last use and a rotation."""

from collections.abc import Sequence

from alembic import op

revision: str = "0019_api_keys"
down_revision: str | Sequence[str] | None = "0023_mesh_strategies"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# Keys of before have no owner: nobody knows who uses them, so they stay as service accounts.
UPGRADE = """
ALTER TABLE api_keys
    DROP CONSTRAINT ck_api_keys_scopes,
    ADD CONSTRAINT ck_api_keys_scopes CHECK (cardinality(scopes) > 0),
    ADD COLUMN owner_id uuid,
    ADD COLUMN last_used_at timestamptz,
    ADD COLUMN last_used_from varchar,
    ADD COLUMN previous_digest bytea,
    ADD COLUMN previous_expires_at timestamptz,
    ADD CONSTRAINT ck_api_keys_previous CHECK ((previous_digest IS NULL) = (previous_expires_at IS NULL)),
    ADD CONSTRAINT uq_api_keys_previous_digest UNIQUE (previous_digest),
    ADD CONSTRAINT fk_api_keys_tenant_id_memberships FOREIGN KEY (tenant_id, owner_id)
        REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE;
CREATE INDEX ix_api_keys_tenant_id_owner_id ON api_keys (tenant_id, owner_id);
"""
# Scopes of families cannot be expressed before: such keys are refused rather than widened.
DOWNGRADE = """
DELETE FROM api_keys WHERE NOT scopes <@ ARRAY['read', 'write'];
DROP INDEX ix_api_keys_tenant_id_owner_id;
ALTER TABLE api_keys
    DROP CONSTRAINT fk_api_keys_tenant_id_memberships,
    DROP CONSTRAINT uq_api_keys_previous_digest,
    DROP CONSTRAINT ck_api_keys_previous,
    DROP COLUMN previous_expires_at,
    DROP COLUMN previous_digest,
    DROP COLUMN last_used_from,
    DROP COLUMN last_used_at,
    DROP COLUMN owner_id,
    DROP CONSTRAINT ck_api_keys_scopes,
    ADD CONSTRAINT ck_api_keys_scopes CHECK (scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0);
"""


def upgrade() -> None:
    """Add the columns."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Drop the columns, and keys with other scopes."""
    op.execute(DOWNGRADE)
