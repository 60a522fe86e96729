"""Write into the OpenAPI document what FastAPI does not know: headers, problem codes, examples, words of properties.

Codes and examples are data of the package: `problem_codes.json`, found in the source by `make gen`, and
`examples/*.json`, recorded from the product by `make examples`. Tests compare both with the answers that they get.
People write `properties.toml`.
"""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sinemora.kit.errors import MEDIA_TYPE, problem_response

DATA = Path(__file__).parents[2] / "contract"
"""Folder with `problem_codes.json`, `properties.toml` and `examples/`."""
METHODS = ("get", "post", "put", "patch", "delete")

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "Identifies the request in the server's log; that of the request, if it sent a well-formed one",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{8,64}$"},
        "required": True,
    },
    "RateLimit-Limit": {"description": "Requests that the caller may send in 60 s", "schema": _COUNT},
    "RateLimit-Remaining": {"description": "Requests that remain of them", "schema": _COUNT},
    "RateLimit-Reset": {"description": "Seconds until the limit counts from zero", "schema": _COUNT},
    "Retry-After": {"description": "Seconds to wait before the request is repeated", "schema": _COUNT},
    "Link": {"description": 'Page that tells what to do about problem codes (`rel="help"`, RFC 8288)', "schema": _TEXT},
    "WWW-Authenticate": {"description": "How to authenticate (RFC 9110, §11.6.1)", "schema": _TEXT},
    "ETag": {
        "description": "Version of the object, for `If-Match` of a change",
        "schema": {"type": "string", "pattern": '^"[0-9]+"$'},
        "required": True,
    },
    "Location": {
        "description": "Address of the job, or of what the response refers to",
        "schema": {"type": "string", "minLength": 1},
        "required": True,
    },
    "Idempotent-Replayed": {
        "description": "`true` when this is the stored response of an earlier request with the same `Idempotency-Key`",
        "schema": {"type": "string", "const": "true"},
    },
}
_LIMITED = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
# Any operation may answer with these: they are about the connection, the server or its database.
COMMON_CODES = {
    "400": ["bad_request", "host_invalid"],
    "405": ["method_not_allowed"],
    "409": ["conflict"],
    "413": ["body_too_large"],
    "415": ["media_type_unsupported"],
    "422": ["request_invalid", "value_invalid"],
    "500": ["internal_error"],
    "503": ["database_busy", "database_full", "database_unavailable"],
}


# Of any operation: they stand in `x-common-problem-codes` of the document.
_OF_ALL = ("400", "405", "500", "503")


@cache
def problem_codes() -> dict[str, dict[str, list[str]]]:
    """Return the problem codes of each operation id by status."""
    table: dict[str, dict[str, list[str]]] = json.loads((DATA / "problem_codes.json").read_text("utf-8"))
    return table


@cache
def examples() -> dict[str, Any]:
    """Return the examples of each operation id: `request` and `responses` by status, each by media type."""
    entries: dict[str, Any] = {}
    for file in sorted((DATA / "examples").glob("*.json")):
        entries |= json.loads(file.read_text("utf-8"))
    return entries


def describe_responses(contract: dict[str, Any]) -> None:
    """Add headers, problem codes and examples to every operation of the OpenAPI document."""
    contract["components"]["headers"] = HEADERS
    contract["x-common-problem-codes"] = {status: COMMON_CODES[status] for status in _OF_ALL}
    for path in contract["paths"].values():
        for method, operation in path.items():
            if method in METHODS:
                codes = problem_codes().get(operation["operationId"], {})
                _describe_problems(operation, codes)
                for status, response in operation["responses"].items():
                    names = _headers_of(method, operation, status, contract)
                    headers = response.setdefault("headers", {})
                    headers |= {name: {"$ref": f"#/components/headers/{name}"} for name in names if name not in headers}
                _add_examples(operation, examples().get(operation["operationId"], {}))


