"""Columns, tables and stored results named by the field's terms: silenced, rule state, late data, Pareto front."""

from collections.abc import Sequence

from alembic import op

revision: str = "0005_field_terms"
down_revision: str | Sequence[str] | None = "0004_alerts"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = [("incidents", "muted", "silenced_by"), ("alert_states", "standings", "rule_states")]
EVENTS = [("muted", "silenced"), ("unmuted", "unsilenced"), ("told", "agent_event")]
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
# Keys in stored results of recommendations.
RESULT_UP = """
    (answer - 'front') || jsonb_build_object(
        'pareto_front', answer -> 'front',
        'evidence', (answer -> 'evidence') - 'hysteresis'
            || jsonb_build_object('min_gain', answer -> 'evidence' -> 'hysteresis'))
"""
RESULT_DOWN = """
    (answer - 'pareto_front') || jsonb_build_object(
        'front', answer -> 'pareto_front',
        'evidence', (answer -> 'evidence') - 'min_gain'
            || jsonb_build_object('hysteresis', answer -> 'evidence' -> 'min_gain'))
"""


def upgrade() -> None:
    """Rename. Only timelines of incidents and results of recommendations are rewritten."""
    op.rename_table("alert_hindsights", "late_data_progress")
    for table, old, new in COLUMNS:
        op.alter_column(table, old, new_column_name=new)
    for table, old, new in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {old} TO {new}")
    _rename_events({old: new for old, new in EVENTS})
    _rewrite("recommendations", f"UPDATE recommendations SET answer = {RESULT_UP} WHERE answer ? 'front'")


def _rename_events(kinds: dict[str, str]) -> None:
    """Rename kinds of events in the timelines of all incidents."""
    for old, new in kinds.items():
        _rewrite("incident_events", f"UPDATE incident_events SET kind = '{new}' WHERE kind = '{old}'")


def _rewrite(table: str, statement: str) -> None:
    """Change rows of all tenants, which row-level security hides from the owner of the table."""
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(statement)
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Give back the old names."""
    _rewrite("recommendations", f"UPDATE recommendations SET answer = {RESULT_DOWN} WHERE answer ? 'pareto_front'")
    _rename_events({new: old for old, new in EVENTS})
    for table, old, new in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {new} TO {old}")
    for table, old, new in COLUMNS:
        op.alter_column(table, new, new_column_name=old)
    op.rename_table("late_data_progress", "alert_hindsights")
