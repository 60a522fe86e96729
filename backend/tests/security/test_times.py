"""Times at both ends of the calendar, and times without a zone, are refused or answered: never with 5xx."""

from typing import Any

import pytest

from tests.api_clients import Member
from tests.test_every_route import operations

HOSTILE = (
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-01-01T00:00:00",
    "1e999",
)


def names_of(operation: dict[str, Any]) -> list[str]:
    found = [one["name"] for one in operation.get("parameters", ()) if "date-time" in str(one["schema"])]
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return found or (["from", "to"] if schema.get("$ref", "").endswith("/SeriesRequest") else [])


@pytest.mark.parametrize("at", HOSTILE)
def test_every_range_survives_hostile_times(owner: Member, make_mesh: Any, at: str):
    mesh = make_mesh(owner, 2)
    one, other = mesh.agents
    known = {"mesh_id": mesh.id, "vm_id": one.vm_id, "source_vm_id": one.vm_id, "target_vm_id": other.vm_id}
    tried = 0
    for method, path, operation in operations():
        names = names_of(operation)
        if not names:
            continue
        target = path
        for name, value in known.items():
            target = target.replace(f"{{{name}}}", str(value))
        for chosen in [[name] for name in names] + [names]:
            values = dict.fromkeys(chosen, at)
            body = {"metric": "clock_error", "points": 100} | values
            sent = {"params": values} if method == "get" else {"json": body}
            answer = owner.request(method.upper(), target, **sent)
            assert answer.status_code < 500, (method, path, values)
            tried += 1
    assert tried > 50
