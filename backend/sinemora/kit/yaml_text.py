"""YAML documents of users: parsed by libyaml, which is fast, and bounded in depth."""

from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent

from sinemora.kit.http import strict_json


class YamlError(ValueError):
    """Refused document; the message has the line and column where they are known."""


def load(text: bytes) -> Any:
    """Return the one document in `text`. Raises YamlError."""
    try:
        _check_depth(text)
        value = yaml.load(text, yaml.CSafeLoader)
        strict_json.check(value)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise YamlError(f"Not YAML{place}: {getattr(error, 'problem', None) or error}") from None
    except strict_json.StrictJsonError as error:
        raise YamlError(f"{error.pointer}: {error.message}") from None
    except (ValueError, RecursionError) as error:  # a date such as 2026-13-45, or bytes that are not UTF-8
        raise YamlError(f"Not YAML: {error}") from None
    return value


def _check_depth(text: bytes) -> None:
    """Refuse deep nesting before libyaml builds the document, which it does recursively."""
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > strict_json.DEPTH_MAX:
                raise YamlError(f"Nested too deeply: more than {strict_json.DEPTH_MAX} levels")
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
