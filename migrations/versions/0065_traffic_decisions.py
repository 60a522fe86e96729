"""TCP connections and bytes of each day between VMs by listening port, for tenants that ask for them.

`traffic_days` has a bit for each window of 30 s of a VM's day, so that a report that arrives twice counts once.
`traffic_decisions` has the proposals that people accepted as applications, or dismissed.
"""

from collections.abc import Sequence

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0065_traffic_decisions"
down_revision: str | Sequence[str] | None = "0063_identity_providers"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = """
    CREATE TABLE traffic_edges (
        tenant_id uuid NOT NULL,
        client_vm_id uuid NOT NULL,
        server_vm_id uuid NOT NULL,
        port integer NOT NULL,
        day date NOT NULL,
        reported_by text NOT NULL,
        connections bigint NOT NULL DEFAULT 0,
        bytes_to_server bigint NOT NULL DEFAULT 0,
        bytes_to_client bigint NOT NULL DEFAULT 0,
        windows integer NOT NULL DEFAULT 0,
        first_at timestamptz NOT NULL,
        last_at timestamptz NOT NULL,
        CONSTRAINT pk_traffic_edges PRIMARY KEY (tenant_id, day, client_vm_id, server_vm_id, port, reported_by),
        CONSTRAINT fk_traffic_edges_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE,
        CONSTRAINT fk_traffic_edges_tenant_id_client_vm_id_vms FOREIGN KEY (tenant_id, client_vm_id)
            REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT fk_traffic_edges_tenant_id_server_vm_id_vms FOREIGN KEY (tenant_id, server_vm_id)
            REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_traffic_edges_port CHECK (port BETWEEN 1 AND 65535),
        CONSTRAINT ck_traffic_edges_reported_by CHECK (reported_by IN ('client', 'server'))
    );
    CREATE INDEX ix_traffic_edges_client_vm_id ON traffic_edges (client_vm_id);
    CREATE INDEX ix_traffic_edges_server_vm_id ON traffic_edges (server_vm_id);
    CREATE TABLE traffic_days (
        tenant_id uuid NOT NULL,
        vm_id uuid NOT NULL,
        day date NOT NULL,
        seen bytea NOT NULL,
        other_connections bigint NOT NULL DEFAULT 0,
        other_bytes_sent bigint NOT NULL DEFAULT 0,
        other_bytes_received bigint NOT NULL DEFAULT 0,
        connections_left_out bigint NOT NULL DEFAULT 0,
        CONSTRAINT pk_traffic_days PRIMARY KEY (tenant_id, vm_id, day),
        CONSTRAINT fk_traffic_days_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE,
        CONSTRAINT fk_traffic_days_tenant_id_vm_id_vms FOREIGN KEY (tenant_id, vm_id)
            REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_traffic_days_seen CHECK (length(seen) = 360)
    );
    CREATE TABLE traffic_decisions (
        tenant_id uuid NOT NULL,
        mesh_id uuid NOT NULL,
        key varchar NOT NULL,
        port integer NOT NULL,
        server_vm_ids uuid[] NOT NULL,
        application_id uuid,
        since timestamptz NOT NULL DEFAULT now(),
        stopped varchar,
        CONSTRAINT pk_traffic_decisions PRIMARY KEY (mesh_id, key),
        CONSTRAINT fk_traffic_decisions_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE,
        CONSTRAINT fk_traffic_decisions_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
            REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT fk_traffic_decisions_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
            REFERENCES applications (tenant_id, id) ON DELETE CASCADE
    );
    CREATE INDEX ix_traffic_decisions_tenant_id_application_id ON traffic_decisions (tenant_id, application_id)
"""


def upgrade() -> None:
    """Create the tables, and the setting of tenants, which is off."""
    op.execute(_TABLES)
    op.execute(own_rows("traffic_edges"))
    op.execute(own_rows("traffic_days"))
    op.execute(own_rows("traffic_decisions"))
    op.execute("ALTER TABLE tenants ADD COLUMN service_traffic boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Drop what was added."""
    op.execute("ALTER TABLE tenants DROP COLUMN service_traffic")
    op.execute("DROP TABLE traffic_decisions")
    op.execute("DROP TABLE traffic_days")
    op.execute("DROP TABLE traffic_edges")
