"""The database: one engine, sessions that belong to a tenant, one transaction per request or task.

Tenancy is set once, where a session opens, and holds three times over: criteria on every ORM statement, composite
foreign keys, and row-level security keyed by two transaction settings, `sinemora.tenant_id` and `sinemora.tenant_key`.
Two more, `sinemora.mesh_ids` and `sinemora.mesh_keys`, limit a caller to some meshes (`mesh_limit.py`).
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache, partial
from select import POLLIN, poll
from typing import Annotated, Any, ClassVar, TypeVar
from uuid import UUID, uuid4

import psycopg
from anyio import CancelScope, CapacityLimiter, to_thread
from fastapi import Depends, Request
from psycopg.abc import PQGen
from psycopg.errors import InFailedSqlTransaction
from psycopg.pq import TransactionStatus
from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    ForeignKey,
    MetaData,
    Uuid,
    create_engine,
    event,
    func,
    select,
    text,
)
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

from sinemora.kit import mesh_limit
from sinemora.kit.config import settings
from sinemora.kit.database_role import UNCONFINED, unconfined_role
from sinemora.kit.errors import ProductError
from sinemora.kit.mesh_limit import MeshLimit
from sinemora.kit.observability.tracing import trace_engine
from sinemora.kit.transaction_settings import set_meshes, set_tenant

WHOLE_CHUNKS = "-c timescaledb.max_tuples_decompressed_per_dml_transaction=0"
"""Option of connections that change rows of TimescaleDB's columnstore.

Changes decompress rows; the extension's limit of 100,000 would end retention. Other servers keep the option unread.
"""


RECYCLED_S = 900
"""Age at which a connection is replaced when it is next used, s.

A server process of PostgreSQL remembers every partition it has touched and keeps their files open until it ends.
"""

ANSWER_LIMIT_S = 40.0
"""Longest wait for a server process of the database, s: more than `statement_timeout`, which a hung one ignores.

Evaluation and notifications wait as long, and an alert is due within a minute.
"""
_answer_limit_s: ContextVar[float] = ContextVar("answer_limit_s", default=ANSWER_LIMIT_S)


@contextmanager
def answer_limit(seconds: float) -> Iterator[None]:
    """Wait for the database for at most `seconds` a statement, instead of `ANSWER_LIMIT_S`."""
    before = _answer_limit_s.set(seconds)
    try:
        yield
    finally:
        _answer_limit_s.reset(before)


class _Connection(psycopg.Connection[Any]):
    """Connection that gives up a server process that does not answer."""

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        """Run a step of the protocol. OperationalError when it takes longer than the limit of the caller."""
        try:
            return super().wait(gen, interval, _answer_limit_s.get() if timeout is None else timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()  # the pool sees that it is closed, and distrusts all that are as old
            raise


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
    """Row with a UUID and its creation time."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


IdentifiedRow = TypeVar("IdentifiedRow", bound=Identified)


def locked(session: Session, table: type[IdentifiedRow], identity: UUID) -> IdentifiedRow | None:
    """Return a row as it is now, locked against concurrent changes; None without one."""
    statement = select(table).where(table.id == identity).with_for_update(of=table)
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()


def named(session: Session, table: type[IdentifiedRow], name: str, mesh_id: UUID | None = None) -> IdentifiedRow | None:
    """Return the tenant's row of a name.

    A caller limited to some meshes may have given a hidden row's name once more: that of `mesh_id` comes first, then
    the oldest.
    """
    found = session.scalars(select(table).filter_by(name=name).order_by(table.created_at)).all()
    return next((row for row in found if mesh_id and getattr(row, "mesh_id", None) == mesh_id), next(iter(found), None))


def refuse_taken(session: Session, table: type[IdentifiedRow], name: str, code: str) -> None:
    """Raise ProductError `code`, as `mesh_name_taken`, when a row of the tenant has the name."""
    if named(session, table, name) is not None:
        noun = code.removesuffix("_name_taken").replace("_", " ")
        raise ProductError(code, 409, f"Name taken: another {noun} is named {name}. Choose another name.")


class TenantOwned:
    """Row of one tenant. The listeners below filter reads, stamp new rows and refuse rows of other tenants.

    `rows_max` is the largest number of rows that one tenant may create; None where another quota limits them.
    `limited_callers_change`: callers limited to some meshes change rows too, although they belong to no mesh.
    """

    rows_max: ClassVar[int | None] = None
    limited_callers_change: ClassVar[bool] = False

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))


