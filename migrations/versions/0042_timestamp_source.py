"""Origin of the timestamps of a window."""

from collections.abc import Sequence

from alembic import op

revision: str = "0042_timestamp_source"
down_revision: str | Sequence[str] | None = "0041_vm_traffic"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the column; null is not told, as by agents of earlier versions."""
    op.execute("ALTER TABLE probe_frames ADD COLUMN timestamp_source smallint")
    # Rows that are there are null: they need no check, and a scan of all of them would hold up reports.
    op.execute(
        "ALTER TABLE probe_frames ADD CONSTRAINT ck_probe_frames_timestamp_source"
        " CHECK (timestamp_source BETWEEN 1 AND 3) NOT VALID"
    )


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE probe_frames DROP COLUMN timestamp_source")
