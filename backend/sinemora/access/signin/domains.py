"""Domains of a tenant's people: claimed, proved by a TXT record, proved again each day."""

import secrets
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sinemora.access.signin import notices
from sinemora.access.signin.models import SignInDomain
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Membership, Role
from sinemora.kit.db import locked, system_session, tenant_session
from sinemora.kit.errors import ProductError, existing

_PREFIX = "sinemora-verification="
_LOOK_UP_S = 5.0
_AGAIN_AFTER = timedelta(days=1)
KEPT_FOR = timedelta(days=7)
"""Time that a domain stays verified without its record: DNS is edited by people, and moves between providers."""
_SWEEP_S = 60.0


def verified(domain: str) -> Select[SignInDomain]:
    """Return the statement of the verified domain with a name."""
    return select(SignInDomain).where(SignInDomain.domain == domain, SignInDomain.verified_at.is_not(None))


def create(session: Session, actor: Actor, domain: str) -> SignInDomain:
    """Claim a domain. ProductError `domain_exists` (409)."""
    if session.scalar(select(SignInDomain.id).where(SignInDomain.domain == domain)):
        raise ProductError("domain_exists", 409, f"Domain exists: {domain} is listed already.")
    row = SignInDomain(domain=domain, record=_PREFIX + secrets.token_hex(16))
    audit.created(session, actor, "sign_in_domain", row)
    return row


def verify(session: Session, actor: Actor, domain_id: UUID) -> SignInDomain:
    """Look for the record of a domain, which is verified if it is there.

    ProductError `domain_unknown` (404), `domain_record_missing`, `domain_taken`, `dns_failed` (409).
    """
    with tenant_session(actor.tenant_id) as before:  # no connection waits for DNS
        row = existing(before.get(SignInDomain, domain_id), "domain")
    is_there = has_record(row.domain, row.record)
    if is_there is None:
        raise ProductError("dns_failed", 409, f"DNS failed: its servers for {row.domain} gave no answer. Try again.")
    if not is_there:
        raise ProductError(
            "domain_record_missing",
            409,
            f"Record missing: {row.domain} has no TXT record {row.record}. DNS shows a new one after minutes to hours.",
        )
    with system_session() as system:
        other = system.scalars(verified(row.domain).where(SignInDomain.tenant_id != actor.tenant_id)).one_or_none()
    if other is not None:
        raise ProductError(
            "domain_taken",
            409,
            f"Domain taken: another tenant has verified {row.domain}. It is free {KEPT_FOR.days} days after the record"
            " of that tenant is removed.",
        )
    row = existing(locked(session, SignInDomain, domain_id), "domain")
    row.checked_at = datetime.now(UTC)
    row.verified_at, row.missing_since = row.verified_at or row.checked_at, None
    audit.updated(session, actor, "sign_in_domain", row, ["verified_at"])
    return row


def delete(session: Session, actor: Actor, domain_id: UUID) -> None:
    """Give a domain up. ProductError `domain_unknown` (404)."""
    audit.deleted(session, actor, "sign_in_domain", existing(locked(session, SignInDomain, domain_id), "domain"))


def has_record(domain: str, record: str) -> bool | None:
    """Return whether a domain has a TXT record; None if DNS did not answer within 5 s."""
    import dns.exception
    import dns.resolver

    try:
        answer = dns.resolver.Resolver().resolve(f"{domain}.", "TXT", lifetime=_LOOK_UP_S, search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return False
    except (dns.exception.DNSException, OSError):
        return None
    return record.encode() in [b"".join(one.strings).strip() for one in answer]


def check_due(now: datetime) -> None:
    """Look again for the records of verified domains, each once a day, for a minute.

    A domain whose record was gone for a week is not verified any more; owners get a notice when it goes.
    """
    ends_at = time.monotonic() + _SWEEP_S
    due = (
        select(SignInDomain)
        .where(SignInDomain.verified_at.is_not(None), SignInDomain.checked_at < now - _AGAIN_AFTER)
        .order_by(SignInDomain.checked_at)
        .limit(1000)
    )
    with system_session() as session:
        rows = session.scalars(due).all()
    for row in rows:
        if time.monotonic() > ends_at:
            return  # the next sweep continues
        is_there = has_record(row.domain, row.record)
        with suppress(LookupError), tenant_session(row.tenant_id) as session:  # its tenant may be deleted meanwhile
            newest = locked(session, SignInDomain, row.id)
            if newest is not None and newest.verified_at is not None:
                _note(session, newest, is_there, now)


def _note(session: Session, row: SignInDomain, is_there: bool | None, now: datetime) -> None:
    """Store the result of a look at a record; None, no answer of DNS, changes nothing."""
    row.checked_at = now
    if is_there:
        row.missing_since = None
    elif is_there is False and row.missing_since is None:
        row.missing_since = now
        for owner in session.scalars(select(Membership).where(Membership.role == Role.owner)):
            notices.record_missing(session, owner.user, row.domain, row.record, now + KEPT_FOR)
    elif is_there is False and row.missing_since is not None and now - row.missing_since >= KEPT_FOR:
        row.verified_at, row.missing_since = None, None
        audit.record(session, None, "sign_in_domain.ended", row.id, row.domain)
