"""Enrolment of VMs: a user creates a token, agents use it once (or `max_uses` times)."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory import addresses
from sinemora.fleet.inventory.agents import enrol_agent
from sinemora.fleet.inventory.queries import active_agent
from sinemora.fleet.inventory.schemas import AgentEnrol, AgentEnrolled
from sinemora.fleet.inventory.service import vm_for_enrolment
from sinemora.fleet.meshes import queries, usage
from sinemora.fleet.meshes.models import EnrolmentToken
from sinemora.fleet.meshes.schemas import EnrolmentTokenCreate
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.config import settings
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.downloads import INSTALL_SCRIPT, installs
from sinemora.kit.security import digest, new_secret, shown_prefix
from sinemora.kit.signing import public_keys

TOKEN_PREFIX = "sme_"
# VMs of one tenant enrol one after the other, and an autoscaling group starts many at once: each waits for its turn.
_TURN_S = 20


def command(backend_url: str, token: str) -> str:
    """Return the command that enrols the VM it runs on."""
    return f"sinemora-agent run --backend {backend_url} --token {token}{_trust(backend_url)}"


def _trust(backend_url: str) -> str:
    """Return the options by which an agent trusts the backend: the pin of its key, or plain HTTP where that is set."""
    if settings().agents_pin:
        return f" --ca-pin {settings().agents_pin}"
    return "" if backend_url.startswith("https://") or _is_loopback(backend_url) else " --insecure-http"


def install_command(backend_url: str, token: str) -> str | None:
    """Return the command that installs the agent as a service and enrols the VM; None without packages."""
    if not installs(settings().packages_dir):
        return None
    arguments = command(backend_url, token).removeprefix("sinemora-agent run ")
    # curl checks the key before it sends or reads anything; names and dates of the certificate do not matter then.
    pin = settings().agents_pin
    pinned = f" --insecure --pinnedpubkey {pin}" if pin else ""
    return f"curl -fsSL{pinned} {backend_url}/packages/{INSTALL_SCRIPT} | sudo sh -s -- {arguments}"


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def create_token(session: Session, actor: Actor | None, body: EnrolmentTokenCreate) -> tuple[EnrolmentToken, str]:
    """Return a new token and its secret. ProductError `mesh_unknown`."""
    mesh = get_mesh(session, body.mesh_id)
    secret = new_secret(TOKEN_PREFIX)
    token = EnrolmentToken(
        mesh_id=mesh.id,
        prefix=shown_prefix(secret),
        secret_digest=digest(secret),
        expires_at=datetime.now(UTC) + timedelta(seconds=body.expires_in_s),
        max_uses=body.max_uses,
        limited=session.info["mesh_limit"] is not None,
    )
    session.add(token)
    session.flush()
    session.refresh(token)
    audit.record(session, actor, "enrolment_token.created", token.id, token.prefix, mesh=mesh.name)
    return token, secret


def delete_token(session: Session, actor: Actor, token_id: UUID) -> None:
    """Delete a token; its agents stay. ProductError `enrolment_token_unknown` (404)."""
    token = existing(session.get(EnrolmentToken, token_id), "enrolment token")
    session.delete(token)
    audit.record(session, actor, "enrolment_token.deleted", token.id, token.prefix)


def enrol(body: AgentEnrol) -> AgentEnrolled:
    """Create the identity of an agent and add its VM to the token's mesh, in one transaction.

    ProductError `enrolment_token_unknown`, `…_expired`, `…_used` (401), `vm_has_agent`,
    `vm_name_taken`, `address_in_use` (409), `quota_exceeded` (403).
    """
    key = digest(body.token)
    with system_session() as session:
        match = queries.token_with(session, key)
    if match is None:
        raise _unknown()
    with tenant_session(match.tenant_id) as session:
        session.execute(text(f"SET LOCAL lock_timeout = '{_TURN_S}s'"))
        usage.lock(session)
        # The lock of the token serialises agents with one token, so that `uses` cannot exceed `max_uses`.
        token = queries.token_with(session, key, lock=True)
        if token is None:
            raise _unknown()
        if token.expires_at <= datetime.now(UTC):
            raise ProductError("enrolment_token_expired", 401, "Token expired. Create a new enrolment token.")
        if token.limited and queries.is_elsewhere(session, token.mesh_id, body.hostname):
            raise ProductError(
                "vm_name_taken", 409, f"Name taken: another VM is named {body.hostname}. Choose another."
            )
        vm = vm_for_enrolment(session, body)
        before = active_agent(session, vm.id)
        repeated = before is not None and before.enrolled_with == token.id and before.last_report_at is None
        if not repeated:
            if token.uses >= token.max_uses:
                raise ProductError("enrolment_token_used", 401, "Token used up. Create a new enrolment token.")
            token.uses += 1
        agent, credential = enrol_agent(session, vm, token.id, body.agent_version, body.description)
        if queries.join_mesh(session, token.mesh_id, vm.id):
            usage.check_growth(session)
        addresses.claim(session, vm)
        return AgentEnrolled(
            agent_id=agent.id, vm_id=vm.id, vm_key=vm.key, tenant_id=vm.tenant_id, credential=credential, keys=_keys()
        )


def _keys() -> list[str]:
    """Return the public keys of this installation; none where it has no secret key and so signs nothing."""
    try:
        return [b64encode(key).decode() for key in public_keys()]
    except ProductError:
        return []


def _unknown() -> ProductError:
    return ProductError("enrolment_token_unknown", 401, "Unknown token. Create a new enrolment token.")
