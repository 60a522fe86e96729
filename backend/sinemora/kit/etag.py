"""Lost updates do not happen: every mutable resource has a version, shown as its ETag and demanded back as If-Match.

A PATCH without If-Match is refused (428, RFC 6585), one with an old ETag too (412, RFC 9110 §13.1.1); `If-Match: *`
says "whatever it is now". A DELETE takes If-Match when it is sent.
"""

from typing import Annotated, Any

from fastapi import Depends, Header, Request
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from sinemora.kit.errors import ProductError


class Versioned:
    """A row whose `version` rises with every change; SQLAlchemy refuses a stale one (StaleDataError, 412)."""

    version: Mapped[int] = mapped_column(nullable=False)

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class IfMatch:
    """What the request said about the version it means to change."""

    def __init__(self, tags: str | None, *, required: bool) -> None:
        self.tags = tags
        self.required = required

    def check(self, row: Versioned) -> None:
        """Pass when the client saw this version of `row`. ProductError `if_match_required`, `version_changed`."""
        if self.tags is None:
            if self.required:
                raise ProductError(
                    "if_match_required",
                    428,
                    "Send If-Match with the ETag you read, or * to overwrite whatever is there.",
                )
            return
        offered = {tag.strip().removeprefix("W/") for tag in self.tags.split(",")}
        if "*" not in offered and etag(row) not in offered:
            raise ProductError("version_changed", 412, "Somebody changed this meanwhile. Read it again, then decide.")


def etag(row: Versioned) -> str:
    """Return the entity tag of this version of `row`."""
    return f'"{row.version}"'


def tag(request: Request, row: Versioned) -> None:
    """Put the ETag of `row` on the answer to `request`."""
    request.state.answer_headers["ETag"] = etag(row)


async def _if_match(request: Request, if_match: Annotated[str | None, Header()] = None) -> IfMatch:
    return IfMatch(if_match, required=request.method == "PATCH")


Precondition = Annotated[IfMatch, Depends(_if_match)]
