"""What tenants declare as YAML: one document with one key, under it a list."""

from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sinemora.kit.errors import ProductError

Declared = TypeVar("Declared", bound=BaseModel)


def declared(text: bytes, key: str, model: type[Declared], each: str) -> list[Declared]:
    """Return the list under `key`; `each` says in words what one of it has.

    ProductError `manifest_invalid`, with pointers to everything that is wrong.
    """
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        what = getattr(error, "problem", None) or error
        raise ProductError("manifest_invalid", 422, f"This is no YAML{where}: {what}") from None
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list) or set(document) != {key}:
        raise ProductError(
            "manifest_invalid", 422, f"A manifest is one document with one key: {key}: a list, each with {each}."
        )
    bodies, complaints = [], []
    places: dict[str, int] = {}
    for place, one in enumerate(found):
        try:
            bodies.append(body := model.model_validate(one))
            before = places.setdefault(str(getattr(body, "name", place)), place)
            if before != place:
                complaints.append(_twice(key, place, before))
        except ValidationError as error:
            complaints += [
                {
                    "pointer": "/".join([f"#/{key}", str(place), *map(str, wrong["loc"])]),
                    "message": str(wrong["msg"]).removeprefix("Value error, "),
                }
                for wrong in error.errors()
            ]
    if complaints:
        first = complaints[0]
        raise ProductError("manifest_invalid", 422, f"{first['pointer']}: {first['message']}", errors=complaints)
    return bodies


def _twice(key: str, place: int, before: int) -> dict[str, str]:
    return {
        "pointer": f"#/{key}/{place}/name",
        "message": f"#/{key}/{before} has this name already; each may stand in a manifest once",
    }
