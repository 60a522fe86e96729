"""The contract without references to shared responses and parameters, as readers of operations need it."""

from typing import Any

_CODES = "x-problem-codes"


def inlined(contract: dict[str, Any]) -> dict[str, Any]:
    """Return the contract with its shared responses and parameters in the operations that refer to them.

    Each response has all its problem codes: the shared ones and those that the operation adds.
    """
    paths = {
        path: {method: _operation(contract["components"], operation) for method, operation in item.items()}
        for path, item in contract["paths"].items()
    }
    return contract | {"paths": paths}


def _operation(components: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    own = operation.get(_CODES, {})
    found = {key: part for key, part in operation.items() if key != _CODES}
    found["responses"] = {}
    for status, response in operation["responses"].items():
        response = _target(components, response)
        if codes := {*response.get(_CODES, ()), *own.get(status, ())}:
            response = response | {_CODES: sorted(codes)}
        found["responses"][status] = response
    if "parameters" in operation:
        found["parameters"] = [_target(components, one) for one in operation["parameters"]]
    return found


def _target(components: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return what a reference leads to; the part itself if it is none."""
    if "$ref" not in part:
        return part
    kind, name = part["$ref"].split("/")[-2:]
    target: dict[str, Any] = components[kind][name]
    return target
