"""Tables of sign-in. Those of people belong to no tenant, so only system sessions see them."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class Purpose(StrEnum):
    """Purpose of a one-time token."""

    password_reset = "password_reset"
    second_factor = "second_factor"
    passkey_registration = "passkey_registration"
    passkey_sign_in = "passkey_sign_in"
    provider_sign_in = "provider_sign_in"
    device_login = "device_login"


class Factor(StrEnum):
    """Second factor that a sign-in can ask for."""

    totp = "totp"
    passkey = "passkey"
    recovery_code = "recovery_code"


class OneTimeToken(Base):
    """Secret that is valid once and for minutes: a link to a new password, or the state of a sign-in in several steps.

    Only its digest is stored. `data` depends on the purpose.
    """

    __tablename__ = "one_time_tokens"
    __table_args__ = (
        CheckConstraint(
            "purpose IN ('password_reset', 'second_factor', 'passkey_registration', 'passkey_sign_in',"
            " 'provider_sign_in', 'device_login')",
            name="purpose",
        ),
        Index(
            "ix_one_time_tokens_user_code",
            text("(data ->> 'user_code')"),
            unique=True,
            postgresql_where=text("purpose = 'device_login'"),
        ),
    )

    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    purpose: Mapped[Purpose] = mapped_column(TEXT)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    data: Mapped[dict[str, Any]]
    attempts: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(index=True)


class TotpSecret(Base):
    """Secret of an authenticator app (RFC 6238), encrypted. It counts once a code has confirmed it.

    `last_step` is the time step of the newest accepted code: a code is accepted once.
    """

    __tablename__ = "totp_secrets"

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    encrypted_secret: Mapped[bytes] = mapped_column(LargeBinary)
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int | None] = mapped_column(BigInteger)
    last_used_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RecoveryCode(Base):
    """Recovery code, stored as a digest; it replaces a second factor once."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    used_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Identity(Base):
    """Identity of a person at an OpenID provider: issuer and subject, which never change."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime]


class IdentityProvider(Identified, Versioned, TenantOwned, Base):
    """OpenID provider of one tenant. `roles` is the role of each group; the secret is encrypted."""

    __tablename__ = "identity_providers"
    __table_args__ = (UniqueConstraint("tenant_id"),)

    issuer: Mapped[str]
    client_id: Mapped[str]
    client_secret: Mapped[bytes] = mapped_column(LargeBinary)
    scopes: Mapped[str]
    groups_claim: Mapped[str]
    roles: Mapped[dict[str, Any]]

    @property
    def name(self) -> str:
        """Return the name in the audit log."""
        return self.issuer


class SignInDomain(Identified, TenantOwned, Base):
    """Domain of e-mail addresses whose people sign in at the tenant's identity provider, once it is verified.

    `record` is the TXT record that proves it. One tenant at most has verified a domain. `checked_at` is the last look
    at the record, which has been gone since `missing_since`.
    """

    __tablename__ = "sign_in_domains"
    rows_max = 20
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain", info=taken_as("domain_exists")),
        Index("ix_sign_in_domains_verified", "domain", unique=True, postgresql_where=text("verified_at IS NOT NULL")),
    )

    domain: Mapped[str]
    record: Mapped[str]
    verified_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    missing_since: Mapped[datetime | None]

    @property
    def name(self) -> str:
        """Return the name in the audit log."""
        return self.domain


class Passkey(Identified, Base):
    """Passkey of a person (WebAuthn Level 3): the public key of a credential, for the relying party `rp_id`."""

    __tablename__ = "passkeys"

    name: Mapped[str]
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    rp_id: Mapped[str]
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    transports: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    last_used_at: Mapped[datetime | None]
