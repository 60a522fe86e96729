"""Types of Python for the schemas of the contract (JSON Schema 2020-12, as far as the contract uses it)."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

Schema = dict[str, Any]

_REF = "#/components/schemas/"
_PLAIN = {"integer": "int", "number": "float", "boolean": "bool", "null": "None", "string": "str"}


def name_of(schema_name: str) -> str:
    """Return the name of a type: `Route-Input` is `RouteInput`, `Page_MeshRead_` is `PageMeshRead`."""
    return re.sub(r"[^0-9A-Za-z]", "", schema_name)


def ref_of(schema: Schema) -> str | None:
    """Return the name of the schema that this one refers to; None without a reference."""
    ref = schema.get("$ref")
    return ref.removeprefix(_REF) if isinstance(ref, str) else None


def refs_in(schema: object) -> Iterator[str]:
    """Yield the names of all schemas that a schema refers to."""
    if isinstance(schema, dict):
        if (ref := ref_of(schema)) is not None:
            yield ref
        for key, value in schema.items():
            if key not in ("example", "examples", "discriminator"):
                yield from refs_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from refs_in(value)


def type_of(schema: Schema, prefix: str = "") -> str:
    """Return the type of a schema; `prefix` stands before names of models (`models.`)."""
    if (ref := ref_of(schema)) is not None:
        return prefix + name_of(ref)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return union(type_of(one, prefix) for one in schema[several])
    if len(schema.get("allOf", ())) == 1:
        return type_of(schema["allOf"][0], prefix)
    if "const" in schema:
        return literal([schema["const"]])
    if "enum" in schema:
        return literal(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return union(type_of({**schema, "type": one}, prefix) for one in kind)
    if kind == "array":
        inner = schema.get("prefixItems") or [schema.get("items") or {}]
        return f"list[{union(type_of(one, prefix) for one in inner)}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {type_of(values, prefix) if isinstance(values, dict) else 'Any'}]"
    return _PLAIN.get(str(kind), "Any")


def union(types: Iterable[str]) -> str:
    """Return the union of types, each once, None last. `Any` stands alone: it takes everything."""
    parts = list(dict.fromkeys(part for one in types for part in _parts(one)))
    if "Any" in parts:
        return "Any"
    if "float" in parts and "int" in parts:
        parts.remove("int")  # a float may be an int (PEP 484)
    return " | ".join(sorted(parts, key=lambda part: part == "None"))


def literal(values: list[Any]) -> str:
    """Return the type of these values only."""
    return (
        "Literal[" + ", ".join(json.dumps(value) if isinstance(value, str) else repr(value) for value in values) + "]"
    )


def _parts(union_type: str) -> list[str]:
    """Return the members of a union: those that stand in no brackets."""
    parts, depth, part = [], 0, ""
    for sign in union_type:
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += sign
    return [*parts, part.strip()]