def describe_names(contract: dict[str, Any]) -> None:
    """Add its words to every property and parameter that the code does not describe."""
    table = tomllib.loads((DATA / "properties.toml").read_text("utf-8"))
    groups = [(schema, entries) for names, entries in table["only"].items() for schema in names.split()]
    only = {(schema, name): words for schema, entries in groups for name, words in entries.items()}
    for schema, model in contract["components"]["schemas"].items():
        for name, one in model.get("properties", {}).items():
            words = only.get((schema, name)) or table["any"].get(name)
            if words and "description" not in one:
                one["description"] = words if may_be_null(one) else words.partition("; null")[0]
    operations = [operation for item in contract["paths"].values() for operation in item.values()]
    for one in [parameter for operation in operations for parameter in operation.get("parameters", ())]:
        words = table["parameters"].get(one["name"]) or table["any"].get(one["name"])
        if words and "description" not in one:
            one["description"] = words.partition("; null")[0]


def may_be_null(schema: Any) -> bool:
    """Return whether a value of the schema, or a value inside of it, may be null."""
    if isinstance(schema, list):
        return any(may_be_null(one) for one in schema)
    if not isinstance(schema, dict):
        return False
    parts = [schema.get(key) for key in ("anyOf", "oneOf", "items", "prefixItems", "additionalProperties")]
    return schema.get("type") == "null" or may_be_null(parts)


def _describe_problems(operation: dict[str, Any], codes: dict[str, list[str]]) -> None:
    possible = {status for status in codes if status not in _OF_ALL}
    if "requestBody" in operation:
        possible |= {"413", "415"}
    for status in sorted(possible - operation["responses"].keys()):
        operation["responses"][status] = problem_response(int(status))
    for status, response in operation["responses"].items():
        if MEDIA_TYPE in response.get("content", {}):
            known = sorted({*codes.get(status, ()), *COMMON_CODES.get(status, ())})
            if known:
                response["x-problem-codes"] = known


def _headers_of(method: str, operation: dict[str, Any], status: str, contract: dict[str, Any]) -> list[str]:
    names = ["X-Request-Id"]
    schemes = {name for one in operation.get("security", ()) for name in one}
    if schemes & {"session", "api_key"} and status != "401":
        names += _LIMITED
    if MEDIA_TYPE in operation["responses"][status].get("content", {}):
        names.append("Link")
    if status == "401":
        names.append("WWW-Authenticate")
    codes = operation["responses"][status].get("x-problem-codes", ())
    if status in ("429", "503") or {"job_not_done", "authorization_pending"} & set(codes):
        names.append("Retry-After")
    if status == "303" or (status == "202" and _model_of(operation, status) == "JobRead"):
        names.append("Location")
    if status in ("200", "201") and method != "delete" and _is_versioned(operation, status, contract):
        names.append("ETag")
    has_key = any(one["name"].lower() == "idempotency-key" for one in operation.get("parameters", ()))
    if status.startswith("2") and has_key:
        names.append("Idempotent-Replayed")
    return names


def _model_of(operation: dict[str, Any], status: str) -> str:
    content = operation["responses"][status].get("content", {}).get("application/json", {})
    return str(content.get("schema", {}).get("$ref", "")).rsplit("/", 1)[-1]


def _is_versioned(operation: dict[str, Any], status: str, contract: dict[str, Any]) -> bool:
    """Return whether the response is one object with a version."""
    schema = contract["components"]["schemas"].get(_model_of(operation, status), {})
    version: dict[str, Any] = schema.get("properties", {}).get("version", {})
    return version.get("type") == "integer"


def _add_examples(operation: dict[str, Any], recorded: dict[str, Any]) -> None:
    for media_type, body in recorded.get("request", {}).items():
        content = operation.get("requestBody", {}).get("content", {}).get(media_type)
        if content is not None:  # {} is a media type without a schema
            content.setdefault("example", body)
    for status, bodies in recorded.get("responses", {}).items():
        for media_type, body in bodies.items():
            content = operation["responses"].get(status, {}).get("content", {}).get(media_type)
            if content is not None:
                content.setdefault("example", body)
