"""JSON that people read and compare: the files of the contract."""

import json
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
