"""Alerts remember since when they have looked without a break: what was silent while they were away is no silence."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | Sequence[str] | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """A column without a value needs no rewrite of the table."""
    op.add_column("alert_states", sa.Column("watched_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Silence counts from the last report again, whoever was away."""
    op.drop_column("alert_states", "watched_since")
