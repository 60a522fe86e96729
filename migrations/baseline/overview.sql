-- Annotations, saved views, embed links.

CREATE TABLE annotations (
    kind text NOT NULL,
    text varchar NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz,
    mesh_id uuid,
    scoped boolean NOT NULL,
    source varchar NOT NULL,
    url varchar,
    updated_at timestamptz NOT NULL DEFAULT now(),
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_annotations PRIMARY KEY (id),
    CONSTRAINT ck_annotations_kind CHECK (kind IN ('deploy', 'maintenance', 'note')),
    CONSTRAINT ck_annotations_times CHECK (starts_at < ends_at),
    CONSTRAINT fk_annotations_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_annotations_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_annotations_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_annotations_tenant_id_starts_at_id ON annotations (tenant_id, starts_at, id);
CREATE INDEX ix_annotations_tenant_id_mesh_id ON annotations (tenant_id, mesh_id);

CREATE TABLE annotation_targets (
    id bigint GENERATED ALWAYS AS IDENTITY,
    annotation_id uuid NOT NULL,
    vm_id uuid,
    zone_id uuid,
    application_id uuid,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_annotation_targets PRIMARY KEY (id),
    CONSTRAINT ck_annotation_targets_one CHECK (num_nonnulls(vm_id, zone_id, application_id) = 1),
    CONSTRAINT fk_annotation_targets_tenant_id_annotation_id_annotations FOREIGN KEY (tenant_id, annotation_id)
        REFERENCES annotations (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_annotation_targets_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
        REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_annotation_targets_tenant_id_zone_id_zones FOREIGN KEY (tenant_id, zone_id)
        REFERENCES zones (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_annotation_targets_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
        REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_annotation_targets_tenant_id_tenants FOREIGN KEY (tenant_id)
        REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_annotation_targets_tenant_id_annotation_id ON annotation_targets (tenant_id, annotation_id);
CREATE INDEX ix_annotation_targets_tenant_id_vm_id ON annotation_targets (tenant_id, vm_id);
CREATE INDEX ix_annotation_targets_tenant_id_zone_id ON annotation_targets (tenant_id, zone_id);
CREATE INDEX ix_annotation_targets_tenant_id_application_id ON annotation_targets (tenant_id, application_id);

CREATE TABLE saved_views (
    name varchar NOT NULL,
    address varchar NOT NULL,
    created_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_saved_views PRIMARY KEY (id),
    CONSTRAINT fk_saved_views_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_saved_views_tenant_id_name UNIQUE (tenant_id, name)
);

CREATE TABLE embed_links (
    name varchar NOT NULL,
    view text NOT NULL,
    mesh_id uuid NOT NULL,
    source_vm_id uuid,
    target_vm_id uuid,
    prefix varchar NOT NULL,
    secret_digest bytea NOT NULL,
    created_by varchar NOT NULL,
    expires_at timestamptz NOT NULL,
    last_used_at timestamptz,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_embed_links PRIMARY KEY (id),
    CONSTRAINT ck_embed_links_view CHECK (view IN ('heatmap', 'path', 'overview')),
    CONSTRAINT ck_embed_links_path
        CHECK ((view = 'path') = (source_vm_id IS NOT NULL AND target_vm_id IS NOT NULL)),
    CONSTRAINT uq_embed_links_secret_digest UNIQUE (secret_digest),
    CONSTRAINT fk_embed_links_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_embed_links_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_embed_links_tenant_id_source_vm_id_vms
        FOREIGN KEY (tenant_id, source_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_embed_links_tenant_id_target_vm_id_vms
        FOREIGN KEY (tenant_id, target_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_embed_links_tenant_id_mesh_id ON embed_links (tenant_id, mesh_id);
