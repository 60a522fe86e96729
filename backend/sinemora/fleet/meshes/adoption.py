"""Which plan each agent follows: the revision that it names when it asks for the next one.

An agent names the revision of a plan only once that plan is in force. Valkey keeps the newest poll of each agent, with
its time; without it the agents count as unknown until their next request, within half a minute.
"""

import time
from collections.abc import Mapping
from typing import cast
from uuid import UUID

import structlog
from redis import RedisError

from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.meshes.control_group import Poll, polled
from sinemora.fleet.meshes.plan import mesh_part
from sinemora.kit.redis import client

log = structlog.get_logger(__name__)

# Of a tenant: any of its agents renews it. The time of each poll says which agents are live.
_KEPT_S = 3600


def note(agent: AgentIdentity, revisions: set[str]) -> None:
    """Record the poll of an agent. A failure is logged: the plan matters more.

    A poll that names no revision counts, too: after a restart an agent may follow another plan than it last named.
    """
    revision = mesh_part(next(iter(revisions))) if len(revisions) == 1 else ""
    key, field = _key(agent.tenant_id), str(agent.agent_id)
    try:
        entry = cast("str | None", client().hget(key, field))
        poll = polled(None if entry is None else _poll(entry), revision, time.time())
        pipeline = client().pipeline(transaction=False)
        pipeline.hset(key, field, f"{poll.at_s:.3f} {poll.since_s:.3f} {revision}")
        pipeline.expire(key, _KEPT_S)
        pipeline.execute()
    except RedisError as error:
        log.warning("revision of an agent's plan not recorded", agent_id=str(agent.agent_id), error=str(error))


def polls(tenant_id: UUID) -> Mapping[UUID, Poll]:
    """Return the newest poll of each agent of a tenant, as far as known. Empty without Valkey."""
    try:
        found = cast("dict[str, str]", client().hgetall(_key(tenant_id)))
    except RedisError as error:
        log.warning("revisions of plans unknown", error=str(error))
        return {}
    return {UUID(agent): _poll(entry) for agent, entry in found.items()}


def _poll(entry: str) -> Poll:
    at_s, since_s, revision = entry.split(" ", 2)
    return Poll(revision, float(at_s), float(since_s))


def _key(tenant_id: UUID) -> str:
    # Not `plan-revisions:`, whose entries have no times: processes of both versions run during an upgrade.
    return f"plans-followed:{tenant_id}"
