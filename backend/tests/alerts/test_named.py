"""Names in silences, routes and scopes of rules: they mean the same object after a rename, or it is said."""

from typing import Any

import pytest

from sinemora.alerts.matchers import matches
from tests.alerts.conftest import Watched, egress, silence_of
from tests.api_clients import Caller, Member

ANY = {"If-Match": "*"}


def change(owner: Caller, path: str, **fields: Any) -> None:
    answer = owner.patch(path, json=fields, headers=ANY)
    assert answer.is_success, answer.text


def silenced(owner: Member, label: str, value: str) -> str:
    return str(owner.created("/v1/silences", silence_of(label, value))["id"])


def values(owner: Member, silence: str) -> list[str]:
    return [one["value"] for one in owner.get(f"/v1/silences/{silence}").json()["matchers"]]


def of(owner: Member, kind: str, name: str) -> Any:
    (found,) = [one for one in owner.get(f"/v1/{kind}").json()["items"] if one["name"] == name]
    return found


def test_a_silence_means_the_same_vm_after_its_rename(watched: Watched):
    owner = watched.owner
    silence = silenced(owner, "vm", "c-1")
    watched.windows(2, egress(watched, 2))
    change(owner, f"/v1/vms/{of(owner, 'vms', 'c-1')['id']}", name='database \u00e9"1')
    watched.windows(1)
    assert values(owner, silence) == ['database \u00e9"1']
    assert [one["silenced_by"] for one in watched.incidents()] == ["silence: known"]
    assert owner.get("/v1/deliveries").json()["items"] == []


def test_routes_and_scopes_of_rules_follow_too(watched: Watched):
    owner, mesh = watched.owner, watched.world.id
    owner.created("/v1/receivers", {"name": "chat", "kind": "webhook", "settings": {"url": "http://chat.example"}})
    inner = {"matchers": [{"label": "mesh", "value": watched.world.name}, {"label": "zone", "value": "c"}]}
    tree = {"root": {"receivers": ["chat"], "routes": [inner | {"receivers": ["chat"]}]}}
    assert owner.put("/v1/alert-routes", json=tree, headers=ANY).is_success
    rule = watched.rules()[0]
    change(owner, f"/v1/alert-rules/{rule['id']}", scope={"vms": ["a-1"], "path": ["a-1", "c-1"], "zones": ["c"]})
    change(owner, f"/v1/meshes/{mesh}", name="other")
    change(owner, f"/v1/zones/{of(owner, 'zones', 'c')['id']}", name="z")
    change(owner, f"/v1/vms/{of(owner, 'vms', 'a-1')['id']}", name="web")
    route = owner.get("/v1/alert-routes").json()["root"]["routes"][0]
    assert [one["value"] for one in route["matchers"]] == ["other", "z"]
    scope = owner.get(f"/v1/alert-rules/{rule['id']}").json()["scope"]
    assert (scope["vms"], scope["path"], scope["zones"]) == (["web"], ["web", "c-1"], ["z"])


def test_of_two_zones_of_one_name_the_id_means_one(watched: Watched):
    owner = watched.owner
    zone = of(owner, "zones", "c")
    owner.created("/v1/zones", {"provider": "other", "region": "r", "name": "c"})
    by_name, by_id = (
        owner.post("/v1/silence-previews", json=silence_of("zone", value)).json()["notes"]
        for value in ("c", zone["id"])
    )
    assert by_name == ["2 zones are named c: it means all of them. The id of a zone means that one."]
    assert by_id == []
    kept, exact = silenced(owner, "zone", "c"), silenced(owner, "zone", zone["id"])
    change(owner, f"/v1/zones/{zone['id']}", name="z")
    assert (values(owner, kept), values(owner, exact)) == (["c"], [zone["id"]])
    watched.windows(2, egress(watched, 4))
    assert [one["silenced_by"] for one in watched.incidents()] == ["silence: known"]


@pytest.mark.parametrize(
    ("value", "found"), [("a[1]", True), ("a*", True), ("a?1]", True), ("c", False), ("1f", True), ("1*", False)]
)
def test_a_matcher_finds_a_name_a_pattern_or_an_id(value: str, found: bool):
    labels = {"zone": ["a[1]", "b"], "zone_id": ["1f", "2f"]}
    assert matches([{"label": "zone", "value": value}], labels) is found
