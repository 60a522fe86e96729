-- Jobs, stored responses of idempotent requests, state of the archive.

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
    size double precision NOT NULL DEFAULT 1,
    mesh_ids uuid[],
    CONSTRAINT pk_jobs PRIMARY KEY (id),
    CONSTRAINT ck_jobs_finished CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CONSTRAINT ck_jobs_progress CHECK (progress BETWEEN 0 AND 1),
    CONSTRAINT ck_jobs_queue CHECK (queue IN ('fast', 'bulk', 'solve')),
    CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    CONSTRAINT fk_jobs_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_jobs_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT ck_jobs_size CHECK (size > 0)
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

CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    caller varchar NOT NULL,
    key varchar NOT NULL,
    fingerprint bytea NOT NULL,
    created_at timestamptz NOT NULL,
    status integer,
    media_type varchar,
    body bytea,
    etag varchar,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, caller, key),
    CONSTRAINT fk_idempotency_keys_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at);

-- Of no tenant; unlogged, so that a restored database begins without it.

CREATE UNLOGGED TABLE archive_state (
    "only" boolean NOT NULL DEFAULT true,
    archived_to timestamptz,
    base_taken_at timestamptz,
    failures bigint NOT NULL DEFAULT 0,
    failed_at timestamptz,
    error varchar,
    CONSTRAINT pk_archive_state PRIMARY KEY ("only"),
    CONSTRAINT ck_archive_state_only CHECK ("only")
);
