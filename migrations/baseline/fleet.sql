-- Zones, VMs, meshes, agents. Triggers raise the revision of a mesh with each change of what its plan and its roster
-- depend on, whoever makes the change.

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
    ptp_domain integer NOT NULL DEFAULT 0,
    CONSTRAINT pk_vms PRIMARY KEY (id),
    CONSTRAINT ck_vms_event_port CHECK (event_port BETWEEN 1 AND 65535),
    CONSTRAINT ck_vms_general_port CHECK (general_port BETWEEN 1 AND 65535),
    CONSTRAINT ck_vms_ports_differ CHECK (general_port <> event_port),
    CONSTRAINT ck_vms_responder CHECK (responder IN ('agent', 'ieee1588', 'sptp')),
    CONSTRAINT fk_vms_tenant_id_zone_id_zones FOREIGN KEY (tenant_id, zone_id) REFERENCES zones (tenant_id, id),
    CONSTRAINT fk_vms_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_vms_key UNIQUE (key),
    CONSTRAINT uq_vms_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_vms_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT ck_vms_ptp_domain CHECK (ptp_domain BETWEEN 0 AND 127)
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
    spike_threshold_ns integer NOT NULL DEFAULT 500000,
    loss_deadline_ms integer NOT NULL DEFAULT 1000,
    strategy varchar NOT NULL DEFAULT 'full',
    period_windows integer NOT NULL DEFAULT 10,
    representatives integer NOT NULL DEFAULT 2,
    CONSTRAINT pk_meshes PRIMARY KEY (id),
    CONSTRAINT ck_meshes_flows CHECK (flows BETWEEN 1 AND 16),
    CONSTRAINT ck_meshes_rate_hz CHECK (rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)),
    CONSTRAINT ck_meshes_window_s CHECK (window_s BETWEEN 1 AND 60),
    CONSTRAINT fk_meshes_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_meshes_key UNIQUE (key),
    CONSTRAINT uq_meshes_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_meshes_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT ck_meshes_spike_threshold_ns CHECK (spike_threshold_ns BETWEEN 10000 AND 1000000000),
    CONSTRAINT ck_meshes_loss_deadline_ms CHECK (loss_deadline_ms BETWEEN 100 AND 2000),
    CONSTRAINT ck_meshes_strategy CHECK (strategy IN ('full', 'zones', 'sparse', 'event')),
    CONSTRAINT ck_meshes_period_windows CHECK (period_windows BETWEEN 2 AND 60),
    CONSTRAINT ck_meshes_representatives CHECK (representatives BETWEEN 1 AND 16)
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

-- Pairs of an open incident, which a mesh measures in every window.

CREATE TABLE mesh_focus (
    mesh_id uuid NOT NULL,
    pairs bytea NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_mesh_focus PRIMARY KEY (mesh_id),
    CONSTRAINT fk_mesh_focus_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_mesh_focus_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);

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

CREATE FUNCTION mesh_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER settings_changed BEFORE UPDATE ON meshes FOR EACH ROW
    WHEN ((OLD.name, OLD.window_s, OLD.rate_hz, OLD.flows, OLD.spike_threshold_ns, OLD.loss_deadline_ms,
           OLD.strategy, OLD.period_windows, OLD.representatives) IS DISTINCT FROM
          (NEW.name, NEW.window_s, NEW.rate_hz, NEW.flows, NEW.spike_threshold_ns, NEW.loss_deadline_ms,
           NEW.strategy, NEW.period_windows, NEW.representatives))
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

CREATE FUNCTION mesh_focus_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    focus mesh_focus := coalesce(NEW, OLD);
BEGIN
    UPDATE meshes SET revision = revision + 1 WHERE tenant_id = focus.tenant_id AND id = focus.mesh_id;
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON mesh_focus
    FOR EACH ROW EXECUTE FUNCTION mesh_focus_changed();

CREATE FUNCTION vm_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE meshes SET revision = revision + 1
        WHERE (tenant_id, id) IN (SELECT tenant_id, mesh_id FROM mesh_vms
                                  WHERE tenant_id = NEW.tenant_id AND vm_id = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER UPDATE ON vms FOR EACH ROW
    WHEN ((OLD.name, OLD.zone_id, OLD.probe_address, OLD.event_port, OLD.general_port, OLD.responder, OLD.ptp_domain)
          IS DISTINCT FROM
          (NEW.name, NEW.zone_id, NEW.probe_address, NEW.event_port, NEW.general_port, NEW.responder, NEW.ptp_domain))
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
