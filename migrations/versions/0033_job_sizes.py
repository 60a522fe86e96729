"""Sizes of jobs, from which the order of waiting jobs expects their durations."""

from collections.abc import Sequence

from alembic import op

revision: str = "0033_job_sizes"
down_revision: str | Sequence[str] | None = "0032_recurring_incidents"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the column; jobs of the previous version have the size 1."""
    op.execute(
        "ALTER TABLE jobs ADD COLUMN size double precision NOT NULL DEFAULT 1,"
        " ADD CONSTRAINT ck_jobs_size CHECK (size > 0)"
    )


def downgrade() -> None:
    """Remove the column."""
    op.execute("ALTER TABLE jobs DROP COLUMN size")
