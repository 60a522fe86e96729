"""Alerts from a terminal, against the API over a socket."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from sinemora.alerts.models import Receiver
from sinemora.kit import encryption
from tests.alerts.conftest import Watched, egress
from tests.statements import scalars


@pytest.fixture
def run_command(watched: Watched, online: Any) -> Any:
    """Return `online`, where the mesh has one incident."""
    watched.windows(2, egress(watched, 2))
    return online


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that puts text on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.fixture
def keeps_secrets(watched: Watched, secret_key: None) -> Any:
    """Return a function that decrypts the stored secrets by receiver."""

    def kept() -> dict[str, Any]:
        receivers = scalars(select(Receiver), tenant=watched.owner.tenant_id)
        return {row.name: encryption.decrypt(row.secret) for row in receivers}

    return kept


def test_an_incident_is_shown_acknowledged_and_resolved(run_command: Any):
    assert "paths from c-1" in run_command("incidents", "list", "--mesh", "demo", "--severity", "warning")
    (one,) = json.loads(run_command("incidents", "list", "--json"))
    output = run_command("incidents", "show", one["id"])
    assert "on 5 of 5 paths from c-1" in output
    assert "5 of all 5 bad" in output
    assert "Above a millisecond" in output
    assert "acknowledged" in run_command("incidents", "acknowledge", one["id"], "--text", "mine")
    assert "kim" in run_command("incidents", "assign", one["id"], "kim")
    assert "switch replaced" in run_command("incidents", "note", one["id"], "switch replaced")
    assert "resolved" in run_command("incidents", "resolve", one["id"])
    assert "paths from c-1" not in run_command("incidents", "list")
    assert "paths from c-1" in run_command("incidents", "list", "--all")
    assert "already resolved" in run_command("incidents", "resolve", one["id"], code=1)


def test_rules_are_exported_imported_and_switched(run_command: Any, watched: Watched, tmp_path: Any):
    file = tmp_path / "rules.yaml"
    run_command("rules", "export", "--mesh", "demo", "--output", str(file))
    file.write_text(file.read_text() + "- {name: New, condition: {kind: silent}}\n")
    assert "New" in run_command("rules", "import", str(file), "--mesh", "demo")
    assert "off" in run_command("rules", "off", "New", "--mesh", "demo")
    rows = [line.split() for line in run_command("rules", "list", "--mesh", "demo").splitlines()]
    assert ["New", "off", "warning", "silent", "2", "of", "3", "1"] in rows
    run_command("rules", "delete", "New", "--mesh", "demo")
    assert "no rule New" in run_command("rules", "on", "New", "--mesh", "demo", code=1)
    file.write_text("rules:\n- {name: A, condition: {kind: silent}}\n- {name: A, condition: {kind: silent}}\n")
    assert "#/rules/1/name" in run_command("rules", "import", str(file), "--mesh", "demo", code=1)
    # The only mesh needs no name.
    assert run_command("rules", "list") == run_command("rules", "list", "--mesh", "demo")
    watched.owner.created("/v1/meshes", {"name": "staging"})
    assert "Name one with --mesh: demo, staging." in run_command("rules", "list", code=1)


def test_a_rule_is_previewed_before_it_is_saved(run_command: Any, tmp_path: Any):
    file = tmp_path / "rules.yaml"
    condition = "{kind: threshold, metric: one_way_delay, above: 900000.0}"
    file.write_text(f"rules: [{{name: New, windows_x: 1, windows_y: 1, condition: {condition}}}]")
    options = ("--mesh", "demo", "--source", "c-1", "--file", str(file))
    output = run_command("rules", "preview", "New", *options, "--target", "a-1")
    assert "fires in 0 of" not in output
    assert "2 of them with data" in output
    assert "900000" in output
    options = ("--mesh", "demo", "--source", "a-1", "--target", "c-1")
    assert "fires in 0 of" in run_command("rules", "preview", "Above a millisecond", *options)
    assert "no rule Old" in run_command("rules", "try", "Old", "--mesh", "demo", "--file", str(file), code=1)
    file.write_text("rules: [")
    assert "Not YAML" in run_command("rules", "try", "New", "--mesh", "demo", "--file", str(file), code=1)


def test_silences_are_previewed_created_and_ended(run_command: Any):
    assert "paths from c-1" in run_command("silences", "preview", "vm=c-*", "severity!=info")
    assert "No VM is named db-9 now." in run_command("silences", "preview", "vm=db-9")
    silence = json.loads(run_command("silences", "add", "vm=c-*", "--for", "2h", "--comment", "new switch", "--json"))
    assert "active" in run_command("silences", "list")
    run_command("silences", "end", silence["id"])
    assert "active" not in run_command("silences", "list")
    assert "15m, 4h" in run_command("silences", "add", "vm=a", "--for", "soon", "--comment", "x", code=1)
    assert "Invalid matcher" in run_command("silences", "preview", "vm", code=1)
    # One that recurs is a maintenance window.
    at = datetime.now(UTC) + timedelta(days=400)
    weekly = ("--from", at.isoformat(), "--for", "52w", "--weekly", "sun 02:30 2h", "--comment", "patches", "--json")
    silence = json.loads(run_command("silences", "add", "vm=c-*", *weekly))
    assert silence["weekly"] == {"weekday": 6, "minute": 150, "lasts_min": 120, "time_zone": "UTC"}
    assert datetime.fromisoformat(silence["starts_at"]) == at
    assert datetime.fromisoformat(silence["ends_at"]) == at + timedelta(weeks=52)
    assert not silence["active"]
    assert "sun 02:00 2h" in run_command("silences", "preview", "vm=a", "--weekly", "sunday", code=1)
    assert "2026-11-20T" in run_command("silences", "preview", "vm=a", "--from", "tomorrow", code=1)


def test_receivers_are_managed_without_secrets_in_arguments(
    keeps_secrets: Any, run_command: Any, types: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAGE", "r" * 32)
    assert "kept" in run_command("receivers", "add", "on call", "--kind", "pagerduty", "--secret-env", "PAGE")
    types("https://hooks.example/T/B/x\n")
    assert "kept" in run_command("receivers", "add", "chat", "--kind", "slack", "--secret-stdin")
    assert "hooks.example" not in run_command("receivers", "list", "--json")
    run_command("receivers", "add", "mail", "--kind", "email", "--to", "ops@example.com", "--to", "lead@example.com")
    run_command(
        "receivers", "add", "hook", "--kind", "webhook", "--address", "https://example.com/1", "--secret-env", "PAGE"
    )
    output = run_command("receivers", "list")
    assert "ops@example.com, lead@example.com" in output
    assert "https://example.com/…" in output  # the rest may be a secret
    secrets = {"on call": {"routing_key": "r" * 32}, "chat": {"url": "https://hooks.example/T/B/x"}}
    assert keeps_secrets() == secrets | {"mail": {}, "hook": {"key": "r" * 32}}

    assert "paged" in run_command("receivers", "change", "on call", "--name", "paged")
    run_command("receivers", "change", "hook", "--address", "https://example.com/2", "--no-secret")
    assert "https://example.com/…" in run_command("receivers", "list")
    assert keeps_secrets()["paged"] == {"routing_key": "r" * 32}
    assert keeps_secrets()["hook"] == {}
    run_command("receivers", "test", "mail")
    assert "test" in run_command("receivers", "deliveries")
    run_command("receivers", "delete", "mail")
    assert "mail" not in run_command("receivers", "list")

    for wrong, words in (
        (("change", "hook"), "Nothing to change"),
        (("change", "hook", "--to", "a@example.com"), "--to is an option of email"),
        (("change", "chat", "--secret-env", "NOT_THERE"), "variable NOT_THERE is empty"),
        (("add", "chat", "--kind", "slack"), "another receiver is named chat"),
        (("add", "chat 2", "--kind", "slack"), "secret.url"),
        (("add", "mail", "--kind", "email", "--secret-env", "PAGE"), "has no secret"),
        (("delete", "nobody"), "Unknown receiver: nobody"),
    ):
        assert words in run_command("receivers", *wrong, code=1)
    types("\n")
    assert "standard input is empty" in run_command("receivers", "change", "chat", "--secret-stdin", code=1)


def test_the_tree_of_routes_is_shown_and_replaced(run_command: Any, types: Any, tmp_path: Any):
    assert run_command("alert-routes", "show") == "root: {}\n"
    for name in ("mail", "lead"):
        run_command("receivers", "add", name, "--kind", "email", "--to", f"{name}@example.com")
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
    assert run_command("alert-routes", "replace", str(file)) == tree
    run_command("alert-routes", "show", "--output", str(tmp_path / "again.yaml"))
    assert (tmp_path / "again.yaml").read_text() == tree
    run_command("receivers", "change", "lead", "--name", "boss")
    assert "- boss" in run_command("alert-routes", "show")
    types("root: {receivers: [mail]}")
    assert json.loads(run_command("alert-routes", "replace", "-", "--json"))["root"]["receivers"] == ["mail"]

    file.write_text("root: {receivers: [nobody]}")
    assert "Unknown receiver: nobody" in run_command("alert-routes", "replace", str(file), code=1)
    file.write_text("root: {matchers: [{label: colour, value: red}]}")
    assert "#/root/matchers/0/label" in run_command("alert-routes", "replace", str(file), code=1)
    file.write_text("receivers: [mail]")
    assert "one key, root" in run_command("alert-routes", "replace", str(file), code=1)
    assert "cannot be read" in run_command("alert-routes", "replace", str(tmp_path / "none.yaml"), code=1)
