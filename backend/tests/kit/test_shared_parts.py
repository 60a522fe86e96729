"""Parts of the contract that operations share: shared and inlined again, nothing is lost."""

import json
from typing import Any

from generator.references import inlined
from sinemora.kit.http.shared_parts import share
from sinemora.kit.json_text import json_text

PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
LIMIT = {"in": "query", "name": "limit", "schema": {"type": "integer"}}


def operation(scheme: str | None, codes: dict[str, list[str]], *parameters: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {
        status: {"description": "Refused", "content": PROBLEM, "headers": {}, "x-problem-codes": sorted(found)}
        for status, found in codes.items()
    }
    security = [{scheme: []}] if scheme else []
    return {"security": security, "parameters": list(parameters), "responses": {"200": {}, **responses}}


def contract() -> dict[str, Any]:
    wide = LIMIT | {"schema": {"type": "number"}}
    first = operation("session", {"404": ["vm_unknown"], "409": ["conflict", "taken"]}, LIMIT)
    second = operation("session", {"404": ["zone_unknown"], "409": ["conflict"]}, LIMIT)
    third = operation(None, {"409": ["conflict", "slow"]}, wide)
    paths = {"/first": {"get": first}, "/second": {"get": second, "post": third}}
    return {"paths": paths, "components": {"schemas": {}}}


def copied(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(document))
    return found


def test_what_is_shared_comes_back_as_it_was():
    shared = contract()
    share(shared)
    assert shared["paths"]["/first"]["get"]["responses"]["409"] == {"$ref": "#/components/responses/Problem409"}
    assert shared["paths"]["/first"]["get"]["x-problem-codes"] == {"404": ["vm_unknown"], "409": ["taken"]}
    assert set(shared["components"]["responses"]) == {"Problem404", "Problem409", "AnonymousProblem409"}
    assert shared["components"]["responses"]["Problem409"]["x-problem-codes"] == ["conflict"]
    assert shared["components"]["parameters"] == {"query.limit": LIMIT}
    assert inlined(shared)["paths"] == contract()["paths"]


def test_a_response_that_differs_from_its_namesakes_stays_in_its_operation():
    shared = contract()
    other = shared["paths"]["/second"]["get"]["responses"]["409"]
    other["description"] = "Another"
    before = copied(shared)
    share(shared)
    assert shared["paths"]["/second"]["get"]["responses"]["409"] == other
    assert inlined(shared)["paths"] == before["paths"]


def test_titles_of_schemas_go_and_data_stays():
    schema = {
        "title": "MeshRead",
        "properties": {"title": {"title": "Title", "type": "string", "default": {"title": "kept"}}},
        "examples": [{"title": "kept"}],
    }
    shared = contract()
    shared["components"]["schemas"]["MeshRead"] = schema
    share(shared)
    assert schema == {
        "properties": {"title": {"type": "string", "default": {"title": "kept"}}},
        "examples": [{"title": "kept"}],
    }


def test_json_for_people_has_scalars_on_one_line():
    value = {"a": [1, None, "é"], "b": [{"c": {}}, []], "long": ["x" * 50, "y" * 50]}
    text = json_text(value)
    assert json.loads(text) == value
    assert text.splitlines() == [
        *("{", '  "a": [1, null, "é"],', '  "b": [', '    {"c": {}},', "    []", "  ],"),
        *('  "long": [', f'    "{"x" * 50}",', f'    "{"y" * 50}"', "  ]", "}"),
    ]
