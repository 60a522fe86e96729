-- Recommendations, scenarios, simulations, and what the advisors store.

CREATE TABLE recommendations (
    mesh_id uuid NOT NULL,
    state text NOT NULL,
    trigger text NOT NULL,
    requested_by varchar NOT NULL,
    question jsonb NOT NULL,
    answer jsonb NOT NULL,
    moves jsonb NOT NULL,
    reason varchar,
    decided_at timestamptz,
    applied_at timestamptz,
    outcome jsonb,
    verified_at timestamptz,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_recommendations PRIMARY KEY (id),
    CONSTRAINT ck_recommendations_outcome CHECK ((state = 'verified') = (outcome IS NOT NULL)),
    CONSTRAINT ck_recommendations_state CHECK (
        state IN ('proposed', 'accepted', 'applied', 'verified', 'undone', 'dismissed')),
    CONSTRAINT ck_recommendations_applied CHECK (
        state NOT IN ('applied', 'verified', 'undone') OR applied_at IS NOT NULL),
    CONSTRAINT ck_recommendations_trigger CHECK (trigger IN ('asked', 'scheduled', 'objective')),
    CONSTRAINT fk_recommendations_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_recommendations_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_recommendations_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_recommendations_tenant_id_created_at_id ON recommendations (tenant_id, created_at, id);
CREATE INDEX ix_recommendations_tenant_id_mesh_id ON recommendations (tenant_id, mesh_id);

CREATE TABLE recommendation_schedules (
    mesh_id uuid NOT NULL,
    every_h integer NOT NULL,
    question jsonb NOT NULL,
    asked_at timestamptz,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_recommendation_schedules PRIMARY KEY (mesh_id),
    CONSTRAINT ck_recommendation_schedules_every_h CHECK (every_h BETWEEN 1 AND 720),
    CONSTRAINT fk_recommendation_schedules_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_recommendation_schedules_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE scenarios (
    name varchar NOT NULL,
    mesh_id uuid NOT NULL,
    question jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_scenarios PRIMARY KEY (id),
    CONSTRAINT fk_scenarios_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_scenarios_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_scenarios_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_scenarios_tenant_id_name UNIQUE (tenant_id, name)
);
CREATE INDEX ix_scenarios_tenant_id_mesh_id ON scenarios (tenant_id, mesh_id);

CREATE TABLE simulations (
    name varchar NOT NULL,
    world jsonb NOT NULL,
    policies jsonb NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_simulations PRIMARY KEY (id),
    CONSTRAINT fk_simulations_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_simulations_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_simulations_tenant_id_created_at ON simulations (tenant_id, created_at);

CREATE TABLE price_lists (
    name varchar NOT NULL,
    currency varchar NOT NULL,
    as_of date NOT NULL,
    source varchar,
    entries jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_price_lists PRIMARY KEY (id),
    CONSTRAINT uq_price_lists_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_price_lists_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT fk_price_lists_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE token_buckets (
    vm_id uuid NOT NULL,
    direction varchar NOT NULL,
    rate_bytes_per_s double precision NOT NULL,
    depth_bytes double precision NOT NULL,
    source varchar NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_token_buckets PRIMARY KEY (id),
    CONSTRAINT uq_token_buckets_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_token_buckets_tenant_id_vm_id UNIQUE (tenant_id, vm_id),
    CONSTRAINT ck_token_buckets_direction CHECK (direction IN ('sent', 'received')),
    CONSTRAINT ck_token_buckets_source CHECK (source IN ('stated', 'detected')),
    CONSTRAINT ck_token_buckets_rate_bytes_per_s CHECK (rate_bytes_per_s > 0),
    CONSTRAINT ck_token_buckets_depth_bytes CHECK (depth_bytes > 0),
    CONSTRAINT fk_token_buckets_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_token_buckets_tenant_id_vm_id_vms
        FOREIGN KEY (tenant_id, vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE bulk_orders (
    mesh_id uuid NOT NULL,
    kind text NOT NULL,
    vm_ids uuid[] NOT NULL,
    secret bytea,
    certificate bytea,
    certificate_key bytea,
    question jsonb NOT NULL,
    steps jsonb NOT NULL,
    progress jsonb NOT NULL,
    error varchar,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    stopped_at timestamptz,
    finished_at timestamptz,
    requested_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_bulk_orders PRIMARY KEY (id),
    CONSTRAINT uq_bulk_orders_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT ck_bulk_orders_kind CHECK (kind IN ('trial', 'transfers')),
    CONSTRAINT ck_bulk_orders_span CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '600 s'),
    CONSTRAINT fk_bulk_orders_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_bulk_orders_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_bulk_orders_tenant_id_mesh_id ON bulk_orders (tenant_id, mesh_id);
CREATE INDEX ix_bulk_orders_tenant_id_created_at_id ON bulk_orders (tenant_id, created_at, id);
CREATE INDEX ix_bulk_orders_active ON bulk_orders (ends_at) WHERE stopped_at IS NULL AND finished_at IS NULL;
