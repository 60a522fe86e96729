"""Tenants and their people, inventory, meshes; row-level security; revisions of meshes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0001"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TENANT_OWNED = (
    "memberships",
    "sessions",
    "api_keys",
    "audit_entries",
    "idempotency_keys",
    "zones",
    "vms",
    "agents",
    "agent_events",
    "meshes",
    "mesh_vms",
    "enrolment_tokens",
)
OURS = "current_setting('sinemora.tenant_id', true)"


def confine(table: str, condition: str) -> None:
    """Let a session see and write only rows that satisfy `condition`, or all in a system session ('*').

    Forced, so that it holds for the owner of the table too.
    """
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING ({condition} OR {OURS} = '*')")


# A mesh's revision rises with everything its plan and its roster depend on, whoever changes it and however.
REVISIONS = """
CREATE FUNCTION mesh_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER settings_changed BEFORE UPDATE ON meshes FOR EACH ROW
    WHEN ((OLD.name, OLD.window_s, OLD.rate_hz, OLD.flows) IS DISTINCT FROM
          (NEW.name, NEW.window_s, NEW.rate_hz, NEW.flows))
    EXECUTE FUNCTION mesh_settings_changed();

CREATE FUNCTION mesh_members_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE meshes SET revision = revision + 1
        WHERE (tenant_id, id) IN (SELECT tenant_id, mesh_id FROM changed);
    RETURN NULL;
END $$;
CREATE TRIGGER members_joined AFTER INSERT ON mesh_vms REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mesh_members_changed();
CREATE TRIGGER members_left AFTER DELETE ON mesh_vms REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mesh_members_changed();

