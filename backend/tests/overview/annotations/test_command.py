"""The command `annotate`, against the API over a socket."""

import json
from collections.abc import Callable

from tests.api_clients import Member, MeshWorld


def test_a_deploy_is_recorded_from_a_terminal(
    owner: Member, make_mesh: Callable[..., MeshWorld], online: Callable[..., str]
):
    mesh = make_mesh(owner, 3)
    named = ("--mesh", "demo", "--vm", "a-1", "--vm", "b-1", "--zone", "c")
    entry = json.loads(online("annotate", "web 4.2", *named, "--json"))
    assert (entry["kind"], entry["source"], entry["mesh_id"]) == ("deploy", "terminal", str(mesh.id))
    assert entry["scope"]["vm_ids"] == [str(agent.vm_id) for agent in mesh.agents[:2]]
    assert len(entry["scope"]["zone_ids"]) == 1
    span = ("annotate", "disks", "--kind", "maintenance", "--from", "2026-11-20T10:00:00Z", "--to")
    printed = online(*span, "2026-11-20T11:00:00Z", "--source", "kim")
    assert printed.splitlines()[1].split()[1:] == ["2026-11-20T10:00:00", "maintenance", "disks"]
    assert "`starts_at` must be before `ends_at`" in online(*span, "2026-11-20T09:00:00Z", code=1)
    assert "Unknown vm: z-9" in online("annotate", "disks", "--vm", "z-9", code=1)
