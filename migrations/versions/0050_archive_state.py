"""State of the archive of the database, of no tenant; unlogged, so that a restored database begins without it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0050_archive_state"
down_revision: str | Sequence[str] | None = "0049_fairness_rule"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE UNLOGGED TABLE archive_state (
            "only" boolean NOT NULL DEFAULT true,
            archived_to timestamptz,
            base_taken_at timestamptz,
            failures bigint NOT NULL DEFAULT 0,
            failed_at timestamptz,
            error varchar,
            CONSTRAINT pk_archive_state PRIMARY KEY ("only"),
            CONSTRAINT ck_archive_state_only CHECK ("only")
        )
    """)


def downgrade() -> None:
    """Drop it; the archiver writes it again."""
    op.execute("DROP TABLE archive_state")
