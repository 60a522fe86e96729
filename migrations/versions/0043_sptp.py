"""PTP servers that are measured by SPTP."""

from collections.abc import Sequence

from alembic import op

revision: str = "0043_sptp"
down_revision: str | Sequence[str] | None = "0042_timestamp_source"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Allow the responder."""
    _check("'agent', 'ieee1588', 'sptp'")


def downgrade() -> None:
    """Measure such servers by unicast negotiation, which ptp4u offers, too."""
    # Row-level security hides the VMs of tenants from the owner of the table.
    op.execute("ALTER TABLE vms NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE vms SET responder = 'ieee1588' WHERE responder = 'sptp'")
    op.execute("ALTER TABLE vms FORCE ROW LEVEL SECURITY")
    _check("'agent', 'ieee1588'")


def _check(responders: str) -> None:
    op.execute(
        "ALTER TABLE vms DROP CONSTRAINT ck_vms_responder,"
        f" ADD CONSTRAINT ck_vms_responder CHECK (responder IN ({responders}))"
    )
