"""Put what repeats in the OpenAPI document into its components, so that people can read the document.

Problems become `components/responses`, with the codes that all operations with that response have; an operation lists
its further codes by status. `generator.references` of the client is the inverse.
"""

import json
from collections import Counter, defaultdict
from typing import Any

from sinemora.kit.errors import MEDIA_TYPE

CODES = "x-problem-codes"
# Their values are data.
_NO_SCHEMAS = ("const", "default", "enum", "example", "examples")
# Statuses that always have the header.
_WITH_RETRY_AFTER = ("429", "503")


def share(contract: dict[str, Any]) -> None:
    """Move problems and repeated parameters to the components, and remove titles that only repeat a name."""
    operations = [operation for item in contract["paths"].values() for operation in item.values()]
    contract["components"]["responses"] = _share_problems(operations)
    contract["components"]["parameters"] = _share_parameters(operations)
    _remove_titles(contract["paths"])
    _remove_titles(contract["components"]["parameters"])
    _remove_titles(list(contract["components"]["schemas"].values()))


def _share_problems(operations: list[dict[str, Any]]) -> dict[str, Any]:
    shared: dict[str, dict[str, Any]] = {}
    users = defaultdict(list)
    for operation in operations:
        for status, response in operation["responses"].items():
            if MEDIA_TYPE not in response.get("content", {}):
                continue
            name = _name_of(operation, status, response)
            body = {key: part for key, part in response.items() if key != CODES}
            if shared.setdefault(name, body) == body:
                users[name].append((operation, status, set(response[CODES])))
    for name, uses in users.items():
        common = set.intersection(*(codes for _, _, codes in uses))
        shared[name] |= {CODES: sorted(common)} if common else {}
        for operation, status, codes in uses:
            operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
            if own := sorted(codes - common):
                operation.setdefault(CODES, {})[status] = own
    return dict(sorted(shared.items()))


def _name_of(operation: dict[str, Any], status: str, response: dict[str, Any]) -> str:
    """Return the name of a problem: callers of different kinds get different headers and codes."""
    schemes = {name for one in operation["security"] for name in one}
    caller = "" if schemes & {"session", "api_key"} else "Agent" if schemes else "Anonymous"
    later = "Later" if "Retry-After" in response["headers"] and status not in _WITH_RETRY_AFTER else ""
    return f"{caller}Problem{status}{later}"


def _share_parameters(operations: list[dict[str, Any]]) -> dict[str, Any]:
    """Share the form of each parameter that most operations use, unless only one does."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    parameters = [one for operation in operations for one in operation.get("parameters", ())]
    for one in parameters:
        forms[f"{one['in']}.{one['name']}"][json.dumps(one)] += 1
    counted = {name: counts.most_common(1)[0] for name, counts in sorted(forms.items())}
    shared = {name: json.loads(form) for name, (form, count) in counted.items() if count > 1}
    for operation in operations:
        for at, one in enumerate(operation.get("parameters", ())):
            name = f"{one['in']}.{one['name']}"
            if one == shared.get(name):
                operation["parameters"][at] = {"$ref": f"#/components/parameters/{name}"}
    return shared


def _remove_titles(part: Any) -> None:
    """Remove the titles that pydantic makes from the names of models and fields."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            del part["title"]
        for key, inner in part.items():
            if key not in _NO_SCHEMAS:
                _remove_titles(list(inner.values()) if key == "properties" else inner)
    elif isinstance(part, list):
        for inner in part:
            _remove_titles(inner)
