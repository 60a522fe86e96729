-- Catalogue of aged measurements in object storage, and exports to buckets of tenants.

CREATE TABLE aged_objects (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    tier varchar NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    object_key varchar NOT NULL,
    state varchar NOT NULL,
    rows bigint,
    targets bigint,
    merged_ms bigint,
    bytes bigint,
    checksum bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    held_until timestamptz,
    CONSTRAINT pk_aged_objects PRIMARY KEY (id),
    CONSTRAINT uq_aged_objects_object_key UNIQUE (object_key),
    CONSTRAINT ck_aged_objects_range CHECK (started_at < ended_at),
    CONSTRAINT ck_aged_objects_state CHECK (state IN ('writing', 'current', 'restored', 'removing')),
    CONSTRAINT ck_aged_objects_known CHECK (
        state NOT IN ('current', 'restored') OR num_nulls(rows, targets, merged_ms, bytes, checksum) = 0)
);
CREATE INDEX ix_aged_objects_tenant_key_mesh_key_tier_started_at
    ON aged_objects (tenant_key, mesh_key, tier, started_at);

CREATE TABLE aging_runs (
    tenant_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    objects integer NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    error varchar,
    CONSTRAINT pk_aging_runs PRIMARY KEY (tenant_key)
);

CREATE TABLE bucket_exports (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    name varchar NOT NULL,
    endpoint varchar NOT NULL,
    region varchar NOT NULL,
    bucket varchar NOT NULL,
    prefix varchar NOT NULL,
    access_key varchar NOT NULL,
    secret bytea NOT NULL,
    schedule text NOT NULL,
    hour integer NOT NULL,
    tables text[] NOT NULL,
    paused boolean NOT NULL,
    CONSTRAINT pk_bucket_exports PRIMARY KEY (id),
    CONSTRAINT fk_bucket_exports_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_bucket_exports_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_bucket_exports_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT uq_bucket_exports_tenant_id_endpoint_bucket_prefix UNIQUE (tenant_id, endpoint, bucket, prefix),
    CONSTRAINT ck_bucket_exports_schedule CHECK (schedule IN ('hourly', 'daily')),
    CONSTRAINT ck_bucket_exports_hour CHECK (hour BETWEEN 0 AND 23),
    CONSTRAINT ck_bucket_exports_tables CHECK (cardinality(tables) > 0)
);

CREATE TABLE bucket_export_progress (
    tenant_id uuid NOT NULL,
    bucket_export_id uuid NOT NULL,
    next_at timestamptz NOT NULL,
    job_id uuid,
    succeeded_at timestamptz,
    failed_at timestamptz,
    failures integer NOT NULL,
    error varchar,
    CONSTRAINT pk_bucket_export_progress PRIMARY KEY (bucket_export_id),
    CONSTRAINT fk_bucket_export_progress_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
        ON DELETE CASCADE,
    CONSTRAINT fk_bucket_export_progress_tenant_id_bucket_export_id_bucket_exports
        FOREIGN KEY (tenant_id, bucket_export_id) REFERENCES bucket_exports (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_bucket_export_progress_error CHECK ((failures > 0) = (error IS NOT NULL))
);
CREATE INDEX ix_bucket_export_progress_next_at ON bucket_export_progress (next_at);

CREATE TABLE exported_days (
    tenant_id uuid NOT NULL,
    bucket_export_id uuid NOT NULL,
    mesh_id uuid NOT NULL,
    table_name varchar NOT NULL,
    day date NOT NULL,
    revision integer NOT NULL,
    parts integer NOT NULL,
    writing_parts integer NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    seen_rows bigint NOT NULL,
    seen_targets bigint NOT NULL,
    seen_merged_ms bigint NOT NULL,
    exported_at timestamptz NOT NULL,
    CONSTRAINT pk_exported_days PRIMARY KEY (bucket_export_id, mesh_id, table_name, day),
    CONSTRAINT fk_exported_days_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_exported_days_tenant_id_bucket_export_id_bucket_exports
        FOREIGN KEY (tenant_id, bucket_export_id) REFERENCES bucket_exports (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_exported_days_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_exported_days_tenant_id_mesh_id ON exported_days (tenant_id, mesh_id);
