"""Cursor paging: stable under inserts; the last page is as fast as the first."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from sinemora.kit.errors import ProductError
from sinemora.kit.http import strict_json

T = TypeVar("T")
U = TypeVar("U")
CURSOR_MAX = 2_000
"""Most characters of a cursor."""


class Page(BaseModel, Generic[T]):
    """One page of a list; `next_cursor` is null on the last."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)

    items: list[T]
    next_cursor: str | None = Field(
        description="Cursor of the next page; null on the last one", json_schema_extra={"maxLength": CURSOR_MAX}
    )


@dataclass(frozen=True)
class Slice(Generic[T]):
    """Result of `paginate`. A route that declares `Page[XRead]` returns it unchanged."""

    items: Sequence[T]
    next_cursor: str | None

    def mapped(self, read: Callable[[T], U]) -> "Slice[U]":
        """Return the slice with what `read` makes of each item."""
        return Slice([read(item) for item in self.items], self.next_cursor)


@dataclass(frozen=True)
class PageQuery:
    """The two parameters of every list route."""

    limit: int
    cursor: str | None


# A pattern of the parameter itself would refuse with another code than `cursor_invalid`.
Cursor = Annotated[
    str | None,
    Query(
        description="`next_cursor` of the previous page. Opaque; valid for the same list with the same filters."
        " Any other text is refused: 422 `cursor_invalid`",
        json_schema_extra={"minLength": 1, "maxLength": CURSOR_MAX, "pattern": "^[A-Za-z0-9_-]+$"},
    ),
]


async def _page_query(
    limit: Annotated[int, Query(ge=1, le=500, description="Items per page")] = 100,
    cursor: Cursor = None,
) -> PageQuery:
    return PageQuery(limit, cursor)


Paging = Annotated[PageQuery, Depends(_page_query)]


def encode_cursor(values: Sequence[Any]) -> str:
    """Return an opaque cursor for the position after a row with these sort values."""
    packed = json.dumps([value.isoformat() if isinstance(value, datetime) else str(value) for value in values])
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, kinds: Sequence[type]) -> list[Any]:
    """Return the sort values of `encode_cursor`, as `kinds` (str, int, UUID or datetime). ProductError
    `cursor_invalid`.
    """
    try:
        if len(cursor) > CURSOR_MAX:
            raise ValueError("too long")
        # Strictly: the decoder would skip characters that are none of its alphabet.
        raw = strict_json.parse(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        if not isinstance(raw, list) or len(raw) != len(kinds):
            raise ValueError("other columns")
        readers: dict[type, Callable[[str], Any]] = {datetime: datetime.fromisoformat, UUID: UUID, int: int, str: str}
        return [readers[kind](value) for kind, value in zip(kinds, raw, strict=True)]
    except (ValueError, TypeError, binascii.Error) as error:
        raise ProductError(
            "cursor_invalid", 422, "Invalid cursor: it does not belong to this list. Begin without one."
        ) from error


def paginate(
    session: Session,
    statement: Select[T],
    page: PageQuery,
    *by: InstrumentedAttribute[Any],
    descending: bool = False,
) -> Slice[T]:
    """Return the page of `statement` (one entity) ordered by the columns `by`, which together must be unique."""
    if page.cursor is not None:
        after = decode_cursor(page.cursor, [column.type.python_type for column in by])
        statement = statement.where(tuple_(*by) < tuple_(*after) if descending else tuple_(*by) > tuple_(*after))
    order = [column.desc() if descending else column.asc() for column in by]
    rows = session.scalars(statement.order_by(*order).limit(page.limit + 1)).all()
    items = rows[: page.limit]
    more = len(rows) > page.limit
    return Slice(items, encode_cursor([getattr(items[-1], column.key) for column in by]) if more else None)
