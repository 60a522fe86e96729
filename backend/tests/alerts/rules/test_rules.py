"""Alert rules over the API: defaults, checks, scope, YAML."""

from typing import Any

import pytest

from tests.alerts.conftest import Watched, egress
from tests.callers import Member


def test_new_meshes_have_default_rules(owner: Member, make_mesh: Any):
    world = make_mesh(owner, 2)
    rules = owner.get("/v1/alert-rules", params={"mesh_id": str(world.id)}).json()["items"]
    assert {"Delay above its baseline", "Agent silent", "Loss on a path", "Loss over an hour"} <= {
        rule["name"] for rule in rules
    }
    again = owner.get("/v1/alert-rules", params={"mesh_id": str(world.id)}).json()["items"]
    assert [rule["id"] for rule in again] == [rule["id"] for rule in rules]


def test_rules_are_checked(watched: Watched):
    body = {"mesh_id": str(watched.world.id), "name": "Above a millisecond", "condition": {"kind": "threshold"}}
    assert watched.owner.post("/v1/alert-rules", json=body).json()["code"] == "alert_rule_name_taken"
    wrong = {**body, "name": "n", "windows_x": 4, "windows_y": 3}
    assert watched.owner.post("/v1/alert-rules", json=wrong).status_code == 422
    refused: list[dict[str, Any]] = [
        {"kind": "spike"},
        {"kind": "loss", "metric": "loss", "above": 0.002},
        {"kind": "loss", "metric": "loss", "above": 0.002, "over_s": 60},
        {"kind": "loss", "metric": "loss", "above": 1, "over_s": 3600},
        {"kind": "loss", "above": 0.002, "over_s": 3600},
    ]
    for condition in refused:
        assert (
            watched.owner.post("/v1/alert-rules", json={**body, "name": "s", "condition": condition}).status_code == 422
        )
    lasting = {"kind": "loss", "metric": "loss", "above": 0.002, "over_s": 3600}
    assert watched.owner.post("/v1/alert-rules", json={**body, "name": "s", "condition": lasting}).status_code == 201


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "ftp://runbooks.example", "https://", "https:///slow", "https://a b"]
)
def test_a_runbook_is_a_web_address(watched: Watched, url: str):
    (rule,) = watched.rules()
    refused = watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"runbook_url": url})
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == ["#/runbook_url"]
    assert watched.rules() == [rule]


def test_a_rule_fires_only_in_its_scope(watched: Watched):
    (rule,) = watched.rules()
    changed = watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"scope": {"path": ["a-1", "b-1"]}})
    assert changed.status_code == 200, changed.text
    watched.slow = egress(watched, 0)
    watched.window()
    watched.window()
    (incident,) = watched.incidents()
    assert (incident["paths"], incident["culprit"]["words"]) == (1, "path a-1 to b-1")


def test_rules_are_exported_and_imported_as_yaml(watched: Watched, other_owner: Member):
    where = {"mesh_id": str(watched.world.id)}
    text = watched.owner.get("/v1/alert-rules/manifest", params=where).text

    def import_rules(document: str) -> Any:
        headers = {"Content-Type": "application/yaml"}
        return watched.owner.post("/v1/alert-rules/manifest", params=where, content=document, headers=headers)

    assert "runbook_url: https://runbooks.example/slow" in text
    same = import_rules(text).json()
    assert (same["created"], same["changed"], len(same["unchanged"])) == ([], [], 16)
    changed = text.replace("above: 1000000.0", "above: 2000000.0") + "- {name: New, condition: {kind: silent}}\n"
    done = import_rules(changed).json()
    assert (done["created"], done["changed"]) == (["New"], ["Above a millisecond"])
    assert import_rules("rules: [{name: x, condition: {kind: odd}}]").json()["code"] == "manifest_invalid"
    runbook = import_rules("rules: [{name: x, condition: {kind: silent}, runbook_url: 'javascript:1'}]").json()
    assert runbook["code"] == "manifest_invalid"
    assert import_rules("rules: [").json()["code"] == "manifest_invalid"
    twice = import_rules("rules: [{name: x, condition: {kind: silent}}, {name: x, condition: {kind: silent}}]").json()
    assert [one["pointer"] for one in twice["errors"]] == ["#/rules/1/name"]
    assert "#/rules/0" in twice["detail"]
    assert other_owner.get("/v1/alert-rules/manifest", params=where).status_code == 404
