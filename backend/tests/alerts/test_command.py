"""Alerts from a terminal, against the API over a socket."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from sinemora.alerts.models import Receiver
from sinemora.cli import main
from sinemora.kit import config, encryption
from sinemora.kit.client import Client
from sinemora.kit.db import system_session
from tests.alerts.conftest import Watched, egress
from tests.terminal import listening


@pytest.fixture
def client(watched: Watched):
    """A client of an API that listens on loopback, with one incident of the mesh."""
    watched.slow = egress(watched, 2)
    watched.window()
    watched.window()
    with listening(watched.owner) as found:
        yield found


@pytest.fixture
def said(client: Client, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints; an error where it fails."""

    def run(*arguments: str, code: int = 0) -> str:
        assert main([*arguments, "--url", client.url, "--key", client.key]) == code
        told = capsys.readouterr()
        return told.out if code == 0 else told.err

    return run


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts words on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.fixture
def keeps_secrets(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An operator who lets secrets be kept; what is kept, by receiver."""
    monkeypatch.setenv("SINEMORA_SECRET_KEY", "of the tests")
    config.settings.cache_clear()

    def kept() -> dict[str, Any]:
        with system_session() as session:
            return {row.name: encryption.decrypt(row.secret) for row in session.scalars(select(Receiver))}

    yield kept
    monkeypatch.undo()
    config.settings.cache_clear()


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


def test_a_rule_is_looked_at_before_it_is_saved(said: Any, tmp_path: Any):
    file = tmp_path / "rules.yaml"
    condition = "{kind: threshold, metric: one_way_delay, above: 900000.0}"
    file.write_text(f"rules: [{{name: New, windows_x: 1, windows_y: 1, condition: {condition}}}]")
    asked = ("--mesh", "demo", "--source", "c-1", "--file", str(file))
    told = said("rules", "preview", "New", *asked, "--target", "a-1")
    assert "fires in 0 of" not in told
    assert "of 2 something is known" in told
    assert "900000" in told
    asked = ("--mesh", "demo", "--source", "a-1", "--target", "c-1")
    assert "fires in 0 of" in said("rules", "preview", "Above a millisecond", *asked)
    assert "no rule Old" in said("rules", "try", "Old", "--mesh", "demo", "--file", str(file), code=1)
    file.write_text("rules: [")
    assert "Not YAML" in said("rules", "try", "New", "--mesh", "demo", "--file", str(file), code=1)


def test_silences_are_looked_at_made_and_ended(said: Any):
    assert "everything c-1 sends" in said("silences", "preview", "vm=c-*", "severity!=info")
    made = json.loads(said("silences", "add", "vm=c-*", "--for", "2h", "--comment", "new switch", "--json"))
    assert "in force" in said("silences", "list")
    said("silences", "end", made["id"])
    assert "in force" not in said("silences", "list")
    assert "15m, 4h" in said("silences", "add", "vm=a", "--for", "soon", "--comment", "x", code=1)
    assert "a matcher is" in said("silences", "preview", "vm", code=1)


def test_a_silence_is_a_maintenance_window(said: Any):
    at = datetime.now(UTC) + timedelta(days=400)
    weekly = ("--from", at.isoformat(), "--for", "52w", "--weekly", "sun 02:30 2h", "--comment", "patches", "--json")
    made = json.loads(said("silences", "add", "vm=c-*", *weekly))
    assert made["weekly"] == {"weekday": 6, "minute": 150, "lasts_min": 120}
    assert datetime.fromisoformat(made["starts_at"]) == at
    assert datetime.fromisoformat(made["ends_at"]) == at + timedelta(weeks=52)
    assert not made["active"]
    assert "sun 02:00 2h" in said("silences", "preview", "vm=a", "--weekly", "sunday", code=1)
    assert "2026-11-20T" in said("silences", "preview", "vm=a", "--from", "tomorrow", code=1)


def test_receivers_are_made_changed_tested_and_deleted_and_secrets_are_no_arguments(
    keeps_secrets: Any, said: Any, types: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAGE", "r" * 32)
    assert "kept" in said("receivers", "add", "on call", "--kind", "pagerduty", "--secret-env", "PAGE")
    types("https://hooks.example/T/B/x\n")
    assert "kept" in said("receivers", "add", "chat", "--kind", "slack", "--secret-stdin")
    assert "hooks.example" not in said("receivers", "list", "--json")
    said("receivers", "add", "mail", "--kind", "email", "--to", "ops@example.com", "--to", "lead@example.com")
    said("receivers", "add", "hook", "--kind", "webhook", "--address", "https://example.com/1", "--secret-env", "PAGE")
    told = said("receivers", "list")
    assert "ops@example.com, lead@example.com" in told
    assert "https://example.com/1" in told
    secrets = {"on call": {"routing_key": "r" * 32}, "chat": {"url": "https://hooks.example/T/B/x"}}
    assert keeps_secrets() == secrets | {"mail": {}, "hook": {"key": "r" * 32}}

    assert "paged" in said("receivers", "change", "on call", "--name", "paged")
    said("receivers", "change", "hook", "--address", "https://example.com/2", "--no-secret")
    assert "https://example.com/2" in said("receivers", "list")
    assert keeps_secrets()["paged"] == {"routing_key": "r" * 32}
    assert keeps_secrets()["hook"] == {}
    said("receivers", "test", "mail")
    assert "test" in said("receivers", "deliveries")
    said("receivers", "delete", "mail")
    assert "mail" not in said("receivers", "list")

    for wrong, words in (
        (("change", "hook"), "Say what is to change"),
        (("change", "hook", "--to", "a@example.com"), "--to is of email"),
        (("change", "chat", "--secret-env", "NOT_THERE"), "variable NOT_THERE is empty"),
        (("add", "chat", "--kind", "slack"), "already"),
        (("add", "chat 2", "--kind", "slack"), "secret.url"),
        (("add", "mail", "--kind", "email", "--secret-env", "PAGE"), "has no secret"),
        (("delete", "nobody"), "Unknown receiver: nobody"),
    ):
        assert words in said("receivers", *wrong, code=1)
    types("\n")
    assert "standard input is empty" in said("receivers", "change", "chat", "--secret-stdin", code=1)


def test_the_tree_of_routes_is_shown_and_replaced(said: Any, types: Any, tmp_path: Any):
    assert said("alert-routes", "show") == "root: {}\n"
    for name in ("mail", "lead"):
        said("receivers", "add", name, "--kind", "email", "--to", f"{name}@example.com")
    tree = """\
root:
  receivers:
  - mail
  routes:
  - matchers:
    - label: severity
      value: critical
    receivers:
    - lead
    repeat_s: 3600
    resolved: false
"""
    file = tmp_path / "routes.yaml"
    file.write_text(tree)
    assert said("alert-routes", "replace", str(file)) == tree
    said("alert-routes", "show", "--output", str(tmp_path / "again.yaml"))
    assert (tmp_path / "again.yaml").read_text() == tree
    said("receivers", "change", "lead", "--name", "boss")
    assert "- boss" in said("alert-routes", "show")
    types("root: {receivers: [mail]}")
    assert json.loads(said("alert-routes", "replace", "-", "--json"))["root"]["receivers"] == ["mail"]

    file.write_text("root: {receivers: [nobody]}")
    assert "no receiver named nobody" in said("alert-routes", "replace", str(file), code=1)
    file.write_text("root: {matchers: [{label: colour, value: red}]}")
    assert "#/root/matchers/0/label" in said("alert-routes", "replace", str(file), code=1)
    file.write_text("receivers: [mail]")
    assert "one key, root" in said("alert-routes", "replace", str(file), code=1)
    assert "cannot be read" in said("alert-routes", "replace", str(tmp_path / "none.yaml"), code=1)
