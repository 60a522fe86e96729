"""`operations/` of the client: a method for each operation that a key may call, a module for each tag."""

import keyword
from dataclasses import dataclass
from typing import Any

from generator.models import HEADER, docstring
from generator.types import Schema, ref_of, refs_in, type_of, union

_JSON = "application/json"
# Their responses have no end: `Client.stream` reads them.
_STREAMS = "text/event-stream"
_TEXTS = ("text/csv", "text/plain", "application/yaml", "application/x-ndjson")
_OF_PAGES = ("cursor", "limit")
# Any request may be refused with these: they say nothing of an operation.
_OF_ANY = {
    "all_meshes_required",
    "bad_credentials",
    "body_too_large",
    "csrf_token_invalid",
    "cursor_invalid",
    "embed_link_ended",
    "idempotency_key_reused",
    "media_type_unsupported",
    "not_allowed",
    "request_invalid",
    "scope_missing",
    "second_factor_due",
    "secret_shown_once",
    "sign_in_required",
    "too_many_objects",
    "too_many_requests",
    "value_invalid",
}


@dataclass(frozen=True)
class Operation:
    """Operation of the contract: its method, path, and its entry."""

    method: str
    path: str
    entry: dict[str, Any]

    @property
    def name(self) -> str:
        """Return the `operationId`."""
        return str(self.entry["operationId"])

    @property
    def tag(self) -> str:
        """Return the first tag."""
        return str(self.entry["tags"][0])

    @property
    def answers(self) -> dict[str, dict[str, Any]]:
        """Return the content of each successful response by status."""
        found = self.entry["responses"].items()
        return {status: one.get("content", {}) for status, one in found if status.startswith("2")}

    @property
    def codes(self) -> set[str]:
        """Return the codes of the problems that it may answer with."""
        return {code for one in self.entry["responses"].values() for code in one.get("x-problem-codes", ())}

    def parameters(self, where: str) -> list[dict[str, Any]]:
        """Return the parameters in the path, the query or the headers."""
        return [one for one in self.entry.get("parameters", ()) if one["in"] == where]

    def has_header(self, name: str) -> bool:
        """Return whether a request may have this header (lower case)."""
        return any(one["name"].lower() == name for one in self.parameters("header"))


def callable_by_keys(contract: dict[str, Any]) -> list[Operation]:
    """Return the operations that a program with a key may call, by tag and name."""
    found = [
        Operation(method.upper(), path, entry)
        for path, item in contract["paths"].items()
        for method, entry in item.items()
        if entry["x-required-role"] not in ("none", "agent") and not entry.get("x-person-only")
    ]
    kept = [one for one in found if not any(_STREAMS in content for content in one.answers.values())]
    return sorted(kept, key=lambda one: (one.tag, one.name))


def models_of(operation: Operation) -> set[str]:
    """Return the names of the schemas that an operation refers to; of a page, those of its items."""
    return set(
        refs_in(
            [
                operation.entry.get("requestBody", {}),
                list(operation.answers.values()),
                operation.entry.get("parameters", []),
            ]
        )
    )


def module_name(tag: str) -> str:
    """Return the module of a tag."""
    return tag.replace(" ", "_").replace("-", "_")


def class_name(tag: str) -> str:
    """Return the class of a tag."""
    return "".join(part.capitalize() for part in module_name(tag).split("_")) + "Operations"


def module_of(tag: str, operations: list[Operation], schemas: dict[str, Schema]) -> str:
    """Return the module with the operations of one tag."""
    methods = [_method(one, schemas) for one in operations]
    text = "\n".join(methods)
    imports = [
        ("from collections.abc import Iterator", "Iterator["),
        ("from datetime import datetime", "datetime"),
        ("from uuid import UUID", "UUID"),
    ]
    lines = [HEADER.format(title=f"Operations with the tag `{tag}`."), "from __future__ import annotations\n"]
    lines += [line for line, word in imports if word in text]
    # Models are for type checkers alone: a program that asks one thing does not wait for hundreds of classes.
    has_models = "models." in text
    typing = [word for word in ("Any", "Literal") if word in text] + ["TYPE_CHECKING"] * has_models
    lines += [f"from typing import {', '.join(typing)}"] if typing else []
    lines += ["", "from sinemora_client.calls import Calls"]
    if "segment(" in text:
        lines.append("from sinemora_client.transport import segment")
    if has_models:
        lines += ["", "if TYPE_CHECKING:", "    from sinemora_client import models"]
    return (
        "\n".join(
            [
                *lines,
                f"\n\nclass {class_name(tag)}(Calls):",
                docstring(f"Operations with the tag `{tag}`.", "    "),
                "",
                text,
            ]
        )
        + "\n"
    )


def package_of(tags: list[str]) -> str:
    """Return the module that puts the classes of all tags together."""
    lines = [HEADER.format(title="All operations of the API that a key may call.")]
    ordered = sorted(tags, key=module_name)
    lines += [f"from sinemora_client.operations.{module_name(tag)} import {class_name(tag)}" for tag in ordered]
    bases = "".join(f"    {class_name(tag)},\n" for tag in ordered)
    return (
        "\n".join(lines)
        + f'\n\n\nclass Operations(\n{bases}):\n    """All operations of the API that a key may call."""\n'
    )


