"""Limit of a caller to some meshes of its tenant.

Row-level security reads it from two settings of the transaction (`grants.py` has the policies), so every statement of a
limited caller sees the rows of these meshes alone, whichever route sends it. What belongs to no mesh is read by all
members and changed only by those without a limit (`refuse_whole_tenant`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import MetaData

from sinemora.kit.errors import ProductError

_present: ContextVar["MeshLimit | None"] = ContextVar("mesh_limit", default=None)


@dataclass(frozen=True)
class MeshLimit:
    """Meshes that a limited caller sees: their ids, and their keys in time series."""

    ids: frozenset[UUID]
    keys: frozenset[int]


def as_settings(limit: MeshLimit | None) -> tuple[str, str]:
    """Return the values of `sinemora.mesh_ids` and `sinemora.mesh_keys`; both empty without a limit."""
    return ("", "") if limit is None else (_listed(limit.ids), _listed(limit.keys))


def _listed(values: Iterable[object]) -> str:
    """Return values between commas: an empty list differs from no list."""
    return "," + "".join(f"{value}," for value in sorted(map(str, values)))


def present() -> MeshLimit | None:
    """Return the limit that sessions opened now have."""
    return _present.get()


def listed(limit: MeshLimit | None) -> list[UUID] | None:
    """Return the meshes of a limit in order, None without one: the column `mesh_ids` of what its caller creates."""
    return None if limit is None else sorted(limit.ids)


def set_present(limit: MeshLimit | None) -> None:
    """Set the limit of the request that begins, for the sessions that it opens itself."""
    _present.set(limit)


@contextmanager
def limited_to(limit: MeshLimit | None) -> Iterator[None]:
    """Give sessions that are opened meanwhile this limit."""
    token = _present.set(limit)
    try:
        yield
    finally:
        _present.reset(token)


@cache
def tables_of_meshes(metadata: MetaData) -> frozenset[str]:
    """Return the tables whose rows belong to a mesh: foreign keys lead from them to `meshes`."""
    found = {"meshes"}
    while True:
        more = {
            name
            for name, table in metadata.tables.items()
            if any(key.target_fullname.split(".")[0] in found for key in table.foreign_keys)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def refuse_whole_tenant(metadata: MetaData, model: Any, row: Any = None, *, new: bool = False) -> None:
    """Refuse a limited caller the change of what belongs to no mesh. ProductError `all_meshes_required` (403).

    `row` is None for a statement about many rows, of which row-level security shows the caller's own.
    """
    table = str(model.__tablename__)
    is_theirs = table in tables_of_meshes(metadata)
    if new and table == "meshes":  # none of those that the caller sees
        is_theirs = False
    if row is not None and getattr(row, "mesh_id", row) is None:  # about all meshes
        is_theirs = False
    if not is_theirs and not model.limited_callers_change:
        raise _refusal(table.replace("_", " "))


def refuse_limited(limit: MeshLimit | None, what: str) -> None:
    """Refuse a caller with a limit the change of `what` (plural). ProductError `all_meshes_required` (403)."""
    if limit is not None:
        raise _refusal(what)


def _refusal(what: str) -> ProductError:
    return ProductError(
        "all_meshes_required",
        403,
        f"Not allowed: you see some meshes of this tenant, and {what} concern all of them. Ask an administrator of the"
        " tenant.",
    )
