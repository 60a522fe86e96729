"""HTTP of a tenant's identity provider, and of the domains of its people."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.signin import domains, identity_provider
from sinemora.access.signin.models import IdentityProvider, SignInDomain
from sinemora.access.signin.schemas import (
    IdentityProviderRead,
    IdentityProviderTestRead,
    IdentityProviderWrite,
    SignInDomainCreate,
    SignInDomainRead,
)
from sinemora.access.tenants.access import Admin, Confirmed, Owner, PersonOnly, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1/identity-provider", "members")


@router.get("", responses=responses(404))
def read_identity_provider(session: SessionDep, actor: Admin) -> IdentityProviderRead:
    """Return the OpenID provider of the tenant, without its secret."""
    return _read(identity_provider.get(session, actor))


@router.put("", dependencies=[Confirmed], responses=responses(409, 412, 422))
def set_identity_provider(
    body: IdentityProviderWrite, session: SessionDep, actor: Owner, precondition: Precondition
) -> IdentityProviderRead:
    """Set the OpenID provider of the tenant. An omitted secret stays; another issuer or client needs its own."""
    return _read(identity_provider.put(session, actor, body, precondition))


@router.delete("", status_code=204, dependencies=[Confirmed], responses=responses(404, 409, 412))
def delete_identity_provider(session: SessionDep, actor: Owner, precondition: Precondition) -> None:
    """Delete the OpenID provider of the tenant. Sessions that it opened end; members stay."""
    identity_provider.delete(session, actor, precondition)


@router.post("/tests", dependencies=[PersonOnly], responses=responses(404, 409))
def test_identity_provider(session: SessionDep, actor: Owner) -> IdentityProviderTestRead:
    """Test the provider: its discovery document, its keys, and the secret of the client."""
    return IdentityProviderTestRead(error=identity_provider.test(session, actor))


@router.get("/domains", response_model=Page[SignInDomainRead], responses=responses(422))
def list_sign_in_domains(session: SessionDep, actor: Admin, page: Paging) -> Slice[SignInDomain]:
    """List the domains whose people sign in at the tenant's provider, with the DNS records that verify them."""
    return paginate(session, select(SignInDomain), page, SignInDomain.domain, SignInDomain.id)


@router.post("/domains", status_code=201, dependencies=[PersonOnly], responses=responses(409, 422))
def create_sign_in_domain(body: SignInDomainCreate, session: SessionDep, actor: Owner) -> SignInDomainRead:
    """Add a domain. It counts once POST …/verify has found its record in DNS."""
    return SignInDomainRead.model_validate(domains.create(session, actor, body.domain))


@router.post("/domains/{domain_id}/verify", dependencies=[PersonOnly], responses=responses(404, 409))
def verify_sign_in_domain(domain_id: UUID, session: SessionDep, actor: Owner) -> SignInDomainRead:
    """Look for the record of a domain in DNS. From then on its people sign in at the tenant's provider."""
    return SignInDomainRead.model_validate(domains.verify(session, actor, domain_id))


@router.delete("/domains/{domain_id}", status_code=204, dependencies=[PersonOnly], responses=responses(404))
def delete_sign_in_domain(domain_id: UUID, session: SessionDep, actor: Owner) -> None:
    """Remove a domain. The provider no longer vouches for its people."""
    domains.delete(session, actor, domain_id)


def _read(row: IdentityProvider) -> IdentityProviderRead:
    return IdentityProviderRead.from_row(row, redirect_uri=identity_provider.redirect_uri())
