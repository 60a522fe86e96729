"""Strict JSON: bodies and cursors whose values the database can store.

PostgreSQL stores neither U+0000 nor unpaired surrogates in text, and JSON (RFC 8259 §6) has no NaN or infinity, which
Python's parser accepts, and makes of 1e999. A value is refused here, once for all routes, with a pointer to it.
"""

import gc
import json
from math import isfinite
from typing import Any, NoReturn

DEPTH_MAX = 64
"""Arrays and objects inside one another."""
VALUES_MAX = 500_000
"""Brackets, braces and commas of a body: each is a value that has to be kept, whatever its few bytes."""
DIGITS_MAX = 19
"""Digits of an integer: those of the largest 64-bit integer."""


class StrictJsonError(ValueError):
    """Refused JSON. `pointer` (RFC 6901) is the place, `#` the whole body."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message


def parse_large(body: bytes) -> Any:
    """Parse JSON of up to `VALUES_MAX` values, without the collector of cycles. Raises what `parse` raises.

    JSON has no cycles. Each 10,000 new lists would make the collector look at all of them again: it took ten times the
    time of the parser, which holds the interpreter's lock all the while.
    """
    values = sum(body.count(character) for character in (b"[", b"{", b","))
    if values > VALUES_MAX:
        raise StrictJsonError("#", f"about {values:,} values; a body has at most {VALUES_MAX:,}")
    collects = gc.isenabled()
    gc.disable()
    try:
        return parse(body)
    finally:
        if collects:
            gc.enable()


def parse(body: bytes | str) -> Any:
    """Parse JSON. Raises StrictJsonError; `json.JSONDecodeError` for text that is not JSON."""
    try:
        text = body if isinstance(body, str) else body.decode()
        value = json.loads(text, parse_constant=_constant, parse_int=_integer)
    except UnicodeDecodeError as error:
        raise StrictJsonError("#", f"not UTF-8: invalid byte at position {error.start}") from None
    except RecursionError:
        raise _too_deep("#") from None
    check(value)
    return value


def _constant(name: str) -> NoReturn:
    raise StrictJsonError("#", f"not JSON: {name} is no number; use null")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS_MAX + 1:
        raise StrictJsonError("#", f"a number of {len(digits)} digits; integers have at most {DIGITS_MAX}")
    return int(digits)


def check(value: Any) -> None:
    """Refuse text and numbers that cannot be stored, and deep nesting. Raises StrictJsonError."""
    # Iterative, since the input decides the depth.
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while waiting:
        inner, path = waiting.pop()
        if isinstance(inner, str):
            _check_text(inner, path)
        elif isinstance(inner, float):
            if not isfinite(inner):
                raise StrictJsonError(pointer_to(path), "not a number that can be stored: at most 1.8e308")
        elif isinstance(inner, dict | list):
            if len(path) >= DEPTH_MAX:
                raise _too_deep(pointer_to(path[:3]))
            if isinstance(inner, list):
                waiting += [(one, (*path, at)) for at, one in enumerate(inner) if _is_checked(one)]
                continue
            for name, one in inner.items():
                if isinstance(name, str):  # a key of YAML may be a number
                    _check_text(name, path)
                if _is_checked(one):
                    waiting.append((one, (*path, name)))


def _is_checked(value: Any) -> bool:
    return isinstance(value, str | dict | list) or (isinstance(value, float) and not isfinite(value))


def _check_text(text: str, path: tuple[str | int, ...]) -> None:
    if "\0" in text:
        raise StrictJsonError(pointer_to(path), "contains the character U+0000, which cannot be stored")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise StrictJsonError(pointer_to(path), "contains half of a surrogate pair, which is no character")


def _too_deep(pointer: str) -> StrictJsonError:
    return StrictJsonError(pointer, f"nested too deeply: at most {DEPTH_MAX} levels")


def pointer_to(path: tuple[str | int, ...]) -> str:
    """Return the JSON pointer (RFC 6901) of a path, as a fragment: `#/root/routes/0`."""
    return "#" + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
