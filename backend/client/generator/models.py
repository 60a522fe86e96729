"""`models.py` of the client: a `TypedDict` for each object of the contract, an alias for each other schema."""

import keyword
from textwrap import wrap

from generator.types import Schema, name_of, refs_in, type_of

HEADER = '''"""{title}

Generated from the contract; do not edit.
"""
'''
_WIDTH = 116


def reachable(schemas: dict[str, Schema], from_names: set[str]) -> set[str]:
    """Return the names of the schemas that these refer to, and those in turn; they themselves included."""
    found: set[str] = set()
    ahead = set(from_names)
    while ahead:
        name = ahead.pop()
        found.add(name)
        ahead |= set(refs_in(schemas[name])) - found
    return found


def module_of(schemas: dict[str, Schema], names: set[str]) -> str:
    """Return the module with the models of these schemas."""
    lines = [
        HEADER.format(title="Types of the bodies of requests and responses."),
        "from __future__ import annotations\n",
        "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict",
    ]
    for name in sorted(names, key=name_of):
        schema = schemas[name]
        if schema.get("type") == "object" and "properties" in schema:
            lines.append(_typed_dict(name_of(name), schema))
        else:
            lines.append(_alias(name_of(name), schema))
    return "\n".join(lines) + "\n"


def docstring(text: str, indent: str) -> str:
    """Return a docstring of these words, wrapped."""
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    if paragraphs and not paragraphs[0].endswith((".", "?", "!")):
        paragraphs[0] += "."
    lines = [
        line for at, one in enumerate(paragraphs) for line in ([""] if at else []) + wrap(one, _WIDTH - len(indent))
    ]
    safe = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
    if len(safe) == 1 and len(safe[0]) + len(indent) + 6 <= _WIDTH + 4:
        return f'{indent}"""{safe[0]}"""'
    return "\n".join([f'{indent}"""{safe[0]}', *(f"{indent}{line}".rstrip() for line in safe[1:]), f'{indent}"""'])


def _typed_dict(name: str, schema: Schema) -> str:
    required = set(schema.get("required", ()))
    fields = {field: _field_type(one, field in required) for field, one in schema["properties"].items()}
    text = schema.get("description") or f"{name}."
    if any(keyword.iskeyword(field) or not field.isidentifier() for field in fields):
        inner = "".join(f'        "{field}": "{kind}",\n' for field, kind in fields.items())
        return f'\n\n{name} = TypedDict(\n    "{name}",\n    {{\n{inner}    }},\n)\n{docstring(text, "")}'
    lines = [f"\n\nclass {name}(TypedDict):", docstring(text, "    "), ""]
    for field, one in schema["properties"].items():
        if words := " ".join(one.get("description", "").split()):
            lines += [f"    # {line}" for line in wrap(words, _WIDTH - 6)]
        lines.append(f"    {field}: {fields[field]}")
    return "\n".join(lines if fields else lines[:-1])


def _field_type(schema: Schema, required: bool) -> str:
    kind = type_of(schema)
    return kind if required else f"NotRequired[{kind}]"


def _alias(name: str, schema: Schema) -> str:
    kind = type_of(schema)
    words = f"\n{docstring(schema['description'], '')}" if schema.get("description") else ""
    # Quoted where it may name models: it may stand before them.
    value = kind if kind.startswith("Literal[") and "|" not in kind else f"'{kind}'"
    return f"\n\n{name}: TypeAlias = {value}{words}"
