"""The recommender from a terminal, against the API over a socket."""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from sinemora_client import Client, NotFound
from tests.alerts.notifications.servers import Hooks
from tests.api_clients import Member, MeshWorld
from tests.mail_server import certificate, serve
from tests.recommendations.asking import asked
from tests.recommendations.measured_mesh import measured


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Six agents, measured."""
    world = make_mesh(owner, 6)
    measured(world, {("a-1", "b-1"): 400.0, ("a-1", "c-2"): 30.0})
    return world


MANIFEST = """
applications:
- name: cache
  mesh: {mesh}
  curve: memcached-server
  objective: 0.9
  tasks:
  - {{name: server, vm: a-1, root: true}}
  - {{name: client, vm: b-1}}
"""


def test_applications_scenarios_and_options_from_a_terminal(connected: Client, mesh: MeshWorld, tmp_path, online):
    file = tmp_path / "applications.yaml"
    file.write_text(MANIFEST.format(mesh=mesh.name))
    assert "created" in online("applications", "import", str(file))
    exported = yaml.safe_load(online("applications", "export"))
    assert exported["applications"][0]["name"] == "cache"
    assert "cache" in online("applications", "list")
    printed = online("applications", "performance", "cache")
    assert "at the p50 of round trips in the newest windows, below its objective" in printed
    assert "Rent 1 more" in online("applications", "options", "cache")

    question = tmp_path / "question.yaml"
    change = {"kind": "task", "application": "cache", "task": "client", "vm": "c-2"}
    question.write_text(yaml.safe_dump({"mesh": mesh.name, "changes": [change]}))
    answer = json.loads(online("what-if", "ask", str(question), "--json"))
    assert answer["applications"][0]["after"]["mean"] > answer["applications"][0]["before"]["mean"]
    online("what-if", "keep", "nearer", str(question))
    online("what-if", "keep", "nearer", str(question))
    assert yaml.safe_load(online("what-if", "export", "nearer"))["changes"] == [change]
    printed = online("what-if", "ask", "--scenario", "nearer")
    assert "Performance at the p50 of round trips in the newest windows." in printed
    online("what-if", "delete", "nearer")
    assert online("what-if", "list") == ""
    assert "Unknown scenario: nearer." in online("what-if", "ask", "--scenario", "nearer", code=1)
    online("applications", "delete", "cache")
    assert list(connected.items("/v1/applications")) == []


def test_errors_are_reported_with_their_fields(connected: Client, mesh: MeshWorld, tmp_path, online, run):
    question = tmp_path / "question.yaml"
    question.write_text(yaml.safe_dump({"mesh": mesh.name, "changes": [{"kind": "drop_zone", "zone": "z"}]}))
    output = online("what-if", "ask", str(question), code=1)
    assert "404: Unknown zone on this mesh: z." in output
    assert "#/changes/0/zone" in output
    file = tmp_path / "applications.yaml"
    file.write_text("\n".join(MANIFEST.format(mesh=mesh.name).splitlines()[:-1]))
    assert online("applications", "import", str(file), code=1).count("#/applications/0/tasks") == 1
    with pytest.raises(NotFound) as refused:
        connected.read_application("00000000-0000-0000-0000-000000000000")
    assert refused.value.code == "application_unknown"
    run("applications", "list", "--url", connected.url, code=2)


def test_what_keeps_a_task_from_a_better_vm_is_printed(connected: Client, mesh: MeshWorld, worker, tmp_path, online):
    file = tmp_path / "applications.yaml"
    file.write_text(MANIFEST.format(mesh=mesh.name))
    online("applications", "import", str(file))
    asked(mesh, worker, moves_max=0)
    (found,) = [item["id"] for item in connected.items("/v1/recommendations")]
    output = online("recommendations", "show", found)
    assert "limit: no moves allowed. To move cache/" in output
    assert "raise moves_max of the request." in output
    found = asked(mesh, worker)["id"]
    assert "kind: Deployment" in online("recommendations", "plan", found)
    script = tmp_path / "back.sh"
    online("recommendations", "plan", found, "--format", "systemd", "--back", "--output", str(script))
    assert "systemctl start" in script.read_text()


def test_costs_are_written_to_the_api_server_of_the_pod(
    online, mesh: MeshWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    context, trusted = certificate(tmp_path)
    cluster = Hooks()
    cluster.socket = context.wrap_socket(cluster.socket, server_side=True)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "localhost")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(cluster.server_address[1]))
    for name, text in (("namespace", "shop\n"), ("token", "secret"), ("ca.crt", trusted.read_text())):
        (tmp_path / name).write_text(text)
    command = ("network-topology", "--mesh", mesh.name, "--name", "costs")
    printed = yaml.safe_load(online(*command))
    with contextmanager(serve)(cluster):
        cluster.script = [200, 403]
        online(*command, "--apply", "--account", str(tmp_path))
        assert "refused" in online(*command, "--apply", "--account", str(tmp_path), code=1)
    path, headers, body = cluster.got[0]
    assert path.split("?")[0].endswith("/v1alpha1/namespaces/shop/networktopologies/costs")
    assert (headers["Content-Type"], headers["Authorization"]) == ("application/apply-patch+yaml", "Bearer secret")
    assert yaml.safe_load(body) == printed
