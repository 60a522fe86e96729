"""The command `annotate`, against the API over a socket."""

import json
from collections.abc import Callable

import pytest

from sinemora.cli import main
from tests.api_clients import Member, MeshWorld
from tests.terminal import listening


def test_a_deploy_is_recorded_from_a_terminal(
    owner: Member, make_mesh: Callable[..., MeshWorld], capsys: pytest.CaptureFixture[str]
):
    mesh = make_mesh(owner, 3)

    with listening(owner) as client:

        def run(*arguments: str) -> tuple[int, str, str]:
            code = main(["annotate", *arguments, "--url", client.url, "--key", client.key])
            output = capsys.readouterr()
            return code, output.out, output.err

        code, printed, _ = run("web 4.2", "--mesh", "demo", "--vm", "a-1", "--vm", "b-1", "--zone", "c", "--json")
        assert code == 0
        entry = json.loads(printed)
        assert (entry["kind"], entry["source"], entry["mesh_id"]) == ("deploy", "terminal", str(mesh.id))
        assert entry["scope"]["vm_ids"] == [str(agent.vm_id) for agent in mesh.agents[:2]]
        assert len(entry["scope"]["zone_ids"]) == 1
        span = ("--kind", "maintenance", "--from", "2026-11-20T10:00:00Z", "--to")
        code, printed, _ = run("disks", *span, "2026-11-20T11:00:00Z", "--source", "kim")
        assert (code, printed.splitlines()[1].split()[1:]) == (0, ["2026-11-20T10:00:00", "maintenance", "disks"])
        code, _, error = run("disks", *span, "2026-11-20T09:00:00Z")
        assert (code, "`starts_at` must be before `ends_at`" in error) == (1, True)
        code, _, error = run("disks", "--vm", "z-9")
        assert (code, "Unknown vm: z-9" in error) == (1, True)
