"""A mistyped field of a body is refused with the field that was meant: in every operation, at every depth."""

import copy
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from sinemora.kit.known_fields import hint
from tests.api_clients import Member
from tests.recorded_examples import contract_of_api
from tests.test_every_route import filled, operations

Path = tuple[str | int, ...]


def resolved(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas that a schema stands for: of a reference, or the members of a union."""
    if "$ref" in schema:
        return resolved(contract_of_api()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    members = schema.get("anyOf") or schema.get("oneOf")
    return [schema] if members is None else [inner for one in members for inner in resolved(one)]


def strict_objects(schema: dict[str, Any], value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the places of the objects in a value that have fixed fields."""
    kinds = resolved(schema)
    if isinstance(value, list):
        for place, one in enumerate(value):
            for kind in kinds:
                yield from strict_objects(kind.get("items", {}), one, (*path, place))
    elif isinstance(value, dict):
        fitting = [kind for kind in kinds if value.keys() <= kind.get("properties", {}).keys()]
        if any(kind.get("additionalProperties") is False for kind in fitting):
            yield path
        for name, one in value.items():
            for kind in fitting:
                yield from strict_objects(kind["properties"][name], one, (*path, name))


def mistyped(body: Any, path: Path, name: str) -> Any:
    """Return the body with one more letter at the end of a field's name."""
    changed = copy.deepcopy(body)
    at = changed
    for part in path:
        at = at[part]
    at[f"{name}x"] = at.pop(name)
    return changed


def test_a_mistyped_field_has_a_hint_in_every_operation(owner: Member):
    tried, deep = 0, 0
    for method, path, operation in operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None or path.startswith("/v1/agents/"):
            continue
        body = content["example"]
        for place in dict.fromkeys(strict_objects(content["schema"], body)):
            at = body
            for part in place:
                at = at[part]
            for name in list(at)[:1]:
                tried, deep = tried + 1, deep + bool(place)
                answer = owner.request(
                    method.upper(), filled(path, uuid4()), json=mistyped(body, place, name), headers={"If-Match": "*"}
                )
                assert answer.status_code == 422, (method, path, name, answer.text)
                pointer = "#/" + "/".join(map(str, (*place, f"{name}x")))
                found = {error["pointer"]: error["message"] for error in answer.json()["errors"]}
                assert found[pointer] == f"Unknown field. Did you mean `{name}`?", (method, path, found)
    assert tried > 150
    assert deep > 30


def test_what_is_near_to_nothing_has_no_hint():
    assert hint("colour", {"name", "zone_id"}) == ""
    assert hint("n" * 10_000, {"name", "n" * 100}) == ""
    assert hint("zoneid", {"name", "zone_id"}) == " Did you mean `zone_id`?"


def test_very_many_unknown_fields_are_refused_at_once(owner: Member):
    body = {"name": "z", "provider": "p", "region": "r"} | {f"regionn{n}": 1 for n in range(5_000)}
    errors = owner.post("/v1/zones", json=body).json()["errors"]
    assert sum("Did you mean" in error["message"] for error in errors) == 20


def test_a_mistyped_field_of_a_manifest_has_a_hint(owner: Member):
    manifest = """
applications:
  - name: cache
    mesh: demo
    curve: dns
    moves_mx: 3
    tasks:
      - {name: a, root: true}
      - {name: b, slotz: 2}
"""
    answer = owner.post("/v1/applications/manifest", content=manifest, headers={"Content-Type": "application/yaml"})
    found = {error["pointer"]: error["message"] for error in answer.json()["errors"]}
    assert found == {
        "#/applications/0/moves_mx": "Unknown field. Did you mean `moves_max`?",
        "#/applications/0/tasks/1/slotz": "Unknown field. Did you mean `slots`?",
    }
