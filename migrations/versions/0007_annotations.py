"""Annotations and the VMs, zones and applications that they are about."""

from collections.abc import Sequence

from alembic import op

revision: str = "0007_annotations"
down_revision: str | Sequence[str] | None = "0006_estimable_policies"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
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
"""
TABLES = ("annotation_targets", "annotations")
OURS = "current_setting('sinemora.tenant_id', true)"
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = f"NULLIF(NULLIF({OURS}, '*'), '')::uuid"


def upgrade() -> None:
    """Create the tables and their row-level security."""
    op.execute(SCHEMA)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {OUR_ID} OR {OURS} = '*')")


def downgrade() -> None:
    """Drop the tables."""
    op.execute(f"DROP TABLE {', '.join(TABLES)}")
