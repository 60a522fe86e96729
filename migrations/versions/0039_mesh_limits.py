"""Members, invitations, API keys and jobs that are limited to some meshes. `grants.py` makes the policies."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0039_mesh_limits"
down_revision: str | Sequence[str] | None = "0038_device_logins"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("memberships", "invitations", "api_keys", "jobs")


def upgrade() -> None:
    """Add the columns; null is no limit."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN mesh_ids uuid[]")


def downgrade() -> None:
    """Drop the policies, their functions and the columns: everybody sees every mesh again."""
    connection = op.get_bind()
    policies = connection.scalars(sa.text("SELECT tablename FROM pg_policies WHERE policyname = 'meshes'"))
    for table in policies.all():
        op.execute(f"DROP POLICY meshes ON {table}")
    functions = connection.scalars(sa.text("SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE 'sees\\_%'"))
    for function in functions.all():
        op.execute(f"DROP FUNCTION {function}")
    # Without a limit they would reach more than they were given for.
    for table in ("api_keys", "memberships", "invitations"):
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"DELETE FROM {table} WHERE mesh_ids IS NOT NULL")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN mesh_ids")
