"""Probes of a measurement on demand: ECN marks and the order of packets."""

from collections.abc import Sequence

from alembic import op

revision: str = "0051_path_probes"
down_revision: str | Sequence[str] | None = "0050_archive_state"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = ("ecn", "reordering")


def upgrade() -> None:
    """Add the columns; measurements before observed neither."""
    for column in COLUMNS:
        op.execute(f"ALTER TABLE on_demand_measurements ADD COLUMN {column} boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Drop the columns."""
    for column in COLUMNS:
        op.execute(f"ALTER TABLE on_demand_measurements DROP COLUMN {column}")
