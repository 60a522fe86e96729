"""Optimistic locking: every mutable resource has a version, sent as ETag and required back as If-Match.

A PATCH without If-Match is refused (428, RFC 6585), and so is one with an old ETag (412, RFC 9110 §13.1.1).
`If-Match: *` accepts any version. For a DELETE, If-Match is optional.
"""

from typing import Annotated, Any

from fastapi import Depends, Header, Request
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
    """Add the ETag of `row` to the response to `request`."""
    request.state.response_headers["ETag"] = etag(row)


async def _if_match(request: Request, if_match: Annotated[str | None, Header()] = None) -> IfMatch:
    return IfMatch(if_match, required=request.method == "PATCH")


Precondition = Annotated[IfMatch, Depends(_if_match)]
