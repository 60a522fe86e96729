"""`Idempotency-Key` on POST: a repeated request gets the stored response of the first one, for 24 h.

The key is claimed and the response stored in the transaction of the request, so both commit or neither does. A second
request with the key waits until the first has committed or rolled back.
"""

import hashlib
import inspect
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Header, Request, Response
from sqlalchemy import ForeignKey, LargeBinary, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column
from starlette.concurrency import run_in_threadpool

from sinemora.kit.db import Base, SessionDep, TenantOwned
from sinemora.kit.errors import ProductError
from sinemora.kit.http.known_ids import check_known
from sinemora.kit.http.routes import BoundedRoute

KEPT = timedelta(hours=24)


class IdempotencyKey(TenantOwned, Base):
    """Idempotency key of a caller, with the request and its response. `body` is null when the response had a secret.

    `etag`: of the response, null without one.
    """

    __tablename__ = "idempotency_keys"
    limited_callers_change = True

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    caller: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(index=True)
    status: Mapped[int | None]
    media_type: Mapped[str | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    etag: Mapped[str | None]


class _Replay(Exception):
    def __init__(self, response: Response) -> None:
        self.response = response


async def _claim(
    request: Request,
    session: SessionDep,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=8,
            max_length=200,
            description="Any text of the caller's; a repeated request with it is carried out once in 24 h",
            examples=["make-mesh-production"],
        ),
    ] = None,
) -> None:
    if idempotency_key is None:
        return
    upload = getattr(request.state, "upload", None)
    body = await request.body() if upload is None else upload.sha256
    query = request.url.query.encode()
    parts = [request.method.encode(), request.url.path.encode(), query, body]
    fingerprint = hashlib.sha256(b"\0".join(parts)).digest()
    request.state.claimed = await run_in_threadpool(
        _claim_row, session, request.state.caller, idempotency_key, fingerprint
    )


def _claim_row(session: Session, caller: str, key: str, fingerprint: bytes) -> IdempotencyKey:
    now = datetime.now(UTC)
    mine = (IdempotencyKey.caller == caller, IdempotencyKey.key == key)
    session.execute(delete(IdempotencyKey).where(*mine, IdempotencyKey.created_at < now - KEPT))
    claimed = session.execute(
        insert(IdempotencyKey)
        .values(tenant_id=session.info["tenant_id"], caller=caller, key=key, fingerprint=fingerprint, created_at=now)
        .on_conflict_do_nothing()  # waits for a transaction that holds the same key
        .returning(IdempotencyKey.key)
    ).first()
    row = session.scalars(select(IdempotencyKey).where(*mine)).one()
    if claimed:
        return row
    if row.fingerprint != fingerprint:
        raise ProductError(
            "idempotency_key_reused", 422, "Idempotency-Key reused: it belongs to another request. Use a new one."
        )
    if row.body is None:
        raise ProductError(
            "secret_shown_once",
            409,
            "Secret shown once: this request succeeded before, and its response is not stored."
            " If the secret is lost, delete the object and repeat the request with a new key.",
        )
    headers = {"Idempotent-Replayed": "true"} | ({"ETag": row.etag} if row.etag else {})
    raise _Replay(Response(row.body, row.status or 200, media_type=row.media_type, headers=headers))


def _store_response(row: IdempotencyKey, request: Request, response: Response, *, secret: bool) -> None:
    session: Session = request.state.session
    row.etag = request.state.response_headers.get("ETag")
    row.status = response.status_code
    row.media_type = response.media_type or response.headers.get("content-type")
    row.body = None if secret else bytes(response.body)
    session.flush()


def delete_old_keys(session: Session, now: datetime) -> int:
    """Delete expired keys. Return their number."""
    deleted = session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - KEPT))
    return int(deleted.rowcount)  # type: ignore[attr-defined]


def _ids_in_query(path: str, endpoint: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(endpoint).parameters if name.endswith("_id") and name not in path]


class ProductRoute(BoundedRoute):
    """Route whose POST honours `Idempotency-Key`, and whose GET refuses unknown ids in its query.

    `secret_once` marks one whose response has a secret, `only_reads` one that stores nothing and so takes no key.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if "POST" in (options.get("methods") or ()) and not getattr(endpoint, "only_reads", False):
            dependencies: Sequence[Any] = options.get("dependencies") or ()
            options["dependencies"] = [*dependencies, Depends(_claim)]
        if "GET" in (options.get("methods") or ()) and _ids_in_query(path, endpoint):
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(check_known)]
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that replays a stored response, or calls the route and stores its response."""
        handler = super().get_route_handler()
        secret = getattr(self.endpoint, "secret_once", False)

        async def handle(request: Request) -> Response:
            try:
                response = await handler(request)
            except _Replay as before:
                return before.response
            claimed = getattr(request.state, "claimed", None)
            if claimed is not None:
                await run_in_threadpool(_store_response, claimed, request, response, secret=secret)
            return response

        return handle


def only_reads(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a POST that answers and stores nothing: its body is a question too long for an address."""
    endpoint.only_reads = True  # type: ignore[attr-defined]
    return endpoint


def secret_once(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a route whose response has a secret: it is never stored, so it cannot be replayed."""
    endpoint.secret_once = True  # type: ignore[attr-defined]
    return endpoint
