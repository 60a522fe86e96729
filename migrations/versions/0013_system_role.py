"""A role for work across tenants: no setting lets the role of requests see other tenants any more."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013_system_role"
down_revision: str | Sequence[str] | None = "0012_one_optimiser"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

EVERY_TENANT = "(SELECT current_setting('sinemora.tenant_id', true)) = '*'"
OURS = "(current_setting('sinemora.tenant_id'::text, true) = '*'::text)"
BY_KEY = "(SELECT current_setting('sinemora.tenant_key', true))"
FUNCTIONS = (
    "make_measurement_partitions(date, date)",
    "drop_measurements_before(text, date)",
    "forget_measurements_before(text, date)",
    "tune_measurement_partitions()",
)


def upgrade() -> None:
    """Take '*' out of the policies that bind every role; `grants` gives it to the system role by a second policy."""
    for table, condition in _policies():
        if f" OR {OURS}" in condition:
            own = condition.replace(f" OR {OURS}", "")
        elif "(tenant_key)::text" in condition:  # measurements, by the key of the tenant
            own = f"{BY_KEY} = tenant_key::text"
        else:
            continue
        op.execute(f"ALTER POLICY tenant ON {table} USING ({own})")
    for function in FUNCTIONS:
        op.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")


def downgrade() -> None:
    """Let '*' pass in the policies of all roles again."""
    for function in FUNCTIONS:
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO PUBLIC")
    for table, condition in _policies():
        op.execute(f"DROP POLICY IF EXISTS system ON {table}")
        by_key = "tenant_key" in condition
        own = f"{BY_KEY} IN ('*', tenant_key::text)" if by_key else f"{condition} OR {OURS}"
        op.execute(f"ALTER POLICY tenant ON {table} USING ({own})")


def _policies() -> list[tuple[str, str]]:
    """Return the tables with a policy `tenant`, and its condition."""
    rows = op.get_bind().execute(
        sa.text("SELECT tablename, qual FROM pg_policies WHERE policyname = 'tenant' AND schemaname = 'public'")
    )
    return [(str(table), str(condition)) for table, condition in rows]
