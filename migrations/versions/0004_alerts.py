"""Alert rules and their state, incidents, silences, receivers, routing and deliveries."""

from collections.abc import Sequence

from alembic import op

revision: str = "0004_alerts"
down_revision: str | Sequence[str] | None = "0003_recommender"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
CREATE TABLE alert_rules (
    mesh_id uuid NOT NULL,
    name varchar NOT NULL,
    enabled boolean NOT NULL,
    severity text NOT NULL,
    condition jsonb NOT NULL,
    scope jsonb NOT NULL,
    windows_x integer NOT NULL,
    windows_y integer NOT NULL,
    sources_min integer NOT NULL,
    hold_s integer NOT NULL,
    keep_firing_s integer NOT NULL,
    runbook_url varchar,
    origin varchar,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_alert_rules PRIMARY KEY (id),
    CONSTRAINT ck_alert_rules_severity CHECK (severity IN ('info', 'warning', 'critical')),
    CONSTRAINT ck_alert_rules_patience CHECK (sources_min >= 1 AND hold_s >= 0 AND keep_firing_s >= 0),
    CONSTRAINT ck_alert_rules_windows CHECK (windows_x BETWEEN 1 AND windows_y AND windows_y <= 16),
    CONSTRAINT fk_alert_rules_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_alert_rules_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_alert_rules_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_alert_rules_tenant_id_mesh_id_name UNIQUE (tenant_id, mesh_id, name)
);

CREATE TABLE alert_states (
    mesh_id uuid NOT NULL,
    evaluated_until timestamptz,
    looked_at timestamptz,
    standings bytea,
    baselines bytea,
    baselines_at timestamptz,
    firing integer NOT NULL DEFAULT 0,
    took_ms integer NOT NULL DEFAULT 0,
    tenant_id uuid NOT NULL,
    watched_since timestamptz,
    CONSTRAINT pk_alert_states PRIMARY KEY (mesh_id),
    CONSTRAINT fk_alert_states_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_alert_states_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE alert_hindsights (
    mesh_id uuid NOT NULL,
    looked_until timestamptz NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_alert_hindsights PRIMARY KEY (mesh_id),
    CONSTRAINT fk_alert_hindsights_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_alert_hindsights_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE incidents (
    mesh_id uuid NOT NULL,
    state text NOT NULL,
    severity text NOT NULL,
    title varchar NOT NULL,
    suspect varchar NOT NULL,
    culprit jsonb NOT NULL,
    score double precision NOT NULL,
    evidence jsonb NOT NULL,
    paths bytea NOT NULL,
    rules jsonb NOT NULL,
    applications jsonb NOT NULL,
    onset_at timestamptz NOT NULL,
    opened_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ended_at timestamptz,
    notified_at timestamptz,
    assignee varchar,
    muted varchar,
    merged_into uuid,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    found_late_at timestamptz,
    CONSTRAINT pk_incidents PRIMARY KEY (id),
    CONSTRAINT ck_incidents_severity CHECK (severity IN ('info', 'warning', 'critical')),
    CONSTRAINT ck_incidents_state CHECK (state IN ('open', 'acknowledged', 'resolved')),
    CONSTRAINT fk_incidents_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_incidents_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_incidents_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_incidents_tenant_id_mesh_id_ended_at ON incidents (tenant_id, mesh_id, ended_at);
CREATE INDEX ix_incidents_tenant_id_opened_at_id ON incidents (tenant_id, opened_at, id);

CREATE TABLE incident_events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    incident_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    kind varchar NOT NULL,
    actor varchar NOT NULL,
    text varchar NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_incident_events PRIMARY KEY (id),
    CONSTRAINT fk_incident_events_tenant_id_incident_id_incidents FOREIGN KEY (tenant_id, incident_id)
        REFERENCES incidents (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_incident_events_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_incident_events_tenant_id_incident_id_id ON incident_events (tenant_id, incident_id, id);

CREATE TABLE silences (
    comment varchar NOT NULL,
    matchers jsonb NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    weekly jsonb,
    created_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_silences PRIMARY KEY (id),
    CONSTRAINT ck_silences_times CHECK (starts_at < ends_at),
    CONSTRAINT fk_silences_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_silences_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_silences_tenant_id_ends_at_id ON silences (tenant_id, ends_at, id);

CREATE TABLE receivers (
    name varchar NOT NULL,
    kind text NOT NULL,
    settings jsonb NOT NULL,
    secret bytea,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_receivers PRIMARY KEY (id),
    CONSTRAINT ck_receivers_kind CHECK (kind IN ('email', 'webhook', 'slack', 'pagerduty', 'teams')),
    CONSTRAINT fk_receivers_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_receivers_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_receivers_tenant_id_name UNIQUE (tenant_id, name)
);

CREATE TABLE alert_routings (
    id uuid NOT NULL,
    tree jsonb NOT NULL,
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_alert_routings PRIMARY KEY (id),
    CONSTRAINT fk_alert_routings_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_alert_routings_tenant_id UNIQUE (tenant_id)
);

CREATE TABLE deliveries (
    incident_id uuid,
    receiver_id uuid NOT NULL,
    about varchar NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    sent_at timestamptz,
    answer varchar,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_deliveries PRIMARY KEY (id),
    CONSTRAINT ck_deliveries_state CHECK (state IN ('waiting', 'sent', 'failed')),
    CONSTRAINT fk_deliveries_tenant_id_incident_id_incidents FOREIGN KEY (tenant_id, incident_id)
        REFERENCES incidents (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_deliveries_tenant_id_receiver_id_receivers FOREIGN KEY (tenant_id, receiver_id)
        REFERENCES receivers (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_deliveries_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_deliveries_due ON deliveries (due_at) WHERE state = 'waiting';
CREATE INDEX ix_deliveries_tenant_id_created_at_id ON deliveries (tenant_id, created_at, id);
CREATE INDEX ix_deliveries_tenant_id_incident_id ON deliveries (tenant_id, incident_id);
"""

TABLES = (
    "alert_rules",
    "alert_states",
    "alert_hindsights",
    "incidents",
    "incident_events",
    "silences",
    "receivers",
    "alert_routings",
    "deliveries",
)
OURS = "current_setting('sinemora.tenant_id', true)"


def upgrade() -> None:
    """Create the tables and their row-level security."""
    op.execute(SCHEMA)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id::text = {OURS} OR {OURS} = '*')")


def downgrade() -> None:
    """Drop the tables."""
    op.execute(f"DROP TABLE {', '.join(TABLES)}")
