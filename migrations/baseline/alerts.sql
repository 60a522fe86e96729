-- Alert rules and their state, incidents, silences, receivers, routing, deliveries.

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
    CONSTRAINT ck_alert_rules_m_of_n CHECK (sources_min >= 1 AND hold_s >= 0 AND keep_firing_s >= 0),
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
    rule_states bytea,
    baselines bytea,
    baselines_at timestamptz,
    firing integer NOT NULL DEFAULT 0,
    took_ms integer NOT NULL DEFAULT 0,
    tenant_id uuid NOT NULL,
    watched_since timestamptz,
    settling_paths integer NOT NULL DEFAULT 0,
    settled_s integer NOT NULL DEFAULT 0,
    unlearnt_paths integer NOT NULL DEFAULT 0,
    learnt_s integer NOT NULL DEFAULT 0,
    CONSTRAINT pk_alert_states PRIMARY KEY (mesh_id),
    CONSTRAINT fk_alert_states_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_alert_states_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

-- The constraints have names of the table's first name, which databases have that grew to this version. PostgreSQL up
-- to 17 ignores them.
CREATE TABLE late_data_progress (
    mesh_id uuid CONSTRAINT alert_hindsights_mesh_id_not_null NOT NULL,
    looked_until timestamptz CONSTRAINT alert_hindsights_looked_until_not_null NOT NULL,
    tenant_id uuid CONSTRAINT alert_hindsights_tenant_id_not_null NOT NULL,
    CONSTRAINT pk_late_data_progress PRIMARY KEY (mesh_id),
    CONSTRAINT fk_late_data_progress_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_late_data_progress_tenant_id_tenants FOREIGN KEY (tenant_id)
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
    silenced_by varchar,
    merged_into uuid,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    found_late_at timestamptz,
    first_onset_at timestamptz NOT NULL,
    end_notice_at timestamptz,
    occurrences integer NOT NULL DEFAULT 1,
    episodes jsonb NOT NULL DEFAULT '[]',
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
    group_key varchar,
    held boolean NOT NULL DEFAULT false,
    hold_s integer NOT NULL DEFAULT 0,
    hold_max_s integer NOT NULL DEFAULT 0,
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
CREATE INDEX ix_deliveries_group ON deliveries (tenant_id, receiver_id, group_key, due_at)
    WHERE group_key IS NOT NULL;
