"""Columns and tables of alerts named by the field's terms: silenced, rule state, late data."""

from collections.abc import Sequence

from alembic import op

revision: str = "0005_field_terms"
down_revision: str | Sequence[str] | None = "0004_alerts"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = [("incidents", "muted", "silenced_by"), ("alert_states", "standings", "rule_states")]
EVENTS = [("muted", "silenced"), ("unmuted", "unsilenced")]
CONSTRAINTS = [
    ("alert_rules", "ck_alert_rules_patience", "ck_alert_rules_m_of_n"),
    ("late_data_progress", "pk_alert_hindsights", "pk_late_data_progress"),
    (
        "late_data_progress",
        "fk_alert_hindsights_tenant_id_mesh_id_meshes",
        "fk_late_data_progress_tenant_id_mesh_id_meshes",
    ),
    ("late_data_progress", "fk_alert_hindsights_tenant_id_tenants", "fk_late_data_progress_tenant_id_tenants"),
]


def upgrade() -> None:
    """Rename. Only the timelines of incidents are rewritten."""
    op.rename_table("alert_hindsights", "late_data_progress")
    for table, old, new in COLUMNS:
        op.alter_column(table, old, new_column_name=new)
    for table, old, new in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {old} TO {new}")
    _rename_events({old: new for old, new in EVENTS})


def _rename_events(kinds: dict[str, str]) -> None:
    """Rename kinds of events in the timelines of all tenants; row-level security would hide them from the owner."""
    op.execute("ALTER TABLE incident_events NO FORCE ROW LEVEL SECURITY")
    for old, new in kinds.items():
        op.execute(f"UPDATE incident_events SET kind = '{new}' WHERE kind = '{old}'")
    op.execute("ALTER TABLE incident_events FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Give back the old names."""
    _rename_events({new: old for old, new in EVENTS})
    for table, old, new in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {new} TO {old}")
    for table, old, new in COLUMNS:
        op.alter_column(table, new, new_column_name=old)
    op.rename_table("late_data_progress", "alert_hindsights")
