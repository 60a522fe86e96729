"""ETag of the response that an idempotency key has stored: a replayed response has it too."""

from collections.abc import Sequence

from alembic import op

revision: str = "0047_replayed_etag"
down_revision: str | Sequence[str] | None = "0046_bulk_orders"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the column, empty for responses that are stored already."""
    op.execute("ALTER TABLE idempotency_keys ADD COLUMN etag varchar")


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE idempotency_keys DROP COLUMN etag")
