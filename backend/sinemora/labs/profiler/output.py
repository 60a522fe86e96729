"""Extraction of results and request latency from the output of benchmarks."""

import json
import re
from typing import Any

from sinemora.labs.profiler.recipes import ProfileError, Recipe

_US_PER = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
UNITS = tuple(_US_PER)


def latency_of(recipe: Recipe, output: str) -> dict[str, float] | None:
    """Return the request latency that a benchmark reported, µs by statistic; None if the recipe names none.

    Raises `ProfileError` if a statistic that the recipe names is missing.
    """
    if not recipe.latency:
        return None
    latency_us = {}
    for name, where in recipe.latency:
        if where.startswith("/"):
            latency_us[name] = round(_number(_at(where, output), output) * _US_PER[recipe.latency_unit], 3)
            continue
        matches = list(re.finditer(where, output))
        if not matches:
            raise ProfileError(f"No latency {name}: nothing in the output matches {where!r}:\n{output[-500:]}")
        number, *unit = matches[-1].groups()
        latency_us[name] = round(_number(number, output) * _US_PER[(unit or [recipe.latency_unit])[0]], 3)
    return latency_us


def value_of(recipe: Recipe, output: str) -> float:
    """Return the result in the output of a benchmark. Raises `ProfileError`."""
    if recipe.pointer is not None:
        return _positive(_at(recipe.pointer, output), output)
    assert recipe.pattern is not None
    matches = re.findall(recipe.pattern, output)
    if not matches:
        raise ProfileError(f"No result: nothing in the output matches {recipe.pattern!r}:\n{output[-500:]}")
    return _positive(matches[-1], output)


def _at(pointer: str, output: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901), in the last line that is JSON or in the whole output."""
    for text in (*reversed(output.strip().splitlines()), output):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict | list):
            break
    else:
        raise ProfileError(f"No result: the output has no JSON object:\n{output[-500:]}")
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ProfileError(f"No result: {pointer} is not in the output:\n{output[-500:]}") from None
    return value


def _positive(value: object, output: str) -> float:
    number = _number(value, output)
    if not 0 < number < float("inf"):
        raise ProfileError(f"Invalid result: {value!r} is not a number above 0:\n{output[-500:]}")
    return number


def _number(value: object, output: str) -> float:
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        raise ProfileError(f"Invalid result: {value!r} is not a number:\n{output[-500:]}") from None
