"""Health routes: /healthz (alive), /readyz (ready to serve), /metrics.

Anyone may call the first two, so they contain neither versions nor addresses.
"""

import ipaddress
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Literal

import structlog
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from redis import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from sinemora import compose
from sinemora.kit import archive_state, checks, mail
from sinemora.kit.config import settings
from sinemora.kit.db import engine
from sinemora.kit.errors import ProductError
from sinemora.kit.http.routes import operation_id
from sinemora.kit.observability.telemetry import DEPENDENCY_UP
from sinemora.kit.redis import client
from sinemora.kit.schemas import Read

log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"], generate_unique_id_function=operation_id)

_ENGINE = (
    "SELECT current_setting('server_version') AS version,"
    " (SELECT extversion FROM pg_extension WHERE extname = 'timescaledb') AS timescaledb"
)

# A replica is read-only, too; its unlogged tables, such as that of the newest windows, cannot be read at all.
_WRITES = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'"


class Health(Read):
    """Liveness of the process."""

    status: Literal["ok"]


class Dependency(Read):
    """Dependency of the backend, or its work for people: storing reports, evaluating alert rules, notifying."""

    state: Literal["up", "down"]
    needed: bool
    detail: str


class Readiness(Read):
    """Readiness: `ready` if every needed dependency is up; `degraded` if another one is down."""

    status: Literal["ready", "degraded", "not_ready"]
    dependencies: dict[str, Dependency]


class About(BaseModel):
    """Versions of product and database, and the laboratories of this installation that have pages in the console."""

    version: str
    database_engine: str | None
    database_version: str | None
    timescaledb: bool | None
    timescaledb_version: str | None
    labs: list[str]
    mails: bool


@router.get("/healthz")
async def healthz() -> Health:
    """Report that the process is alive. No dependency is checked."""
    return Health(status="ok")


@router.get("/readyz", responses={503: {"model": Readiness}})
def readyz(response: Response) -> Readiness:
    """Check the dependencies and report whether requests can be served; 503 when not."""
    dependencies = {"database": _database(), "schema": _schema(), "redis": _redis()}
    if settings().archive == "on":
        dependencies["archive"] = _archive()
    if dependencies["database"].state == "up":  # what needs it is down with it
        dependencies |= {name: _working(name, problem) for name, problem in checks.problems().items()}
    for name, dependency in dependencies.items():
        DEPENDENCY_UP.labels(name).set(dependency.state == "up")
    if any(dependency.needed and dependency.state == "down" for dependency in dependencies.values()):
        response.status_code = 503
        return Readiness(status="not_ready", dependencies=dependencies)
    degraded = any(dependency.state == "down" for dependency in dependencies.values())
    return Readiness(status="degraded" if degraded else "ready", dependencies=dependencies)


def about() -> About:
    """Return the version of the product and the capabilities of its database."""
    versions: Any = None
    with suppress(SQLAlchemyError), engine().connect() as connection:
        versions = connection.execute(text(_ENGINE)).one()
    return About(
        version=version("sinemora"),
        database_engine=versions and "postgresql",
        database_version=versions and versions.version.split(" ")[0],
        timescaledb=versions and versions.timescaledb is not None,
        timescaledb_version=versions and versions.timescaledb,
        labs=compose.pages(),
        mails=mail.is_configured(),
    )


@router.get("/metrics", include_in_schema=False)
def metrics(request: Request) -> Response:
    """Return Prometheus metrics of this process, of all workers, of the database and of the broker.

    ProductError `metrics_closed` (403) outside of `SINEMORA_METRICS_NETWORKS`.
    """
    host = request.client.host if request.client else ""
    if not _scrapes(host):
        raise ProductError(
            "metrics_closed",
            403,
            f"Not allowed: metrics are closed to {host}. SINEMORA_METRICS_NETWORKS lists who may read them.",
        )
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def _scrapes(host: str) -> bool:
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return any(ip in network for network in settings().metrics_readers)


def _database() -> Dependency:
    try:
        with engine().connect() as connection:
            is_replica, takes_no_writes = connection.execute(text(_WRITES)).one()
    except SQLAlchemyError as error:
        return _down("database", error, needed=True)
    if is_replica or takes_no_writes:
        why = "a replica, which has no newest windows" if is_replica else "read-only"
        log.warning("dependency down", dependency="database", error=why)
        detail = f"{why} and takes no writes; SINEMORA_DATABASE_URL has to name the primary"
        return Dependency(state="down", needed=True, detail=detail)
    return Dependency(state="up", needed=True, detail="answers")


def _schema() -> Dependency:
    try:
        with engine().connect() as connection:
            is_there = connection.execute(text("SELECT count(*) > 0 FROM alembic_version")).scalar_one()
    except SQLAlchemyError as error:
        return _down("schema", error, needed=True)
    return Dependency(state="up" if is_there else "down", needed=True, detail="migrated" if is_there else "empty")


def _redis() -> Dependency:
    try:
        client().ping()
    except RedisError as error:
        return _down("redis", error, needed=False)
    return Dependency(state="up", needed=False, detail="answers")


def _archive() -> Dependency:
    try:
        state = archive_state.read()
    except SQLAlchemyError as error:
        return _down("archive", error, needed=False)
    if state.problem is None:
        return Dependency(state="up", needed=False, detail="up to date")
    log.warning("archive of the database", problem=state.problem, age_s=state.age_s, error=state.error)
    return Dependency(state="down", needed=False, detail=state.problem)


def _working(name: str, problem: str | None) -> Dependency:
    if problem is not None:
        log.warning("product degraded", dependency=name, problem=problem)
    return Dependency(state="down" if problem else "up", needed=False, detail=problem or "works")


def _down(name: str, error: Exception, *, needed: bool) -> Dependency:
    # This route is public, so addresses and user names stay in the log.
    log.warning("dependency down", dependency=name, error=str(error).strip())
    return Dependency(state="down", needed=needed, detail="unavailable; the log contains the reason")
