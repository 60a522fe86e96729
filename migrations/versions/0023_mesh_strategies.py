"""Meshes have a strategy: which pairs they measure in which window. Pairs of an open incident can have every window."""

from collections.abc import Sequence

from alembic import op

revision: str = "0023_mesh_strategies"
down_revision: str | Sequence[str] | None = "0017_sign_in"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
ALTER TABLE meshes
    ADD COLUMN strategy varchar NOT NULL DEFAULT 'full',
    ADD COLUMN period_windows integer NOT NULL DEFAULT 10,
    ADD COLUMN representatives integer NOT NULL DEFAULT 2,
    ADD CONSTRAINT ck_meshes_strategy CHECK (strategy IN ('full', 'zones', 'sparse', 'event')),
    ADD CONSTRAINT ck_meshes_period_windows CHECK (period_windows BETWEEN 2 AND 60),
    ADD CONSTRAINT ck_meshes_representatives CHECK (representatives BETWEEN 1 AND 16);

CREATE TABLE mesh_focus (
    mesh_id uuid NOT NULL,
    pairs bytea NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_mesh_focus PRIMARY KEY (mesh_id),
    CONSTRAINT fk_mesh_focus_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_mesh_focus_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE mesh_focus ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE FUNCTION mesh_focus_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    focus mesh_focus := coalesce(NEW, OLD);
BEGIN
    UPDATE meshes SET revision = revision + 1 WHERE tenant_id = focus.tenant_id AND id = focus.mesh_id;
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON mesh_focus
    FOR EACH ROW EXECUTE FUNCTION mesh_focus_changed();
"""
# A system session has '*'; the setting is empty after a transaction that had one.
OUR_ID = "NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"
TRIGGER = """
DROP TRIGGER settings_changed ON meshes;
CREATE TRIGGER settings_changed BEFORE UPDATE ON meshes FOR EACH ROW
    WHEN (({old}) IS DISTINCT FROM ({new}))
    EXECUTE FUNCTION mesh_settings_changed();
"""
COLUMNS = ("name", "window_s", "rate_hz", "flows", "spike_threshold_ns", "loss_deadline_ms")
NEW_COLUMNS = ("strategy", "period_windows", "representatives")


def upgrade() -> None:
    """Add the strategies; existing meshes keep measuring every pair in every window."""
    op.execute(SCHEMA)
    op.execute(f"CREATE POLICY tenant ON mesh_focus USING (tenant_id = {OUR_ID})")
    _trigger(COLUMNS + NEW_COLUMNS)


def downgrade() -> None:
    """Drop the strategies: every mesh measures every pair again."""
    _trigger(COLUMNS)
    op.execute("DROP TABLE mesh_focus")
    op.execute("DROP FUNCTION mesh_focus_changed")
    op.execute("ALTER TABLE meshes DROP COLUMN strategy, DROP COLUMN period_windows, DROP COLUMN representatives")


def _trigger(columns: Sequence[str]) -> None:
    """Raise the revision of a mesh with a change of these columns."""
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    op.execute(TRIGGER.format(old=old, new=new))
