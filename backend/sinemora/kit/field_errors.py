"""Validation errors of the framework in words of the product: one message a field, with what would be right."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sinemora.kit import known_fields, names

NOT_A_TIME = "Not a time with a time zone. Write it as 2026-11-25T22:00:00Z (RFC 3339)."
_EMPTY = "Must not be empty."
_NUMBER = "Not a number."
_WHOLE = "Not a whole number."
_BOOLEAN = "Write true or false."
_WORDS = {
    "datetime_parsing": NOT_A_TIME,
    "datetime_from_date_parsing": NOT_A_TIME,
    "datetime_type": NOT_A_TIME,
    "timezone_aware": NOT_A_TIME,
    "missing": "Required.",
    "none_required": "Must be null.",
    "extra_forbidden": "Unknown field.",
    "string_type": "Not a text.",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "Too large for a whole number.",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": "Not a finite number.",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "list_type": "Not a list.",
    "dict_type": "Not an object.",
    "model_type": "Not an object.",
    "model_attributes_type": "Not an object.",
    "uuid_type": "Not an id (UUID).",
    "uuid_parsing": "Not an id (UUID).",
}
_ADDRESS = "Not an address that begins with https:// or http://."
_PATTERN_WORDS = {
    r"^https?://[^\s\x00-\x1f]+$": _ADDRESS,
    r"^https?://[^\s/?#]+\S*$": _ADDRESS,
    r"^[A-Z]{3}$": "Not three capital letters, as in EUR.",
    r"^[^:]+$": "Must not contain a colon.",
}


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _too_short(noun: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda limits: (
        _EMPTY if limits["min_length"] == 1 else f"Too short: at least {_counted(limits['min_length'], noun)}."
    )


def _too_long(noun: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda limits: f"Too long: at most {_counted(limits['max_length'], noun)}."


# Messages with the limits of the field, by type of error; the argument is the error's context.
_LIMIT_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "string_too_short": _too_short("character"),
    "string_too_long": _too_long("character"),
    "too_short": _too_short("item"),
    "too_long": _too_long("item"),
    "greater_than_equal": lambda limits: f"Must be at least {_number(limits['ge'])}.",
    "less_than_equal": lambda limits: f"Must be at most {_number(limits['le'])}.",
    "greater_than": lambda limits: f"Must be more than {_number(limits['gt'])}.",
    "less_than": lambda limits: f"Must be less than {_number(limits['lt'])}.",
    "decimal_max_places": lambda limits: f"At most {_counted(limits['decimal_places'], 'digit')} after the point.",
    "decimal_max_digits": lambda limits: f"At most {_counted(limits['max_digits'], 'digit')}.",
    "decimal_whole_digits": lambda limits: f"At most {_counted(limits['whole_digits'], 'digit')} before the point.",
    "multiple_of": lambda limits: f"Must be a multiple of {_number(limits['multiple_of'])}.",
    "literal_error": lambda limits: f"Must be {limits['expected']}.",
    "enum": lambda limits: f"Must be {limits['expected']}.",
    "union_tag_invalid": lambda limits: f"{limits['discriminator']} must be one of {limits['expected_tags']}.",
    "union_tag_not_found": lambda limits: f"Required: {limits['discriminator']}.",
    "string_pattern_mismatch": lambda limits: _PATTERN_WORDS.get(
        limits["pattern"], f"Does not match the pattern {limits['pattern']}."
    ),
}
_SCALAR_SOURCES = ("query", "path", "header", "cookie")
_HINTS_MAX = 20
"""Unknown fields of one body whose names are compared with the known ones: a body may have very many."""


def field_errors(errors: Iterable[Mapping[str, Any]], body: object, kind: Any = None) -> list[dict[str, str]]:
    """Return the errors as `FieldError`s. A field that may be of several types has one error with all alternatives.

    `body`: the parsed body that the errors are about, and `kind` its type: an unknown field near one of its fields gets
    that one's name.
    """
    messages: dict[str, list[str]] = {}
    hints: dict[str, str] = {}
    for error in errors:
        path, message = _field_error(error, body)
        if error["type"] == "union_tag_not_found" and (mistyped := _mistyped_tag(error, path, body)):
            path, message = [*path, mistyped], _WORDS["extra_forbidden"]
        pointer = pointer_of(path)
        if message == _WORDS["extra_forbidden"] and (pointer in hints or len(hints) < _HINTS_MAX):
            if pointer not in hints:
                known = known_fields.fields_at(kind, path[:-1], body)
                hints[pointer] = known_fields.hint(str(path[-1]), known)
            message += hints[pointer]
        alternatives = messages.setdefault(pointer, [])
        if message not in alternatives:
            alternatives.append(message)
    return [{"pointer": pointer, "message": " Or: ".join(texts)} for pointer, texts in messages.items()]


def _mistyped_tag(error: Mapping[str, Any], path: Sequence[int | str], body: object) -> str | None:
    """Return the field of an object whose name is close to the missing one that states its type; None without."""
    tag = str(error["ctx"]["discriminator"]).strip("'")
    fields = known_fields.value_at(body, path)
    names = list(fields)[:_HINTS_MAX] if isinstance(fields, Mapping) else []
    return next((str(name) for name in names if known_fields.hint(str(name), {tag})), None)


def document_errors(errors: Iterable[Mapping[str, Any]], document: object, kind: Any) -> list[dict[str, str]]:
    """Return the errors of a value that was validated by itself, such as an entry of a file, as `FieldError`s."""
    return field_errors(({**error, "loc": ("body", *error["loc"])} for error in errors), document, kind)


def _field_error(error: Mapping[str, Any], body: object) -> tuple[list[int | str], str]:
    location = tuple(error["loc"])
    if error["type"] == "json_invalid":  # its location ends with a position in the text, which is no pointer
        return [], f"not JSON: {error['ctx']['error']} at character {location[-1]}"
    if error["type"] == "missing" and location == ("body",):
        return [], "The body is empty."
    return _without_types(location, body, error["type"] == "missing"), message_of(error)


def message_of(error: Mapping[str, Any]) -> str:
    """Return the message of one validation error in words of the product.

    An error of a validator of our own keeps its text; so does a type of error that is not known here.
    """
    if (words := _WORDS.get(error["type"])) is not None:
        return words
    limit_words, limits = _LIMIT_WORDS.get(error["type"]), error.get("ctx")
    if limits and limits.get("pattern") in (names.ONE_LINE, names.ONE_LINE_OR_EMPTY):
        return names.refusal(str(error["input"]).strip()) or _EMPTY
    if limit_words is not None and limits:
        return limit_words(limits)
    return str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _number(limit: Any) -> str:
    """Return a limit as people write it: 1,000 and 0.95."""
    if not isinstance(limit, int | float | Decimal):
        return str(limit)
    return f"{int(limit):,}" if float(limit).is_integer() else f"{limit:,}"


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