SessionMaker = sessionmaker(expire_on_commit=False)


@lru_cache
def engine() -> Engine:
    """Return the engine of this process for work as one tenant; it connects as the application's role."""
    return _engine(settings().database_url)


@lru_cache
def system_engine() -> Engine:
    """Return the engine of this process for work across tenants; it connects as the system role."""
    if settings().database_system_url == settings().database_url:
        return engine()
    return _engine(settings().database_system_url)


def dispose(*, close: bool = True) -> None:
    """Forget all connections. A forked child does not close them (`close=False`), since its parent uses them."""
    engine().dispose(close=close)
    system_engine().dispose(close=close)


def _engine(url: str) -> Engine:
    pool = create_engine(
        url,
        pool_size=settings().database_pool_size,
        max_overflow=settings().database_pool_size,
        pool_timeout=5,
        pool_pre_ping=True,
        pool_recycle=RECYCLED_S,
        # The connection that was used last: its server has plans and, on a cluster, connections to workers.
        pool_use_lifo=True,
        hide_parameters=True,  # errors with values of people would end up in the log
        connect_args={
            "connect_timeout": 5,
            "application_name": "sinemora",
            "options": "-c timezone=UTC -c lock_timeout=4s -c statement_timeout=30s"
            f" -c idle_in_transaction_session_timeout=60s {WHOLE_CHUNKS}",
        },
    )
    event.listen(pool, "do_connect", lambda _dialect, _record, args, options: _Connection.connect(*args, **options))
    event.listen(pool, "connect", _refuse_unconfined)
    pool.dialect.do_ping = partial(_is_alive, pool.dialect.do_ping)  # type: ignore[method-assign]
    if settings().traces_url:
        trace_engine(pool)
    return pool


def _is_alive(ask: Callable[[Any], bool], connection: Any) -> bool:
    """Return whether the server still has a connection; raises as `ask`, which is a round trip.

    It is asked only where something has come since the last answer: a server says that it ends a connection.
    """
    heard = poll()
    heard.register(connection.pgconn.socket, POLLIN)
    return not heard.poll(0) or ask(connection)


def _refuse_unconfined(connection: Any, _: Any) -> None:
    if role := unconfined_role(connection):
        raise ProductError("database_role_unconfined", 503, UNCONFINED.format(role=role))


@lru_cache(maxsize=4096)
def _tenant_key(tenant_id: UUID) -> int:
    """Return the small integer of a tenant; it never changes, so each process reads it once."""
    with system_session() as session:
        key = session.scalar(text("SELECT key FROM tenants WHERE id = :id"), {"id": tenant_id})
    if key is None:
        raise LookupError(f"no tenant {tenant_id}")
    return int(key)


@contextmanager
def _transaction(tenant_id: UUID | None, tenant_key: int | None, limit: MeshLimit | None = None) -> Iterator[Session]:
    """Open a transaction. It sends nothing to the database before the first statement."""
    info = {"tenant_id": tenant_id, "tenant_key": tenant_key, "mesh_limit": limit}
    bind = system_engine() if tenant_id is None else engine()
    with SessionMaker(bind=bind, info=info) as session, session.begin():
        yield session


@contextmanager
def tenant_session(tenant_id: UUID) -> Iterator[Session]:
    """Open a transaction as one tenant: commit on success, roll back on error. LookupError for an unknown tenant.

    Within a request or a job it has the limit of the caller to some meshes.
    """
    with _transaction(tenant_id, _tenant_key(tenant_id), mesh_limit.present()) as session:
        yield session


@contextmanager
def system_session() -> Iterator[Session]:
    """Open a transaction that sees every tenant: for sweeps, sign-in and commands, never for a request's own work."""
    with _transaction(None, None) as session:
        yield session


@contextmanager
def every_mesh(session: Session) -> Iterator[None]:
    """Let statements see all rows of the tenant meanwhile, to compare a number with a limit of the tenant.

    A limited caller may learn that number and nothing else about the other meshes.
    """
    session.flush()
    with session.no_autoflush, _unlimited(session):
        yield


@contextmanager
def _unlimited(session: Session) -> Iterator[None]:
    limit: MeshLimit | None = session.info["mesh_limit"]
    if limit is None:
        yield
        return
    cursor = session.connection().connection.cursor()
    cursor.execute(set_meshes(None))
    try:
        yield
    finally:
        with suppress(InFailedSqlTransaction):  # its settings end with it
            cursor.execute(set_meshes(limit))