def _method(operation: Operation, schemas: dict[str, Schema]) -> str:
    page = _page_item(operation, schemas)
    kinds, reads = _answer(operation)
    positional = [f"{one['name']}: str | UUID" for one in operation.parameters("path")]
    sent, body_parameter = _body(operation)
    named = _named(operation, paged=page is not None)
    head = ["self", *positional, *body_parameter]
    if named:
        head += ["*", *(f"{name}: {kind}{default}" for name, kind, default, _ in named)]
    returned = f"Iterator[{page}]" if page else kinds
    one_line = f"    def {operation.name}({', '.join(head)}) -> {returned}:"
    lines = [one_line]
    if len(one_line) > 120:
        lines = [f"    def {operation.name}(", *(f"        {part}," for part in head), f"    ) -> {returned}:"]
    lines.append(docstring(_words(operation), "        "))
    path = operation.path
    for one in operation.parameters("path"):
        path = path.replace("{" + one["name"] + "}", "{segment(" + one["name"] + ")}")
    address = f'f"{path}"' if "{" in path else f'"{path}"'
    query = [(one, variable) for variable, _, _, one in named if one is not None]
    params = "{" + ", ".join(f'"{one}": {variable}' for one, variable in query) + "}"
    if page:
        lines.append(f"        return self._items({address}, {params})\n")
        return "\n".join(lines)
    options = [f'"{operation.method}"', address]
    options += [f"params={params}"] if query else []
    options += sent
    options += ["version=version"] if operation.has_header("if-match") else []
    options += ["idempotency_key=idempotency_key"] if operation.has_header("idempotency-key") else []
    options += ["as_json=True"] if operation.has_header("accept") and reads == "_json" else []
    call = f"self.{reads}({', '.join(options)})"
    if kinds == "None":
        lines.append(f"        {call}\n")
    elif kinds == "Any":
        lines.append(f"        return {call}\n")
    else:
        lines += [f"        answer: {kinds} = {call}", "        return answer\n"]
    return "\n".join(lines)


def _page_item(operation: Operation, schemas: dict[str, Schema]) -> str | None:
    """Return the type of the items of a list that is read in pages."""
    ref = ref_of(operation.answers.get("200", {}).get(_JSON, {}).get("schema", {}))
    if ref is None or "next_cursor" not in schemas[ref].get("properties", {}) or operation.method != "GET":
        return None
    if not any(one["name"] == "cursor" for one in operation.parameters("query")):
        return None
    return type_of(schemas[ref]["properties"]["items"]["items"], "models.")


def _answer(operation: Operation) -> tuple[str, str]:
    """Return the type of the response and the method of `Calls` that reads it."""
    kinds, reads = [], "_json"
    for status, content in operation.answers.items():
        if _JSON in content:
            kinds.append(type_of(content[_JSON].get("schema", {}), "models."))
        elif content:
            reads = "_text" if all(media in _TEXTS for media in content) else "_bytes"
            kinds.append("str" if reads == "_text" else "bytes")
        elif status == "204":
            kinds.append("None")
        else:
            reads = "_bytes"
            kinds.append("bytes")
    return union(kinds), reads


def _body(operation: Operation) -> tuple[list[str], list[str]]:
    """Return the options of the call for a body, and its parameter."""
    body = operation.entry.get("requestBody")
    if body is None:
        return [], []
    optional = "" if body.get("required") else " | None = None"
    if _JSON in body["content"]:
        return ["body=body"], [f"body: {type_of(body['content'][_JSON]['schema'], 'models.')}{optional}"]
    media = next(iter(body["content"]))
    return ["content=content", f'media_type="{media}"'], [f"content: bytes | str{optional}"]


def _named(operation: Operation, *, paged: bool) -> list[tuple[str, str, str, str | None]]:
    """Return the keyword parameters: variable, type, default, and its name in the query if it stands there."""
    found: list[tuple[str, str, str, str | None]] = []
    for one in operation.parameters("query"):
        name = str(one["name"])
        # Other formats than JSON have no type: `Client.stream` reads them.
        if (paged and name in _OF_PAGES) or (name == "format" and _answer(operation)[1] == "_json"):
            continue
        kind = _query_type(one["schema"])
        required = one.get("required", False)
        kind = kind if required else union([kind, "None"])
        found.append((f"{name}_" if keyword.iskeyword(name) else name, kind, "" if required else " = None", name))
    if operation.has_header("if-match"):
        needed = operation.method in ("PATCH", "PUT")
        kind = 'int | Literal["*"]' if needed else 'int | Literal["*"] | None'
        found.append(("version", kind, "" if needed else " = None", None))
    if operation.has_header("idempotency-key"):
        found.append(("idempotency_key", "str | None", " = None", None))
    return found


def _query_type(schema: Schema) -> str:
    """Return the type of a query parameter: ids and times may be objects of Python too."""
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return union(_query_type(one) for one in schema[several])
    if schema.get("format") == "date-time":
        return "str | datetime"
    if schema.get("format") == "uuid":
        return "str | UUID"
    return type_of(schema, "models.")


def _words(operation: Operation) -> str:
    """Return what an operation does, the role it needs, and the codes of its refusals."""
    codes = sorted(operation.codes - _OF_ANY)
    refused = f" Raises `ApiError` with {', '.join(f'`{code}`' for code in codes)}." if codes else ""
    words = str(operation.entry.get("description") or operation.entry["summary"])
    return f"{words}\n\n{operation.method} {operation.path}, role {operation.entry['x-required-role']}.{refused}"
