"""Each tenant its own identity provider, with its domains, and members whom it has confirmed."""

from collections.abc import Sequence

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0063_identity_providers"
down_revision: str | Sequence[str] | None = "0062_names_of_meshes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = """
    CREATE TABLE identity_providers (
        id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        version integer NOT NULL,
        tenant_id uuid NOT NULL,
        issuer varchar NOT NULL,
        client_id varchar NOT NULL,
        client_secret bytea NOT NULL,
        scopes varchar NOT NULL,
        groups_claim varchar NOT NULL,
        roles jsonb NOT NULL,
        CONSTRAINT pk_identity_providers PRIMARY KEY (id),
        CONSTRAINT uq_identity_providers_tenant_id UNIQUE (tenant_id),
        CONSTRAINT fk_identity_providers_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE
    );
    CREATE TABLE sign_in_domains (
        id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        tenant_id uuid NOT NULL,
        domain varchar NOT NULL,
        record varchar NOT NULL,
        verified_at timestamptz,
        checked_at timestamptz,
        missing_since timestamptz,
        CONSTRAINT pk_sign_in_domains PRIMARY KEY (id),
        CONSTRAINT uq_sign_in_domains_tenant_id_domain UNIQUE (tenant_id, domain),
        CONSTRAINT fk_sign_in_domains_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id)
            ON DELETE CASCADE
    );
    CREATE UNIQUE INDEX ix_sign_in_domains_verified ON sign_in_domains (domain) WHERE verified_at IS NOT NULL
"""
_METHODS = "'password', 'passkey', 'provider'"


def upgrade() -> None:
    """Create the tables, and add what sign-in keeps of members."""
    op.execute(_TABLES)
    op.execute(own_rows("identity_providers"))
    op.execute(own_rows("sign_in_domains"))
    op.execute("ALTER TABLE tenants ADD COLUMN single_sign_on_required boolean NOT NULL DEFAULT false")
    op.execute("ALTER TABLE memberships ADD COLUMN subject varchar, ADD COLUMN confirmed_at timestamptz")
    op.execute("CREATE UNIQUE INDEX ix_memberships_subject ON memberships (tenant_id, subject)")
    _allow_methods(f"{_METHODS}, 'identity_provider'")


def downgrade() -> None:
    """Drop what was added, and end the sessions that were opened by it."""
    # Row-level security hides the rows of all tenants from the owner of the table.
    op.execute("ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY")
    op.execute("DELETE FROM sessions WHERE method = 'identity_provider'")
    op.execute("ALTER TABLE sessions FORCE ROW LEVEL SECURITY")
    _allow_methods(_METHODS)
    op.execute("ALTER TABLE memberships DROP COLUMN subject, DROP COLUMN confirmed_at")
    op.execute("ALTER TABLE tenants DROP COLUMN single_sign_on_required")
    op.execute("DROP TABLE sign_in_domains")
    op.execute("DROP TABLE identity_providers")


def _allow_methods(methods: str) -> None:
    """Replace the methods of sessions that the table takes."""
    op.execute("ALTER TABLE sessions DROP CONSTRAINT ck_sessions_method")
    op.execute(f"ALTER TABLE sessions ADD CONSTRAINT ck_sessions_method CHECK (method IN ({methods}))")
