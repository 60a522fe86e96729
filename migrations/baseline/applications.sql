-- Applications and their tasks, curves, capacities and prices of VMs, metric sources.

CREATE TABLE curves (
    name varchar NOT NULL,
    description varchar NOT NULL,
    metric varchar NOT NULL,
    unit varchar NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_curves PRIMARY KEY (id),
    CONSTRAINT ck_curves_metric CHECK (metric IN ('rate', 'duration')),
    CONSTRAINT fk_curves_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_curves_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_curves_tenant_id_name UNIQUE (tenant_id, name)
);

CREATE TABLE curve_versions (
    curve_id uuid NOT NULL,
    number integer NOT NULL,
    source varchar NOT NULL,
    made_by varchar NOT NULL,
    rows integer NOT NULL,
    samples jsonb NOT NULL,
    baseline double precision NOT NULL,
    baseline_measured boolean NOT NULL,
    baseline_factor double precision NOT NULL,
    latency_offset_us double precision NOT NULL,
    family varchar NOT NULL,
    reason varchar NOT NULL,
    candidates jsonb NOT NULL,
    noise double precision NOT NULL,
    threshold_us double precision,
    threshold_low_us double precision,
    threshold_high_us double precision,
    warnings jsonb NOT NULL,
    domain_us double precision NOT NULL,
    knots_us double precision[] NOT NULL,
    performance double precision[] NOT NULL,
    low double precision[] NOT NULL,
    high double precision[] NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_curve_versions PRIMARY KEY (id),
    CONSTRAINT ck_curve_versions_band CHECK (0 < ALL (low) AND 1 >= ALL (high)),
    CONSTRAINT ck_curve_versions_knots CHECK (
        cardinality(knots_us) = cardinality(performance)
        AND cardinality(knots_us) = cardinality(low) AND cardinality(knots_us) = cardinality(high)
    ),
    CONSTRAINT ck_curve_versions_domain CHECK (domain_us > 0 AND domain_us = knots_us[cardinality(knots_us)]),
    CONSTRAINT ck_curve_versions_number CHECK (number >= 1),
    CONSTRAINT fk_curve_versions_tenant_id_curve_id_curves FOREIGN KEY (tenant_id, curve_id)
        REFERENCES curves (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_curve_versions_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_curve_versions_tenant_id_curve_id_number UNIQUE (tenant_id, curve_id, number),
    CONSTRAINT uq_curve_versions_tenant_id_id UNIQUE (tenant_id, id)
);

-- An application refers to a version of a curve: the version must stay as it was.

CREATE FUNCTION curve_version_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'versions of curves are never changed' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER kept BEFORE UPDATE ON curve_versions FOR EACH ROW EXECUTE FUNCTION curve_version_kept();

CREATE TABLE applications (
    name varchar NOT NULL,
    description varchar NOT NULL,
    mesh_id uuid NOT NULL,
    curve_key varchar,
    curve_version_id uuid,
    reference_us double precision,
    objective double precision,
    moves_max integer,
    move_cost double precision NOT NULL,
    per_vm_max integer,
    per_host_max integer,
    per_zone_max integer,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_applications PRIMARY KEY (id),
    CONSTRAINT ck_applications_spread CHECK (least(per_vm_max, per_host_max, per_zone_max) >= 1),
    CONSTRAINT ck_applications_move_cost CHECK (move_cost >= 0),
    CONSTRAINT ck_applications_moves_max CHECK (moves_max >= 0),
    CONSTRAINT ck_applications_curve CHECK (num_nonnulls(curve_key, curve_version_id) = 1),
    CONSTRAINT ck_applications_objective CHECK (objective > 0 AND objective <= 1),
    CONSTRAINT ck_applications_reference_us CHECK (reference_us >= 0),
    CONSTRAINT fk_applications_tenant_id_curve_version_id_curve_versions FOREIGN KEY (tenant_id, curve_version_id)
        REFERENCES curve_versions (tenant_id, id),
    CONSTRAINT fk_applications_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id),
    CONSTRAINT fk_applications_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_applications_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_applications_tenant_id_name UNIQUE (tenant_id, name)
);
CREATE INDEX ix_applications_tenant_id_curve_version_id ON applications (tenant_id, curve_version_id);
CREATE INDEX ix_applications_tenant_id_mesh_id ON applications (tenant_id, mesh_id);

