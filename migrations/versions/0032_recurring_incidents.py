"""Incidents that return are one incident: when it first began, how often it was seen, its newest times."""

from collections.abc import Sequence

from alembic import op

revision: str = "0032_recurring_incidents"
down_revision: str | Sequence[str] | None = "0031_alert_learning"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the columns; an existing incident was seen once."""
    op.execute(
        "ALTER TABLE incidents ADD COLUMN first_onset_at timestamptz, ADD COLUMN end_notice_at timestamptz,"
        " ADD COLUMN occurrences integer NOT NULL DEFAULT 1, ADD COLUMN episodes jsonb NOT NULL DEFAULT '[]'"
    )
    op.execute("UPDATE incidents SET first_onset_at = onset_at")
    op.execute("ALTER TABLE incidents ALTER COLUMN first_onset_at SET NOT NULL")


def downgrade() -> None:
    """Drop the columns."""
    op.execute(
        "ALTER TABLE incidents DROP COLUMN first_onset_at, DROP COLUMN end_notice_at, DROP COLUMN occurrences,"
        " DROP COLUMN episodes"
    )
