import csv
import io
import json
from typing import Any

import pytest

from sinemora.access.tenants import audit_export
from tests.api_clients import Member, key_of


def entries(owner: Member, **query: Any) -> list[dict[str, Any]]:
    return owner.get("/v1/audit-entries", params=query).json()["items"]


def test_every_change_has_its_values_before_and_after(owner: Member):
    zone = owner.created("/v1/zones", {"provider": "p", "region": "r", "name": "a"})
    owner.patch(f"/v1/zones/{zone['id']}", json={"name": "b"})
    (entry,) = entries(owner, action="zone.updated")
    assert entry["detail"]["changes"] == {"name": {"before": "a", "after": "b"}}
    owner.patch(f"/v1/zones/{zone['id']}", json={"name": "b"})
    assert "changes" not in entries(owner, action="zone.updated")[0]["detail"]


def test_secrets_are_recorded_without_values(owner: Member, secret_key: None):
    body = {"name": "p", "kind": "pagerduty", "settings": {}, "secret": {"routing_key": "FIRST-KEY"}}
    receiver = owner.created("/v1/receivers", body)
    owner.patch(f"/v1/receivers/{receiver['id']}", json={"secret": {"routing_key": "SECOND-KEY"}})
    (entry,) = entries(owner, action="receiver.updated")
    assert entry["detail"]["changes"]["secret"] == {"before": "hidden", "after": "hidden"}
    assert "KEY" not in json.dumps(entries(owner))


def test_entries_are_found_by_subject_actor_and_address(owner: Member):
    key = key_of(owner, "write")
    key.created("/v1/meshes", {"name": "m"})
    owner.created("/v1/meshes", {"name": "n"})
    assert [entry["subject_name"] for entry in entries(owner, actor_name="ci")] == ["m"]
    (made,) = entries(owner, subject_name="n")
    assert made["action"] == "mesh.created"
    assert [entry["id"] for entry in entries(owner, action="mesh.", **{"from": made["created_at"]})] == [made["id"]]
    assert made["id"] not in [entry["id"] for entry in entries(owner, to=made["created_at"])]
    assert entries(owner, address="192.0.2.1") == []
    assert len(entries(owner, address="127.0.0.1")) >= 3


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"from": "2026-11-28T00:00:00Z", "to": "2026-11-27T00:00:00Z"}, "Must be before `to`."),
        ({"from": "2026-11-27T00:00:00"}, "Not a time with a time zone. Write it as 2026-11-25T22:00:00Z (RFC 3339)."),
    ],
)
def test_times_that_select_nothing_are_refused(owner: Member, times: dict[str, str], message: str):
    for path in ("/v1/audit-entries", "/v1/audit-entries/export"):
        answer = owner.get(path, params=times)
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"] == [{"pointer": "#/query/from", "message": message}]


def test_the_export_has_what_the_list_has(owner: Member, other_owner: Member):
    owner.created("/v1/meshes", {"name": "=HYPERLINK(1)"})
    answer = owner.get("/v1/audit-entries/export", params={"format": "ndjson"})
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line) for line in answer.text.splitlines()] == entries(owner)
    table = owner.get("/v1/audit-entries/export", params={"format": "csv", "action": "mesh."})
    (row,) = csv.DictReader(io.StringIO(table.text))
    assert (row["subject_name"], row["actor_name"]) == ("'=HYPERLINK(1)", owner.email)
    assert "Sinemora-Truncated" not in table.headers


def test_a_long_export_is_cut(owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit_export, "ROWS_MAX", 2)
    for name in "abc":
        owner.created("/v1/meshes", {"name": name})
    answer = owner.get("/v1/audit-entries/export", params={"action": "mesh."})
    assert [json.loads(line)["subject_name"] for line in answer.text.splitlines()] == ["c", "b"]
    assert answer.headers["Sinemora-Truncated"] == "true"
