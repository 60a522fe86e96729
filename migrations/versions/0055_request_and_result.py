"""One name each for what is asked and what it gives: `question` becomes `request`, `answer` becomes `result`.

Renamed at once, not added and copied: no version with the old names was released. A process of the version before
cannot read these rows in the seconds until it is replaced.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0055_request_and_result"
down_revision: str | Sequence[str] | None = "0054_pins_as_values"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = (
    ("recommendations", "question", "request"),
    ("recommendations", "answer", "result"),
    ("recommendation_schedules", "question", "request"),
    ("scenarios", "question", "request"),
    ("bulk_orders", "question", "request"),
)


def upgrade() -> None:
    """Rename the columns, and the parameter of all jobs."""
    for table, before, after in COLUMNS:
        op.alter_column(table, before, new_column_name=after)
    _rename_parameter("question", "request")


def downgrade() -> None:
    """Give back the old names."""
    for table, before, after in COLUMNS:
        op.alter_column(table, after, new_column_name=before)
    _rename_parameter("request", "question")


def _rename_parameter(before: str, after: str) -> None:
    """Rename a parameter of the jobs of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY")
    op.execute(
        f"UPDATE jobs SET params = params - '{before}' || jsonb_build_object('{after}', params -> '{before}')"
        f" WHERE jsonb_exists(params, '{before}')"
    )
    op.execute("ALTER TABLE jobs FORCE ROW LEVEL SECURITY")
