"""Administrators, names of people, invitations, and the tenant that a person opened last."""

from collections.abc import Sequence

from alembic import op

revision: str = "0016_people"
down_revision: str | Sequence[str] | None = "0025_price_lists"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

UPGRADE = """
ALTER TABLE memberships
    DROP CONSTRAINT ck_memberships_role,
    ADD CONSTRAINT ck_memberships_role CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
    ADD COLUMN opened_at timestamptz;
ALTER TABLE users ADD COLUMN name varchar NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN deletion_at timestamptz, ADD COLUMN deletion_by varchar;

CREATE TABLE invitations (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    email varchar NOT NULL,
    role text NOT NULL,
    delivery text NOT NULL,
    secret_digest bytea NOT NULL,
    invited_by varchar NOT NULL,
    valid_days integer NOT NULL,
    sent_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz,
    mail_id uuid,
    CONSTRAINT pk_invitations PRIMARY KEY (id),
    CONSTRAINT ck_invitations_email_lower CHECK (email = lower(email)),
    CONSTRAINT ck_invitations_role CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
    CONSTRAINT ck_invitations_delivery CHECK (delivery IN ('email', 'link')),
    CONSTRAINT ck_invitations_end CHECK (accepted_at IS NULL OR revoked_at IS NULL),
    CONSTRAINT uq_invitations_secret_digest UNIQUE (secret_digest),
    CONSTRAINT fk_invitations_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitations_mail_id_outgoing_mails
        FOREIGN KEY (mail_id) REFERENCES outgoing_mails (id) ON DELETE SET NULL
);
CREATE UNIQUE INDEX uq_invitations_open ON invitations (tenant_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX ix_invitations_tenant_id_created_at_id ON invitations (tenant_id, created_at, id);
CREATE INDEX ix_invitations_mail_id ON invitations (mail_id);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON invitations
    USING (tenant_id = NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid);
"""
# An administrator manages less than an owner; the version before has nothing between owner and editor.
DOWNGRADE = """
DROP TABLE invitations;
ALTER TABLE tenants DROP COLUMN deletion_by, DROP COLUMN deletion_at;
ALTER TABLE users DROP COLUMN name;
UPDATE memberships SET role = 'editor' WHERE role = 'admin';
ALTER TABLE memberships
    DROP COLUMN opened_at,
    DROP CONSTRAINT ck_memberships_role,
    ADD CONSTRAINT ck_memberships_role CHECK (role IN ('viewer', 'editor', 'owner'));
"""


def upgrade() -> None:
    """Add the role, the columns and the table."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Drop them; administrators become editors."""
    op.execute(DOWNGRADE)
