"""JSON schemas of saved views."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.kit.names import Name
from sinemora.kit.schemas import Read, Write

# "//host" and "/\host" would lead to another site.
Address = Annotated[
    str,
    Field(
        max_length=2000,
        pattern=r"^/([^/\\\s\x00-\x1f][^\s\x00-\x1f]*)?$",
        description="Path and parameters of a page: /meshes/…?metric=loss",
    ),
]


class SavedViewCreate(Write):
    """View to save."""

    name: Annotated[Name, Field(description="One line")]
    address: Address


class SavedViewRead(Read):
    """A saved view."""

    id: UUID
    name: str
    address: str
    created_by: str
    created_at: datetime
