"""Names near an unknown one: of the parameters of a query, and of the fields of a body."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_LONGEST = 100
"""Length of a name, beyond which nothing is near: the comparison takes the product of both lengths."""


def hint(name: str, known: Collection[str]) -> str:
    """Return " Did you mean `…`?" with the nearest of the known names; an empty text if none is near."""
    near = get_close_matches(name, known, n=1) if len(name) <= _LONGEST else []
    return f" Did you mean `{near[0]}`?" if near else ""


def fields_at(kind: Any, path: Sequence[int | str], value: Any) -> set[str]:
    """Return the names of the fields that an object may have, at a path in a `value` of type `kind`.

    An object of one of several types has the fields of those that its values fit, such as its `kind`.
    """
    kinds = _fitting(_alternatives(kind), value)
    for part in path:
        value = value_at(value, [part])
        kinds = _fitting([inner for one in kinds for inner in _below(one, part)], value)
    return {name for one in kinds if _is_model(one) for name in _named(one)}


def value_at(value: Any, path: Sequence[int | str]) -> Any:
    """Return what a value has at a path; None where it has nothing."""
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value


def _alternatives(kind: Any) -> list[Any]:
    """Return the types that a type stands for: the members of a union, without annotations."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [inner for one in get_args(kind) for inner in _alternatives(one)]
    return [kind]


def _fitting(kinds: Sequence[Any], value: Any) -> list[Any]:
    return [one for one in kinds if not _is_model(one) or _fits(one, value)]


def _fits(model: type[BaseModel], value: Any) -> bool:
    """Return whether a value has what the model's fields of one literal value require, or lacks it."""
    if not isinstance(value, Mapping):
        return True
    return all(
        value[name] in get_args(field.annotation)
        for name, field in _named(model).items()
        if get_origin(field.annotation) is Literal and name in value
    )


def _below(kind: Any, part: int | str) -> list[Any]:
    """Return the types of what a value of a type has at a key or a position."""
    if _is_model(kind):
        field = _named(kind).get(str(part))
        return [] if field is None else _alternatives(field.annotation)
    arguments = get_args(kind)
    if not arguments:
        return []
    return _alternatives(arguments[0 if isinstance(part, int) else -1])


def _named(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
