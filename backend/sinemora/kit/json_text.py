"""JSON that people read and compare, such as the files of the contract, and values that PostgreSQL's JSON takes."""

import json
import math
from typing import Any

_WIDTH = 100


def json_text(value: Any, indent: str = "") -> str:
    """Return the JSON of `value`: a list or an object of scalars on one line if it fits, others a line a member."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list):
        return line
    members = value.values() if isinstance(value, dict) else value
    if len(indent) + len(line) <= _WIDTH and not any(isinstance(one, dict | list) and one for one in members):
        return line
    deeper = indent + "  "
    texts = [json_text(one, deeper) for one in members]
    if isinstance(value, dict):
        texts = [f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in zip(value, texts, strict=True)]
    return f"{line[0]}\n{deeper}" + f",\n{deeper}".join(texts) + f"\n{indent}{line[-1]}"


def storable(value: Any) -> Any:
    """Return `value` as PostgreSQL can store it: in texts, U+0000 becomes ␀ and half a character �; NaN becomes None.

    A text that quotes somebody's input may have both. Values that are neither JSON nor text stay as they are.
    """
    if isinstance(value, str):
        return value.replace("\0", "␀").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {storable(name): storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [storable(member) for member in value]
    return value
