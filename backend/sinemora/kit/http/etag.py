"""Optimistic locking: every mutable resource has a version, sent as ETag and required back as If-Match.

A route whose response shows the version sends the ETag without further ado (`BoundedRoute`).

A PATCH without If-Match is refused (428, RFC 6585), and so is one with an old ETag (412, RFC 9110 §13.1.1).
`If-Match: *` accepts any version. For a DELETE, If-Match is optional.
"""

import json
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from sinemora.kit.errors import ProductError


class Versioned:
    """Row whose `version` rises with every change; SQLAlchemy refuses a stale one (StaleDataError, 412)."""

    version: Mapped[int] = mapped_column(nullable=False)

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class IfMatch:
    """Precondition of a request: the versions that it may change."""

    def __init__(self, tags: str | None, *, required: bool) -> None:
        self.tags = tags
        self.required = required

    def check(self, row: Versioned) -> None:
        """Check that the client read this version of `row`. ProductError `if_match_required`, `version_changed`."""
        if self.tags is None:
            if self.required:
                raise ProductError(
                    "if_match_required",
                    428,
                    "If-Match missing: send the ETag you read, or * to overwrite any version.",
                )
            return
        offered = {tag.strip().removeprefix("W/") for tag in self.tags.split(",")}
        if "*" not in offered and etag(row) not in offered:
            raise ProductError(
                "version_changed",
                412,
                "Version changed: someone else changed this. Read it again, then repeat the change.",
            )


def etag(row: Versioned) -> str:
    """Return the entity tag of this version of `row`."""
    return f'"{row.version}"'


def tag(request: Request, row: Versioned) -> None:
    """Add the ETag of `row` to the response to `request`, whose body does not show the version."""
    request.state.response_headers["ETag"] = etag(row)


def tagged(*statuses: int, description: str = "Version of the object") -> dict[int | str, dict[str, Any]]:
    """Return `responses=` for a route that sends an ETag although its body does not show the version."""
    header = {"description": description, "schema": {"type": "string"}}
    return {status: {"headers": {"ETag": header}} for status in statuses}


def has_version(model: Any) -> bool:
    """Return whether a response model is one object with a version."""
    fields = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}
    return "version" in fields and fields["version"].annotation is int


def tag_response(request: Request, response: Response) -> None:
    """Add the ETag of the version that the body shows: to a successful response of every route that returns one."""
    if response.status_code in (200, 201) and isinstance(body := getattr(response, "body", None), bytes):
        request.state.response_headers["ETag"] = f'"{json.loads(body)["version"]}"'


async def _if_match(
    request: Request,
    if_match: Annotated[str | None, Header(description="ETag of the version to change; `*` overwrites any")] = None,
) -> IfMatch:
    return IfMatch(if_match, required=request.method == "PATCH")


Precondition = Annotated[IfMatch, Depends(_if_match)]
