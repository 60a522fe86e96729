"""Which plan each agent follows: the revision that it names when it asks for the next one.

An agent names the revision of a plan only once that plan is in force. Valkey keeps the newest one of each agent for an
hour; without it the agents count as unknown until their next request, within half a minute.
"""

from collections.abc import Mapping
from typing import cast
from uuid import UUID

import structlog
from redis import RedisError

from sinemora.inventory.agents import AgentIdentity
from sinemora.kit.redis import client
from sinemora.meshes.plan import mesh_part

log = structlog.get_logger(__name__)

_KEPT_S = 3600


def note(agent: AgentIdentity, revisions: set[str]) -> None:
    """Record the revision of the plan that an agent follows. A failure is logged: the plan matters more."""
    if len(revisions) != 1:
        return
    try:
        pipeline = client().pipeline(transaction=False)
        pipeline.hset(_key(agent.tenant_id), str(agent.agent_id), mesh_part(next(iter(revisions))))
        pipeline.expire(_key(agent.tenant_id), _KEPT_S)
        pipeline.execute()
    except RedisError as error:
        log.warning("revision of an agent's plan not recorded", agent_id=str(agent.agent_id), error=str(error))


def followed(tenant_id: UUID) -> Mapping[UUID, str]:
    """Return the revision that each agent of a tenant follows, as far as known. Empty without Valkey."""
    try:
        found = cast("dict[str, str]", client().hgetall(_key(tenant_id)))
    except RedisError as error:
        log.warning("revisions of plans unknown", error=str(error))
        return {}
    return {UUID(agent): revision for agent, revision in found.items()}


def _key(tenant_id: UUID) -> str:
    return f"plan-revisions:{tenant_id}"
