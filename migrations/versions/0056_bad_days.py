"""What is kept for bad days.

Evaluation of alerts: when the newest window of a block was received; for each mesh the newest reported window, the
lateness of its reports, the ranges of late windows that still have to be evaluated, and windows left out.
Notifications: until when an attempt is under way.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0056_bad_days"
down_revision: str | Sequence[str] | None = "0055_request_and_result"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_ALERT_STATES = (
    ("reported_until", "timestamptz"),
    ("lateness_s", "real NOT NULL DEFAULT 0"),
    ("late_ranges", "jsonb NOT NULL DEFAULT '[]'"),
    ("windows_skipped", "bigint NOT NULL DEFAULT 0"),
)


def upgrade() -> None:
    """Add what is kept. Defaults hold for rows that are there."""
    op.execute("ALTER TABLE path_latest ADD COLUMN received_at timestamptz NOT NULL DEFAULT now()")
    for name, type_ in _ALERT_STATES:
        op.execute(f"ALTER TABLE alert_states ADD COLUMN {name} {type_}")
    op.execute("ALTER TABLE deliveries ADD COLUMN tried_until timestamptz")


def downgrade() -> None:
    """Drop what was added."""
    op.execute("ALTER TABLE deliveries DROP COLUMN tried_until")
    for name, _ in reversed(_ALERT_STATES):
        op.execute(f"ALTER TABLE alert_states DROP COLUMN {name}")
    op.execute("ALTER TABLE path_latest DROP COLUMN received_at")
