-- Tenants, the people of tenants and how they sign in, API keys, mails, logins for SQL.

CREATE TABLE tenants (
    key integer GENERATED ALWAYS AS IDENTITY,
    name varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    deletion_at timestamptz,
    deletion_by varchar,
    second_factor_required boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_tenants PRIMARY KEY (id),
    CONSTRAINT uq_tenants_key UNIQUE (key),
    CONSTRAINT uq_tenants_name UNIQUE (name)
);

CREATE TABLE users (
    email varchar NOT NULL,
    password_hash varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    name varchar NOT NULL DEFAULT '',
    password_changed_at timestamptz DEFAULT now(),
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT ck_users_email_lower CHECK (email = lower(email)),
    CONSTRAINT uq_users_email UNIQUE (email)
);

CREATE TABLE memberships (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    opened_at timestamptz,
    mesh_ids uuid[],
    CONSTRAINT pk_memberships PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT ck_memberships_role CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
    CONSTRAINT fk_memberships_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_memberships_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_memberships_user_id ON memberships (user_id);

CREATE TABLE sessions (
    user_id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    method text NOT NULL DEFAULT 'password',
    second_factor boolean NOT NULL DEFAULT false,
    address varchar NOT NULL DEFAULT '',
    user_agent varchar NOT NULL DEFAULT '',
    authenticated_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_sessions PRIMARY KEY (id),
    CONSTRAINT fk_sessions_tenant_id_user_id_memberships FOREIGN KEY (tenant_id, user_id)
        REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE,
    CONSTRAINT fk_sessions_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_sessions_secret_digest UNIQUE (secret_digest),
    CONSTRAINT ck_sessions_method CHECK (method IN ('password', 'passkey', 'provider'))
);
CREATE INDEX ix_sessions_expires_at ON sessions (expires_at);
CREATE INDEX ix_sessions_tenant_id_user_id ON sessions (tenant_id, user_id);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE api_keys (
    name varchar NOT NULL,
    prefix varchar NOT NULL,
    secret_digest bytea NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamptz NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    owner_id uuid,
    last_used_at timestamptz,
    last_used_from varchar,
    previous_digest bytea,
    previous_expires_at timestamptz,
    mesh_ids uuid[],
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT ck_api_keys_scopes CHECK (cardinality(scopes) > 0),
    CONSTRAINT fk_api_keys_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_keys_secret_digest UNIQUE (secret_digest),
    CONSTRAINT uq_api_keys_tenant_id_name UNIQUE (tenant_id, name),
    CONSTRAINT ck_api_keys_previous CHECK ((previous_digest IS NULL) = (previous_expires_at IS NULL)),
    CONSTRAINT uq_api_keys_previous_digest UNIQUE (previous_digest),
    CONSTRAINT fk_api_keys_tenant_id_memberships FOREIGN KEY (tenant_id, owner_id)
        REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE
);
CREATE INDEX ix_api_keys_tenant_id_owner_id ON api_keys (tenant_id, owner_id);

CREATE TABLE tenant_quotas (
    vms integer,
    paths bigint,
    windows_per_s double precision,
    raw_days integer,
    minute_days integer,
    tenant_id uuid NOT NULL,
    artifact_mib integer,
    plan varchar,
    aged_after_days integer,
    CONSTRAINT pk_tenant_quotas PRIMARY KEY (tenant_id),
    CONSTRAINT ck_tenant_quotas_growth CHECK (
        vms >= 0 AND paths >= 0 AND windows_per_s >= 0 AND artifact_mib >= 0),
    CONSTRAINT ck_tenant_quotas_days CHECK (raw_days >= 1 AND minute_days >= 1),
    CONSTRAINT fk_tenant_quotas_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT ck_tenant_quotas_aged CHECK (aged_after_days >= 0)
);

CREATE TABLE audit_entries (
    actor_kind varchar NOT NULL,
    actor_id uuid,
    actor_name varchar NOT NULL,
    action varchar NOT NULL,
    subject_id uuid,
    subject_name varchar NOT NULL,
    detail jsonb NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    address varchar,
    CONSTRAINT pk_audit_entries PRIMARY KEY (id),
    CONSTRAINT fk_audit_entries_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_audit_entries_tenant_id_created_at_id ON audit_entries (tenant_id, created_at, id);

-- Without a tenant: mails about an account, such as a new password.

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
    mesh_ids uuid[],
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

-- No tenant sees the tables from here to identities: sign-in reads them under the system role.

CREATE TABLE one_time_tokens (
    secret_digest bytea NOT NULL,
    purpose text NOT NULL,
    user_id uuid,
    data jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_one_time_tokens PRIMARY KEY (secret_digest),
    CONSTRAINT ck_one_time_tokens_purpose CHECK (purpose IN (
        'password_reset', 'second_factor', 'passkey_registration', 'passkey_sign_in', 'provider_sign_in',
        'device_login')),
    CONSTRAINT fk_one_time_tokens_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_one_time_tokens_user_id ON one_time_tokens (user_id);
CREATE INDEX ix_one_time_tokens_expires_at ON one_time_tokens (expires_at);
CREATE UNIQUE INDEX ix_one_time_tokens_user_code ON one_time_tokens ((data ->> 'user_code'))
    WHERE purpose = 'device_login';

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

CREATE TABLE identities (
    issuer varchar NOT NULL,
    subject varchar NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL,
    CONSTRAINT pk_identities PRIMARY KEY (issuer, subject),
    CONSTRAINT fk_identities_user_id_users FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_identities_user_id ON identities (user_id);

-- Roles of the database that read the views of a tenant.

CREATE TABLE sql_logins (
    role varchar NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_sql_logins PRIMARY KEY (role),
    CONSTRAINT fk_sql_logins_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX ix_sql_logins_tenant_id ON sql_logins (tenant_id);
