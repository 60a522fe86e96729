"""Versions of what two people save: artifact settings of a mesh, and members with their role and meshes."""

from collections.abc import Sequence

from alembic import op

revision: str = "0059_versions_of_settings"
down_revision: str | Sequence[str] | None = "0058_host_waits_in_sql"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_VERSIONED = ("artifact_settings", "memberships")


def upgrade() -> None:
    """Add the versions. Rows that are there have one; new ones are given theirs."""
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} ADD COLUMN version integer NOT NULL DEFAULT 1")


def downgrade() -> None:
    """Drop the versions."""
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} DROP COLUMN version")
