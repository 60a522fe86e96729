-- Artifacts: published files, their blocks, the copies on VMs, the setting of a mesh.

CREATE TABLE artifact_settings (
    mesh_id uuid NOT NULL,
    enabled boolean NOT NULL,
    rate_mbit integer NOT NULL,
    budget_mib integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_artifact_settings PRIMARY KEY (mesh_id),
    CONSTRAINT ck_artifact_settings_rate_mbit CHECK (rate_mbit BETWEEN 1 AND 100000),
    CONSTRAINT ck_artifact_settings_budget_mib CHECK (budget_mib BETWEEN 16 AND 1048576),
    CONSTRAINT fk_artifact_settings_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifact_settings_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE artifacts (
    mesh_id uuid NOT NULL,
    name varchar NOT NULL,
    release varchar NOT NULL,
    size_bytes bigint NOT NULL,
    chunking text NOT NULL,
    block_count integer NOT NULL,
    root bytea NOT NULL,
    manifest bytea NOT NULL,
    everywhere boolean NOT NULL,
    published_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_artifacts PRIMARY KEY (id),
    CONSTRAINT uq_artifacts_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_artifacts_tenant_id_name_release UNIQUE (tenant_id, name, release),
    CONSTRAINT ck_artifacts_size_bytes CHECK (size_bytes >= 0),
    CONSTRAINT ck_artifacts_chunking CHECK (chunking IN ('fixed', 'content')),
    CONSTRAINT fk_artifacts_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifacts_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_artifacts_tenant_id_mesh_id ON artifacts (tenant_id, mesh_id);

CREATE TABLE artifact_blocks (
    tenant_id uuid NOT NULL,
    digest bytea NOT NULL,
    size integer NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    data bytea NOT NULL,
    CONSTRAINT pk_artifact_blocks PRIMARY KEY (tenant_id, digest),
    CONSTRAINT ck_artifact_blocks_digest CHECK (octet_length(digest) = 32),
    CONSTRAINT ck_artifact_blocks_size CHECK (size BETWEEN 1 AND 1048576),
    CONSTRAINT fk_artifact_blocks_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
ALTER TABLE artifact_blocks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE artifact_copies (
    artifact_id uuid NOT NULL,
    vm_id uuid NOT NULL,
    state text NOT NULL DEFAULT 'waiting',
    note varchar NOT NULL DEFAULT '',
    blocks_held integer NOT NULL DEFAULT 0,
    sources jsonb NOT NULL DEFAULT '{}',
    corrupt jsonb NOT NULL DEFAULT '{}',
    requested_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    completed_at timestamptz,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_artifact_copies PRIMARY KEY (artifact_id, vm_id),
    CONSTRAINT ck_artifact_copies_state CHECK (state IN ('waiting', 'fetching', 'complete', 'refused')),
    CONSTRAINT fk_artifact_copies_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifact_copies_tenant_id_artifact_id_artifacts
        FOREIGN KEY (tenant_id, artifact_id) REFERENCES artifacts (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_artifact_copies_tenant_id_vm_id_vms
        FOREIGN KEY (tenant_id, vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_artifact_copies_tenant_id_vm_id ON artifact_copies (tenant_id, vm_id);

CREATE TABLE artifact_peers (
    vm_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    port integer NOT NULL,
    seen_at timestamptz NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_artifact_peers PRIMARY KEY (vm_id),
    CONSTRAINT fk_artifact_peers_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifact_peers_tenant_id_vm_id_vms
        FOREIGN KEY (tenant_id, vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
