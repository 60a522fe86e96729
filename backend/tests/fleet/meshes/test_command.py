"""The command `plan-followers`, against the API over a socket."""

import json
from collections.abc import Callable

from tests.api_clients import MakeMesh, Member


def test_a_script_waits_until_a_plan_is_active_everywhere(
    owner: Member, make_mesh: MakeMesh, online: Callable[..., str]
):
    world = make_mesh(owner, 3)
    names = [agent.name for agent in world.agents]
    world.agents[0].follow()
    world.agents[1].get("/v1/agents/self/plan")
    revision = owner.get(f"/v1/meshes/{world.id}").json()["revision"]
    assert online("plan-followers").splitlines() == [
        f"Revision {revision}: 1 of 2 live agents follow.",
        f"Waiting for {names[1]}.",
        f"Not live, not waited for: {names[2]}.",
    ]
    waited = online("plan-followers", "--wait", "0.2", code=1)
    assert waited.strip() == f"Revision {revision} is not active everywhere after 0.2 s."
    world.agents[1].follow()
    found = json.loads(online("plan-followers", "--wait", "20", "--mesh", "demo", "--json"))
    assert (found["active_everywhere"], found["live"]) == (True, 2)
    assert online("plan-followers").splitlines()[1] == f"Active everywhere since {found['active_since'][:19]}Z."
    assert "--wait" in online("plan-followers", "--wait", "-1", code=2)
