"""Embed links: one view of one mesh for readers without an account."""

from collections.abc import Sequence

from alembic import op

revision: str = "0009_embed_links"
down_revision: str | Sequence[str] | None = "0008_saved_views"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
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
"""
OURS = "current_setting('sinemora.tenant_id', true)"
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = f"NULLIF(NULLIF({OURS}, '*'), '')::uuid"


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(SCHEMA)
    op.execute("ALTER TABLE embed_links ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON embed_links USING (tenant_id = {OUR_ID} OR {OURS} = '*')")


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE embed_links")
