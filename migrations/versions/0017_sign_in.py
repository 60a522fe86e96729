"""Sessions have a browser and a time of authentication; passwords are reset; second factors."""

from collections.abc import Sequence

from alembic import op

revision: str = "0017_sign_in"
down_revision: str | Sequence[str] | None = "0016_people"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SCHEMA = """
ALTER TABLE tenants ADD COLUMN second_factor_required boolean NOT NULL DEFAULT false;

ALTER TABLE users ADD COLUMN password_changed_at timestamptz DEFAULT now();
UPDATE users SET password_changed_at = created_at;

ALTER TABLE sessions
    ADD COLUMN method text NOT NULL DEFAULT 'password',
    ADD COLUMN second_factor boolean NOT NULL DEFAULT false,
    ADD COLUMN address varchar NOT NULL DEFAULT '',
    ADD COLUMN user_agent varchar NOT NULL DEFAULT '',
    ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN last_used_at timestamptz NOT NULL DEFAULT now(),
    ADD CONSTRAINT ck_sessions_method CHECK (method IN ('password', 'passkey', 'provider'));
UPDATE sessions SET authenticated_at = created_at, last_used_at = created_at;
CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE one_time_tokens (
    secret_digest bytea NOT NULL,
    purpose text NOT NULL,
    user_id uuid,
    data jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_one_time_tokens PRIMARY KEY (secret_digest),
    CONSTRAINT ck_one_time_tokens_purpose CHECK (purpose IN
        ('password_reset', 'second_factor', 'passkey_registration', 'passkey_sign_in', 'provider_sign_in')),
    CONSTRAINT fk_one_time_tokens_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_one_time_tokens_user_id ON one_time_tokens (user_id);
CREATE INDEX ix_one_time_tokens_expires_at ON one_time_tokens (expires_at);

CREATE TABLE totp_secrets (
    user_id uuid NOT NULL,
    encrypted_secret bytea NOT NULL,
    confirmed_at timestamptz,
    last_step bigint,
    last_used_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_totp_secrets PRIMARY KEY (user_id),
    CONSTRAINT fk_totp_secrets_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE recovery_codes (
    user_id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    used_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_recovery_codes PRIMARY KEY (user_id, secret_digest),
    CONSTRAINT fk_recovery_codes_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE passkeys (
    name varchar NOT NULL,
    user_id uuid NOT NULL,
    rp_id varchar NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    transports text[] NOT NULL,
    last_used_at timestamptz,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_passkeys PRIMARY KEY (id),
    CONSTRAINT uq_passkeys_credential_id UNIQUE (credential_id),
    CONSTRAINT fk_passkeys_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_passkeys_user_id ON passkeys (user_id);
"""
TABLES = ("one_time_tokens", "totp_secrets", "recovery_codes", "passkeys")


def upgrade() -> None:
    """Create the columns and tables. No tenant sees the tables: sign-in reads them under the system role."""
    op.execute(SCHEMA)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (false)")


def downgrade() -> None:
    """Drop the tables and columns."""
    op.execute(f"DROP TABLE {', '.join(TABLES)}")
    op.execute("DROP INDEX ix_sessions_user_id")
    op.execute(
        "ALTER TABLE sessions DROP COLUMN method, DROP COLUMN second_factor, DROP COLUMN address,"
        " DROP COLUMN user_agent, DROP COLUMN authenticated_at, DROP COLUMN last_used_at"
    )
    op.execute("ALTER TABLE users DROP COLUMN password_changed_at")
    op.execute("ALTER TABLE tenants DROP COLUMN second_factor_required")
