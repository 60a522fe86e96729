"""Alerts: rules and where they stand, incidents with their timeline, silences, receivers, routes, deliveries."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0013"
down_revision: str | Sequence[str] | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = (
    "alert_rules",
    "alert_states",
    "incidents",
    "incident_events",
    "silences",
    "receivers",
    "alert_routings",
    "deliveries",
)
OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "alert_routings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tree", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_alert_routings_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_routings")),
        sa.UniqueConstraint("tenant_id", name=op.f("uq_alert_routings_tenant_id")),
    )
    op.create_table(
        "receivers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.TEXT(), nullable=False),
        sa.Column("settings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('email', 'webhook', 'slack', 'pagerduty', 'teams')", name=op.f("ck_receivers_kind")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_receivers_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receivers")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_receivers_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_receivers_tenant_id_name")),
    )
    op.create_table(
        "silences",
        sa.Column("comment", sa.String(), nullable=False),
        sa.Column("matchers", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("weekly", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("starts_at < ends_at", name=op.f("ck_silences_times")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_silences_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_silences")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_silences_tenant_id_id")),
    )
    op.create_index(op.f("ix_silences_tenant_id_ends_at_id"), "silences", ["tenant_id", "ends_at", "id"], unique=False)
    op.create_table(
        "alert_rules",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("severity", sa.TEXT(), nullable=False),
        sa.Column("condition", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("scope", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("windows_x", sa.Integer(), nullable=False),
        sa.Column("windows_y", sa.Integer(), nullable=False),
        sa.Column("sources_min", sa.Integer(), nullable=False),
        sa.Column("hold_s", sa.Integer(), nullable=False),
        sa.Column("keep_firing_s", sa.Integer(), nullable=False),
        sa.Column("runbook_url", sa.String(), nullable=True),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("severity IN ('info', 'warning', 'critical')", name=op.f("ck_alert_rules_severity")),
        sa.CheckConstraint(
            "sources_min >= 1 AND hold_s >= 0 AND keep_firing_s >= 0", name=op.f("ck_alert_rules_patience")
        ),
        sa.CheckConstraint(
            "windows_x BETWEEN 1 AND windows_y AND windows_y <= 16", name=op.f("ck_alert_rules_windows")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_alert_rules_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_alert_rules_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rules")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_alert_rules_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "mesh_id", "name", name=op.f("uq_alert_rules_tenant_id_mesh_id_name")),
    )
    op.create_table(
        "alert_states",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("evaluated_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("looked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("standings", sa.LargeBinary(), nullable=True),
        sa.Column("baselines", sa.LargeBinary(), nullable=True),
        sa.Column("baselines_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("firing", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("took_ms", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_alert_states_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_alert_states_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("mesh_id", name=op.f("pk_alert_states")),
    )
    op.create_table(
        "incidents",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.TEXT(), nullable=False),
        sa.Column("severity", sa.TEXT(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("suspect", sa.String(), nullable=False),
        sa.Column("culprit", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("evidence", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("paths", sa.LargeBinary(), nullable=False),
        sa.Column("rules", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("applications", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("onset_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("notified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("assignee", sa.String(), nullable=True),
        sa.Column("muted", sa.String(), nullable=True),
        sa.Column("merged_into", sa.Uuid(), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("severity IN ('info', 'warning', 'critical')", name=op.f("ck_incidents_severity")),
        sa.CheckConstraint("state IN ('open', 'acknowledged', 'resolved')", name=op.f("ck_incidents_state")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_incidents_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_incidents_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incidents")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_incidents_tenant_id_id")),
    )
    op.create_index(
        op.f("ix_incidents_tenant_id_mesh_id_ended_at"), "incidents", ["tenant_id", "mesh_id", "ended_at"], unique=False
    )
    op.create_index(
        op.f("ix_incidents_tenant_id_opened_at_id"), "incidents", ["tenant_id", "opened_at", "id"], unique=False
    )
    op.create_table(
        "deliveries",
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        sa.Column("receiver_id", sa.Uuid(), nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.Column("state", sa.TEXT(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('waiting', 'sent', 'failed')", name=op.f("ck_deliveries_state")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "incident_id"],
            ["incidents.tenant_id", "incidents.id"],
            name=op.f("fk_deliveries_tenant_id_incident_id_incidents"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "receiver_id"],
            ["receivers.tenant_id", "receivers.id"],
            name=op.f("fk_deliveries_tenant_id_receiver_id_receivers"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_deliveries_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    op.create_index(
        "ix_deliveries_due", "deliveries", ["due_at"], unique=False, postgresql_where=sa.text("state = 'waiting'")
    )
    op.create_index(
        op.f("ix_deliveries_tenant_id_created_at_id"), "deliveries", ["tenant_id", "created_at", "id"], unique=False
    )
    op.create_index(
        op.f("ix_deliveries_tenant_id_incident_id"), "deliveries", ["tenant_id", "incident_id"], unique=False
    )
    op.create_table(
        "incident_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("incident_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "incident_id"],
            ["incidents.tenant_id", "incidents.id"],
            name=op.f("fk_incident_events_tenant_id_incident_id_incidents"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_incident_events_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incident_events")),
    )
    op.create_index(
        op.f("ix_incident_events_tenant_id_incident_id_id"),
        "incident_events",
        ["tenant_id", "incident_id", "id"],
        unique=False,
    )
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Undo it."""
    for table in reversed(TABLES):
        op.drop_table(table)
