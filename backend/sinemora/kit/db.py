"""The database: one engine, sessions that belong to a tenant, one transaction per request or task.

Tenancy is set once, where a session opens, and holds three times over: criteria on every ORM statement, composite
foreign keys, and row-level security keyed by two transaction settings, `sinemora.tenant_id` and `sinemora.tenant_key`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any
from uuid import UUID, uuid4

from anyio import CancelScope, CapacityLimiter, to_thread
from fastapi import Depends, Request
from sqlalchemy import Connection, DateTime, Engine, ForeignKey, MetaData, Uuid, create_engine, event, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    ORMExecuteState,
    Session,
    SessionTransaction,
    mapped_column,
    sessionmaker,
    with_loader_criteria,
)

from sinemora.kit.config import settings
from sinemora.kit.database_role import UNCONFINED, unconfined_role
from sinemora.kit.errors import ProductError
from sinemora.kit.tracing import trace_engine

EVERYBODY = "*"


class Base(DeclarativeBase):
    """Parent of all tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it from the class)
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        dict[str, Any]: JSONB(),
    }


class Identified:
    """A row with a UUID of its own and the time it was made."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class TenantOwned:
    """A row of one tenant: filtered, stamped and refused by the listeners below."""

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))


SessionMaker = sessionmaker(expire_on_commit=False)


@lru_cache
def engine() -> Engine:
    """Return the connections of this process as the application's role."""
    made = create_engine(
        settings().database_url,
        pool_size=settings().database_pool_size,
        max_overflow=settings().database_pool_size,
        pool_timeout=5,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 5,
            "application_name": "sinemora",
            "options": "-c timezone=UTC -c lock_timeout=4s -c statement_timeout=30s"
            " -c idle_in_transaction_session_timeout=60s",
        },
    )
    event.listen(made, "connect", _refuse_unconfined)
    if settings().traces_url:
        trace_engine(made)
    return made


def _refuse_unconfined(connection: Any, _: Any) -> None:
    if role := unconfined_role(connection):
        raise ProductError("database_role_unconfined", 503, UNCONFINED.format(role=role))


@lru_cache(maxsize=4096)
def _tenant_key(tenant_id: UUID) -> int:
    """Return the small integer of a tenant; it never changes, so it is asked for once per process."""
    with system_session() as session:
        key = session.scalar(text("SELECT key FROM tenants WHERE id = :id"), {"id": tenant_id})
    if key is None:
        raise LookupError(f"no tenant {tenant_id}")
    return int(key)


@contextmanager
def _transaction(tenant_id: UUID | None, tenant_key: int | None) -> Iterator[Session]:
    """Asks the database nothing before the first statement."""
    info = {"tenant_id": tenant_id, "tenant_key": tenant_key}
    with SessionMaker(bind=engine(), info=info) as session, session.begin():
        yield session


@contextmanager
def tenant_session(tenant_id: UUID) -> Iterator[Session]:
    """A transaction as one tenant: committed on success, rolled back on error. Unknown tenant: LookupError."""
    with _transaction(tenant_id, _tenant_key(tenant_id)) as session:
        yield session


@contextmanager
def system_session() -> Iterator[Session]:
    """A transaction that sees every tenant: sweeps, sign-in, the command line. Never for a request's own work."""
    with _transaction(None, None) as session:
        yield session


async def open_session(request: Request) -> AsyncIterator[Session]:
    """Yield the transaction of a request, as the tenant that authentication left in its state: `tenant_id`,
    `tenant_key`.

    A route nobody signs in to has none and fails here: it cannot run without a tenant.
    """
    whole = _transaction(request.state.tenant_id, request.state.tenant_key)
    # On the event loop, which under load is one turn less to wait for. Ending asks the database, on a thread of its
    # own: those of the pool may all be waiting for the connection that is given back here.
    session = whole.__enter__()
    request.state.session = session

    async def end(*error: Any) -> bool:
        handled = False
        with CancelScope(shield=True):
            handled = bool(await to_thread.run_sync(whole.__exit__, *error, limiter=CapacityLimiter(1)))
        return handled

    try:
        yield session
    except BaseException as error:
        if not await end(type(error), error, error.__traceback__):
            raise
    else:
        await end(None, None, None)


# scope="function": committed after serialising and before the response leaves, so a 2xx is never a lie.
SessionDep = Annotated[Session, Depends(open_session, scope="function")]


@event.listens_for(SessionMaker, "after_begin")
def _set_tenant(session: Session, transaction: SessionTransaction, connection: Connection) -> None:
    """Set what row-level security reads; `true` ends it with the transaction, so a pooled connection keeps nothing."""
    if transaction.nested:
        return
    tenant_id, tenant_key = session.info["tenant_id"], session.info["tenant_key"]
    connection.execute(
        text("SELECT set_config('sinemora.tenant_id', :id, true), set_config('sinemora.tenant_key', :key, true)"),
        {
            "id": EVERYBODY if tenant_id is None else str(tenant_id),
            "key": EVERYBODY if tenant_key is None else str(tenant_key),
        },
    )


@event.listens_for(SessionMaker, "do_orm_execute")
def _confine(state: ORMExecuteState) -> None:
    tenant_id = state.session.info["tenant_id"]  # KeyError: opened for nobody
    if tenant_id is None or state.is_column_load or state.is_relationship_load:  # these two inherit the option
        return
    state.statement = state.statement.options(
        with_loader_criteria(TenantOwned, lambda cls: cls.tenant_id == tenant_id, include_aliases=True)
    )


@event.listens_for(SessionMaker, "before_flush")
def _stamp(session: Session, *_: Any) -> None:
    tenant_id = session.info["tenant_id"]
    if tenant_id is None:
        return
    for row in session.new:
        if isinstance(row, TenantOwned):
            if row.tenant_id is None:
                row.tenant_id = tenant_id
            elif row.tenant_id != tenant_id:
                raise ValueError(f"{type(row).__name__} of tenant {row.tenant_id} in a session of {tenant_id}")
