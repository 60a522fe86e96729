"""Agents: authentication, enrolment, revocation, and what they report about themselves."""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory import addresses, queries
from sinemora.fleet.inventory.models import Agent, Vm
from sinemora.fleet.inventory.queries import ReportNote, note_reports
from sinemora.fleet.inventory.schemas import AgentDescription, AgentEventCreate
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError, Status, existing, responses
from sinemora.kit.http import rate_limit
from sinemora.kit.http.raw import bearer_of
from sinemora.kit.http.routes import BoundedRoute, before_body, body_limit
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.security import digest, shown_prefix

__all__ = [
    "AgentDep",
    "AgentIdentity",
    "AgentRoute",
    "ReportNote",
    "enrol_agent",
    "identify",
    "note_reports",
    "revoke",
    "signed_in_agents",
]

CREDENTIAL_PREFIX = "sma_"
STOPPING = "stopping"
"""Kind of the event of an agent that is being stopped."""
# Longest time another process may still accept a revoked credential, s.
CACHED_S = 5.0
_CACHE_SIZE = 20_000


@dataclass(frozen=True)
class AgentIdentity:
    """Identity of an agent, taken from its credential, never from a body."""

    tenant_id: UUID
    tenant_key: int
    agent_id: UUID
    vm_id: UUID
    vm_key: int

    @cached_property
    def caller(self) -> str:
        """Name of the agent in records of what it did."""
        return f"agent:{self.agent_id}"


# Identities by digest of the credential, each with the time of its lookup (monotonic, s).
_identities: LruCache[bytes, tuple[float, AgentIdentity]] = LruCache(_CACHE_SIZE)


_BEARER = {"WWW-Authenticate": "Bearer"}
_credential = HTTPBearer(scheme_name="agent", description="An agent's credential, `sma_…`.", auto_error=False)
Credential = Annotated[HTTPAuthorizationCredentials | None, Security(_credential)]


async def authenticate(request: Request) -> AgentIdentity:
    """Return the agent of this request. Most calls use neither a database connection nor a thread.

    ProductError `sign_in_required`, `agent_credential_unknown`, `agent_revoked` (401), `too_many_requests` (429).
    """
    credential = bearer_of(request.scope)
    try:
        if not credential:
            raise ProductError("sign_in_required", 401, "Not signed in: send the agent's credential.", headers=_BEARER)
        identity = await identify(credential)
    except ProductError as error:
        if error.status == 401:
            await run_in_threadpool(rate_limit.limit_address, request)
        raise
    request.scope["state"] |= {
        "tenant_id": identity.tenant_id,
        "tenant_key": identity.tenant_key,
        "caller": identity.caller,
        "agent": identity,
    }
    return identity


async def agent_signed_in(request: Request, credential: Credential) -> AgentIdentity:
    """Return the agent of this request, whom `authenticate` has found before the body was read."""
    identity: AgentIdentity = request.state.agent
    return identity


before_body(agent_signed_in, authenticate)


async def identify(credential: str) -> AgentIdentity:
    """Return the agent behind a credential. ProductError `agent_credential_unknown`, `agent_revoked` (401)."""
    key = digest(credential)
    if (kept := _kept(key)) is not None:
        return kept
    identity = await _lookups.find(key)
    _identities.put(key, (time.monotonic(), identity))
    return identity


def _kept(key: bytes) -> AgentIdentity | None:
    cached = _identities.get(key)
    return cached[1] if cached is not None and time.monotonic() - cached[0] < CACHED_S else None


