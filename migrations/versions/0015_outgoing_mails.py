"""Mails of the product that wait for the mail server."""

from collections.abc import Sequence

from alembic import op

revision: str = "0015_outgoing_mails"
down_revision: str | Sequence[str] | None = "0014_task_times"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# Without a tenant: mails about an account, such as a new password.
SCHEMA = """
CREATE TABLE outgoing_mails (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid,
    kind varchar NOT NULL,
    recipient varchar NOT NULL,
    encrypted_content bytea,
    state text NOT NULL,
    attempts integer NOT NULL,
    due_at timestamptz NOT NULL,
    gives_up_at timestamptz NOT NULL,
    answer varchar NOT NULL,
    sent_at timestamptz,
    CONSTRAINT pk_outgoing_mails PRIMARY KEY (id),
    CONSTRAINT ck_outgoing_mails_state CHECK (state IN ('waiting', 'sent', 'failed')),
    CONSTRAINT ck_outgoing_mails_content CHECK ((state = 'waiting') = (encrypted_content IS NOT NULL)),
    CONSTRAINT fk_outgoing_mails_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_outgoing_mails_tenant_id_created_at ON outgoing_mails (tenant_id, created_at);
CREATE INDEX ix_outgoing_mails_due_at ON outgoing_mails (due_at) WHERE state = 'waiting';
ALTER TABLE outgoing_mails ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON outgoing_mails
    USING (tenant_id = NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid);
"""


def upgrade() -> None:
    """Create the table and its row-level security."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE outgoing_mails")
