"""Tenants and their users, jobs, inventory and meshes, with row-level security and revisions of meshes."""

from collections.abc import Sequence

from alembic import op

revision: str = "0001_foundation"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE tenants (
    key integer GENERATED ALWAYS AS IDENTITY,
    name varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_tenants PRIMARY KEY (id),
    CONSTRAINT uq_tenants_key UNIQUE (key),
    CONSTRAINT uq_tenants_name UNIQUE (name)
);

CREATE TABLE users (
    email varchar NOT NULL,
    password_hash varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT ck_users_email_lower CHECK (email = lower(email)),
    CONSTRAINT uq_users_email UNIQUE (email)
);

CREATE TABLE memberships (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_memberships PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT ck_memberships_role CHECK (role IN ('viewer', 'editor', 'owner')),
    CONSTRAINT fk_memberships_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_memberships_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_memberships_user_id ON memberships (user_id);

CREATE TABLE sessions (
    user_id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (id),
    CONSTRAINT fk_sessions_tenant_id_user_id_memberships FOREIGN KEY (tenant_id, user_id)
        REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE,
    CONSTRAINT fk_sessions_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_sessions_secret_digest UNIQUE (secret_digest)
);
CREATE INDEX ix_sessions_expires_at ON sessions (expires_at);
CREATE INDEX ix_sessions_tenant_id_user_id ON sessions (tenant_id, user_id);

CREATE TABLE api_keys (
    name varchar NOT NULL,
    prefix varchar NOT NULL,
    secret_digest bytea NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamptz NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT ck_api_keys_scopes CHECK (scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0),
    CONSTRAINT fk_api_keys_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_keys_secret_digest UNIQUE (secret_digest),
    CONSTRAINT uq_api_keys_tenant_id_name UNIQUE (tenant_id, name)
);

CREATE TABLE tenant_quotas (
    vms integer,
    paths bigint,
    windows_per_s double precision,
    raw_days integer,
    minute_days integer,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_tenant_quotas PRIMARY KEY (tenant_id),
    CONSTRAINT ck_tenant_quotas_growth CHECK (vms >= 0 AND paths >= 0 AND windows_per_s >= 0),
    CONSTRAINT ck_tenant_quotas_days CHECK (raw_days >= 1 AND minute_days >= 1),
    CONSTRAINT fk_tenant_quotas_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE audit_entries (
    actor_kind varchar NOT NULL,
    actor_id uuid,
    actor_name varchar NOT NULL,
    action varchar NOT NULL,
    subject_id uuid,
    subject_name varchar NOT NULL,
    detail jsonb NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_audit_entries PRIMARY KEY (id),
    CONSTRAINT fk_audit_entries_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_audit_entries_tenant_id_created_at_id ON audit_entries (tenant_id, created_at, id);

CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    caller varchar NOT NULL,
    key varchar NOT NULL,
    fingerprint bytea NOT NULL,
    created_at timestamptz NOT NULL,
    status integer,
    media_type varchar,
    body bytea,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, caller, key),
    CONSTRAINT fk_idempotency_keys_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE jobs (
    kind varchar NOT NULL,
    title varchar NOT NULL,
    queue text NOT NULL,
    state text NOT NULL DEFAULT 'queued',
    params jsonb NOT NULL,
    requested_by varchar NOT NULL,
    digest bytea,
    attempt integer NOT NULL DEFAULT 0,
    progress double precision,
    note varchar NOT NULL DEFAULT '',
    cancel_requested boolean NOT NULL DEFAULT false,
    checkpoint jsonb,
    result jsonb,
    error jsonb,
    output_media_type varchar,
    output_name varchar,
    output_bytes bigint,
    heartbeat_at timestamptz,
    started_at timestamptz,
    finished_at timestamptz,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_jobs PRIMARY KEY (id),
    CONSTRAINT ck_jobs_finished CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CONSTRAINT ck_jobs_progress CHECK (progress BETWEEN 0 AND 1),
    CONSTRAINT ck_jobs_queue CHECK (queue IN ('fast', 'bulk', 'solve')),
    CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    CONSTRAINT fk_jobs_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_jobs_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_jobs_tenant_id_created_at_id ON jobs (tenant_id, created_at, id);
CREATE INDEX ix_jobs_tenant_id_digest ON jobs (tenant_id, digest);
CREATE INDEX ix_jobs_open ON jobs (state) WHERE state IN ('queued', 'running');

CREATE TABLE job_chunks (
    job_id uuid NOT NULL,
    side text NOT NULL,
    number integer NOT NULL,
    data bytea NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_job_chunks PRIMARY KEY (job_id, side, number),
    CONSTRAINT ck_job_chunks_side CHECK (side IN ('input', 'output')),
    CONSTRAINT fk_job_chunks_tenant_id_job_id_jobs FOREIGN KEY (tenant_id, job_id)
        REFERENCES jobs (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_job_chunks_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE zones (
    provider varchar NOT NULL,
    region varchar NOT NULL,
    name varchar NOT NULL,
    physical_id varchar,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    key integer GENERATED ALWAYS AS IDENTITY,
    CONSTRAINT pk_zones PRIMARY KEY (id),
    CONSTRAINT fk_zones_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_zones_key UNIQUE (key),
    CONSTRAINT uq_zones_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_zones_tenant_id_provider_region_name UNIQUE (tenant_id, provider, region, name)
);

CREATE TABLE vms (
    key integer GENERATED ALWAYS AS IDENTITY,
    zone_id uuid NOT NULL,
    name varchar NOT NULL,
    labels jsonb NOT NULL DEFAULT '{}',
    probe_address varchar,
    event_port integer NOT NULL,
    general_port integer NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    responder varchar NOT NULL DEFAULT 'agent',
    CONSTRAINT pk_vms PRIMARY KEY (id),
    CONSTRAINT ck_vms_event_port CHECK (event_port BETWEEN 1 AND 65535),
    CONSTRAINT ck_vms_general_port CHECK (general_port BETWEEN 1 AND 65535),
    CONSTRAINT ck_vms_ports_differ CHECK (general_port <> event_port),
    CONSTRAINT ck_vms_responder CHECK (responder IN ('agent', 'ieee1588')),
    CONSTRAINT fk_vms_tenant_id_zone_id_zones FOREIGN KEY (tenant_id, zone_id) REFERENCES zones (tenant_id, id),
    CONSTRAINT fk_vms_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_vms_key UNIQUE (key),
    CONSTRAINT uq_vms_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_vms_tenant_id_name UNIQUE (tenant_id, name)
);
CREATE INDEX ix_vms_tenant_id_zone_id ON vms (tenant_id, zone_id);

CREATE TABLE meshes (
    key integer GENERATED ALWAYS AS IDENTITY,
    name varchar NOT NULL,
    window_s integer NOT NULL,
    rate_hz integer NOT NULL,
    flows integer NOT NULL,
    revision bigint NOT NULL DEFAULT 1,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_meshes PRIMARY KEY (id),
    CONSTRAINT ck_meshes_flows CHECK (flows BETWEEN 1 AND 16),
    CONSTRAINT ck_meshes_rate_hz CHECK (rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)),
    CONSTRAINT ck_meshes_window_s CHECK (window_s BETWEEN 1 AND 60),
    CONSTRAINT fk_meshes_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_meshes_key UNIQUE (key),
    CONSTRAINT uq_meshes_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_meshes_tenant_id_name UNIQUE (tenant_id, name)
);

CREATE TABLE mesh_vms (
    mesh_id uuid NOT NULL,
    vm_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_mesh_vms PRIMARY KEY (mesh_id, vm_id),
    CONSTRAINT fk_mesh_vms_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_mesh_vms_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_mesh_vms_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_mesh_vms_tenant_id_vm_id ON mesh_vms (tenant_id, vm_id);

CREATE TABLE enrolment_tokens (
    mesh_id uuid NOT NULL,
    prefix varchar NOT NULL,
    secret_digest bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    max_uses integer NOT NULL,
    uses integer NOT NULL DEFAULT 0,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_enrolment_tokens PRIMARY KEY (id),
    CONSTRAINT ck_enrolment_tokens_uses CHECK (uses BETWEEN 0 AND max_uses),
    CONSTRAINT fk_enrolment_tokens_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_enrolment_tokens_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_enrolment_tokens_secret_digest UNIQUE (secret_digest)
);
CREATE INDEX ix_enrolment_tokens_tenant_id_mesh_id ON enrolment_tokens (tenant_id, mesh_id);

CREATE TABLE agents (
    vm_id uuid NOT NULL,
    enrolled_with uuid,
    credential_prefix varchar NOT NULL,
    credential_digest bytea NOT NULL,
    revoked_at timestamptz,
    agent_version varchar NOT NULL,
    description jsonb NOT NULL,
    last_report_at timestamptz,
    report_every_s integer NOT NULL DEFAULT 10,
    health jsonb,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_agents PRIMARY KEY (id),
    CONSTRAINT fk_agents_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_agents_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_agents_credential_digest UNIQUE (credential_digest),
    CONSTRAINT uq_agents_tenant_id_id UNIQUE (tenant_id, id)
) WITH (fillfactor = 70);
CREATE INDEX ix_agents_tenant_id_created_at_id ON agents (tenant_id, created_at, id);
CREATE UNIQUE INDEX uq_agents_living ON agents (tenant_id, vm_id) WHERE revoked_at IS NULL;

CREATE TABLE agent_events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id uuid NOT NULL,
    kind varchar NOT NULL,
    at timestamptz NOT NULL,
    detail jsonb NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_agent_events PRIMARY KEY (id),
    CONSTRAINT fk_agent_events_tenant_id_agent_id_agents FOREIGN KEY (tenant_id, agent_id)
        REFERENCES agents (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_agent_events_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_agent_events_received_at ON agent_events (received_at);
CREATE INDEX ix_agent_events_tenant_id_agent_id_at ON agent_events (tenant_id, agent_id, at);
"""

# The tables of one tenant each.
TENANT_OWNED = (
    "memberships",
    "sessions",
    "api_keys",
    "tenant_quotas",
    "audit_entries",
    "idempotency_keys",
    "jobs",
    "job_chunks",
    "zones",
    "vms",
    "agents",
    "agent_events",
    "meshes",
    "mesh_vms",
    "enrolment_tokens",
)
OURS = "current_setting('sinemora.tenant_id', true)"

# Raise the revision of a mesh with each change of what its plan and its roster depend on, whoever makes the change.
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
    WHEN ((OLD.name, OLD.zone_id, OLD.probe_address, OLD.event_port, OLD.general_port, OLD.responder) IS DISTINCT FROM
          (NEW.name, NEW.zone_id, NEW.probe_address, NEW.event_port, NEW.general_port, NEW.responder))
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
    """Create the tables, their row-level security and the triggers."""
    op.execute(SCHEMA)
    for table in TENANT_OWNED:
        confine(table, f"tenant_id::text = {OURS}")
    confine("tenants", f"id::text = {OURS}")
    # A user may belong to several tenants: visible through a membership, which is itself confined.
    confine("users", "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)")
    op.execute(REVISIONS)


def downgrade() -> None:
    """Drop the tables and the functions of their triggers."""
    op.execute(f"DROP TABLE {', '.join(('tenants', 'users', *TENANT_OWNED))}")
    op.execute(f"DROP FUNCTION {', '.join(FUNCTIONS)}")


def confine(table: str, condition: str) -> None:
    """Let a session read and write only rows that satisfy `condition`, or every row in a system session ('*').

    Row-level security is forced, so it binds the owner of the table too.
    """
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING ({condition} OR {OURS} = '*')")