async def open_session(request: Request) -> AsyncIterator[Session]:
    """Yield the transaction of a request as its tenant (`tenant_id`, `tenant_key` of the request's state).

    Authentication sets both, and `mesh_limit`. A route without authentication fails here: it has no tenant.
    """
    state = request.state
    transaction = _transaction(state.tenant_id, state.tenant_key, getattr(state, "mesh_limit", None))
    # Entered on the event loop: a thread would have to be waited for. The end talks to the database on a separate
    # thread, since all threads of the pool may be waiting for the connection that it returns.
    session = transaction.__enter__()
    state.session = session

    async def end(*error: Any) -> bool:
        handled = False
        with CancelScope(shield=True):
            handled = bool(await to_thread.run_sync(transaction.__exit__, *error, limiter=CapacityLimiter(1)))
        return handled

    try:
        yield session
    except BaseException as error:
        if not await end(type(error), error, error.__traceback__):
            raise
    else:
        await end(None, None, None)


# scope="function": committed after serialising and before the response leaves, so a 2xx means committed.
SessionDep = Annotated[Session, Depends(open_session, scope="function")]


@event.listens_for(SessionMaker, "after_begin")
def _set_tenant(session: Session, transaction: SessionTransaction, connection: Connection) -> None:
    """Set the settings that row-level security reads. They end with the transaction."""
    if transaction.nested:
        return
    info = session.info
    # By the driver: SQLAlchemy would add more to the time of a light read than the database needs.
    connection.connection.cursor().execute(set_tenant(info["tenant_id"], info["tenant_key"], info["mesh_limit"]))


@event.listens_for(SessionMaker, "do_orm_execute")
def _confine(state: ORMExecuteState) -> None:
    tenant_id = state.session.info["tenant_id"]  # KeyError: opened without a tenant
    if tenant_id is None or state.is_column_load or state.is_relationship_load:  # these two inherit the option
        return
    state.statement = state.statement.options(
        with_loader_criteria(TenantOwned, lambda cls: cls.tenant_id == tenant_id, include_aliases=True)
    )
    changes = state.is_insert or state.is_update or state.is_delete
    if changes and state.session.info["mesh_limit"] is not None:
        model = state.bind_mapper.class_ if state.bind_mapper is not None else None
        if model is not None and issubclass(model, TenantOwned):
            mesh_limit.refuse_whole_tenant(Base.metadata, model, new=state.is_insert)


@event.listens_for(SessionMaker, "before_flush")
def _stamp(session: Session, *_: Any) -> None:
    tenant_id = session.info["tenant_id"]
    if tenant_id is None:
        return
    new: Counter[type[TenantOwned]] = Counter()
    for row in session.new:
        if isinstance(row, TenantOwned):
            if row.tenant_id is None:
                row.tenant_id = tenant_id
            elif row.tenant_id != tenant_id:
                raise ValueError(f"{type(row).__name__} of tenant {row.tenant_id} in a session of {tenant_id}")
            new[type(row)] += 1
    if session.info["mesh_limit"] is not None:
        _refuse_whole_tenant(session)
    for model, rows in new.items():
        if model.rows_max is not None:
            _check_room(session, model, rows)


def _refuse_whole_tenant(session: Session) -> None:
    changed = [*session.deleted, *(row for row in session.dirty if session.is_modified(row))]
    for row in changed:
        if isinstance(row, TenantOwned):
            mesh_limit.refuse_whole_tenant(Base.metadata, type(row), row)
    for row in session.new:
        if isinstance(row, TenantOwned):
            mesh_limit.refuse_whole_tenant(Base.metadata, type(row), row, new=True)


def _check_room(session: Session, model: type[TenantOwned], new: int) -> None:
    """Refuse rows beyond `rows_max`, so that one tenant cannot fill the database. ProductError `too_many_objects`."""
    most = model.rows_max or 0
    with session.no_autoflush, _unlimited(session):
        stored = session.scalar(select(func.count()).select_from(select(model.tenant_id).limit(most + 1).subquery()))
    if (stored or 0) + new > most:
        noun = str(getattr(model, "__tablename__", "")).replace("_", " ")
        raise ProductError(
            "too_many_objects", 409, f"Too many {noun}: a tenant has at most {most:,}. Delete some first.", limit=most
        )
