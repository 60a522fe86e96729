"""How much the alerts of a mesh have learnt: paths that are still too young for rules, and those without a baseline."""

from collections.abc import Sequence

from alembic import op

revision: str = "0031_alert_learning"
down_revision: str | Sequence[str] | None = "0028_on_demand"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_COLUMNS = ("settling_paths", "settled_s", "unlearnt_paths", "learnt_s")


def upgrade() -> None:
    """Add the columns; the next evaluation of a mesh sets them."""
    added = ", ".join(f"ADD COLUMN {name} integer NOT NULL DEFAULT 0" for name in _COLUMNS)
    op.execute(f"ALTER TABLE alert_states {added}")


def downgrade() -> None:
    """Drop the columns."""
    op.execute("ALTER TABLE alert_states " + ", ".join(f"DROP COLUMN {name}" for name in _COLUMNS))
