"""Copied identities: two machines that use the credential of one agent, as after a copy of a disk that holds it.

Each request of an agent names its process and its machine (`Sinemora-Sender`). A process that ends never comes back, so
two that take turns in asking for the plan are two machines. One of them keeps the identity, the other is refused.
"""

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import structlog
from redis import RedisError

from sinemora.fleet.inventory import queries
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.redis import client

log = structlog.get_logger(__name__)

_TURNS = 8
_TURNS_PROOF = 5
_TURNS_KEPT_S = 300
_KNOWN_KEPT_S = 30 * 86_400
_SENDER_MAX = 64
EVENT = "identity_copied"
EVENT_EVERY_S = 300
PLACE = ("probe_address", "event_port", "general_port")


def note_poll(agent: AgentIdentity, sender: str | None) -> None:
    """Record who asks for the plan of an agent. ProductError `identity_copied` (409) for a copy.

    Without Valkey nothing is noticed. Senders of earlier versions have no name.
    """
    if not sender or len(sender) > _SENDER_MAX:
        return
    try:
        turns = _turns(agent.agent_id, sender)
        seen = Counter(turns)
        taking_turns = [one for one, times in seen.items() if times > 1]
        # A poll of a process that has ended may arrive after the first one of its successor.
        if len(taking_turns) < 2 or sum(seen[one] for one in taking_turns) < _TURNS_PROOF:
            return
        owner = min(taking_turns, key=lambda one: _since(agent.agent_id, one))
        if client().set(f"agent-copied:{agent.agent_id}", owner, nx=True, ex=EVENT_EVERY_S):
            _tell(agent, owner)
    except RedisError as error:
        log.warning("sender of a poll not recorded", agent_id=str(agent.agent_id), error=str(error))
        return
    # Copies that keep the id of their machine are distinguished by their processes.
    have_ids = len({_machine(one) for one in taking_turns}) > 1
    if (_machine(sender) != _machine(owner)) if have_ids else (sender in taking_turns and sender != owner):
        raise ProductError(
            "identity_copied",
            409,
            "Identity copied: another machine uses this agent's identity too, and had it before. If this machine is the"
            " copy, stop its agent, delete its state_dir and enrol it with a new token.",
        )


def note_place(agent_id: UUID, sender: str | None, fields: dict[str, Any]) -> None:
    """Remember the address and ports that a sender says its VM has."""
    place = {name: fields[name] for name in PLACE if name in fields}
    if not sender or len(sender) > _SENDER_MAX or not place:
        return
    try:
        client().set(f"agent-place:{agent_id}:{sender}", json.dumps(place), ex=_KNOWN_KEPT_S)
    except RedisError as error:
        log.warning("place of an agent not remembered", agent_id=str(agent_id), error=str(error))


def _turns(agent_id: UUID, sender: str) -> list[str]:
    """Return the last senders, newest first; one that asks several times in a row counts once."""
    key, known = f"agent-turns:{agent_id}", f"agent-senders:{agent_id}"
    if client().lindex(key, 0) != sender:
        pipeline = client().pipeline(transaction=False)
        pipeline.lpush(key, sender)
        pipeline.ltrim(key, 0, _TURNS - 1)
        pipeline.expire(key, _TURNS_KEPT_S)
        for name in (sender, _machine(sender)):
            pipeline.hsetnx(known, name, f"{time.time():.3f}")
        pipeline.expire(known, _KNOWN_KEPT_S)
        pipeline.execute()
    return cast("list[str]", client().lrange(key, 0, _TURNS - 1))


def _since(agent_id: UUID, sender: str) -> tuple[float, float]:
    """Return since when machine and process are known: a machine that starts its agent again keeps its identity."""
    times = client().hmget(f"agent-senders:{agent_id}", [_machine(sender), sender])
    machine_s, process_s = (float(at or time.time()) for at in cast("list[str | None]", times))
    return machine_s, process_s


def _machine(sender: str) -> str:
    return sender.partition("-")[2]


def _tell(agent: AgentIdentity, owner: str) -> None:
    """Store the event, and give the VM the address back that the copy may have changed."""
    place = cast("str | None", client().get(f"agent-place:{agent.agent_id}:{owner}"))
    message = (
        "two machines use the identity of this agent, as after a copy of its disk or of state_dir: windows of the last"
        " minutes may be of either. The machine that had it first keeps it, the other one measures nothing. Enrol that"
        " one with a new token, after its state_dir is deleted"
    )
    with tenant_session(agent.tenant_id) as session:
        event = {"kind": EVENT, "at": datetime.now(UTC), "detail": {"message": message}}
        queries.add_events(session, agent.agent_id, [event])
        vm = session.get(Vm, agent.vm_id)
        if vm is not None and place is not None:
            for name, value in json.loads(place).items():
                setattr(vm, name, value)