CREATE TABLE application_zones (
    application_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_application_zones PRIMARY KEY (application_id, zone_id),
    CONSTRAINT fk_application_zones_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_application_zones_tenant_id_zone_id_zones FOREIGN KEY (tenant_id, zone_id)
        REFERENCES zones (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_application_zones_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE separations (
    application_id uuid NOT NULL,
    other_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_separations PRIMARY KEY (application_id, other_id),
    CONSTRAINT ck_separations_other CHECK (application_id <> other_id),
    CONSTRAINT fk_separations_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_separations_tenant_id_other_id_applications FOREIGN KEY (tenant_id, other_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_separations_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE tasks (
    application_id uuid NOT NULL,
    position integer NOT NULL,
    name varchar NOT NULL,
    vm_id uuid,
    root boolean NOT NULL,
    pinned boolean NOT NULL,
    slots integer NOT NULL,
    cpu_millicores integer NOT NULL,
    memory_mib integer NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    placed_at timestamptz,
    waiting_since timestamptz,
    CONSTRAINT pk_tasks PRIMARY KEY (id),
    CONSTRAINT ck_tasks_size CHECK (cpu_millicores >= 0 AND memory_mib >= 0),
    CONSTRAINT ck_tasks_slots CHECK (slots >= 1),
    CONSTRAINT fk_tasks_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_tasks_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE SET NULL (vm_id),
    CONSTRAINT fk_tasks_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_tasks_tenant_id_application_id_id UNIQUE (tenant_id, application_id, id),
    CONSTRAINT uq_tasks_tenant_id_application_id_name UNIQUE (tenant_id, application_id, name)
        DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_tasks_tenant_id_vm_id ON tasks (tenant_id, vm_id);
CREATE UNIQUE INDEX uq_tasks_root ON tasks (tenant_id, application_id) WHERE root;

-- A trigger, since a VM that is deleted sets its tasks waiting too. A restored row keeps its times.

CREATE FUNCTION task_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND (NEW.placed_at IS NOT NULL OR NEW.waiting_since IS NOT NULL) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'INSERT' OR NEW.vm_id IS DISTINCT FROM OLD.vm_id THEN
        NEW.placed_at := CASE WHEN NEW.vm_id IS NOT NULL THEN now() END;
        NEW.waiting_since := CASE WHEN NEW.vm_id IS NULL THEN now() END;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER placed BEFORE INSERT OR UPDATE OF vm_id ON tasks FOR EACH ROW EXECUTE FUNCTION task_placed();

CREATE TABLE task_edges (
    application_id uuid NOT NULL,
    source_task_id uuid NOT NULL,
    target_task_id uuid NOT NULL,
    weight double precision NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_task_edges PRIMARY KEY (application_id, source_task_id, target_task_id),
    CONSTRAINT ck_task_edges_loop CHECK (source_task_id <> target_task_id),
    CONSTRAINT ck_task_edges_weight CHECK (weight > 0),
    CONSTRAINT fk_task_edges_tenant_id_application_id_source_task_id_tasks
        FOREIGN KEY (tenant_id, application_id, source_task_id)
        REFERENCES tasks (tenant_id, application_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_task_edges_tenant_id_application_id_target_task_id_tasks
        FOREIGN KEY (tenant_id, application_id, target_task_id)
        REFERENCES tasks (tenant_id, application_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_task_edges_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_task_edges_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE vm_capacities (
    vm_id uuid NOT NULL,
    slots integer NOT NULL,
    cpu_millicores integer,
    memory_mib integer,
    price_per_hour numeric(14, 6),
    host varchar,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_vm_capacities PRIMARY KEY (vm_id),
    CONSTRAINT ck_vm_capacities_size CHECK (cpu_millicores >= 0 AND memory_mib >= 0),
    CONSTRAINT ck_vm_capacities_price CHECK (price_per_hour >= 0),
    CONSTRAINT ck_vm_capacities_slots CHECK (slots >= 0),
    CONSTRAINT fk_vm_capacities_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_vm_capacities_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE price_bases (
    application_id uuid NOT NULL,
    service jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_price_bases PRIMARY KEY (application_id),
    CONSTRAINT fk_price_bases_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_price_bases_tenant_id_application_id_applications
        FOREIGN KEY (tenant_id, application_id) REFERENCES applications (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE metric_sources (
    name varchar NOT NULL,
    mesh_id uuid NOT NULL,
    curve_id uuid,
    metric varchar NOT NULL,
    unit varchar NOT NULL,
    kind varchar NOT NULL,
    url varchar,
    query varchar,
    refresh_hours integer NOT NULL,
    paused boolean NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    authentication varchar,
    secret bytea,
    application_id uuid,
    CONSTRAINT pk_metric_sources PRIMARY KEY (id),
    CONSTRAINT ck_metric_sources_prometheus CHECK ((kind = 'prometheus') = (url IS NOT NULL AND query IS NOT NULL)),
    CONSTRAINT ck_metric_sources_kind CHECK (kind IN ('push', 'prometheus')),
    CONSTRAINT ck_metric_sources_metric CHECK (metric IN ('rate', 'duration')),
    CONSTRAINT ck_metric_sources_refresh_hours CHECK (refresh_hours >= 1),
    CONSTRAINT ck_metric_sources_authentication CHECK (authentication IN ('bearer', 'basic', 'header')),
    CONSTRAINT ck_metric_sources_secret CHECK ((authentication IS NULL) = (secret IS NULL)),
    CONSTRAINT fk_metric_sources_tenant_id_curve_id_curves FOREIGN KEY (tenant_id, curve_id)
        REFERENCES curves (tenant_id, id) ON DELETE SET NULL (curve_id),
    CONSTRAINT fk_metric_sources_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_sources_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_metric_sources_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_metric_sources_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT fk_metric_sources_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE SET NULL (application_id)
);
CREATE INDEX ix_metric_sources_tenant_id_curve_id ON metric_sources (tenant_id, curve_id);
CREATE INDEX ix_metric_sources_tenant_id_mesh_id ON metric_sources (tenant_id, mesh_id);
CREATE INDEX ix_metric_sources_tenant_id_application_id ON metric_sources (tenant_id, application_id);

CREATE TABLE metric_paths (
    metric_source_id uuid NOT NULL,
    source_vm_id uuid NOT NULL,
    target_vm_id uuid NOT NULL,
    position integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_metric_paths PRIMARY KEY (metric_source_id, source_vm_id, target_vm_id),
    CONSTRAINT ck_metric_paths_ends CHECK (source_vm_id <> target_vm_id),
    CONSTRAINT fk_metric_paths_tenant_id_metric_source_id_metric_sources FOREIGN KEY (tenant_id, metric_source_id)
        REFERENCES metric_sources (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_paths_tenant_id_source_vm_id_vms FOREIGN KEY (tenant_id, source_vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_paths_tenant_id_target_vm_id_vms FOREIGN KEY (tenant_id, target_vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_paths_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE metric_progress (
    metric_source_id uuid NOT NULL,
    read_at timestamptz,
    read_error varchar,
    judged_at timestamptz,
    learnt_at timestamptz,
    finding jsonb,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_metric_progress PRIMARY KEY (metric_source_id),
    CONSTRAINT fk_metric_progress_tenant_id_metric_source_id_metric_sources
        FOREIGN KEY (tenant_id, metric_source_id) REFERENCES metric_sources (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_progress_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);

CREATE TABLE metric_points (
    metric_source_id uuid NOT NULL,
    at timestamptz NOT NULL,
    value double precision NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_metric_points PRIMARY KEY (metric_source_id, at),
    CONSTRAINT fk_metric_points_tenant_id_metric_source_id_metric_sources FOREIGN KEY (tenant_id, metric_source_id)
        REFERENCES metric_sources (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_metric_points_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
