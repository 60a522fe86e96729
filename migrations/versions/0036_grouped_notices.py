"""Groups of notices: those about single paths are held and sent together."""

from collections.abc import Sequence

from alembic import op

revision: str = "0036_grouped_notices"
down_revision: str | Sequence[str] | None = "0035_artifacts"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the columns; earlier notices are of no group."""
    op.execute(
        "ALTER TABLE deliveries ADD COLUMN group_key varchar,"
        " ADD COLUMN held boolean NOT NULL DEFAULT false,"
        " ADD COLUMN hold_s integer NOT NULL DEFAULT 0,"
        " ADD COLUMN hold_max_s integer NOT NULL DEFAULT 0"
    )
    op.execute(
        "CREATE INDEX ix_deliveries_group ON deliveries (tenant_id, receiver_id, group_key, due_at)"
        " WHERE group_key IS NOT NULL"
    )


def downgrade() -> None:
    """Remove the columns."""
    op.execute("DROP INDEX ix_deliveries_group")
    op.execute(
        "ALTER TABLE deliveries DROP COLUMN group_key, DROP COLUMN held, DROP COLUMN hold_s, DROP COLUMN hold_max_s"
    )
