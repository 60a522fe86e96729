"""Manifests: YAML documents with one key that holds a list."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sinemora.kit import yaml_text
from sinemora.kit.errors import ProductError
from sinemora.kit.field_errors import document_errors

Declared = TypeVar("Declared", bound=BaseModel)


def declared(text: bytes, key: str, model: type[Declared], each: str) -> list[Declared]:
    """Return the validated list under `key`; `each` describes an entry, for the error message.

    ProductError `manifest_invalid`, with a pointer for every error.
    """
    try:
        document = yaml_text.load(text)
    except yaml_text.YamlError as error:
        raise ProductError("manifest_invalid", 422, str(error)) from None
    entries = document.get(key) if isinstance(document, dict) else None
    if not isinstance(entries, list) or set(document) != {key}:
        raise ProductError(
            "manifest_invalid", 422, f"Invalid manifest: it has one key, {key}, with a list; each entry has {each}."
        )
    bodies, errors_found = [], []
    places: dict[str, int] = {}
    for place, entry in enumerate(entries):
        try:
            bodies.append(body := model.model_validate(entry))
            before = places.setdefault(str(getattr(body, "name", place)), place)
            if before != place:
                errors_found.append(_twice(key, place, before))
        except ValidationError as error:
            errors_found += [
                {**wrong, "pointer": f"#/{key}/{place}{wrong['pointer'].removeprefix('#')}"}
                for wrong in document_errors(error.errors(), entry, model)
            ]
    if errors_found:
        first = errors_found[0]
        raise ProductError("manifest_invalid", 422, f"{first['pointer']}: {first['message']}", errors=errors_found)
    return bodies


def _twice(key: str, place: int, before: int) -> dict[str, str]:
    return {
        "pointer": f"#/{key}/{place}/name",
        "message": f"#/{key}/{before} has this name already; names are unique in a manifest",
    }
