import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.meshes import adoption
from sinemora.fleet.meshes.control_group import LIVE_S, Barrier, GroupMember, Poll, barrier, polled
from sinemora.fleet.meshes.watch import PlanWatch
from sinemora.kit.redis import client
from tests.api_clients import AgentCaller, MakeMesh, Member, limited_key

NOW = 1000.0


def judged(polls: Sequence[Poll | None], *, reports: bool = False) -> Barrier:
    members = [GroupMember(UUID(int=at), f"vm-{at}", "new", reports) for at in range(len(polls))]
    known = {UUID(int=at): poll for at, poll in enumerate(polls) if poll is not None}
    return barrier(members, known, NOW)


def test_the_barrier_waits_for_live_agents_only():
    found = judged(
        [
            polled(None, "new", NOW),
            polled(None, "old", NOW),
            polled(None, "", NOW),
            polled(None, "old", NOW - LIVE_S - 1),
            None,
        ]
    )
    assert found == Barrier(("vm-0",), ("vm-1",), ("vm-2",), ("vm-3", "vm-4"))
    assert (found.live, found.active_everywhere) == (3, False)
    assert judged([polled(None, "new", NOW - LIVE_S), None]).active_everywhere


def test_an_agent_that_reports_is_waited_for_without_a_poll():
    found = judged([polled(None, "new", NOW), None], reports=True)
    assert (found.unnamed, found.active_everywhere) == (("vm-1",), False)


def test_a_revision_is_active_since_the_last_agent_followed_it():
    first = polled(None, "new", NOW - 60)
    again = polled(first, "new", NOW - 5)
    assert (again.at_s, again.since_s) == (NOW - 5, NOW - 60)
    assert polled(again, "", NOW).since_s == NOW
    assert judged([again, polled(None, "new", NOW - 40)]).since_s == NOW - 40
    assert judged([again, polled(None, "old", NOW)]).since_s is None


def test_an_agent_that_stops_asking_holds_a_revision_back_until_it_is_no_longer_live():
    follower = polled(polled(None, "new", NOW - 300), "new", NOW)
    assert judged([follower, polled(None, "old", NOW - LIVE_S - 7)]).since_s == NOW - 7
    assert judged([follower, polled(None, "new", NOW - LIVE_S - 7)]).since_s == NOW - 300


@pytest.mark.parametrize("polls", [[], [None], [polled(None, "new", NOW - LIVE_S - 1)]])
def test_without_a_live_agent_a_revision_is_active_nowhere(polls: list[Poll | None]):
    assert not judged(polls).active_everywhere


def test_two_processes_answer_with_what_was_committed_before_the_call(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 2)
    vm_id = world.agents[0].vm_id

    async def rates() -> list[tuple[int, int]]:
        found = []
        processes = [PlanWatch(), PlanWatch()]
        for rate in (16, 32, 64):
            # In turns: the cache of the other process is one change older.
            owner.patch(f"/v1/meshes/{world.id}", json={"rate_hz": rate})
            process = processes[len(found) % 2]
            for one in (process, processes[0], processes[1]):
                (mesh,) = (await one.meshes_of(owner.tenant_id)).by_vm[vm_id]
                assert mesh.rate_hz == rate
            found.append((rate, mesh.revision))
        return found

    found = asyncio.run(rates())
    assert [revision for _, revision in found] == sorted({revision for _, revision in found})


def test_an_agent_that_stops_asking_is_no_longer_waited_for(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 2)

    def found() -> dict[str, object]:
        return owner.get(f"/v1/meshes/{world.id}/plan-followers").json()

    names = [agent.name for agent in world.agents]
    for agent in world.agents:
        agent.follow()
    assert (found()["live"], found()["active_everywhere"]) == (2, True)
    owner.patch(f"/v1/meshes/{world.id}", json={"rate_hz": 16})
    world.agents[0].follow()
    waiting = found()
    assert (waiting["active_everywhere"], waiting["first_waited_for"]) == (False, names[1:])
    # The other agents of the tenant keep asking; this one last did LIVE_S ago.
    key = adoption._key(owner.tenant_id)
    at_s, since_s, revision = str(client().hget(key, str(world.agents[1].agent_id))).split(" ", 2)
    client().hset(key, str(world.agents[1].agent_id), f"{float(at_s) - LIVE_S - 1} {since_s} {revision}")
    alone = found()
    assert (alone["live"], alone["active_everywhere"], alone["first_waited_for"]) == (1, True, [])
    assert (alone["first_not_live"], alone["unknown"]) == (names[1:], 1)


def test_a_poll_without_a_revision_replaces_the_one_that_was_named(owner: Member, agent: AgentCaller):
    identity = AgentIdentity(owner.tenant_id, 0, UUID(str(agent.agent_id)), UUID(str(agent.vm_id)), 0)
    adoption.note(identity, {"abc-on-demand"})
    assert adoption.polls(owner.tenant_id)[identity.agent_id].revision == "abc"
    adoption.note(identity, set())
    assert adoption.polls(owner.tenant_id)[identity.agent_id].revision == ""


def test_callers_limited_to_a_mesh_see_its_barrier_when_a_vm_is_in_a_hidden_one_too(owner: Member, make_mesh: MakeMesh):
    shown, hidden = make_mesh(owner, 1, name="shown"), make_mesh(owner, 1, name="hidden")
    (agent,) = shown.agents
    assert owner.put(f"/v1/meshes/{hidden.id}/vms/{agent.vm_id}").status_code == 204
    agent.follow()
    limited = limited_key(owner, [shown.id], "read")
    path = f"/v1/meshes/{shown.id}/plan-followers"
    assert limited.get(path).json() == owner.get(path).json()
    assert limited.get(path).json()["active_everywhere"] is True