class _IdentityLookups:
    """Lookups of credentials. Credentials that arrive during a query are looked up together by the next one."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, asyncio.Future[AgentIdentity]] = {}
        self._query: asyncio.Task[None] | None = None

    async def find(self, key: bytes) -> AgentIdentity:
        """Return the identity behind a credential."""
        loop = asyncio.get_running_loop()
        if self._query is None or self._query.done() or self._query.get_loop() is not loop:
            self._waiting = {}
            self._query = loop.create_task(self._look_up_waiting())
        if key not in self._waiting:
            self._waiting[key] = loop.create_future()
        return await asyncio.shield(self._waiting[key])

    async def _look_up_waiting(self) -> None:
        await asyncio.sleep(0)
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            try:
                outcomes: dict[bytes, AgentIdentity | ProductError] = await run_in_threadpool(_look_up, list(batch))
            except Exception as error:
                for future in batch.values():
                    future.set_exception(error)
                    future.exception()  # the caller may have gone
                continue
            for key, future in batch.items():
                outcome = outcomes[key]
                if isinstance(outcome, ProductError):
                    future.set_exception(outcome)
                    future.exception()
                else:
                    future.set_result(outcome)


_lookups = _IdentityLookups()


def _look_up(keys: Sequence[bytes]) -> dict[bytes, AgentIdentity | ProductError]:
    """Return the identity of each credential, or its error."""
    with system_session() as session:
        rows = {row.credential_digest: row for row in queries.agents_by_credential(session, keys)}
    return {key: _identity(rows.get(key)) for key in keys}


def _identity(row: Any) -> AgentIdentity | ProductError:
    if row is None:
        return ProductError(
            "agent_credential_unknown", 401, "Unknown credential: it belongs to no agent. Enrol again.", headers=_BEARER
        )
    if row.revoked_at is not None:
        return ProductError("agent_revoked", 401, "Agent revoked. Enrol again with a new token.", headers=_BEARER)
    return AgentIdentity(row.tenant_id, row.tenant_key, row.agent_id, row.vm_id, row.vm_key)


AgentDep = Annotated[AgentIdentity, Depends(agent_signed_in)]


def signed_in_agents(*statuses: Status) -> APIRouter:
    """Return the router of a feature for agents; they sign in before a route's session opens.

    `statuses`: problems that each of its routes may respond with, besides 401.
    """
    return APIRouter(
        prefix="/v1/agents/self",
        dependencies=[Depends(agent_signed_in)],
        route_class=BoundedRoute,
        tags=["agent protocol"],
        responses=responses(401, *statuses),
    )


class AgentRoute(APIRoute):
    """A route whose endpoint takes `request` and `agent: AgentDep`, and returns a response.

    The endpoint is called directly: resolving dependencies would cost more than handling a report.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that signs the agent in and calls the endpoint."""
        endpoint = self.endpoint
        limit = body_limit(endpoint)

        async def handle(request: Request) -> Response:
            agent = await authenticate(request)
            if limit is not None:
                request.state.body_limit_bytes = limit(settings())
            response: Response = await endpoint(request, agent)
            return response

        return handle


def enrol_agent(
    session: Session, vm: Vm, token_id: UUID, version: str, description: dict[str, Any]
) -> tuple[Agent, str]:
    """Return a new agent on `vm` and its credential. ProductError `vm_has_agent` (409).

    An agent that is silent is replaced: an autoscaling group may have replaced its machine. So is one of the same token
    that never reported: the response to its enrolment was lost.
    """
    before = queries.active_agent(session, vm.id)
    if before is not None:
        status = status_of(
            None, before.last_report_at, before.report_every_s, datetime.now(UTC), settings().stale_windows
        )
        is_repeated = before.enrolled_with == token_id and status is AgentStatus.enrolled
        if status is not AgentStatus.silent and not is_repeated:
            raise ProductError(
                "vm_has_agent",
                409,
                f"VM in use: {vm.name} has an agent already. Revoke it first, or choose another name. If its"
                " machine is gone, this works once its agent counts as silent.",
            )
        before.revoked_at = datetime.now(UTC)
        session.flush()
        if status is AgentStatus.silent:
            audit.record(session, None, "agent.replaced", before.id, vm.name, token_id=str(token_id))
    credential = CREDENTIAL_PREFIX + secrets.token_urlsafe(32)
    agent = Agent(
        vm_id=vm.id,
        enrolled_with=token_id,
        credential_prefix=shown_prefix(credential),
        credential_digest=digest(credential),
        agent_version=version,
        description=description,
    )
    session.add(agent)
    session.flush()
    audit.record(session, None, "agent.enrolled", agent.id, vm.name, token_id=str(token_id))
    return agent, credential


def revoke(session: Session, actor: Actor | None, agent_id: UUID) -> Agent:
    """Revoke an agent's credential; repeating is no error. ProductError `agent_unknown`.

    Effective at once here and within `CACHED_S` seconds in other processes.
    """
    agent = get_agent(session, agent_id)
    if agent.revoked_at is None:
        agent.revoked_at = datetime.now(UTC)
        _identities.remove(agent.credential_digest)
        audit.record(session, actor, "agent.revoked", agent.id, agent.vm.name)
        session.flush()
    return agent


def get_agent(session: Session, agent_id: UUID) -> Agent:
    """Return the tenant's agent. ProductError `agent_unknown`."""
    return existing(session.get(Agent, agent_id), "agent")


def describe(session: Session, identity: AgentIdentity, body: AgentDescription) -> Agent:
    """Store an agent's description of itself. Omitted fields do not change. ProductError `address_in_use` (409)."""
    agent = get_agent(session, identity.agent_id)
    fields = body.model_dump(exclude_unset=True, mode="json")
    placed = [field for field in ("probe_address", "event_port", "general_port") if field in fields]
    for field in placed:
        setattr(agent.vm, field, fields[field])
    if placed:
        addresses.claim(session, agent.vm)
    agent.agent_version = fields.get("agent_version") or agent.agent_version
    # Two programs of the VM describe it: the agent does not know what the other one offers.
    offered = fields.get("transfer", agent.description.get("transfer"))
    description = fields.get("description") or agent.description
    agent.description = description | ({} if offered is None else {"transfer": offered})
    if "description" in fields:  # the agent sends it at each start, `sinemora-transfer` never
        agent.started_at = datetime.now(UTC)
    session.flush()
    return agent


def store_events(session: Session, identity: AgentIdentity, events: Sequence[AgentEventCreate]) -> None:
    """Store events of an agent. From `stopping` on it counts as stopped, by the backend's clock."""
    if any(event.kind == STOPPING for event in events):
        agent = get_agent(session, identity.agent_id)
        agent.stopped_at = datetime.now(UTC)
    queries.add_events(session, identity.agent_id, [event.model_dump() for event in events])
