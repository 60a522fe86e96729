"""JSON schemas of sign-in and of a person's account."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from sinemora.access.signin.models import Factor
from sinemora.access.tenants.models import Method, Role
from sinemora.access.tenants.schemas import EmailAddress, PersonName, TenantName
from sinemora.kit.host_names import domain_of
from sinemora.kit.http_authentication import Username, check_http
from sinemora.kit.names import Name, checked_name
from sinemora.kit.schemas import Omittable, Read, Write

Secret = Annotated[SecretStr, Field(min_length=1, max_length=1024)]
Code = Annotated[str, Field(min_length=6, max_length=40)]


class _Verbatim(Write):
    """Body whose texts are kept as they are: spaces belong to a password."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class SignIn(_Verbatim):
    """Credentials of a sign-in."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    password: Secret


class FirstAccount(_Verbatim):
    """First account of an installation, which owns a new tenant; `code` is in the log of the API."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    email: EmailAddress
    password: Secret
    tenant_name: Annotated[TenantName, AfterValidator(checked_name)]


Credential = Annotated[
    dict[str, Any], Field(description="Public key credential in JSON (WebAuthn Level 3, 5.1.3)", max_length=20)
]
Options = Annotated[dict[str, Any], Field(description="Options of a browser in JSON (WebAuthn Level 3, 5.1.8)")]


class SecondFactor(Write):
    """Code of an authenticator app, six digits, or a recovery code."""

    code: Code


class PasskeyProof(Write):
    """Use of a passkey, as `navigator.credentials.get` returns it in JSON."""

    credential: Credential


class PasskeyCreate(Write):
    """New passkey, as `navigator.credentials.create` returns it in JSON, and a name for it."""

    name: Name
    credential: Credential


class ProviderRead(Read):
    """OpenID provider of the installation, null without one; whether people of a domain have a provider."""

    name: str | None
    of_domain: bool


def _issuer(text: str) -> str:
    check_http(text)
    return text  # with its last slash: it is compared with the one that the provider names


def _scopes(text: str) -> str:
    if "openid" not in text.split():
        raise ValueError("must contain openid")
    return " ".join(text.split())


GroupRole = Literal[Role.viewer, Role.editor, Role.admin]
Group = Annotated[str, Field(min_length=1, max_length=200)]
Domain = Annotated[str, Field(min_length=3, max_length=254, examples=["example.com"]), AfterValidator(domain_of)]


class IdentityProviderWrite(Write):
    """OpenID provider of the tenant: members who sign in there have the highest role that their groups give."""

    issuer: Annotated[str, Field(max_length=500, examples=["https://login.example.com"]), AfterValidator(_issuer)]
    client_id: Username
    client_secret: Omittable[Secret] = None
    scopes: Annotated[str, Field(max_length=500), AfterValidator(_scopes)] = "openid email profile"
    groups_claim: Annotated[str, Field(min_length=1, max_length=200)] = "groups"
    roles: Annotated[dict[Group, GroupRole], Field(min_length=1, max_length=100)]


class IdentityProviderRead(Read):
    """OpenID provider of the tenant, without its secret."""

    issuer: str
    client_id: str
    scopes: str
    groups_claim: str
    roles: dict[str, Role]
    redirect_uri: str
    created_at: datetime
    version: int


class IdentityProviderTestRead(Read):
    """Result of a test; null if nothing is wrong."""

    error: str | None


class SignInDomainCreate(Write):
    """Domain of e-mail addresses to verify."""

    domain: Domain


class SignInDomainRead(Read):
    """Domain whose people sign in at the tenant's identity provider, once it is verified by the TXT record."""

    id: UUID
    domain: str
    record: str
    verified_at: datetime | None
    missing_since: datetime | None
    created_at: datetime


class PasskeyOptions(Read):
    """Options with which a browser creates or uses a passkey, with a challenge that is valid for 5 minutes."""

    options: Options


class SecondFactorNeeded(Read):
    """Sign-in that lacks a second factor: send one of `factors` to POST /v1/auth/second-factor within 5 minutes."""

    factors: list[Factor]


class PasswordResetCreate(Write):
    """Address of the person who forgot the password."""

    email: Annotated[str, Field(min_length=3, max_length=254)]


class PasswordResetRedeem(_Verbatim):
    """New password, with the token of a reset link."""

    token: Annotated[str, Field(min_length=20, max_length=100)]
    password: Secret


class PasswordChange(_Verbatim):
    """Present and new password."""

    current_password: Secret
    new_password: Secret


class PersonConfirmation(_Verbatim):
    """Proof of the person at the browser: the password, or, of those who have a second factor, a code or passkey."""

    password: Secret | None = None
    code: Code | None = None
    credential: Credential | None = None


class UserRead(Read):
    """User."""

    id: UUID
    email: str


class TenantRead(Read):
    """Tenant. `key` identifies it in time series."""

    id: UUID
    key: int
    name: str


class SessionRead(Read):
    """Signed-in user and tenant."""

    user: UserRead
    tenant: TenantRead
    role: Role
    csrf_token: str
    second_factor_due: bool


class SignInStatus(Read):
    """Session of a browser; null while it is not signed in. `first_account_due`: nobody has an account yet."""

    session: SessionRead | None
    first_account_due: bool


class BrowserSessionRead(Read):
    """Signed-in browser of a person. `is_current`: the one of this request."""

    id: UUID
    tenant_name: str
    browser: str
    address: str
    method: Method
    second_factor: bool
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    is_current: bool


class TotpRead(Read):
    """Authenticator app."""

    created_at: datetime
    last_used_at: datetime | None


class PasskeyRead(Read):
    """Passkey of a person. `rp_id` is the host for which it was created."""

    id: UUID
    name: str
    rp_id: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeyCreated(Read):
    """New passkey. The first second factor comes with recovery codes, shown only once; else they are null."""

    passkey: PasskeyRead
    recovery_codes: list[str] | None


class AccountUpdate(Write):
    """Changes of one's own account."""

    name: PersonName


class AccountRead(Read):
    """Account of a person."""

    user: UserRead
    name: str
    password_changed_at: datetime | None
    totp: TotpRead | None
    passkeys: list[PasskeyRead]
    recovery_codes_left: int
    factors: list[Factor]
    required_by: list[str]
    of_one_tenant: bool


class TotpSetupRead(Read):
    """Secret for an authenticator app, in base32, as `otpauth:` URI and as a QR code in SVG. Shown only once."""

    secret: str
    uri: str
    qr_code: str


class RecoveryCodesRead(Read):
    """Recovery codes, shown only once; null when earlier ones stay valid."""

    recovery_codes: list[str] | None


class SignInPolicyRead(Read):
    """Rules of sign-in for the members of a tenant."""

    second_factor_required: bool
    single_sign_on_required: bool


class SignInPolicyUpdate(Write):
    """Rules of sign-in to set; an omitted one stays."""

    second_factor_required: Omittable[bool] = None
    single_sign_on_required: Omittable[bool] = None
