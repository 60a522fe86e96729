"""How a VM joins: a token made by a person, used once (or `max_uses` times) by an agent."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.inventory.agents import enrol_agent
from sinemora.inventory.queries import living_agent
from sinemora.inventory.schemas import AgentEnrol, AgentEnrolled
from sinemora.inventory.service import vm_for_enrolment
from sinemora.kit.config import settings
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.downloads import INSTALL_SCRIPT, installs
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.security import digest, new_secret, shown_prefix
from sinemora.meshes import queries, usage
from sinemora.meshes.models import EnrolmentToken
from sinemora.meshes.schemas import EnrolmentTokenCreate
from sinemora.meshes.service import get_mesh
from sinemora.tenants import audit
from sinemora.tenants.access import Actor

TOKEN_PREFIX = "sme_"


def command(backend_url: str, token: str) -> str:
    """The line that makes the VM it is run on a member."""
    line = f"sinemora-agent run --backend {backend_url} --token {token}"
    # The agent refuses plain HTTP to another machine unless told: this installation was made to be reached that way.
    return line if backend_url.startswith("https://") or _is_loopback(backend_url) else f"{line} --insecure-http"


def install_command(backend_url: str, token: str) -> str | None:
    """Return the line that brings the agent to a VM and makes it a member, as a service; None without packages to
    bring.
    """
    if not installs(settings().packages_dir):
        return None
    arguments = command(backend_url, token).removeprefix("sinemora-agent run ")
    return f"curl -fsSL {backend_url}/packages/{INSTALL_SCRIPT} | sudo sh -s -- {arguments}"


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
    )
    session.add(token)
    session.flush()
    session.refresh(token)
    audit.record(session, actor, "enrolment_token.created", token.id, token.prefix, mesh=mesh.name)
    return token, secret


def delete_token(session: Session, actor: Actor, token_id: UUID) -> None:
    """End a token; agents it brought in stay. ProductError `enrolment_token_unknown` (404)."""
    token = session.get(EnrolmentToken, token_id)
    if token is None:
        raise NotFound("enrolment token")
    session.delete(token)
    audit.record(session, actor, "enrolment_token.deleted", token.id, token.prefix)


def enrol(body: AgentEnrol) -> AgentEnrolled:
    """Give the agent on a VM its identity, and make the VM a member of the token's mesh; all or nothing.

    ProductError `enrolment_token_unknown`, `…_expired`, `…_used` (401), `vm_has_agent` (409), `quota_exceeded` (403).
    """
    key = digest(body.token)
    with system_session() as session:
        found = queries.token_with(session, key)
    if found is None:
        raise _unknown()
    with tenant_session(found.tenant_id) as session:
        # The lock makes two agents with one token take turns, so it cannot be used once too often.
        token = queries.token_with(session, key, lock=True)
        if token is None:
            raise _unknown()
        if token.expires_at <= datetime.now(UTC):
            raise ProductError("enrolment_token_expired", 401, "This enrolment token has expired. Make a new one.")
        vm = vm_for_enrolment(session, body)
        before = living_agent(session, vm.id)
        repeated = before is not None and before.enrolled_with == token.id and before.last_report_at is None
        if not repeated:
            if token.uses >= token.max_uses:
                raise ProductError("enrolment_token_used", 401, "This enrolment token was used up. Make a new one.")
            token.uses += 1
        agent, credential = enrol_agent(session, vm, token.id, body.agent_version, body.description)
        if queries.join_mesh(session, token.mesh_id, vm.id):
            usage.check_growth(session)
        return AgentEnrolled(
            agent_id=agent.id, vm_id=vm.id, vm_key=vm.key, tenant_id=vm.tenant_id, credential=credential
        )


def _unknown() -> ProductError:
    return ProductError("enrolment_token_unknown", 401, "This enrolment token is not known. Make a new one.")
