"""Ids in the query of a GET: one that does not exist is 404, as in the path. A list filtered by it would look empty."""

from typing import Any
from uuid import UUID

from fastapi import Request
from sqlalchemy import select

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import NotFound

_models: dict[str, Any] = {}
_ROLES = ("source_", "target_")


def register(**models: Any) -> None:
    """Name the model that a parameter is the id of: `register(mesh_id=Mesh)`."""
    _models.update(models)


def check_known(request: Request, session: SessionDep) -> None:
    """Refuse ids of the query that the tenant has no row for. ProductError `…_unknown` (404)."""
    for name, value in request.query_params.multi_items():
        noun = noun_of(name)
        model, id = _models.get(f"{noun}_id"), uuid_of(value)
        if model is not None and id is not None and session.scalar(select(model.id).where(model.id == id)) is None:
            raise NotFound(noun.replace("_", " "))


def noun_of(parameter: str) -> str:
    """Return what a parameter is the id of: a VM for `source_vm_id`."""
    noun = parameter.removesuffix("_id")
    return next((noun.removeprefix(role) for role in _ROLES if noun.startswith(role)), noun)


def uuid_of(text: str) -> UUID | None:
    """Return a text as a UUID; None if it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None  # refused with a pointer, where a UUID is wanted
