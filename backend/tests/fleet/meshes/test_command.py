"""The command `plan-followers`, against the API over a socket."""

import json
from collections.abc import Callable

import pytest

from sinemora.cli import main
from tests.api_clients import Member, MeshWorld
from tests.terminal import listening


def test_a_script_waits_until_a_plan_is_active_everywhere(
    owner: Member, make_mesh: Callable[..., MeshWorld], capsys: pytest.CaptureFixture[str]
):
    world = make_mesh(owner, 3)
    names = [agent.name for agent in world.agents]
    path = "/v1/agents/self/plan"

    def follow(at: int) -> None:
        tag = world.agents[at].get(path).headers["ETag"]
        world.agents[at].get(path, headers={"If-None-Match": tag})

    with listening(owner) as client:

        def run(*arguments: str) -> tuple[int, str, str]:
            code = main(["plan-followers", *arguments, "--url", client.url, "--key", client.key])
            output = capsys.readouterr()
            return code, output.out, output.err

        follow(0)
        world.agents[1].get(path)
        code, printed, _ = run()
        revision = owner.get(f"/v1/meshes/{world.id}").json()["revision"]
        assert (code, printed.splitlines()) == (
            0,
            [
                f"Revision {revision}: 1 of 2 live agents follow.",
                f"Waiting for {names[1]}.",
                f"Not live, not waited for: {names[2]}.",
            ],
        )
        code, _, error = run("--wait", "0.2")
        assert (code, error.strip()) == (1, f"Revision {revision} is not active everywhere after 0.2 s.")
        follow(1)
        code, printed, _ = run("--wait", "20", "--mesh", "demo", "--json")
        found = json.loads(printed)
        assert (code, found["active_everywhere"], found["live"]) == (0, True, 2)
        since = found["active_since"][:19]
        code, printed, _ = run()
        assert printed.splitlines()[1] == f"Active everywhere since {since}Z."
        code, _, error = run("--wait", "-1")
        assert (code, "--wait" in error) == (2, True)
