"""VMs on which a stock IEEE 1588 master answers in place of an agent."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | Sequence[str] | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# What of a VM its meshes' plans and rosters depend on.
CHANGED = """
CREATE OR REPLACE TRIGGER changed AFTER UPDATE ON vms FOR EACH ROW
    WHEN ((OLD.name, OLD.zone_id, OLD.probe_address, OLD.event_port, OLD.general_port{old}) IS DISTINCT FROM
          (NEW.name, NEW.zone_id, NEW.probe_address, NEW.event_port, NEW.general_port{new}))
    EXECUTE FUNCTION vm_changed()
"""


def upgrade() -> None:
    """A column with a default needs no rewrite of the table."""
    op.add_column("vms", sa.Column("responder", sa.String(), server_default="agent", nullable=False))
    op.create_check_constraint(op.f("ck_vms_responder"), "vms", "responder IN ('agent', 'ieee1588')")
    op.execute(CHANGED.format(old=", OLD.responder", new=", NEW.responder"))


def downgrade() -> None:
    """Back to agents alone; the trigger must go before the column it looks at."""
    op.execute(CHANGED.format(old="", new=""))
    op.drop_constraint(op.f("ck_vms_responder"), "vms")
    op.drop_column("vms", "responder")
