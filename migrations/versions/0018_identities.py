"""Identities of people at an OpenID provider."""

from collections.abc import Sequence

from alembic import op

revision: str = "0018_identities"
down_revision: str | Sequence[str] | None = "0020_audit_address"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE identities (
    issuer varchar NOT NULL,
    subject varchar NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL,
    CONSTRAINT pk_identities PRIMARY KEY (issuer, subject),
    CONSTRAINT fk_identities_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_identities_user_id ON identities (user_id);
ALTER TABLE identities ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON identities USING (false);
"""


def upgrade() -> None:
    """Create the table. No tenant sees it: sign-in reads it under the system role."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE identities")
