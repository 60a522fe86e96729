"""YAML documents of users: parsed by libyaml, which is fast, and bounded in depth and number of values."""

from typing import Any

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

from sinemora.kit.http import strict_json


class YamlError(ValueError):
    """Refused document; the message has the line and column where they are known."""


def load(text: bytes) -> Any:
    """Return the one document in `text`. Raises YamlError."""
    try:
        _check_size(text)
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


def _check_size(text: bytes) -> None:
    """Refuse deep nesting before libyaml builds the document, which it does recursively, and very many values.

    An alias counts as all that it stands for: a few lines of nested aliases stand for billions of values.
    """
    sizes: dict[str, int] = {}
    open_ones: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, yaml.CSafeLoader):
        size = 1
        if isinstance(event, CollectionStartEvent):
            open_ones.append((event.anchor, 1))
            if len(open_ones) > strict_json.DEPTH_MAX + 1:
                raise YamlError(f"Nested too deeply: more than {strict_json.DEPTH_MAX} levels")
            continue
        if isinstance(event, CollectionEndEvent):
            anchor, size = open_ones.pop()
        elif isinstance(event, AliasEvent):
            anchor = None
            if event.anchor in {name for name, _ in open_ones}:
                raise YamlError(f"The alias *{event.anchor} stands inside of what it stands for")
            size = sizes.get(str(event.anchor), 1)
        elif isinstance(event, ScalarEvent):
            anchor = event.anchor
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        outer, before = open_ones[-1]
        if before + size > strict_json.VALUES_MAX:
            raise YamlError(f"Too many values: more than {strict_json.VALUES_MAX:,}, with what aliases stand for")
        open_ones[-1] = outer, before + size
