from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.rules import service
from sinemora.kit.db import tenant_session
from tests.alerts.conftest import Watched, egress
from tests.api_clients import Member, body_of
from tests.statements import execute, scalar
from tests.waits import WAIT_MOST_S, until


def test_several_who_read_the_rules_of_a_new_mesh_at_once_get_them(owner: Member, make_mesh: Any):
    """The first one has created the default rules and not committed yet; a second one waits for them."""
    world = make_mesh(owner, 2)
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with ThreadPoolExecutor(1) as pool:
        with tenant_session(owner.tenant_id) as session:
            service.create_default_rules(session, world.id)
            second = pool.submit(owner.get, "/v1/alert-rules", params={"mesh_id": str(world.id)})
            until(lambda: second.done() or scalar(waits) == 1, "the second one waits")
        answer = second.result(WAIT_MOST_S)
    assert len(body_of(answer)["items"]) == len(defaults(10))


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
        changed = {**body, "name": "s", "condition": condition}
        assert watched.owner.post("/v1/alert-rules", json=changed).status_code == 422
    lasting = {"kind": "loss", "metric": "loss", "above": 0.002, "over_s": 3600}
    assert watched.owner.post("/v1/alert-rules", json={**body, "name": "s", "condition": lasting}).status_code == 201


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"kind": "threshold", "above": 1, "over_s": 3600}, "`over_s` has no effect with the kind threshold"),
        ({"kind": "threshold", "above": 1, "deviations": 5}, "choose the kind baseline or spike"),
        ({"kind": "silent", "above": 5}, "choose the kind threshold or loss or performance"),
        ({"kind": "silent", "metric": "loss"}, "`metric` has no effect"),
        ({"kind": "baseline", "above": 5}, "`above` has no effect"),
        ({"kind": "fairness", "below": 0.8, "within_s": 5}, "`within_s` has no effect"),
        ({"kind": "tokens", "within_s": 60, "among": "vms"}, "`among` has no effect"),
        ({"kind": "fairness"}, "a fairness condition needs `below`, above 0 and at most 1, such as 0.883"),
        ({"kind": "tokens"}, "a tokens condition needs `within_s` in seconds"),
        ({"kind": "host"}, "such as 0.1"),
    ],
)
def test_a_condition_with_too_few_or_other_fields_is_refused(watched: Watched, condition: dict[str, Any], words: str):
    (rule,) = watched.rules()
    body = {"mesh_id": str(watched.world.id), "name": "n", "condition": condition}
    answers = [
        watched.owner.post("/v1/alert-rules", json=body),
        watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"condition": condition}),
        watched.owner.post("/v1/alert-back-tests", json=body | {"hours": 1}),
    ]
    for answer in answers:
        assert answer.status_code == 422, answer.text
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "#/condition"
        assert words in error["message"]
    assert watched.rules() == [rule]


def test_a_field_without_effect_that_an_older_version_stored_is_not_exported(watched: Watched):
    (rule,) = watched.rules()
    change = "UPDATE alert_rules SET condition = condition || jsonb_build_object('within_s', 60) WHERE id = :id"
    execute(change, {"id": rule["id"]})
    path, where = "/v1/alert-rules/manifest", {"mesh_id": str(watched.world.id)}
    assert watched.owner.get(f"/v1/alert-rules/{rule['id']}").json()["condition"]["within_s"] == 60
    exported = watched.owner.get(path, params=where)
    (declared,) = [one for one in yaml.safe_load(exported.text)["rules"] if one["name"] == rule["name"]]
    assert "within_s" not in declared["condition"]
    headers = {"Content-Type": "application/yaml"}
    imported = watched.owner.post(path, params=where, content=exported.content, headers=headers)
    assert (imported.status_code, imported.json()["changed"]) == (200, []), imported.text


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
    body_of(watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"scope": {"path": ["a-1", "b-1"]}}))
    watched.windows(2, egress(watched, 0))
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
    assert (same["created"], same["changed"], len(same["unchanged"])) == ([], [], 18)
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
