"""Operations with the tag `agents`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class AgentsOperations(Calls):
    """Operations with the tag `agents`."""

    def list_agent_events(self, agent_id: str | UUID) -> Iterator[models.AgentEventRead]:
        """List the events of an agent, newest first.

        GET /v1/agents/{agent_id}/events, role viewer. Raises `ApiError` with `agent_unknown`.
        """
        return self._items(f"/v1/agents/{segment(agent_id)}/events", {})

    def list_agents(self, *, revoked: bool | None = None) -> Iterator[models.AgentRead]:
        """List the tenant's agents, newest first, including revoked ones.

        GET /v1/agents, role viewer.
        """
        return self._items("/v1/agents", {"revoked": revoked})

    def read_agent(self, agent_id: str | UUID) -> models.AgentRead:
        """Return an agent.

        GET /v1/agents/{agent_id}, role viewer. Raises `ApiError` with `agent_unknown`.
        """
        answer: models.AgentRead = self._json("GET", f"/v1/agents/{segment(agent_id)}")
        return answer

    def revoke_agent(self, agent_id: str | UUID, *, idempotency_key: str | None = None) -> models.AgentRead:
        """Revoke an agent's credential. Its VM may then enrol again.

        POST /v1/agents/{agent_id}/revoke, role editor. Raises `ApiError` with `agent_unknown`, `conflict`.
        """
        answer: models.AgentRead = self._json("POST", f"/v1/agents/{segment(agent_id)}/revoke", idempotency_key=idempotency_key)
        return answer

