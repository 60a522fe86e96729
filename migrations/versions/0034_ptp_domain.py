"""PTP domain of a standard responder. A change of it changes the plans of its meshes."""

from collections.abc import Sequence

from alembic import op

revision: str = "0034_ptp_domain"
down_revision: str | Sequence[str] | None = "0033_job_sizes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = (
    "name",
    "zone_id",
    "probe_address",
    "event_port",
    "general_port",
    "responder",
)


def upgrade() -> None:
    """Add the column, 0 for all, and let it raise the revision of meshes."""
    op.execute(
        "ALTER TABLE vms ADD COLUMN ptp_domain integer NOT NULL DEFAULT 0,"
        " ADD CONSTRAINT ck_vms_ptp_domain CHECK (ptp_domain BETWEEN 0 AND 127)"
    )
    _watch((*COLUMNS, "ptp_domain"))


def downgrade() -> None:
    """Remove the column."""
    _watch(COLUMNS)
    op.execute("ALTER TABLE vms DROP COLUMN ptp_domain")


def _watch(columns: Sequence[str]) -> None:
    op.execute("DROP TRIGGER changed ON vms")
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    op.execute(
        "CREATE TRIGGER changed AFTER UPDATE ON vms FOR EACH ROW"
        f" WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION vm_changed()"
    )
