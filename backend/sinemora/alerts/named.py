"""Objects that silences, routes and scopes of rules name. They follow a new name, and so mean the same object.

Zones of several regions, and rules of several meshes, may share a name: it means all of them. When one of them is
renamed, the name stays, and means the others.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.db import every_mesh
from sinemora.kit.renames import followers

_TABLES = {"mesh": "meshes", "vm": "vms", "zone": "zones", "rule": "alert_rules", "application": "applications"}
_NOUNS = {"vm": "VM", "rule": "alert rule"}
_OF_SCOPE = {"vm": ("vms", "path"), "zone": ("zones", "zone_pair"), "application": ("application",)}


def notes_on(session: Session, matchers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence about each matcher whose name no object has, or several zones."""
    notes = []
    for label, value in ((one["label"], one["value"]) for one in matchers):
        if label not in _TABLES or "*" in value:
            continue
        number = _number_named(session, label, value)
        if number == 0:
            notes.append(f"No {_NOUNS.get(label, label)} is named {value} now.")
        elif number > 1 and label == "zone":
            notes.append(f"{number} zones are named {value}: it means all of them. The id of a zone means that one.")
    return notes


def _number_named(session: Session, kind: str, name: str) -> int:
    """Return how many objects of a kind have a name or id."""
    query = text(f"SELECT count(*) FROM {_TABLES[kind]} WHERE name = :name OR id::text = :name")
    return int(session.execute(query, {"name": name}).scalar_one())


def _follow(session: Session, kind: str, before: str, name: str) -> None:
    """Give what means the object by its name the new one, also where the caller does not see it."""
    with every_mesh(session):
        if _number_named(session, kind, before):
            return
        # Always in this order, as the change of a rule has locked it already.
        if kind in _OF_SCOPE:
            _rewrite(session, "alert_rules", "scope", before, lambda value: _in_scope(value, kind, before, name))
        for table, column in (("silences", "matchers"), ("alert_routings", "tree")):
            _rewrite(session, table, column, before, lambda value: _in_matchers(value, kind, before, name))


def _rewrite(session: Session, table: str, column: str, before: str, changed: Callable[[Any], Any]) -> None:
    """Replace the JSON of rows that have a text by what `changed` returns."""
    holders = text(f"SELECT id, {column} FROM {table} WHERE strpos({column}::text, :text) > 0 ORDER BY id FOR UPDATE")
    statement = text(f"UPDATE {table} SET {column} = CAST(:value AS jsonb), version = version + 1 WHERE id = :id")
    for row_id, value in session.execute(holders, {"text": json.dumps(before, ensure_ascii=False)}).all():
        now = changed(value)
        if now != value:
            session.execute(statement, {"id": row_id, "value": json.dumps(now)})


def _in_matchers(value: Any, kind: str, before: str, name: str) -> Any:
    """Return JSON in which the matchers of the object have its new name."""
    if isinstance(value, list):
        return [_in_matchers(one, kind, before, name) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("label") == kind and value.get("value") == before:
        return value | {"value": name}
    return {key: _in_matchers(one, kind, before, name) for key, one in value.items()}


def _in_scope(scope: dict[str, Any], kind: str, before: str, name: str) -> dict[str, Any]:
    """Return the scope of a rule in which the object has its new name."""

    def renamed(value: Any) -> Any:
        return [name if one == before else one for one in value] if isinstance(value, list) else value

    return scope | {
        field: name if scope[field] == before else renamed(scope[field])
        for field in _OF_SCOPE[kind]
        if scope.get(field)
    }


followers.append(_follow)
