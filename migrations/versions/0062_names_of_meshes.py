"""Names are of a mesh where objects are, so that none tells what a hidden mesh has; saved views have owners."""

from collections.abc import Sequence

from alembic import op

revision: str = "0062_names_of_meshes"
down_revision: str | Sequence[str] | None = "0061_paths_in_sql"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_NAMED = {"applications": "name", "metric_sources": "name", "scenarios": "name", "artifacts": "name, release"}


def upgrade() -> None:
    """Let another mesh have the same name."""
    for table, columns in _NAMED.items():
        words = columns.replace(", ", "_")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT uq_{table}_tenant_id_{words},"
            f" ADD CONSTRAINT uq_{table}_tenant_id_mesh_id_{words} UNIQUE (tenant_id, mesh_id, {columns})"
        )
    op.execute("ALTER TABLE saved_views DROP CONSTRAINT uq_saved_views_tenant_id_name, ADD COLUMN mesh_ids uuid[]")
    op.execute(
        "ALTER TABLE saved_views ADD CONSTRAINT uq_saved_views_tenant_id_name_mesh_ids"
        " UNIQUE NULLS NOT DISTINCT (tenant_id, name, mesh_ids)"
    )
    op.execute("ALTER TABLE enrolment_tokens ADD COLUMN limited boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Make names those of the tenant again; fails where two meshes share one."""
    op.execute("ALTER TABLE enrolment_tokens DROP COLUMN limited")
    op.execute("DROP POLICY IF EXISTS meshes ON saved_views")  # it reads the column; the next start makes another
    op.execute(
        "ALTER TABLE saved_views DROP COLUMN mesh_ids, ADD CONSTRAINT uq_saved_views_tenant_id_name"
        " UNIQUE (tenant_id, name)"
    )
    for table, columns in _NAMED.items():
        words = columns.replace(", ", "_")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT uq_{table}_tenant_id_mesh_id_{words},"
            f" ADD CONSTRAINT uq_{table}_tenant_id_{words} UNIQUE (tenant_id, {columns})"
        )
