"""Policies of row-level security that the planner can estimate: the tenant compared as an id, not as text.

PostgreSQL has statistics of `tenant_id` and none of `tenant_id::text`. It took one row in 200 for visible, joined
tables of thousands of rows in nested loops, and needed seconds for a list of agents.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006_estimable_policies"
down_revision: str | Sequence[str] | None = "0005_field_terms"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OURS = "current_setting('sinemora.tenant_id', true)"
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = f"NULLIF(NULLIF({OURS}, '*'), '')::uuid"


def upgrade() -> None:
    """Compare ids."""
    _confine("{column} = " + OUR_ID)


def downgrade() -> None:
    """Compare texts again."""
    _confine("{column}::text = " + OURS)


def _confine(condition: str) -> None:
    """Replace the condition of every policy on the tenant's id; a system session ('*') sees every row."""
    tables = (
        op.get_bind()
        .scalars(
            sa.text(
                "SELECT table_name FROM information_schema.columns JOIN pg_policies ON tablename = table_name"
                " WHERE table_schema = 'public' AND schemaname = 'public' AND column_name = 'tenant_id' ORDER BY 1"
            )
        )
        .all()
    )
    for table, column in [*((table, "tenant_id") for table in tables), ("tenants", "id")]:
        op.execute(f"ALTER POLICY tenant ON {table} USING ({condition.format(column=column)} OR {OURS} = '*')")
