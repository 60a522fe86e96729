"""Entries of the audit log have the address of the request."""

from collections.abc import Sequence

from alembic import op

revision: str = "0020_audit_address"
down_revision: str | Sequence[str] | None = "0019_api_keys"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the address. Entries of before stay as they were written."""
    op.execute("ALTER TABLE audit_entries ADD COLUMN address varchar")


def downgrade() -> None:
    """Drop the address."""
    op.execute("ALTER TABLE audit_entries DROP COLUMN address")
