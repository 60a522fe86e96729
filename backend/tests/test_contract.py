"""`openapi.json` in the repository is what the code says; what it says beside its schemas: codes, headers, examples."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonschema_rs
import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

from lab.conformance.problem_codes import codes_of
from sinemora import cli
from sinemora.kit.config import settings
from sinemora.kit.http import contract as described
from sinemora.kit.http.contract import DATA, may_be_null
from sinemora.kit.http.routes import body_limit
from sinemora.main import ROUTERS
from tests.api_clients import Member
from tests.recorded_examples import COMMITTED, contract_of_api, without_example
from tests.test_every_route import operations
from tests.test_unknown_fields import resolved


def test_a_stale_contract_is_told(tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cli, "contract", lambda: "current\n")
    stale = tmp_path / "openapi.json"
    stale.write_text("{}")
    assert "is stale" in run("openapi", "--check", str(stale), code=1)
    run("openapi", "--output", str(stale))
    run("openapi", "--check", str(stale))


def test_every_name_has_words_in_one_place():
    """Those that may be null tell what null means; no words of the file are unused or repeated."""
    contract = json.loads(COMMITTED.read_text())
    words_of = {
        (schema, name): (one.get("description", ""), may_be_null(one))
        for schema, model in contract["components"]["schemas"].items()
        for name, one in model.get("properties", {}).items()
    }
    assert not [place for place, (words, _) in words_of.items() if not words]
    assert not [place for place, (words, nullable) in words_of.items() if nullable and "null" not in words.lower()]

    described_ones = [operation for item in contract["paths"].values() for operation in item.values()]
    own = [one for operation in described_ones for one in operation.get("parameters", ()) if "$ref" not in one]
    parameters = {
        (one["name"], one.get("description")) for one in [*own, *contract["components"]["parameters"].values()]
    }
    assert not [name for name, words in parameters if not words]

    table = tomllib.loads((DATA / "properties.toml").read_text())
    only = [(names.split(), one, words) for names, entries in table["only"].items() for one, words in entries.items()]
    shown = {(name, words.partition("; null")[0]) for (_, name), (words, _) in words_of.items()}
    everywhere = {(name, words.partition("; null")[0]) for name, words in table["any"].items()}
    assert not everywhere - shown
    assert not table["parameters"].items() - parameters
    assert not table["parameters"].items() & everywhere
    for names, one, words in only:
        assert all(words.startswith(words_of[schema, one][0]) for schema in names), (names, one)
    repeated = Counter([*table["any"].items(), *((name, words) for _, name, words in only)])
    assert not [place for place, times in repeated.items() if times > 1]


API_README = Path(__file__).parents[2] / "docs" / "api" / "README.md"


def test_the_problem_codes_are_those_of_the_source():
    found = codes_of(route for router in ROUTERS for route in router.routes)
    assert found == described.problem_codes(), "run `make gen`"
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    assert len(found) == sum(route.include_in_schema for route in routes)


def test_every_problem_has_a_code_and_every_code_a_problem(servers: Any):
    for _, path, operation in operations():
        for status, response in operation["responses"].items():
            if "application/problem+json" in response.get("content", {}):
                assert response.get("x-problem-codes"), (path, status)
        for status in described.problem_codes()[operation["operationId"]]:
            assert status in operation["responses"] or status in ("500", "503"), (path, status)


def test_what_is_unknown_is_404_wherever_its_id_stands():
    for name, codes in described.problem_codes().items():
        for status, found in codes.items():
            wrong = [code for code in found if code.endswith("_unknown") and status not in ("401", "404")]
            assert wrong == [], (name, status)


def test_unknown_ids_in_the_query_are_404(owner: Member):
    wrong, tried = [], 0
    for method, path, operation in operations():
        names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        ids = [name for name in names if name.endswith("_id")]
        required = [one for one in operation.get("parameters", ()) if one["in"] == "query" and one.get("required")]
        for name in ids:
            if method == "get" and "{" not in path and not required:
                tried += 1
                answer = owner.get(path, params={name: str(uuid4())})
                if answer.status_code != 404 or not answer.json()["code"].endswith("_unknown"):
                    wrong.append((path, name, answer.status_code))
    assert wrong == []
    assert tried > 3


def lists_of_choices(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each array of an enumeration below a schema, with its path; a referred schema once."""
    if isinstance(schema, list):
        for part in schema:
            yield from lists_of_choices(part, path)
    elif isinstance(schema, dict):
        items = schema.get("items")
        if schema.get("type") == "array" and any("enum" in one for one in resolved(items)):
            yield path, schema
        for key, part in schema.items():
            yield from lists_of_choices(part, f"{path}/{key}" if key not in ("anyOf", "oneOf", "items") else path)


