"""Device logins: a purpose of one-time tokens, found by the code that people type."""

from collections.abc import Sequence

from alembic import op

revision: str = "0038_device_logins"
down_revision: str | Sequence[str] | None = "0036_grouped_notices"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

PURPOSES = ("password_reset", "second_factor", "passkey_registration", "passkey_sign_in", "provider_sign_in")


def upgrade() -> None:
    """Allow the purpose, and index the codes."""
    _allow((*PURPOSES, "device_login"))
    op.execute(
        "CREATE UNIQUE INDEX ix_one_time_tokens_user_code ON one_time_tokens ((data ->> 'user_code'))"
        " WHERE purpose = 'device_login'"
    )


def downgrade() -> None:
    """Delete device logins, their index and their purpose."""
    op.execute("DROP INDEX ix_one_time_tokens_user_code")
    op.execute("DELETE FROM one_time_tokens WHERE purpose = 'device_login'")
    _allow(PURPOSES)


def _allow(purposes: Sequence[str]) -> None:
    listed = ", ".join(f"'{purpose}'" for purpose in purposes)
    op.execute(
        "ALTER TABLE one_time_tokens DROP CONSTRAINT ck_one_time_tokens_purpose,"
        f" ADD CONSTRAINT ck_one_time_tokens_purpose CHECK (purpose IN ({listed}))"
    )
