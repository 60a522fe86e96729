"""Is this process alive, and can it work: /healthz, /readyz, /metrics, /v1/about."""

from importlib.metadata import version
from typing import Literal

import structlog
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from redis import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from sinemora.kit.db import engine
from sinemora.kit.redis import client
from sinemora.kit.schemas import Read
from sinemora.kit.telemetry import DEPENDENCY_UP

log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"])

_ENGINE = (
    "SELECT current_setting('server_version') AS version,"
    " (SELECT extversion FROM pg_extension WHERE extname = 'timescaledb') AS timescaledb"
)


class Health(Read):
    """The process answers."""

    status: Literal["ok"]


class Dependency(Read):
    """One thing we need. `needed`: without it no request can be served; else the product runs with less."""

    state: Literal["up", "down"]
    needed: bool
    detail: str


class Readiness(Read):
    """`ready` when every needed dependency is up; `degraded` when one of the others is down."""

    status: Literal["ready", "degraded", "not_ready"]
    dependencies: dict[str, Dependency]


class About(BaseModel):
    """What runs here. The engine's fields are null while the database is away."""

    version: str
    database_engine: str | None
    database_version: str | None
    timescaledb: bool | None
    timescaledb_version: str | None


@router.get("/healthz")
async def healthz() -> Health:
    """Whether the process is alive; asks nobody else."""
    return Health(status="ok")


@router.get("/readyz", responses={503: {"model": Readiness}})
def readyz(response: Response) -> Readiness:
    """Whether requests can be served, and what is missing if not."""
    found = {"database": _database(), "schema": _schema(), "redis": _redis()}
    for name, one in found.items():
        DEPENDENCY_UP.labels(name).set(one.state == "up")
    if any(one.needed and one.state == "down" for one in found.values()):
        response.status_code = 503
        return Readiness(status="not_ready", dependencies=found)
    degraded = any(one.state == "down" for one in found.values())
    return Readiness(status="degraded" if degraded else "ready", dependencies=found)


@router.get("/v1/about")
def about() -> About:
    """Version of the product and capabilities of its database."""
    try:
        with engine().connect() as connection:
            found = connection.execute(text(_ENGINE)).one()
    except SQLAlchemyError:
        return About(
            version=version("sinemora"),
            database_engine=None,
            database_version=None,
            timescaledb=None,
            timescaledb_version=None,
        )
    return About(
        version=version("sinemora"),
        database_engine="postgresql",
        database_version=found.version.split(" ")[0],
        timescaledb=found.timescaledb is not None,
        timescaledb_version=found.timescaledb,
    )


@router.get("/metrics", include_in_schema=False)
def metrics() -> Response:
    """Prometheus' view of this process, of all workers, and of what waits in the database and the broker."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def _database() -> Dependency:
    try:
        with engine().connect() as connection:
            found = connection.execute(text(_ENGINE)).one()
    except SQLAlchemyError as error:
        return _down("database", error, needed=True)
    partitions = "native partitions" if found.timescaledb is None else f"TimescaleDB {found.timescaledb}"
    return Dependency(state="up", needed=True, detail=f"PostgreSQL {found.version.split(' ')[0]}, {partitions}")


def _schema() -> Dependency:
    try:
        with engine().connect() as connection:
            found = connection.execute(text("SELECT string_agg(version_num, ', ') FROM alembic_version")).scalar_one()
    except SQLAlchemyError as error:
        return _down("schema", error, needed=True)
    return Dependency(state="up" if found else "down", needed=True, detail=f"revision {found or 'none'}")


def _redis() -> Dependency:
    try:
        client().ping()
    except RedisError as error:
        return _down("redis", error, needed=False)
    return Dependency(state="up", needed=False, detail="answers")


def _down(name: str, error: Exception, *, needed: bool) -> Dependency:
    # Anyone may ask, so addresses and user names stay in the log.
    log.warning("dependency down", dependency=name, error=str(error).strip())
    return Dependency(state="down", needed=needed, detail="cannot be reached; the log says why")