def test_choices_of_a_body_are_distinct_everywhere(servers: Any):
    schemas = contract_of_api()["components"]["schemas"]
    bodies = {name: part for name, part in schemas.items() if part.get("additionalProperties") is False}
    lists = [found for name, part in bodies.items() for found in lists_of_choices(part, name)]
    assert len(lists) >= 4
    assert [path for path, schema in lists if not schema.get("uniqueItems")] == []


def test_a_repeated_choice_is_named(owner: Member, make_mesh: Any):
    mesh = make_mesh(owner, 2)
    body = {"statistics": ["p50", "p99", "p50"]}
    for accept in ("application/json", "application/x-ndjson", "text/csv"):
        answer = owner.post(f"/v1/meshes/{mesh.id}/series", json=body, headers={"Accept": accept})
        assert answer.status_code == 422
        assert "repeated: p50" in answer.text
        assert "/statistics" in answer.text


def test_headers_are_declared(servers: Any):
    counted = dict.fromkeys(("Retry-After", "ETag", "RateLimit-Limit", "Location", "Idempotent-Replayed"), 0)
    for method, path, operation in operations():
        for status, response in operation["responses"].items():
            headers = response.get("headers", {})
            assert "X-Request-Id" in headers, (path, status)
            assert ("Retry-After" in headers) >= (status in ("429", "503")), (path, status)
            assert ("WWW-Authenticate" in headers) >= (status == "401"), (path, status)
            assert ("Location" in headers) >= (status == "303"), (path, status)
            model = response.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
            assert ("Location" in headers) >= (status == "202" and model.endswith("/JobRead")), (path, status)
            for name in counted:
                counted[name] += name in headers
        takes_key = any(one["name"].lower() == "idempotency-key" for one in operation.get("parameters", ()))
        assert not takes_key or method == "post", path
    assert all(counted.values()), counted


def test_a_bad_cursor_is_refused_with_one_code(owner: Member):
    lists = 0
    for method, path, operation in operations():
        names = [one["name"] for one in operation.get("parameters", ())]
        if method == "get" and "cursor" in names and "{" not in path:
            lists += 1
            answer = owner.get(path, params={"cursor": "WzEsMiwzLDQsNV0"})
            assert (answer.status_code, answer.json()["code"]) == (422, "cursor_invalid"), (path, answer.text)
    assert lists > 20


def test_operations_have_examples(servers: Any):
    assert without_example(contract_of_api()) == set(), "run `make examples`"


def test_examples_fit_their_schemas(servers: Any):
    # One registry: with the components in each schema, each example would compile all of them.
    registry = jsonschema_rs.Registry([("urn:contract", {"components": contract_of_api()["components"]})])
    wrong = []
    for _, path, operation in operations():
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [response.get("content", {}) for response in operation["responses"].values()]
        for content in contents:
            media = content.get("application/json", {})
            if "example" in media:
                schema = json.loads(json.dumps(media["schema"]).replace('"#/', '"urn:contract#/'))
                validator = jsonschema_rs.Draft202012Validator(schema, registry=registry)
                error = next(validator.iter_errors(media["example"]), None)
                if error is not None:
                    wrong.append((path, error.message[:200], list(error.instance_path)))
    assert wrong == []


def test_names_of_operations_tell_what_they_do(servers: Any):
    """PATCH updates, PUT sets or puts something in its place, a list has pages unless the documentation names it."""
    whole = set()
    for method, _, operation in operations():
        name = operation["operationId"]
        verb = name.partition("_")[0]
        assert (method == "patch") is (verb == "update"), name
        assert method != "put" or verb in ("set", "add", "assign", "store"), name
        if method == "get" and verb == "list" and "Page_" not in json.dumps(operation["responses"]):
            whole.add(name)
    assert whole == set(re.findall("`(list_[a-z_]+)`", API_README.read_text("utf-8")))


# Entries of a list are at least a digit and a comma.
_ENTRY_BYTES = 2


def bodies_read() -> Iterator[tuple[APIRoute, type[BaseModel]]]:
    """Yield the routes that read JSON, and the model of their body."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.body_field is not None:
                model = route.body_field.field_info.annotation
                if isinstance(model, type) and issubclass(model, BaseModel):
                    yield route, model


def largest(schema: Any) -> int:
    """Return the bytes that the largest text or list of a JSON schema needs at least when it is full."""
    if isinstance(schema, list):
        return max(map(largest, schema), default=0)
    if not isinstance(schema, dict):
        return 0
    own = max(int(schema.get("maxLength", 0)), _ENTRY_BYTES * int(schema.get("maxItems", 0)))
    return max(own, *(largest(part) for part in schema.values()), 0)


def test_what_a_field_may_hold_fits_into_a_body():
    checked = 0
    for route, model in bodies_read():
        limit = (body_limit(route.endpoint) or (lambda config: config.body_limit_bytes))(settings())
        assert largest(model.model_json_schema()) <= limit, route.name
        checked += 1
    assert checked > 100