CREATE FUNCTION vm_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE meshes SET revision = revision + 1
        WHERE (tenant_id, id) IN (SELECT tenant_id, mesh_id FROM mesh_vms
                                  WHERE tenant_id = NEW.tenant_id AND vm_id = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER UPDATE ON vms FOR EACH ROW
    WHEN ((OLD.name, OLD.zone_id, OLD.probe_address, OLD.event_port, OLD.general_port) IS DISTINCT FROM
          (NEW.name, NEW.zone_id, NEW.probe_address, NEW.event_port, NEW.general_port))
    EXECUTE FUNCTION vm_changed();

CREATE FUNCTION zone_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE meshes SET revision = revision + 1
        WHERE (tenant_id, id) IN (SELECT m.tenant_id, m.mesh_id FROM mesh_vms m
                                  JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id
                                  WHERE v.tenant_id = NEW.tenant_id AND v.zone_id = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER UPDATE ON zones FOR EACH ROW
    WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION zone_changed();

CREATE FUNCTION agent_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    agent agents := coalesce(NEW, OLD);
BEGIN
    UPDATE meshes SET revision = revision + 1
        WHERE (tenant_id, id) IN (SELECT tenant_id, mesh_id FROM mesh_vms
                                  WHERE tenant_id = agent.tenant_id AND vm_id = agent.vm_id);
    RETURN NULL;
END $$;
CREATE TRIGGER came_or_went AFTER INSERT OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION agent_changed();
CREATE TRIGGER revoked AFTER UPDATE ON agents FOR EACH ROW
    WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION agent_changed();
"""
FUNCTIONS = ("mesh_settings_changed", "mesh_members_changed", "vm_changed", "zone_changed", "agent_changed")


def upgrade() -> None:
    """Create it all."""
    op.create_table(
        "tenants",
        sa.Column("key", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
        sa.UniqueConstraint("key", name=op.f("uq_tenants_key")),
        sa.UniqueConstraint("name", name=op.f("uq_tenants_name")),
    )
    op.create_table(
        "users",
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("email = lower(email)", name=op.f("ck_users_email_lower")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "api_keys",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("secret_digest", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0", name=op.f("ck_api_keys_scopes")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_api_keys_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("secret_digest", name=op.f("uq_api_keys_secret_digest")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_api_keys_tenant_id_name")),
    )
    op.create_table(
        "audit_entries",
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("actor_name", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=True),
        sa.Column("subject_name", sa.String(), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_audit_entries_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index(
        op.f("ix_audit_entries_tenant_id_created_at_id"),
        "audit_entries",
        ["tenant_id", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("media_type", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_idempotency_keys_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "caller", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "memberships",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.TEXT(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('viewer', 'editor', 'owner')", name=op.f("ck_memberships_role")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_memberships_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_user_id"), "memberships", ["user_id"], unique=False)
    op.create_table(
        "meshes",
        sa.Column("key", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("window_s", sa.Integer(), nullable=False),
        sa.Column("rate_hz", sa.Integer(), nullable=False),
        sa.Column("flows", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("flows BETWEEN 1 AND 16", name=op.f("ck_meshes_flows")),
        sa.CheckConstraint("rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)", name=op.f("ck_meshes_rate_hz")),
        sa.CheckConstraint("window_s BETWEEN 1 AND 60", name=op.f("ck_meshes_window_s")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_meshes_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_meshes")),
        sa.UniqueConstraint("key", name=op.f("uq_meshes_key")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_meshes_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_meshes_tenant_id_name")),
    )
    op.create_table(
        "zones",
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("region", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("physical_id", sa.String(), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_zones_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_zones")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_zones_tenant_id_id")),
        sa.UniqueConstraint(
            "tenant_id", "provider", "region", "name", name=op.f("uq_zones_tenant_id_provider_region_name")
        ),
    )
    op.create_table(
        "enrolment_tokens",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("secret_digest", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("max_uses", sa.Integer(), nullable=False),
        sa.Column("uses", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("uses BETWEEN 0 AND max_uses", name=op.f("ck_enrolment_tokens_uses")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_enrolment_tokens_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_enrolment_tokens_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolment_tokens")),
        sa.UniqueConstraint("secret_digest", name=op.f("uq_enrolment_tokens_secret_digest")),
    )
    op.create_index(
        op.f("ix_enrolment_tokens_tenant_id_mesh_id"), "enrolment_tokens", ["tenant_id", "mesh_id"], unique=False
    )
    op.create_table(
        "sessions",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("secret_digest", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["memberships.tenant_id", "memberships.user_id"],
            name=op.f("fk_sessions_tenant_id_user_id_memberships"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_sessions_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("secret_digest", name=op.f("uq_sessions_secret_digest")),
    )
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"], unique=False)
    op.create_index(op.f("ix_sessions_tenant_id_user_id"), "sessions", ["tenant_id", "user_id"], unique=False)
    op.create_table(
        "vms",
        sa.Column("key", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("zone_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("labels", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("probe_address", sa.String(), nullable=True),
        sa.Column("event_port", sa.Integer(), nullable=False),
        sa.Column("general_port", sa.Integer(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("event_port BETWEEN 1 AND 65535", name=op.f("ck_vms_event_port")),
        sa.CheckConstraint("general_port BETWEEN 1 AND 65535", name=op.f("ck_vms_general_port")),
        sa.CheckConstraint("general_port <> event_port", name=op.f("ck_vms_ports_differ")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "zone_id"], ["zones.tenant_id", "zones.id"], name=op.f("fk_vms_tenant_id_zone_id_zones")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_vms_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vms")),
        sa.UniqueConstraint("key", name=op.f("uq_vms_key")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_vms_tenant_id_id")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_vms_tenant_id_name")),
    )
    op.create_index(op.f("ix_vms_tenant_id_zone_id"), "vms", ["tenant_id", "zone_id"], unique=False)
    op.create_table(
        "agents",
        sa.Column("vm_id", sa.Uuid(), nullable=False),
        sa.Column("enrolled_with", sa.Uuid(), nullable=True),
        sa.Column("credential_prefix", sa.String(), nullable=False),
        sa.Column("credential_digest", sa.LargeBinary(), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("agent_version", sa.String(), nullable=False),
        sa.Column("description", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("last_report_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("report_every_s", sa.Integer(), server_default=sa.text("10"), nullable=False),
        sa.Column("health", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_agents_tenant_id_vm_id_vms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_agents_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("credential_digest", name=op.f("uq_agents_credential_digest")),
        sa.UniqueConstraint("tenant_id", "id", name=op.f("uq_agents_tenant_id_id")),
        postgresql_with={"fillfactor": 70},
    )
    op.create_index(
        op.f("ix_agents_tenant_id_created_at_id"), "agents", ["tenant_id", "created_at", "id"], unique=False
    )
    op.create_index(
        "uq_agents_living",
        "agents",
        ["tenant_id", "vm_id"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_table(
        "mesh_vms",
        sa.Column("mesh_id", sa.Uuid(), nullable=False),
        sa.Column("vm_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "mesh_id"],
            ["meshes.tenant_id", "meshes.id"],
            name=op.f("fk_mesh_vms_tenant_id_mesh_id_meshes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "vm_id"],
            ["vms.tenant_id", "vms.id"],
            name=op.f("fk_mesh_vms_tenant_id_vm_id_vms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_mesh_vms_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("mesh_id", "vm_id", name=op.f("pk_mesh_vms")),
    )
    op.create_index(op.f("ix_mesh_vms_tenant_id_vm_id"), "mesh_vms", ["tenant_id", "vm_id"], unique=False)
    op.create_table(
        "agent_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_agent_events_tenant_id_agent_id_agents"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_agent_events_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_events")),
    )
    op.create_index(op.f("ix_agent_events_received_at"), "agent_events", ["received_at"], unique=False)
    op.create_index(
        op.f("ix_agent_events_tenant_id_agent_id_at"), "agent_events", ["tenant_id", "agent_id", "at"], unique=False
    )
    for table in TENANT_OWNED:
        confine(table, f"tenant_id::text = {OURS}")
    confine("tenants", f"id::text = {OURS}")
    # A user may belong to several tenants: visible where there is a membership, itself confined.
    confine("users", "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)")
    op.execute(REVISIONS)


def downgrade() -> None:
    """Drop it all."""
    op.execute("DROP POLICY tenant ON users")
    for table in (
        "agent_events",
        "mesh_vms",
        "enrolment_tokens",
        "meshes",
        "agents",
        "vms",
        "zones",
        "sessions",
        "memberships",
        "idempotency_keys",
        "audit_entries",
        "api_keys",
        "users",
        "tenants",
    ):
        op.drop_table(table)
    for function in FUNCTIONS:
        op.execute(f"DROP FUNCTION {function}()")
