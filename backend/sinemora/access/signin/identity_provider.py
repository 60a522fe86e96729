"""Use cases of a tenant's identity provider: set, delete, test, require.

Only owners change it: a person who sets the provider can sign in as anyone of the verified domains.
"""

from functools import lru_cache
from uuid import UUID

from sqlalchemy import delete as delete_rows
from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from sinemora.access.signin.models import IdentityProvider
from sinemora.access.signin.openid import OpenIdClient, OpenIdError
from sinemora.access.signin.schemas import IdentityProviderWrite
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import BrowserSession, Membership, Method, Role, Tenant
from sinemora.kit import encryption
from sinemora.kit.config import settings
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch

CALLBACK = "/v1/auth/provider/callback"


def redirect_uri() -> str:
    """Return the address to which providers send browsers back."""
    return settings().public_url + CALLBACK


# One for all requests: it remembers metadata and keys.
_client = lru_cache(maxsize=100)(OpenIdClient)


def client_of(row: IdentityProvider) -> OpenIdClient:
    """Return the client of a tenant's provider. ProductError `secret_unreadable`, `secret_key_missing` (409)."""
    secret = encryption.decrypt(row.client_secret)["client_secret"]
    networks = settings().allowed_receivers
    return _client(row.issuer, row.client_id, secret, redirect_uri(), row.scopes, networks)


def find(session: Session, tenant_id: UUID, *, locked: bool = False, shared: bool = False) -> IdentityProvider | None:
    """Return the provider of a tenant; `locked` until the transaction ends, against changes alone if `shared`."""
    statement = select(IdentityProvider).where(IdentityProvider.tenant_id == tenant_id)
    return session.scalars(statement.with_for_update(read=shared) if locked else statement).one_or_none()


def get(session: Session, actor: Actor) -> IdentityProvider:
    """Return the provider of the caller's tenant. ProductError `identity_provider_unknown` (404)."""
    return existing(find(session, actor.tenant_id), "identity provider")


def put(session: Session, actor: Actor, body: IdentityProviderWrite, precondition: IfMatch) -> IdentityProvider:
    """Set the provider. Another issuer or client knows other people: its sessions and confirmations end.

    ProductError `version_changed` (412), `secret_needed_again` (422), `secret_key_missing` (409).
    """
    row = find(session, actor.tenant_id, locked=True)
    precondition.check(row)
    fields = body.model_dump(exclude={"client_secret"}, mode="json")
    is_other = row is None or (row.issuer, row.client_id) != (body.issuer, body.client_id)
    if body.client_secret is not None:
        fields["client_secret"] = encryption.encrypt({"client_secret": body.client_secret.get_secret_value()})
    elif is_other:
        raise ProductError(
            "secret_needed_again",
            422,
            "Secret needed: send `client_secret` with a new issuer or client id.",
            errors=[{"pointer": "#/client_secret", "message": "needed with a new issuer or client id"}],
        )
    if row is None:
        row = IdentityProvider(**fields)
        audit.created(session, actor, "identity_provider", row)
        return row
    changed = {name for name, value in fields.items() if value != getattr(row, name)}
    for name in changed:
        setattr(row, name, fields[name])
    if is_other:
        _forget_people(session, actor.tenant_id)
    audit.updated(session, actor, "identity_provider", row, changed - {"client_secret"})
    return row


def delete(session: Session, actor: Actor, precondition: IfMatch) -> None:
    """Delete the provider. Its sessions end; members stay and sign in by other means.

    ProductError `identity_provider_unknown` (404), `identity_provider_required` (409), `version_changed` (412).
    """
    row = existing(find(session, actor.tenant_id, locked=True), "identity provider")
    precondition.check(row)
    if session.get_one(Tenant, actor.tenant_id).single_sign_on_required:
        raise ProductError(
            "identity_provider_required",
            409,
            "Identity provider required: members get in by it alone. Let them sign in by other means first.",
        )
    _forget_people(session, actor.tenant_id)
    audit.deleted(session, actor, "identity_provider", row)


def test(session: Session, actor: Actor) -> str | None:
    """Return what is wrong with the provider, in words; None if nothing is.

    ProductError `identity_provider_unknown` (404), `secret_unreadable` (409).
    """
    with tenant_session(actor.tenant_id) as before:  # no connection waits for the provider
        row = get(before, actor)
    client, error = client_of(row), None
    try:
        client.fresh().check()
    except OpenIdError as failure:
        error = str(failure)[:500]
    audit.record(session, actor, "identity_provider.tested", row.id, row.name, error=error)
    return error


def require(session: Session, actor: Actor, required: bool) -> None:
    """Set whether members other than owners get in by the provider alone; sessions of other credentials end.

    ProductError `not_allowed` (403), `identity_provider_untried` (409): no one got in by it yet.
    """
    provider = find(session, actor.tenant_id, locked=True)
    tenant = session.get_one(Tenant, actor.tenant_id)
    if tenant.single_sign_on_required == required:
        return
    if actor.role != Role.owner:
        raise ProductError("not_allowed", 403, f"Not allowed: this needs the role owner, yours is {actor.role}.")
    members = select(Membership.user_id).where(Membership.tenant_id == actor.tenant_id)
    if required and (
        provider is None or not session.scalar(select(exists(members.where(Membership.confirmed_at.is_not(None)))))
    ):
        raise ProductError(
            "identity_provider_untried",
            409,
            "Identity provider untried: sign in by it once yourself, then require it of others.",
        )
    tenant.single_sign_on_required = required
    if required:
        session.execute(
            delete_rows(BrowserSession).where(
                BrowserSession.tenant_id == actor.tenant_id,
                BrowserSession.method != Method.identity_provider,
                BrowserSession.user_id.in_(members.where(Membership.role != Role.owner)),
            )
        )


def _forget_people(session: Session, tenant_id: UUID) -> None:
    """End the sessions that the provider opened, and what it said about members."""
    # The versions of members stay: administrators hold them.
    members = update(Membership).where(Membership.tenant_id == tenant_id, Membership.subject.is_not(None))
    session.execute(members.values(subject=None, confirmed_at=None))
    session.execute(
        delete_rows(BrowserSession).where(
            BrowserSession.tenant_id == tenant_id, BrowserSession.method == Method.identity_provider
        )
    )
