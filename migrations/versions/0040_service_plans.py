"""Service plan of a tenant, and a quota of artifacts."""

from collections.abc import Sequence

from alembic import op

revision: str = "0040_service_plans"
down_revision: str | Sequence[str] | None = "0039_mesh_limits"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

GROWTH = "vms >= 0 AND paths >= 0 AND windows_per_s >= 0"


def upgrade() -> None:
    """Add the columns."""
    op.execute("ALTER TABLE tenant_quotas ADD COLUMN artifact_mib integer, ADD COLUMN plan varchar")
    _check(f"{GROWTH} AND artifact_mib >= 0")


def downgrade() -> None:
    """Drop the columns; quotas of plans hold no more."""
    _check(GROWTH)
    op.execute("ALTER TABLE tenant_quotas DROP COLUMN plan, DROP COLUMN artifact_mib")


def _check(condition: str) -> None:
    op.execute(
        "ALTER TABLE tenant_quotas DROP CONSTRAINT ck_tenant_quotas_growth,"
        f" ADD CONSTRAINT ck_tenant_quotas_growth CHECK ({condition})"
    )
