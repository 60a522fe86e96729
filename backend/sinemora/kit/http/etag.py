"""Optimistic locking: every mutable resource has a version, sent as ETag and required back as If-Match.

A route whose response shows the version sends the ETag without further ado (`BoundedRoute`).

A PATCH without If-Match is refused (428, RFC 6585), and so is one with an old ETag (412, RFC 9110 §13.1.1).
`If-Match: *` accepts any version. For a DELETE and a PUT, If-Match is optional. What is neither `*` nor a list of
entity tags is malformed (422): without quotation marks a version would be compared with none, and read as a conflict.
"""

import json
import re
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel
from sqlalchemy import inspect, select
from sqlalchemy.orm import Mapped, declared_attr, mapped_column
from sqlalchemy.orm.attributes import set_committed_value

from sinemora.kit.errors import ProductError, invalid, version_changed
from sinemora.kit.field_errors import pointer_of

# RFC 9110 §8.8.3: an opaque tag in quotation marks, weak with W/ in front; §5.6.1: lists may have empty elements.
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"[ \t,]*{_TAG}(?:[ \t]*,[ \t,]*{_TAG})*[ \t,]*")
_WEAK = "W/"


class Versioned:
    """Row whose `version` rises with every change; SQLAlchemy refuses a stale one (StaleDataError, 412)."""

    version: Mapped[int] = mapped_column(nullable=False)

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class IfMatch:
    """Precondition of a request: the versions that it may change. ProductError `request_invalid`."""

    def __init__(self, header: str | None, *, required: bool) -> None:
        self._tags = None if header is None else _parsed(header)
        self._required = required

    def check(self, row: Versioned | None) -> None:
        """Check that the client read this version of `row`; None is what a PUT creates, which can be read as version 0.

        Where any version will do, wait for changes under way and continue with theirs.
        ProductError `if_match_required`, `if_match_weak`, `version_changed`.
        """
        if row is None:
            if self._tags is not None and not {"*", '"0"'} & set(self._tags):
                raise version_changed()
            return
        if self._tags is None:
            if self._required:
                raise ProductError(
                    "if_match_required",
                    428,
                    "If-Match missing: send the ETag you read, or * to overwrite any version.",
                )
            _follow(row)
            return
        if "*" in self._tags:
            _follow(row)
            return
        if etag(row) in self._tags:
            return
        if all(tag.startswith(_WEAK) for tag in self._tags):
            weak = self._tags[0]
            raise ProductError(
                "if_match_weak",
                412,
                f"Weak entity tag: If-Match compares strongly (RFC 9110, 13.1.1), so {weak} matches no version. Send"
                f" {weak.removeprefix(_WEAK)}, the version in the body. A proxy that compresses makes tags weak.",
            )
        raise version_changed()


def _follow(row: Versioned) -> None:
    """Lock `row` and take over its newest version: a request without a condition is never refused as stale."""
    state = inspect(row, raiseerr=False)
    if state is None or state.session is None:
        return
    key = zip(state.mapper.primary_key, state.mapper.primary_key_from_instance(row), strict=True)
    same = [column == value for column, value in key]
    newest = state.session.scalar(select(type(row).version).where(*same).with_for_update(key_share=True))
    if newest is not None:
        set_committed_value(row, "version", newest)


def _parsed(header: str) -> list[str]:
    """Return the entity tags of an If-Match, or `*` alone. ProductError `request_invalid`."""
    if header.strip() == "*":
        return ["*"]
    if not _TAGS.fullmatch(header):
        version = re.fullmatch(r"\s*(?:W/)?(\d{1,19})\s*", header)
        right = f'"{version[1]}"' if version else '"3"'
        message = f"Not an entity tag. Write the ETag you read, in quotation marks: {right}. * overwrites any version."
        raise invalid([{"pointer": pointer_of(("header", "if-match")), "message": message}])
    return re.findall(_TAG, header)


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
    if_match: Annotated[
        str | None,
        Header(description='ETag of the version to change, in quotation marks as in `"3"`; `*` overwrites any'),
    ] = None,
) -> IfMatch:
    lines = request.headers.getlist("if-match") if if_match is not None else []
    return IfMatch(", ".join(lines) if lines else None, required=request.method == "PATCH")


Precondition = Annotated[IfMatch, Depends(_if_match)]
