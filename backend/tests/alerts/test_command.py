"""Alerts from a terminal, against the API over a socket."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import uvicorn

from sinemora.cli import main
from sinemora.kit.client import Client
from sinemora.main import create_app
from tests.alerts.conftest import Watched
from tests.alerts.test_incidents import egress


@pytest.fixture
def client(watched: Watched):
    """A client of an API that listens on loopback, with one incident of the mesh."""
    watched.slow = egress(watched, 2)
    watched.window()
    watched.window()
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    key = watched.owner.created("/v1/api-keys", {"name": "terminal", "scopes": ["read", "write"], "expires_at": until})
    server = uvicorn.Server(uvicorn.Config(create_app(), host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ends = time.monotonic() + 120
    while not server.started and time.monotonic() < ends:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Client(f"http://127.0.0.1:{port}", key["secret"])
    server.should_exit = True
    thread.join(120)


@pytest.fixture
def said(client: Client, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints; an error where it fails."""

    def run(*arguments: str, code: int = 0) -> str:
        assert main([*arguments, "--url", client.url, "--key", client.key]) == code
        told = capsys.readouterr()
        return told.out if code == 0 else told.err

    return run


def test_an_incident_is_read_and_decided(said: Any):
    assert "everything c-1 sends" in said("incidents", "list", "--mesh", "demo", "--severity", "warning")
    (one,) = json.loads(said("incidents", "list", "--json"))
    told = said("incidents", "show", one["id"])
    assert "5 of 5 paths look bad" in told
    assert "Above a millisecond" in told
    assert "acknowledged" in said("incidents", "acknowledge", one["id"], "--text", "mine")
    assert "kim" in said("incidents", "assign", one["id"], "kim")
    assert "switch replaced" in said("incidents", "note", one["id"], "switch replaced")
    assert "resolved" in said("incidents", "resolve", one["id"])
    assert "everything c-1 sends" not in said("incidents", "list")
    assert "everything c-1 sends" in said("incidents", "list", "--all")
    assert "resolved already" in said("incidents", "resolve", one["id"], code=1)


def test_rules_travel_as_files_and_are_switched(said: Any, tmp_path: Any):
    file = tmp_path / "rules.yaml"
    said("rules", "export", "--mesh", "demo", "--output", str(file))
    file.write_text(file.read_text() + "- {name: New, condition: {kind: silent}}\n")
    assert "New" in said("rules", "import", str(file), "--mesh", "demo")
    assert "off" in said("rules", "off", "New", "--mesh", "demo")
    rows = [line.split() for line in said("rules", "list", "--mesh", "demo").splitlines()]
    assert ["New", "off", "warning", "silent", "2", "of", "3", "1"] in rows
    said("rules", "delete", "New", "--mesh", "demo")
    assert "no rule New" in said("rules", "on", "New", "--mesh", "demo", code=1)
    file.write_text("rules:\n- {name: A, condition: {kind: silent}}\n- {name: A, condition: {kind: silent}}\n")
    assert "#/rules/1/name" in said("rules", "import", str(file), "--mesh", "demo", code=1)


def test_silences_are_looked_at_made_and_ended(said: Any):
    assert "everything c-1 sends" in said("silences", "preview", "vm=c-*", "severity!=info")
    made = json.loads(said("silences", "add", "vm=c-*", "--for", "2h", "--comment", "new switch", "--json"))
    assert "in force" in said("silences", "list")
    said("silences", "end", made["id"])
    assert "in force" not in said("silences", "list")
    assert "15m, 4h" in said("silences", "add", "vm=a", "--for", "soon", "--comment", "x", code=1)
    assert "a matcher is" in said("silences", "preview", "vm", code=1)
