"""Validation errors of the framework in words of the product: one message a field, with what would be right."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_TIME = "Not a time with a time zone. Write it as 2026-11-25T22:00:00Z (RFC 3339)."
_WORDS = {
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_type": _TIME,
    "timezone_aware": _TIME,
    "missing": "Required.",
}
_SCALAR_SOURCES = ("query", "path", "header", "cookie")


def field_errors(errors: Iterable[Mapping[str, Any]], body: object) -> list[dict[str, str]]:
    """Return the errors as `FieldError`s. A field that may be of several types has one error with all alternatives.

    `body`: the parsed body that the errors are about.
    """
    messages: dict[str, list[str]] = {}
    for error in errors:
        pointer, message = _field_error(error, body)
        alternatives = messages.setdefault(pointer, [])
        if message not in alternatives:
            alternatives.append(message)
    return [{"pointer": pointer, "message": " Or: ".join(texts)} for pointer, texts in messages.items()]


def _field_error(error: Mapping[str, Any], body: object) -> tuple[str, str]:
    location = tuple(error["loc"])
    if error["type"] == "json_invalid":  # its location ends with a position in the text, which is no pointer
        return "#", f"not JSON: {error['ctx']['error']} at character {location[-1]}"
    if error["type"] == "missing" and location == ("body",):
        return "#", "The body is empty."
    message = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return pointer_of(_without_types(location, body, error["type"] == "missing")), message


def _without_types(location: Sequence[int | str], body: object, is_missing: bool) -> list[int | str]:
    """Return a location without the names of types that Pydantic puts between its parts for a union."""
    source, *parts = location or ("body",)
    if source in _SCALAR_SOURCES:
        return [source, *parts[:1], *(part for part in parts[1:] if isinstance(part, int))]
    found: list[int | str] = []
    at: Any = body
    for number, part in enumerate(parts, 1):
        if _has(at, part):
            at = at[part]
        elif not (is_missing and number == len(parts)):
            continue
        found.append(part)
    return found


def _has(value: object, part: int | str) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def pointer_of(parts: Sequence[int | str]) -> str:
    """Return a JSON pointer (RFC 6901) as a URI fragment; `#` is the whole body."""
    return "#/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in parts) if parts else "#"
